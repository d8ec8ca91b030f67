"""Examples run, and the README's five lines are the first of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_the_example_runs(example):
    done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_picture_is_what_its_command_draws(tmp_path):
    drawn = tmp_path / "order.svg"
    subprocess.run([sys.executable, str(ROOT / "docs" / "picture.py"), str(drawn)], check=True)
    assert drawn.read_bytes() == (ROOT / "docs" / "order.svg").read_bytes()


def blocks(file: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / file).read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_readme_s_five_lines_are_the_example():
    five_lines = (ROOT / "examples" / "five_lines.py").read_text(encoding="utf-8")
    assert five_lines.endswith(blocks("README.md")[0])


def test_every_strategy_of_the_readme_reads_back():
    from unmask.errors import StrategyError
    from unmask.strategy import parse

    texts = re.findall(r"`([a-z_]+(?:\([^`]*\))?, [^`]*)`", (ROOT / "README.md").read_text(encoding="utf-8"))
    read = []
    for text in texts:
        try:
            read.append(str(parse(text)))
        except StrategyError:
            continue
    assert len(read) >= 11


def test_the_oracle_of_the_contributing_guide_works(tmp_path, monkeypatch):
    from toys import Toy, blank

    from unmask.decode import decode

    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(blocks("CONTRIBUTING.md")[0], encoding="utf-8")
    run = decode(Toy(), blank(4, 12), "./mine.py:second_thoughts(0.3), per_step(1), greedy")
    assert not run.finish().hidden.any()


def test_the_readme_s_speeds_are_the_recorded_ones():
    """Every number of the table stands in results/, where the benchmark wrote it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme[readme.index("| stored logits") : readme.index("`results/decode_speed.jsonl`")]
    lines = (ROOT / "results" / "decode_speed.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = {str(value) for line in lines for value in json.loads(line).values()}
    told = re.findall(r"(?:: |\| |costs )(\d+\.\d+)", table)
    assert len(told) >= 14
    assert set(told) <= recorded
    assert all(name in table for name in (json.loads(lines[0])["commit"], json.loads(lines[0])["date"]))


def test_the_readme_s_puzzles_are_the_recorded_ones():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    part = readme[readme.index("| one core (") : readme.index("`results/puzzle_speed.jsonl`")]
    rows = map(json.loads, (ROOT / "results" / "puzzle_speed.jsonl").read_text(encoding="utf-8").splitlines())
    recorded = {f"{round(value):,}" for row in rows for value in row.values() if isinstance(value, int | float)}
    told = [number for line in part.splitlines() if line.startswith("|") for number in re.findall(r"\d[\d,]{2,}", line)]
    assert len(told) >= 8
    assert set(told) <= recorded
    assert "153 seconds" in part
    assert "153" in recorded


def test_the_riddle_is_solved():
    done = subprocess.run(
        [sys.executable, "-m", "unmask", "solve", "--file", str(ROOT / "examples" / "zebra.txt")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "supposition" not in done.stdout
    assert "solved by propagation alone" in done.stdout


def test_the_readme_s_training_block_runs(tmp_path, monkeypatch):
    import torch

    from unmask.data.build import build
    from unmask.tasks.sudoku import SudokuRecipe

    build(SudokuRecipe(0), 400, tmp_path / "puzzles")
    monkeypatch.chdir(tmp_path)
    block = next(text for text in blocks("README.md") if "Dataset" in text)
    found: dict = {}
    exec(compile(block, "README.md", "exec"), found)
    assert found["grids"].tokens.shape == (64, 81)
    assert found["triplets"].tokens.shape == (64, 243)
    assert isinstance(found["puzzles"][3]["solution"], torch.Tensor)


def test_the_readme_s_net_is_a_denoiser():
    import torch

    from unmask import decode, task

    block = next(text for text in blocks("README.md") if "MASK" in text)
    table = torch.randn(5, 5, generator=torch.Generator().manual_seed(0))
    found: dict = {"MASK": 4, "net": lambda tokens: table[tokens]}
    exec(compile(block, "README.md", "exec"), found)
    final = decode(found["model"], task("sudoku4").parse("." * 16).start(), "margin, per_step(2), greedy").finish()
    assert int(final.tokens.max()) < 4
    assert not final.hidden.any()


def test_the_readme_s_run_and_its_likelihoods_work(tmp_path, monkeypatch, capsys):
    import unmask
    from unmask.data.build import build
    from unmask.tasks.sudoku import Sudoku, SudokuRecipe

    build(SudokuRecipe(0), 400, tmp_path / "puzzles")
    monkeypatch.chdir(tmp_path)
    block = next(text for text in blocks("README.md") if "unmask.Training" in text)
    assert "coordinates" in block  # a smaller run stands in for it
    small = block.replace("coordinates", "tiny").replace("here)", "here, compiled=False)").replace("=60", "=0.01")
    exec(compile(small, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("10 ")
    block = next(text for text in blocks("README.md") if "unmask.elbo" in text)
    model = unmask.load(tmp_path / "run" / "weights.safetensors")
    found = {"unmask": unmask, "model": model, "rows": Sudoku(9).sample(2)}
    exec(compile(block, "README.md", "exec"), found)
    assert (found["bound"].mean < 0).all()
    assert (found["along"].total < 0).all()
