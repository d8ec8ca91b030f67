"""Zebra data sets: puzzles with their solution, the rounds in which deduction writes each cell, and grades.

Easy is what falls to propagation alone, hard what needs suppositions. Columns: `houses`, `attributes`; `clues`
[31, 7] as in `clues.Puzzles`; `solution` [36], the value of each attribute at each house, six houses an attribute, -1
where there is none; `round` [36], -1 likewise and where deduction did not come (so the solve order, see
`sequence.solve_turns`); `grade`, an index of RULES (the hardest that was used), or
UNSOLVED; `uses`, how often that rule was used; `number`, that of the example.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from unmask.data import Columns, Histograms, count_labels
from unmask.errors import UnmaskError
from unmask.state import Rows
from unmask.tasks.solving import UNSOLVED
from unmask.tasks.zebra import task
from unmask.tasks.zebra.canonical import canonical, invariants
from unmask.tasks.zebra.clues import KINDS, LEAST, MOST, Puzzles
from unmask.tasks.zebra.deduce import RULES, SUPPOSE, deduce
from unmask.tasks.zebra.generate import generate
from unmask.tasks.zebra.task import CELLS


@dataclass(frozen=True)
class ZebraRecipe:
    """Puzzle number i of a seed, of a wished size or of any."""

    seed: int = 0
    houses: int | None = None
    attributes: int | None = None

    def __post_init__(self) -> None:
        for name, wanted in (("houses", self.houses), ("attributes", self.attributes)):
            if wanted is not None and not LEAST <= wanted <= MOST:
                raise UnmaskError(f"a Zebra puzzle has {LEAST} to {MOST} {name}, not {wanted}")

    @property
    def task(self) -> str:
        return "zebra"

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("easy", "hard")

    def make(self, begin: int, end: int) -> Columns:
        puzzles, solutions = generate(self.seed, begin, end, houses=self.houses, attributes=self.attributes)
        found = deduce(puzzles)
        return {
            "kind": (~found.solved | (found.hardest == SUPPOSE)).astype(np.uint8),
            "group": invariants(puzzles, solutions),
            "houses": puzzles.houses,
            "attributes": puzzles.attributes,
            "clues": puzzles.clues,
            "solution": solutions.reshape(-1, CELLS),
            "round": found.round.reshape(-1, CELLS),
            "grade": found.grade,
            "uses": found.hardest_uses,
        }

    def same(self, one: Columns, other: Columns) -> bool:
        return _canonical(one) == _canonical(other)

    def histograms(self, columns: Columns) -> Histograms:
        sizes = columns["houses"].astype(np.int64) * 10 + columns["attributes"]
        kinds = columns["clues"][:, :, 0]
        return {
            "clues": count_labels((kinds >= 0).sum(1)),
            "grade": count_labels(columns["grade"], dict(enumerate(RULES)) | {UNSOLVED: "not solved"}),
            "houses x attributes": count_labels(
                sizes, {10 * h + a: f"{h} x {a}" for h in range(LEAST, MOST + 1) for a in range(LEAST, MOST + 1)}
            ),
            "rounds": count_labels(columns["round"].max(axis=1) + 1),
            "kinds of clue": count_labels(kinds[kinds >= 0], dict(enumerate(KINDS))),
        }


def rows(columns: dict[str, Tensor]) -> Rows:
    """A batch of a data set as rows of the task: whole answers, the clues given."""
    puzzles = Puzzles(*(columns[name].numpy() for name in ("houses", "attributes", "clues")))
    return task.rows(puzzles, columns["solution"].numpy().reshape(-1, MOST, MOST))


def _canonical(columns: Columns) -> tuple[int, ...]:
    puzzles = Puzzles(*(np.asarray(columns[name][:1]) for name in ("houses", "attributes", "clues")))
    return canonical(puzzles, columns["solution"][:1].reshape(-1, MOST, MOST))
