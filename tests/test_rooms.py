"""Rooms import only downwards; files stay small enough to read in one go; importing does nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "unmask"

FLOORS = [
    {"errors", "files", "part", "state", "noise", "belief"},
    {"oracles", "paces", "choices", "revisions", "windows", "wrappers"},
    {"strategy"},
    {"decode", "trace"},
    {"strategies", "likelihood", "objectives"},
    {"tasks", "data"},
    {"exact", "nets"},
    {"train", "checkpoint", "parallel", "evaluate"},
    {"experiments"},
    {"page", "cli"},
]
"""From the ground up: a module imports from rooms below its own, or on its own floor, without a circle."""

LEVEL = {room: number for number, floor in enumerate(FLOORS) for room in floor}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path.parent != PACKAGE or path.stem[0] != "_"]


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> list[str]:
    """The rooms that a module imports from, wherever the import stands; those for type checkers alone left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "unmask":
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unmask."):
            found.append(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found += [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("unmask.")]
    return found


def breaks(importer: str, room: str) -> bool:
    """Whether a module of one room may not import from the other."""
    return LEVEL[room] > LEVEL[importer]


def modules_of(path: Path) -> set[Path]:
    """The files of the package that a module imports when it is loaded."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("unmask"):
            home = PACKAGE.joinpath(*str(node.module).split(".")[1:])
            for alias in node.names:
                module, package = (home / alias.name).with_suffix(".py"), home / alias.name / "__init__.py"
                places = (module, package, home.with_suffix(".py"), home / "__init__.py")
                found.add(next(file for file in places if file.is_file()))
    return found - {path, PACKAGE / "__init__.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_rooms_import_only_downwards(path):
    for room in imported(path):
        assert room in LEVEL, f"{path.name} imports {room}, a room that no floor names"
        assert not breaks(room_of(path), room), f"{room_of(path)} may not import from {room}"


def test_the_import_law_bites():
    assert breaks("oracles", "decode")
    assert breaks("nets", "train")
    assert breaks("strategy", "strategies")
    assert not breaks("decode", "strategy")
    assert not breaks("exact", "tasks")


def test_no_imports_go_in_a_circle():
    from graphlib import TopologicalSorter

    order = list(TopologicalSorter({path: modules_of(path) for path in MODULES}).static_order())
    assert len(order) >= len(MODULES) > 40


def test_nets_do_not_know_tasks():
    for path in (PACKAGE / "nets").rglob("*.py"):
        assert "tasks" not in imported(path)


def test_the_loop_stays_readable():
    assert len((PACKAGE / "decode.py").read_text(encoding="utf-8").splitlines()) < 200


def test_no_file_is_longer_than_one_sitting():
    for path in MODULES:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 350, f"{path.name} is too long: is it two things?"


@pytest.mark.parametrize("name", ["unmask", "unmask.cli"])
def test_importing_does_not_import_torch(name):
    code = f"import sys, {name}; assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_public_names_are_there_and_lazy():
    import unmask

    for name in unmask.__all__:
        assert getattr(unmask, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = unmask.no_such_name  # type: ignore[unresolved-attribute]
    assert set(unmask.__all__) <= set(dir(unmask))


def test_type_checkers_see_every_public_name():
    import unmask

    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    missing = {*unmask.__all__} - seen - {"__version__"}
    assert not missing, f"add to the block for type checkers in src/unmask/__init__.py: {sorted(missing)}"


def test_the_function_decode_is_not_hidden_by_its_module():
    code = (
        "import unmask.decode, unmask; from unmask.decode import Step; from unmask import decode;"
        "assert callable(decode) and unmask.decode is decode"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
