"""Rooms import only downwards; files stay small enough to read in one go; importing does nothing."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "unmask"

FLOORS = [
    {"errors", "files", "figures", "recording", "part", "state", "noise", "belief"},
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
    names = {bound for node in ast.walk(tree) if isinstance(node, ast.Import) for bound in bound_to_package(node)}
    return [room for node in ast.walk(tree) for full in reached(node, path, names) if (room := first_room(full))]


def reached(node: ast.AST, path: Path, names: set[str]) -> list[str]:
    """The full names that a node reaches for: `unmask.cli.main` for `from ..cli import main`."""
    if isinstance(node, ast.ImportFrom):
        module = absolute(node, path)
        return [f"{module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
        return [f"unmask.{node.attr}"]
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        name = str(node.args[0].value)
        if called in ("import_module", "__import__"):
            return [f"{'unmask' if name.startswith('.') else ''}{name}"]
    return []


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The module that is imported from, with the dots before it resolved."""
    if not node.level:
        return str(node.module)
    package = ("unmask", *path.relative_to(PACKAGE).parts[:-1])
    return ".".join([*package[: len(package) + 1 - node.level], *([node.module] if node.module else [])])


def bound_to_package(node: ast.Import) -> list[str]:
    """The names under which the package itself is known after this import."""
    return [
        alias.asname or "unmask"
        for alias in node.names
        if alias.name.split(".")[0] == "unmask" and (alias.asname is None or alias.name == "unmask")
    ]


def first_room(full: str) -> str | None:
    """`cli` of `unmask.cli.main`; public names that are no rooms are looked up."""
    import unmask

    parts = full.split(".")
    if parts[0] != "unmask" or len(parts) < 2 or parts[1].startswith("_"):
        return None
    return parts[1] if parts[1] in LEVEL else unmask._HOME.get(parts[1], parts[1]).split(".")[0]


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


@pytest.mark.parametrize(
    "source",
    [
        "import unmask.cli",
        "import unmask.cli.decode as run",
        "from unmask import cli",
        "from unmask.cli import main",
        "from unmask.cli.decode import decode",
        "from ..cli import main",
        "from .. import cli",
        "from ..cli.decode import decode",
        "import unmask\ndef run():\n    unmask.cli.main()",
        "import unmask.errors\nunmask.cli.main()",
        "import unmask as u\nu.cli.main()",
        "import importlib\nimportlib.import_module('unmask.cli')",
        "from importlib import import_module\nimport_module('unmask.cli.decode')",
        "import importlib\nimportlib.import_module('.cli', 'unmask')",
        "__import__('unmask.cli')",
    ],
)
def test_every_way_to_import_is_seen(monkeypatch, source):
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: source)
    assert "cli" in imported(PACKAGE / "oracles" / "mine.py")


def test_a_public_name_is_its_room_s(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "from unmask import record, margin")
    assert imported(PACKAGE / "oracles" / "mine.py") == ["trace", "oracles"]
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "from .margin import margin\nimport torch")
    assert imported(PACKAGE / "oracles" / "mine.py") == ["oracles"]


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


def test_type_checkers_see_every_name_but_those_of_new_parts():
    """A new part is one file, so its name need not be in the block; what is in there has to exist."""
    import unmask

    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    missing = {*unmask._CORE} - seen
    assert not missing, f"add to the block for type checkers in src/unmask/__init__.py: {sorted(missing)}"
    assert seen - {"version"} <= {*unmask.__all__}


def test_a_part_is_one_file_and_nothing_else(tmp_path):
    """The example of CONTRIBUTING.md, put where it says, in a copy of the package."""
    guide = (PACKAGE.parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    example = re.findall(r"```python\n(.*?)```", guide, flags=re.DOTALL)[0]
    ignored = shutil.ignore_patterns("__pycache__")
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "src" / "unmask", ignore=ignored))
    (copy / "oracles" / "second_thoughts.py").write_text(example, encoding="utf-8")
    tests = tmp_path / "tests"
    tests.mkdir()
    shutil.copy(__file__, tests)
    elsewhere = os.environ | {"PYTHONPATH": str(copy.parent)}
    command = re.findall(r"`unmask (decode [^`]*second_thoughts[^`]*)`", guide)[0]
    done = subprocess.run(
        [sys.executable, "-m", "unmask", *shlex.split(command), "--json"],
        env=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.count("\n")) == (0, 5), done.stderr
    arguments = ["-q", "-p", "no:cacheprovider", "-k", "not one_file_and_nothing_else and not importing", str(tests)]
    again = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], env=elsewhere, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stdout


def test_the_function_decode_is_not_hidden_by_its_module():
    code = (
        "import unmask.decode, unmask; from unmask.decode import Step; from unmask import decode;"
        "assert callable(decode) and unmask.decode is decode"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
