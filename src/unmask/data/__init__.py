"""Data sets on disk: how they are made (Recipe), and what is said about them. `build` makes one, `Dataset` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Columns = Mapping[str, NDArray[Any]]
"""Arrays whose first axis is the example."""

Histograms = dict[str, dict[str, int]]
"""Counts by title and label: {"clues": {"24": 310, "25": 270}}."""


@runtime_checkable
class Recipe(Protocol):
    """How to make examples: a frozen dataclass of plain values, so that it can be sent to another process and be
    written down. Example number i is a matter of the recipe and i alone."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def task(self) -> str:
        """The name of the task that the examples are of."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds of example that are kept apart, such as easy and hard."""
        ...

    def make(self, begin: int, end: int) -> Columns:
        """Examples `begin` to `end`. Two columns are for the house: `kind` (an index of `kinds`) and `group` (int64:
        examples of one group never fall into different splits, so equal ones must have equal groups)."""
        ...

    def same(self, one: Columns, other: Columns) -> bool:
        """Whether two examples of equal group are the same but for symmetry (each with one row in each column)."""
        ...

    def histograms(self, columns: Columns) -> Histograms:
        """What there is to know about examples; the counts are added up over shards."""
        ...


def count_labels(values: NDArray[Any], names: Mapping[int, str] | None = None) -> dict[str, int]:
    """How often each value occurs, in rising order, under its name where it has one."""
    found, counts = np.unique(values, return_counts=True)
    names = names or {}
    return {names.get(int(v), str(int(v))): int(n) for v, n in zip(found, counts, strict=True)}
