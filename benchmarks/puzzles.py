"""How fast puzzles are made, solved and graded on one core, against plain Python within the same run.

    python benchmarks/puzzles.py [--json FILE] [--million]        about 2 minutes on one core; a million takes 8 more

The plain programs are those that the tests check the solvers against (`tests/plain_sudoku.py`, `tests/plain_zebra.py`):
sets and loops, straight from the definitions. For Zebra's search the rival is OR-tools' CP-SAT. `--million` makes a
data set of 1,000,000 Sudoku, graded by the full and by the narrow rules, with the command line and all cores.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import plain_sudoku
import plain_zebra

from unmask.recording import about, write
from unmask.tasks.sudoku.deduce import deduce
from unmask.tasks.sudoku.generate import generate
from unmask.tasks.sudoku.search import search
from unmask.tasks.zebra.deduce import RULES
from unmask.tasks.zebra.deduce import deduce as deduce_zebra
from unmask.tasks.zebra.generate import generate as generate_zebra
from unmask.tasks.zebra.search import search as search_zebra

DATA = Path(os.environ.get("UNMASK_TEST_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))


def rate(count: int, work: Callable[[], object], rounds: int = 3) -> float:
    """How many a second, at best; processor time, so that what else the machine does counts less."""
    best = min(_seconds(work) for _ in range(rounds))
    return count / best


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def row(what: str, mine: float, plain: float, rival: str = "plain Python") -> dict:
    return {
        "what": what,
        "a second": round(mine, 1 if mine < 100 else None),
        f"{rival}, a second": round(plain, 2),
        f"times faster than {rival}": round(mine / plain, 1),
    }


def sudoku_made() -> dict:
    mine = rate(4000, lambda: generate(9, 0, 0, 4000))
    draw = random.Random(0)
    return row("minimal Sudoku made", mine, rate(8, lambda: [plain_sudoku.minimal_puzzle(draw) for _ in range(8)], 1))


def sudoku_solved(name: str, puzzles: np.ndarray, few: int) -> dict:
    search(puzzles[:1], 9)
    mine = rate(len(puzzles), lambda: search(puzzles, 9, limit=2))
    lists = puzzles[:few].tolist()
    plain = rate(few, lambda: [list(islice(plain_sudoku.solutions(one), 2)) for one in lists], 1)
    return row(f"{name}: solved, and found to have one solution", mine, plain)


def sudoku_graded(puzzles: np.ndarray) -> dict:
    deduce(puzzles[:1], 9)
    mine = rate(len(puzzles), lambda: deduce(puzzles, 9))
    lists = puzzles[:100].tolist()
    return row("minimal Sudoku graded", mine, rate(100, lambda: [plain_sudoku.deduce(one) for one in lists], 1))


def zebra_rows() -> list[dict]:
    generate_zebra(0, 0, 1)
    puzzles, _ = generate_zebra(0, 0, 1000, houses=6, attributes=6)
    largest = rate(300, lambda: generate_zebra(1, 0, 300, houses=6, attributes=6))
    any_size = rate(2000, lambda: generate_zebra(1, 0, 2000))
    search_zebra(puzzles)
    deduce_zebra(puzzles)
    mine = rate(1000, lambda: search_zebra(puzzles, limit=2))
    other = rate(100, lambda: [plain_zebra.count(puzzles[number]) for number in range(100)], 1)
    graded = rate(1000, lambda: deduce_zebra(puzzles))
    plain = rate(5, lambda: [plain_zebra.deduce(puzzles[number], RULES) for number in range(5)], 1)
    return [
        {"what": "6 x 6 Zebra made", "a second": round(largest)},
        {"what": "Zebra of all sizes made", "a second": round(any_size)},
        row("6 x 6 Zebra solved, and found to have one solution", mine, other, "CP-SAT"),
        row("6 x 6 Zebra solved by deduction, with suppositions", graded, plain),
    ]


def shares() -> list[dict]:
    """What deduction solves: no speed, but the same runs of the same kernels, and numbers that the README gives."""
    solutions, given = generate(9, 1, 0, 100_000)
    puzzles = np.where(given, solutions, -1).astype(np.int8)
    rows = [{"what": "clues of a minimal Sudoku", "mean": round(float(given.sum(1).mean()), 3), "of": 100_000}]
    for name, options in (
        ("full rules", {}),
        ("narrow rules", {"narrow": True}),
        ("full rules, no unique rectangle", {"rectangle": False}),
        ("narrow rules, no unique rectangle", {"narrow": True, "rectangle": False}),
    ):
        share = float(deduce(puzzles, 9, **options).solved.mean())
        error = 1.96 * (share * (1 - share) / 100_000) ** 0.5
        interval = [round(share - error, 4), round(share + error, 4)]
        rows.append(
            {"what": f"solved by strategies, {name}", "share": round(share, 4), "95 %": interval, "of": 100_000}
        )
    found, _ = generate_zebra(1, 0, 20_000)
    alone, supposing = deduce_zebra(found, suppose=False).solved, deduce_zebra(found).solved
    for name, solved in (("propagation alone", alone), ("propagation and suppositions", supposing)):
        by_size = {
            f"{h} x {a}": round(float(solved[(found.houses == h) & (found.attributes == a)].mean()), 3)
            for h in range(3, 7)
            for a in range(3, 7)
        }
        share = round(float(solved.mean()), 4)
        rows.append(
            {"what": f"Zebra solved by {name}", "share": share, "of": 20_000, "by houses x attributes": by_size}
        )
    return rows


def million() -> dict:
    """The command, with all cores, into a folder that is thrown away; compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        ask = [sys.executable, "-m", "unmask", "data", "sudoku", "--quiet", "--out"]
        subprocess.run([*ask, str(Path(folder) / "few"), "--count", "10"], check=True)
        began = time.perf_counter()
        subprocess.run([*ask, str(Path(folder) / "million"), "--count", "1000000"], check=True)
        seconds = time.perf_counter() - began
    return {"what": "data set of 1,000,000 Sudoku, graded twice, all cores", "seconds": round(seconds)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file, one JSON object a line")
    parser.add_argument("--million", action="store_true", help="time a data set of a million as well")
    arguments = parser.parse_args()
    header = about("python benchmarks/puzzles.py" + " --million" * arguments.million)
    print(json.dumps(header))
    generate(9, 0, 0, 1)
    solutions, given = generate(9, 2, 0, 5000)
    puzzles = np.where(given, solutions, -1).astype(np.int8)
    runs: list[Callable[[], list[dict]]] = [
        lambda: [sudoku_made()],
        lambda: [sudoku_solved("minimal Sudoku", puzzles, 200)],
        lambda: [sudoku_graded(puzzles)],
        zebra_rows,
        shares,
    ]
    others = DATA / "sudoku" / "sudoku10k.txt"
    if others.is_file():
        lines = np.array([plain_sudoku.read(line) for line in others.read_text().split()], dtype=np.int8)
        runs.insert(2, lambda: [sudoku_solved("10,000 Sudoku of others, most with 17 clues", lines, 20)])
    if arguments.million:
        runs.append(lambda: [million()])
    rows = []
    for run in runs:
        for found in run():
            rows.append(found)
            print(json.dumps(found), flush=True)
    if arguments.json:
        write(arguments.json, header, rows)


if __name__ == "__main__":
    main()
