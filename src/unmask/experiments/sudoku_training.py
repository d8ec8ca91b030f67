"""How well a Sudoku model solves puzzles, over the minutes of its training: in the best order, and in random ones.

Claim: the order matters from the beginning, and all the way. (The paper shows the end of training only: its MDM of 6M
solves 6.88 % of easy puzzles in the vanilla order and 89.49 % by margin; hard ones, 3.62 and 49.88 %.)

    python -m unmask.experiments.sudoku_training RUN [RUN ...] --data PUZZLES --out results/sudoku_training.jsonl

RUNs are the folders of `unmask train`, in the order in which each started from the weights of the one before. Puzzles
are of the validation splits: nothing here looks at test puzzles. 200 puzzles take two CPU cores some minutes for every
checkpoint; on a GPU, seconds. With --figure, the rows are drawn, and nothing is run.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from unmask import checkpoint, figures
from unmask.data.dataset import Dataset
from unmask.evaluate import evaluate
from unmask.recording import about
from unmask.tasks import rows_of, task

STRATEGIES = {
    "margin": "margin, per_step(1), greedy",
    "top probability": "top_probability, per_step(1), greedy",
    "random": "random, per_step(1), greedy",
    "vanilla": "random, ancestral(50), sample",
}
SPLITS = ("easy-validation", "hard-validation")
COLOURS = {"margin": "#21918c", "top probability": "#3b528b", "random": "#d95f02", "vanilla": "#999999"}


def rows(runs: list[Path], data: Path, count: int, device: torch.device, every: int = 1) -> Iterator[dict[str, Any]]:
    """One for each checkpoint, split and strategy; minutes go on from run to run."""
    for leg, run in enumerate(runs, start=1):
        for file in sorted(run.glob("step-*.safetensors"))[::every]:
            net = checkpoint.load(file, device)
            seconds = float(net.about["seconds"]) + sum(float(one["seconds"]) for one in net.about.get("before", []))
            problem = task(net.about["config"]["task"])
            for split in SPLITS:
                puzzles = rows_of(problem.name)(Dataset.open(data, split).batch(torch.arange(count)))
                for name, strategy in STRATEGIES.items():
                    found = evaluate(net, puzzles.to(device), problem, strategy, batch=1024)
                    where = {"leg": leg, "step": net.about["step"], "minutes": round(seconds / 60, 2)}
                    yield {**where, "split": split, "order": name, "passes": net.passes, **found.about}


def draw(found: list[dict[str, Any]], path: Path) -> None:
    """Solved puzzles over minutes, easy ones beside hard ones."""
    figure = figures.blank(9.0, 3.8)
    for axes, split in zip(figure.subplots(1, len(SPLITS), sharey=True), SPLITS, strict=True):
        for name in STRATEGIES:
            here = [row for row in found if row["split"] == split and row["order"] == name]
            minutes, percent = [row["minutes"] for row in here], [row["percent"] for row in here]
            axes.plot(minutes, percent, "o-", ms=3, color=COLOURS[name], label=name)
            low, high = ([row["interval"][end] for row in here] for end in (0, 1))
            axes.fill_between(minutes, low, high, color=COLOURS[name], alpha=0.15, lw=0)
        kind = split.removesuffix("-validation")
        axes.set(title=f"{kind} puzzles", xlabel="minutes of training, two CPU cores", ylim=(0, 101))
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#eeeeee")
    figure.axes[0].set_ylabel("solved, %")
    figure.axes[1].legend(frameon=False, loc="center right")
    figures.save(figure, path)


def main() -> None:
    """Evaluate and write, or draw what was written."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", nargs="*", type=Path)
    arguments.add_argument("--data", type=Path)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--every", type=int, default=1)
    arguments.add_argument("--figure", type=Path)
    given = arguments.parse_args()
    if given.figure is not None:
        draw([json.loads(line) for line in given.out.read_text(encoding="utf-8").splitlines()], given.figure)
        return
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    command = about("python -m unmask.experiments.sudoku_training", device=device)
    with given.out.open("a", encoding="utf-8") as file:
        for row in rows(given.runs, given.data, given.count, device, given.every):
            file.write(json.dumps({**command, **row}) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
