"""The loop's own cost, with stored logits in place of a model, against plain loops in the style of public code.

    python benchmarks/decode.py [--json FILE]        about 4 minutes on two cores

The rivals were written for this file. "row by row" decodes one row after the other, as LLaDA's generate does, which
takes a batch of one; "batched, topk by row" works out beliefs for the batch and then picks positions row by row, as
Fast-dLLM's does. Both read softmax in double precision at every position, as those do; "block only" is the second
with everything outside the block left out. All decode greedily by the probability of the proposal; all must agree
with the loop token by token. What counts are the ratios within one run: machines are noisy.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from unmask import State, decode, parse
from unmask.recording import about, write


class Stored:
    """A denoiser whose logits [B,L,V] were worked out before."""

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits

    def __call__(self, state: State, asked: Tensor) -> Tensor:
        row, position = asked.nonzero(as_tuple=True)
        return self.logits.flatten(0, 1).index_select(0, state.row[row] * asked.shape[1] + position)


def row_by_row(logits: Tensor, per_step: int) -> Tensor:
    """One row after the other; every step looks at all positions of the row."""
    batch, length, _ = logits.shape
    result = torch.empty((batch, length), dtype=torch.int64)
    for row in range(batch):
        tokens, mask = torch.zeros(1, length, dtype=torch.int64), torch.ones(1, length, dtype=torch.bool)
        while mask.any():
            believed = logits[row : row + 1]
            proposal = believed.argmax(-1)
            probability = torch.softmax(believed.double(), dim=-1)
            confidence = probability.gather(-1, proposal[..., None]).squeeze(-1)
            confidence = torch.where(mask, confidence, -torch.inf)
            _, chosen = torch.topk(confidence[0], k=min(per_step, int(mask.sum())))
            tokens[0, chosen] = proposal[0, chosen]
            mask[0, chosen] = False
        result[row] = tokens[0]
    return result


def batched(logits: Tensor, per_step: int, size: int, *, only_block: bool, most: int) -> tuple[Tensor, int]:
    """Beliefs for the whole batch, positions picked row by row; blocks of `size`; at most `most` steps."""
    batch, length, _ = logits.shape
    tokens, mask = torch.zeros(batch, length, dtype=torch.int64), torch.ones(batch, length, dtype=torch.bool)
    steps = 0
    for start in range(0, length, size):
        inside = slice(start, start + size) if only_block else slice(None)
        while mask[:, start : start + size].any() and steps < most:
            believed, open_here = logits[:, inside], mask[:, inside].clone()
            if not only_block:
                open_here[:, start + size :] = False
            proposal = believed.argmax(-1)
            probability = torch.softmax(believed.double(), dim=-1)
            confidence = probability.gather(-1, proposal[..., None]).squeeze(-1)
            confidence = torch.where(open_here, confidence, -torch.inf)
            transfer = torch.zeros_like(open_here)
            for row in range(batch):
                count = min(per_step, int(open_here[row].sum()))
                _, chosen = torch.topk(confidence[row], k=count)
                transfer[row, chosen] = True
            tokens[:, inside][transfer] = proposal[transfer]
            mask[:, inside] &= ~transfer
            steps += 1
    return tokens, steps


def ours(logits: Tensor, text: str, most: int | None = None) -> tuple[Tensor, int]:
    """The loop, at most `most` steps of it."""
    batch, length, _ = logits.shape
    everything = torch.ones(batch, length, dtype=torch.bool)
    run, steps = decode(Stored(logits), State.start(everything.long(), everything), parse(text)), 0
    while most is None or steps < most:
        if next(run, None) is None:
            break
        steps += 1
    return run.state.tokens, steps


def compare(repeats: int, loop: Callable[[], object], *rivals: Callable[[], object]) -> tuple[float, list[float]]:
    """The loop's time, and how many times longer each rival takes: medians over rounds in which all run in turn."""
    times: list[list[float]] = [[] for _ in range(1 + len(rivals))]
    for round_ in range(repeats + 1):
        for run, taken in zip((loop, *rivals), times, strict=True):
            began = time.perf_counter()
            run()
            if round_:  # the first is to warm up
                taken.append(time.perf_counter() - began)
    ratios = [statistics.median(r / m for r, m in zip(rival, times[0], strict=True)) for rival in times[1:]]
    return statistics.median(times[0]), ratios


