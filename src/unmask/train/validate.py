"""Validation while training: the loss on rows that are held out, and how many of them the net solves."""

from __future__ import annotations

import torch

from unmask.decode import decode
from unmask.nets.transformer import Transformer
from unmask.objectives import Key
from unmask.strategies import resolve
from unmask.tasks import task
from unmask.train.batches import Batches
from unmask.train.config import TrainConfig

LOSS_ROWS = 512
"""Rows that the loss is the mean of."""


@torch.no_grad()
def validate(net: Transformer, held_out: Batches, config: TrainConfig) -> dict[str, float]:
    """`loss`, and `solved` where the task says what is right. The same rows and the same masks every time, so that
    what changes is the net. Causal nets are told by their loss alone: their columns are in the objective's order.
    """
    problem = task(config.task)
    count = min(LOSS_ROWS, len(held_out.data))
    losses = []
    for part in torch.arange(count, device=held_out.device).split(config.micro):
        key = Key(config.seed, 0, part, count)
        losses.append(config.objective(net, held_out.rows(key), key) * len(part))
    loss = float(torch.stack(losses).sum()) / count
    if net.causal:
        return {"loss": loss}
    solved = []
    for part in torch.arange(min(config.validate, len(held_out.data)), device=held_out.device).split(config.micro):
        rows = held_out.rows(Key(config.seed, 0, part, config.validate))
        state = decode(net, rows.start(config.seed), resolve(config.strategy)).finish()
        measured = problem.measure(state.rows)
        if "solved" not in measured:
            return {"loss": loss}
        solved.append(measured["solved"].double())
    share = float(torch.cat(solved).mean())
    return {"loss": loss, "solved": share}


def score(found: dict[str, float]) -> list[float]:
    """What checkpoints are chosen by: more is better, the first number first."""
    return [found.get("solved", 0.0), -found["loss"]]
