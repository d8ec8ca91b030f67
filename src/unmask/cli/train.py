"""`unmask train`: train a net, watch it learn, stop it at any moment and go on."""

from __future__ import annotations

import dataclasses
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from unmask.cli.console import Output
from unmask.errors import UnmaskError

if TYPE_CHECKING:
    from collections.abc import Callable

    from unmask.parallel import World
    from unmask.train import TrainConfig, Training


def train(
    task: str,
    /,
    *changes: str,
    out: Annotated[Path, Parameter(alias="-o")],
    preset: str = "coordinates",
    data: Path | None = None,
    examples: int = 1_000_000,
    start: Annotated[Path | None, Parameter(name="--from")] = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    minutes: float | None = None,
    device: str = "auto",
    compiled: Annotated[bool, Parameter(name="--compile")] = True,
    output: Output | None = None,
) -> None:
    """Train a net on a task. Run again, a command that was stopped or killed goes on where it was.

    Example: unmask train sudoku batch=128 net.width=64 --out run --minutes 60

    On several GPUs or machines: torchrun --nproc-per-node 8 -m unmask train sudoku --out run

    Parameters
    ----------
    task
        The task: sudoku, zebra ...
    changes
        Options that differ from the preset's, as NAME=VALUE: steps=500, net.blocks=3, "objective=any_order(floor=0.5)".
    out
        The folder of the run: its checkpoints, its log, and a figure of the loss.
    preset
        The run to take options from (coordinates, plain, paper, tiny).
    data
        A folder that unmask data wrote. Unless told, data are made in the run's folder first.
    examples
        How many examples to make, where there is no --data.
    start
        Begin with the weights of this checkpoint, which are all that is taken from it.
    resume
        Take the options from the run that is in the folder, and go on with it.
    minutes
        Stop after so many, keeping what was reached.
    device
        auto, cpu or cuda.
    compiled
        Compile the net where there is a compiler; --no-compile does not.
    """
    output = output or Output()
    if minutes is not None and not minutes > 0:
        raise UnmaskError(f"--minutes: expected a number above 0, got {minutes}")
    from unmask.cli.console import Compute
    from unmask.parallel import world
    from unmask.tasks import task as find_task

    problem = find_task(task)
    if device not in ("auto", "cpu", "cuda"):
        raise UnmaskError(f"--device: expected auto, cpu or cuda, got {device!r}")
    place = Compute(device=device).place().type  # type: ignore[arg-type]
    config = _config(problem.name, preset, changes, out, resume)
    with world(place) as here:
        if not here.leads:
            output = dataclasses.replace(output, quiet=True, json=False)
        folder = data or _made(config, out, examples, resume, here, output)
        from unmask.train import Training

        run = Training(config, out, folder, here, start=start, compiled=compiled)
        if run.step and start is not None:
            output.side.print(f"--from is not looked at: there is a run in {out}, which goes on", markup=False)
        _tell(run, output)
        with _stopping(output) as stop:
            _drain(run, minutes, stop, output)


def _config(task: str, preset: str, changes: tuple[str, ...], out: Path, resume: bool) -> TrainConfig:
    from unmask.experiments import presets
    from unmask.tasks import task as find_task
    from unmask.train.config import from_about, override

    if not resume:
        return override(presets.preset(preset, find_task(task)), changes)
    from unmask import checkpoint

    file = out / "run.safetensors"
    if not file.is_file():
        raise UnmaskError(f"--resume: there is no run in {out}; expected {file}")
    config = from_about(checkpoint.read(file).about["config"], str(file))
    if config.task != task:
        raise UnmaskError(f"--resume: the run in {out} is about {config.task}, not {task}")
    if override(config, changes) != config:
        raise UnmaskError("--resume goes on with the options that the run has; leave the others out")
    return config


def _made(config: TrainConfig, out: Path, examples: int, resume: bool, here: World, output: Output) -> Path:
    """The data set in the run's folder; the leading process makes it, the others wait."""
    from unmask.cli.data import make
    from unmask.tasks import recipe_of

    folder = out / "data"
    if resume and not folder.is_dir():
        raise UnmaskError(f"--resume: the run's data are not in {folder}; say where they are with --data")
    if here.leads:
        recipe = recipe_of(config.task)(seed=config.seed)
        if recipe.task != config.task:
            raise UnmaskError(
                f"data for {config.task} are not made by themselves; make them if they can be (unmask data --help), "
                f"and give them with --data"
            )
        make(recipe, examples, folder, output)
    here.agree(True)
    return folder


class _Stop:
    """Ctrl-C once: the step at work is finished and kept. Twice: at once."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self) -> bool:
        return self.asked


class _stopping:
    """Listen for Ctrl-C while a run goes on."""

    def __init__(self, output: Output) -> None:
        self.output = output

    def __enter__(self) -> Callable[[], bool]:
        self.stop = _Stop()
        self.before = signal.getsignal(signal.SIGINT)
        self.ours = threading.current_thread() is threading.main_thread() and callable(self.before)
        if self.ours:
            signal.signal(signal.SIGINT, self._press)
        return self.stop

    def __exit__(self, *error: object) -> None:
        if self.ours:
            signal.signal(signal.SIGINT, self.before)

    def _press(self, number: int, frame: object) -> None:
        self.stop.asked = True
        signal.signal(signal.SIGINT, self.before)
        self.output.side.print("stopping after this step, keeping what was reached; once more stops at once")


def _tell(run: Training, output: Output) -> None:
    config, side = run.config, output.side
    begun = f", going on at step {run.step:,}" if run.step else ""
    side.print(
        f"{config.task}: {run.net.size:,} weights, {config.objective}, "
        f"{len(run.batches.data):,} rows of {config.split}; {config.steps:,} steps of {config.batch} rows{begun}",
        markup=False,
    )
    if run.eager is not None:
        side.print(f"not compiled, and slower for it: {run.eager}", markup=False)


def _drain(run: Training, minutes: float | None, stop: Callable[[], bool], output: Output) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    side, config = output.side, run.config
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"), TimeRemainingColumn())
    bars = Progress(*columns, console=side, transient=True, disable=not side.is_terminal or output.quiet)
    with bars as progress:
        bar = progress.add_task("", total=config.steps, completed=run.step, told="compiling ...")
        for report in run.steps(minutes=minutes, stop=stop):
            told = f"loss {report.loss:.3f}  {report.samples_per_second:,.0f} rows/s"
            progress.update(bar, completed=report.step, told=told)
            if output.json:
                output.data(dataclasses.asdict(report))
            elif report.found:
                found = ", ".join(f"{name} {value:.4g}" for name, value in report.found.items() if name != "score")
                side.print(f"step {report.step:,}: {told}; validation: {found}", markup=False)
    if not run.world.leads:
        return
    _figure(run, output)
    if stop() and run.step < config.steps:
        side.print(
            f"stopped at step {run.step:,} of {config.steps:,}; run the same command again to go on", markup=False
        )
        raise KeyboardInterrupt
    if not (output.json or output.quiet):
        weights = run.folder.path / "weights.safetensors"
        output.out.print(f"{weights}: step {run.step:,} of {config.steps:,}", markup=False)


def _figure(run: Training, output: Output) -> None:
    from unmask.train.figure import draw

    lines = run.folder.lines()
    if lines:
        try:
            draw(lines, f"{run.config.task}, {run.config.objective}", run.folder.path / "loss.png")
        except UnmaskError as error:
            output.side.print(f"no figure of the loss: {error}", markup=False)
