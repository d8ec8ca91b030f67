"""The training loop: one for every net, objective and task. A generator; whoever drains it has trained a net.

A run lives in a folder: `run.safetensors` has all there is to go on with (weights, their mean, optimisers, the step),
`log.jsonl` a line for every few steps, and the mean of the weights, in half precision and to be used, is in
`weights.safetensors` (now), `best.safetensors` (at the best validation) and `step-NNNNNNN.safetensors` (at each).

Nothing that a step does depends on when the run was stopped or how often: batches and masks are looked up by step, and
the state is written between steps, whole or not at all. So a run that was killed ends, on the same machine with the
same number of processes, with the same bits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from unmask import checkpoint
from unmask.checkpoint import Checkpoint
from unmask.data.dataset import Dataset
from unmask.errors import UnmaskError
from unmask.nets.compiled import compile_blocks
from unmask.nets.transformer import Transformer
from unmask.objectives import Key, Objective
from unmask.parallel import World
from unmask.state import Rows
from unmask.train.batches import Batches
from unmask.train.config import TrainConfig
from unmask.train.folder import Folder
from unmask.train.optimizers import Mean, Optimizers, rate
from unmask.train.validate import score, validate

SAVE_SECONDS = 60.0
"""How much of a run may be lost."""
LOG_STEPS = 10
"""Steps that a line of the log is the mean of."""


@dataclass(frozen=True)
class Report:
    """What is told every few steps: where the run is, how it does, how fast; what validation found, where it was."""

    step: int
    loss: float
    rate: float
    samples_per_second: float
    seconds: float
    found: dict[str, float] = field(default_factory=dict)


class Training:
    """A run in its folder: begun, or gone on with where it was."""

    def __init__(
        self,
        config: TrainConfig,
        out: Path,
        data: Path,
        world: World,
        *,
        start: Path | None = None,
        compiled: bool = True,
    ) -> None:
        if config.batch % world.size:
            raise UnmaskError(f"a batch of {config.batch} rows cannot be shared evenly by {world.size} processes")
        self.config, self.world = config, world
        self.folder = Folder(out, config)
        torch.manual_seed(config.seed)
        self.net = Transformer(config.net).to(world.device).train()
        self.batches = Batches(config, Dataset.open(data, config.split, check=world.leads), world.device)
        if config.validate:
            self.held_out = Batches(config, Dataset.open(data, config.validation, check=world.leads), world.device)
        self.step, self.seconds = 0, 0.0
        self.best: list[float] | None = None
        self.total, self.since = torch.zeros((), device=world.device), 0  # what the next line of the log sums up
        self.about: dict[str, Any] = {"data": self.batches.about, "before": []}
        saved = self.folder.read_run(self.about["data"])
        if saved is None and start is not None:
            self._start_from(checkpoint.read(start))
        self.optimizers = Optimizers(self.net, config)
        self.mean = Mean(self.net, config.ema)
        if saved is not None:
            self._go_on(saved)
        world.same("config, step or data", f"{self.folder.plain(self.about['data'])} {self.step}")
        self.eager = compile_blocks(self.net.blocks, world.device) if compiled else None
        self._module: nn.Module = _Loss(self.net, config.objective)
        if world.size > 1:
            self._module = DistributedDataParallel(self._module)

    def steps(
        self,
        *,
        minutes: float | None = None,
        stop: Callable[[], bool] = lambda: False,
        save_seconds: float = SAVE_SECONDS,
    ) -> Iterator[Report]:
        """Take the steps that are left, or as many as `minutes` allow, or until `stop()`; what is reached is kept."""
        if not self.world.leads:
            yield from self._steps(minutes, stop, save_seconds)
            return
        with self.folder.alone():
            self.folder.forget_after(self.step)
            yield from self._steps(minutes, stop, save_seconds)

    def _steps(self, minutes: float | None, stop: Callable[[], bool], save_seconds: float) -> Iterator[Report]:
        config, world = self.config, self.world
        began = mark = saved = time.monotonic()
        before, counted = self.seconds, self.step
        while self.step < config.steps:
            self.total += self._take()
            self.step += 1
            last = self.step == config.steps
            line = self.step % LOG_STEPS == 0 or last
            now = time.monotonic()
            self.seconds = before + now - began
            report = None
            if line:
                speed = (self.step - counted) * config.batch / (now - mark)
                report = self._report(speed, last)
                counted, mark = self.step, time.monotonic()
                self.seconds = before + mark - began
            if not (line or world.size == 1):
                continue  # the others' share of a line's loss is not in the checkpoint
            now = time.monotonic()
            over = world.agree(last or stop() or (minutes is not None and now - began > 60 * minutes))
            if world.leads and (over or now - saved > save_seconds):
                self._save()
                saved = time.monotonic()
            if report is not None:
                yield report
            if over:
                return

    def _report(self, speed: float, last: bool) -> Report:
        """One line of the log, with a validation where it is time for one."""
        config = self.config
        loss = float(self.world.mean(self.total)) / (self.step - self.since)
        if not loss < float("inf"):
            raise UnmaskError(f"the loss is {loss} at step {self.step}; try lower rates, or clip=1")
        due = config.validate and (self.step % config.validate_every < LOG_STEPS or last)
        found = self._validate() if due else {}
        self.total, self.since = torch.zeros_like(self.total), self.step
        told = rate(config, self.step - 1), round(speed, 1), round(self.seconds, 2)
        report = Report(self.step, loss, *told, found)
        if self.world.leads:
            self.folder.log(report)
        return report

    def _take(self) -> Tensor:
        """One step; its loss, in the mean over this process's rows."""
        config, world = self.config, self.world
        share = config.batch // world.size
        mine = torch.arange(world.rank, config.batch, world.size, device=world.device)  # few hidden and many, for each
        parts = mine.split(config.micro)
        total = torch.zeros((), device=world.device)
        for number, part in enumerate(parts):
            key = Key(config.seed, self.step, part, config.batch)
            if isinstance(self._module, DistributedDataParallel):  # gradients are shared once, with the last part
                self._module.require_backward_grad_sync = number + 1 == len(parts)
            loss = self._module(self.batches.rows(key), key) * (len(part) / share)
            loss.backward()
            total += loss.detach()
        if config.clip:
            nn.utils.clip_grad_norm_(self.net.parameters(), config.clip)
        self.optimizers.step(self.step)
        self.mean.update(self.step)
        return total

    def _validate(self) -> dict[str, float]:
        """What the mean of the weights does on rows that are held out; the best is kept."""
        self.mean.swap()
        self.net.eval()
        try:
            found = validate(self.net, self.held_out, self.config) if self.world.leads else {}
        finally:
            self.net.train()
            self.mean.swap()
        if self.world.leads:
            self.folder.write_weights(f"step-{self.step:07d}", self.mean.tensors, self._told(validation=found))
            if self.best is None or score(found) > self.best:
                self.best = score(found)
                self.folder.write_weights("best", self.mean.tensors, self._told(validation=found))
        return found

    def _told(self, **more: Any) -> dict[str, Any]:
        return {**self.about, "step": self.step, "seconds": round(self.seconds, 2), **more}

    def _save(self) -> None:
        """Write the weights, then the run: when the run says that a step is done, all else has been written."""
        if not all(bool(weight.isfinite().all()) for weight in self.net.parameters()):
            raise UnmaskError(f"weights are no numbers any more at step {self.step}; try lower rates, or clip=1")
        self.folder.write_weights("weights", self.mean.tensors, self._told())
        tensors = {f"weights.{name}": weight for name, weight in self.net.state_dict().items()}
        tensors |= {f"mean.{name}": weight for name, weight in self.mean.tensors.items()}
        tensors |= {f"optimizer.{name}": value for name, value in self.optimizers.tensors.items()}
        self.folder.write_run({**tensors, "total": self.total}, self._told(best=self.best, since=self.since))

    def _start_from(self, saved: Checkpoint) -> None:
        """Take the weights of another run, and remember what that cost."""
        checkpoint.fill(self.net, saved)
        about = saved.about
        leg = {name: about.get(name) for name in ("step", "seconds")} | {"config": about.get("config")}
        self.about["before"] = [*about.get("before", []), leg]

    def _go_on(self, saved: Checkpoint) -> None:
        """Take up this run where it was saved last."""
        checkpoint.fill(self.net, saved)
        self.mean.load(saved.part("mean"))
        self.optimizers.load(saved.part("optimizer"))
        self.step, self.seconds, self.best = (saved.about[name] for name in ("step", "seconds", "best"))
        self.total, self.since = saved.tensors["total"].to(self.world.device), saved.about["since"]
        self.about["before"] = saved.about["before"]


class _Loss(nn.Module):
    """A net and its objective as one module, which is what DDP needs."""

    def __init__(self, net: nn.Module, objective: Objective) -> None:
        super().__init__()
        self.net, self.objective = net, objective

    def forward(self, rows: Rows, key: Key) -> Tensor:
        return self.objective(self.net, rows, key)
