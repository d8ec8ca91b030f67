"""Which model a command works with: exact beliefs, one that comes with the package, or a checkpoint of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unmask.errors import UnmaskError, nearest

if TYPE_CHECKING:
    import torch

    from unmask.belief import Denoiser
    from unmask.tasks import Task

EXACT = "exact"
MODEL = "model"


def comes_with(task: str) -> bool:
    """Whether a model for that task comes with the package."""
    from unmask import checkpoint

    return task in checkpoint.shipped()


def model_for(problem: Task, wanted: str | None, device: torch.device, passes: int | None = None) -> Denoiser:
    """The model of that name for a task: unless told, exact beliefs where there are some, or the one that ships."""
    from unmask import checkpoint

    shipped = checkpoint.shipped()
    name = wanted or (EXACT if hasattr(problem, "support") and _is_small(problem) else problem.name)
    if name == EXACT:
        return _exact(problem)
    if wanted is None and name not in shipped:
        raise UnmaskError(f"no model for {problem.name} comes with the package; give a checkpoint with --model")
    if wanted is not None and "/" not in wanted and "." not in wanted and wanted not in shipped:
        raise UnmaskError(f"--model: no model is named {wanted!r}; {nearest(wanted, [EXACT, *shipped])}")
    net = checkpoint.load(name, device)
    about = net.about["config"]
    if about["task"] != problem.name:
        raise UnmaskError(f"--model: {name} is a model of {about['task']}; expected one of {problem.name}")
    if passes is not None:
        if passes < 1:
            raise UnmaskError(f"--passes: expected a number from 1, got {passes}")
        net.passes = passes
    return net


def task_of(name: str) -> str:
    """The task that a checkpoint, or a model that comes with the package, is about."""
    from pathlib import Path

    from unmask import checkpoint

    shipped = checkpoint.shipped()
    if "/" not in name and "." not in name and name not in shipped:
        raise UnmaskError(f"no model is named {name!r}; {nearest(name, [EXACT, *shipped])}, or a path to a checkpoint")
    return checkpoint.read(shipped.get(name, Path(name))).about["config"]["task"]


def _exact(problem: Task) -> Denoiser:
    from unmask.exact.enumeration import Enumeration

    support = getattr(problem, "support", None)
    if support is None or not _is_small(problem):
        raise UnmaskError(f"there are no exact beliefs for {problem.name}: its rows are too many; try sudoku4")
    return Enumeration(support(), values=problem.values, impossible="closest")


def _is_small(problem: Task) -> bool:
    """Whether all rows of a task can be listed."""
    return problem.name == "sudoku4"
