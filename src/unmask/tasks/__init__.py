"""Tasks: what is to be filled in, and when it is right. One folder each; `task("sudoku4")` finds it by name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from jaxtyping import Int
from torch import Tensor

from unmask.errors import UnmaskError, nearest
from unmask.state import Rows

if TYPE_CHECKING:
    from unmask.data import Recipe
    from unmask.tasks.solving import Solver


Augmentation = Callable[[Rows, int, Tensor, Tensor], Rows]
"""(rows, seed, key of each row [B], step [B]) -> rows as good as those: the same draws for the same arguments."""


@runtime_checkable
class Task(Protocol):
    """A source of rows, with a measure of what is right and a way to draw them."""

    @property
    def name(self) -> str:
        """The name on the command line and in results."""
        ...

    @property
    def length(self) -> int:
        """L: positions in a row."""
        ...

    @property
    def values(self) -> int:
        """V: values that a position can have."""
        ...

    @property
    def board(self) -> range:
        """The positions that its picture shows."""
        ...

    @property
    def columns(self) -> int:
        """How many of them are in a line."""
        ...

    @property
    def begins(self) -> re.Pattern[str] | None:
        """How the text of a puzzle begins, where it goes over several lines; None where each line is a puzzle."""
        ...

    def sample(self, n: int, seed: int) -> Rows:
        """n complete rows, with what is given marked: the same for the same seed."""
        ...

    def measure(self, rows: Rows) -> dict[str, Tensor]:
        """Numbers [B] for decoded rows; `solved` where there is a right and a wrong. What is hidden is -1, as in
        `state.rows`. Clues are taken as they stand in the rows: decoding does not change them."""
        ...

    def parse(self, text: str, *, check: bool = True) -> Rows:
        """One row from text, with what is given marked; raises UnmaskError where it cannot be one. Without `check`,
        what takes a search to find out, that there is no solution, is left to be found out later."""
        ...

    def line(self, row: Int[Tensor, " L"]) -> str:
        """One row on one line, as `parse` reads it; negative values are hidden."""
        ...

    def signs(self, row: Int[Tensor, " L"]) -> list[str]:
        """What its picture writes at every position; a dot for negative values, which are hidden."""
        ...

    def render(self, row: Int[Tensor, " L"]) -> str:
        """One row as text; negative values are hidden."""
        ...


def names() -> list[str]:
    """Every name that `task` knows."""
    return [name for folder in _folders() for name in sorted(_module(folder).VARIANTS)]


def task(name: str) -> Task:
    """The task of that name."""
    return _home(name).VARIANTS[name]()


def recipe_of(name: str) -> Callable[..., Recipe]:
    """What makes data sets of that task: a frozen dataclass, its options as fields."""
    return _home(name).RECIPE


def solvers_of(name: str) -> Mapping[str, Solver]:
    """The solvers of that task that are no models, by name."""
    return _home(name).SOLVERS


def rows_of(name: str) -> Callable[[Mapping[str, Tensor]], Rows]:
    """What makes rows of that task from the columns of its data sets."""
    return _home(name).ROWS


def augmentation_of(name: str) -> Augmentation | None:
    """What makes other rows of rows that are as good, where that task has symmetries: `(rows, seed, row, step)`."""
    return getattr(_home(name), "AUGMENT", None)


def _home(name: str) -> Any:
    match = re.match(r"[a-z_]*[a-z]", name)
    folder = match.group() if match else ""
    if folder in _folders() and name in _module(folder).VARIANTS:
        return _module(folder)
    raise UnmaskError(f"there is no task {name!r}; {nearest(name, names())}")


def _folders() -> list[str]:
    return [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.ispkg]


def _module(folder: str) -> Any:
    return importlib.import_module(f"unmask.tasks.{folder}")
