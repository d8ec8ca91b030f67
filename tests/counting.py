"""A recipe of numbers that repeat, for the tests of data sets: quick, and easy to foretell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.data import Columns


@dataclass(frozen=True)
class Counting:
    """Values step * number modulo 1900. Two different values share each group; equal values are the same example."""

    step: int = 7

    @property
    def task(self) -> str:
        return "counting"

    @property
    def kinds(self) -> tuple[str, ...]:
        return ("even", "odd")

    def make(self, begin: int, end: int) -> Columns:
        value = np.arange(begin, end) * self.step % (1900 if self.step else 1 // self.step)
        return {"kind": (value % 2).astype(np.uint8), "group": value // 2 * 2**40, "value": value}

    def same(self, one: Columns, other: Columns) -> bool:
        return bool(one["value"][0] == other["value"][0])

    def histograms(self, columns: Columns) -> dict[str, dict[str, int]]:
        return {"value": {"any": len(columns["value"])}}
