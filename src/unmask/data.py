"""Data sets on disk. (The contract first; see Recipe.)"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from numpy.typing import NDArray

Columns = Mapping[str, NDArray[Any]]
"""Arrays whose first axis is the example."""


class Recipe(Protocol):
    """How to make examples: a frozen dataclass of plain values, so that it can be sent to another process and be
    written down. Example number i is a matter of the recipe and i alone."""

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

    def histograms(self, columns: Columns) -> dict[str, dict[str, int]]:
        """Counts by title and label, such as {"clues": {"24": 310, ...}}; they are added up over shards."""
        ...