def puzzle_sized(batch: int, repeats: int) -> dict:
    """V = 9, L = 81, one position a step."""
    logits = torch.randn((batch, 81, 9), generator=torch.Generator().manual_seed(0)) * 3
    text = "chosen_probability, per_step(1), greedy"
    tokens, steps = ours(logits, text)
    assert torch.equal(tokens, batched(logits, 1, 81, only_block=False, most=10**9)[0])
    assert torch.equal(tokens, row_by_row(logits, 1))
    loop, (plain, together) = compare(
        repeats,
        lambda: ours(logits, text),
        lambda: row_by_row(logits, 1),
        lambda: batched(logits, 1, 81, only_block=False, most=10**9),
    )
    return {
        "what": f"V=9 L=81 B={batch}, one position a step",
        "milliseconds a step": round(loop / steps * 1e3, 3),
        "times faster than row by row": round(plain, 2),
        "times faster than batched, topk by row": round(together, 2),
        "rounds": repeats,
    }


def language_sized(batch: int, steps: int) -> dict:
    """V = 32,000, blocks of 32 in L = 1,024, one position a step; the first steps only, all alike."""
    logits = torch.randn((batch, 1024, 32_000), generator=torch.Generator().manual_seed(0))
    text = "chosen_probability, evenly(32), greedy, blocks(32)"
    mine, _ = ours(logits, text, steps)
    theirs, _ = batched(logits, 1, 32, only_block=True, most=steps)
    assert torch.equal(mine, theirs), "another order than the plain loop"
    loop, (block,) = compare(
        7, lambda: ours(logits, text, steps), lambda: batched(logits, 1, 32, only_block=True, most=steps)
    )
    _, (full,) = compare(2, lambda: ours(logits, text, 2), lambda: batched(logits, 1, 32, only_block=False, most=2))
    return {
        "what": f"V=32000, blocks of 32 in L=1024, B={batch}",
        "milliseconds a step": round(loop / steps * 1e3, 3),
        "times faster than all positions": round(full, 2),
        "times faster than block only": round(block, 2),
        "rounds": 7,
    }


def finished_rows(batch: int) -> dict:
    """One long row in a batch whose other rows have finished, against the same row alone."""
    logits = torch.randn((batch, 81, 9), generator=torch.Generator().manual_seed(0)) * 3
    hidden = torch.zeros(batch, 81, dtype=torch.bool)
    hidden[:, 0], hidden[0] = True, True

    def late(rows: int) -> float:
        run = decode(
            Stored(logits), State.start(hidden[:rows].long() * 0, hidden[:rows]), parse("margin, per_step(1), greedy")
        )
        for _ in range(5):
            next(run)
        began = time.perf_counter()
        for _ in run:
            pass
        return time.perf_counter() - began

    ratios = [late(batch) / late(1) for _ in range(9)]
    return {
        "what": f"{batch - 1} of {batch} rows finished",
        "times the row's cost alone": round(statistics.median(ratios), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the rows to this file, one JSON object a line")
    arguments = parser.parse_args()
    header = about("python benchmarks/decode.py")
    print(json.dumps(header))
    rows = []
    for run in (
        lambda: puzzle_sized(1, 21),
        lambda: puzzle_sized(64, 7),
        lambda: puzzle_sized(1024, 3),
        lambda: finished_rows(1024),
        lambda: language_sized(1, 16),
        lambda: language_sized(8, 8),
    ):
        rows.append(run())
        print(json.dumps(rows[-1]), flush=True)
    if arguments.json:
        write(arguments.json, header, rows)


if __name__ == "__main__":
    main()
