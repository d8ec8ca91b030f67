"""What stratified and mirrored masks are worth: the variance of a row's bound, against one number and one mask drawn.

    python benchmarks/likelihood.py [--json FILE]        about a minute on two cores

The same number of masks for a row, drawn four ways, many times over with other seeds; the spread of the estimates is
what counts. The models: the Sudoku net that comes with the package, and arbitrary beliefs on rows of 8.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from torch import Tensor

import unmask
from unmask import Rows, State, noise
from unmask.recording import about, write

DRAWS = 16
WAYS = {
    "one number, one mask": {"stratified": False, "antithetic": False},
    "mirrored pairs": {"stratified": False, "antithetic": True},
    "strata": {"stratified": True, "antithetic": False},
    "strata of mirrored pairs": {"stratified": True, "antithetic": True},
}


class Arbitrary:
    """Logits hashed from the place and all that is shown: beliefs that fit together in no way."""

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        shown = torch.where(state.hidden, 0, state.tokens + 1)
        word = (shown * 4 ** torch.arange(shown.shape[1])).sum(1)
        row, column = asked.nonzero(as_tuple=True)
        return torch.stack([2 * noise.everywhere(1, f"{v}", word, word, state.place)[row, column] for v in range(3)], 1)


def spread(model: object, rows: Rows, seeds: int, way: dict[str, bool]) -> tuple[float, float]:
    """The variance of a row's estimate over seeds, in the mean over rows; and the mean of the squared errors told."""
    found = [unmask.elbo(model, rows, draws=DRAWS, seed=seed, **way) for seed in range(seeds)]  # type: ignore[arg-type]
    means = torch.stack([one.mean for one in found])
    told = torch.stack([one.error for one in found]).square()
    return float(means.var(0).mean()), float(told.mean())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path)
    given = arguments.parse_args()
    tokens = torch.randint(3, (16, 8), generator=torch.Generator().manual_seed(0))
    small = Rows(tokens, torch.zeros_like(tokens, dtype=torch.bool), torch.ones_like(tokens, dtype=torch.bool))
    models = {
        "arbitrary beliefs, 8 answers": (Arbitrary(), small, 400),
        "the Sudoku net": (unmask.load("sudoku"), unmask.task("sudoku").sample(6, 1), 40),
    }
    rows = []
    for name, (model, puzzles, seeds) in models.items():
        plain = None
        for way, options in WAYS.items():
            variance, told = spread(model, puzzles, seeds, options)
            plain = plain or variance
            row = {
                "model": name,
                "masks": way,
                "draws": DRAWS,
                "rows": len(puzzles),
                "seeds": seeds,
                "variance": variance,
                "of_plain": round(variance / plain, 3),
                "squared_error_told_of_true": round(told / variance, 2),
            }
            rows.append(row)
            print(", ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    if given.json:
        write(given.json, about("python benchmarks/likelihood.py"), rows)


if __name__ == "__main__":
    main()
