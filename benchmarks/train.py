"""Training and decoding on this machine, against plain eager single precision over torch.nn.TransformerEncoder.

    python benchmarks/train.py [--json FILE] [--puzzles 1000]        about 15 minutes on two cores

The rival was written for this file: the layers of torch.nn.TransformerEncoder in the same shapes (as many as our blocks
times our passes; normed first, GELU), learned positions, AdamW, one batch at a time, everything in single precision,
nothing compiled, the loss after the last layer. It sees the same rows and masks. Its decoding is the loop that one
writes first: all rows until the last is done, softmax at every position, the surest cell of each row is written.
What counts are the ratios within one run, and the share of this machine's own peak in bf16 matrix products.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import unmask
from unmask.data.build import build
from unmask.evaluate import evaluate
from unmask.experiments.presets import coordinates
from unmask.nets.transformer import Transformer
from unmask.objectives import Key
from unmask.parallel import World
from unmask.recording import about, write
from unmask.tasks.sudoku import Sudoku, SudokuRecipe
from unmask.train import TrainConfig, Training

CPU = torch.device("cpu")


class Plain(nn.Module):
    """What one writes first: embeddings, torch's own encoder, a head."""

    def __init__(self, net: Transformer) -> None:
        super().__init__()
        config = net.config
        layer = nn.TransformerEncoderLayer(
            config.width, config.heads, 4 * config.width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.tokens = nn.Embedding(config.values + 1, config.width)
        self.positions = nn.Parameter(0.02 * torch.randn(81, config.width))
        self.layers = nn.TransformerEncoder(layer, config.blocks * config.passes, enable_nested_tensor=False)
        self.head = nn.Linear(config.width, config.values)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(self.layers(self.tokens(tokens) + self.positions))


def plain_steps(model: Plain, run: Training) -> Iterator[None]:
    """Steps of a plain loop, over the rows and masks of a run."""
    config = run.config
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1_000_000):
        key = Key.of(config.seed, step, config.batch)
        rows = run.batches.rows(key)
        hidden, _ = config.objective.mask(rows, key)  # type: ignore[attr-defined]
        logits = model(rows.tokens.masked_fill(hidden, config.net.values))
        loss = F.cross_entropy(logits[hidden], rows.tokens[hidden])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield


def our_steps(run: Training) -> Iterator[None]:
    """Steps of the training loop, all that belongs to one included."""
    while True:
        run._take()
        run.step += 1
        yield


@torch.no_grad()
def plain_decode(model: Plain, tokens: Tensor, hidden: Tensor) -> int:
    """All rows until the last is done; the calls."""
    tokens, hidden, calls = tokens.masked_fill(hidden, 9), hidden.clone(), 0
    while hidden.any():
        top = model(tokens).softmax(-1).topk(2, dim=-1)
        margin = (top.values[..., 0] - top.values[..., 1]).masked_fill(~hidden, -1)
        best = margin.argmax(1, keepdim=True)
        written = top.indices[..., 0].gather(1, best)
        open_row = hidden.any(1, keepdim=True)
        tokens = torch.where(open_row, tokens.scatter(1, best, written), tokens)
        hidden = hidden.scatter(1, best, False)
        calls += 1
    return calls


def seconds(take: Callable[[], object], runs: int) -> float:
    """The median time of something, after it was done once."""
    take()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        take()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def peak() -> float:
    """Floating-point operations a second of bf16 matrix products, at best."""
    one, other = (torch.randn(2048, 2048, dtype=torch.bfloat16) for _ in range(2))
    return max(2 * 2048**3 / seconds(lambda: one @ other, 3) for _ in range(5))


def operations(config: TrainConfig) -> float:
    """Of one row, forward and backward: two for every weight and position, four for every pair of positions."""
    net = Transformer(config.net)
    weights = sum(weight.numel() for weight in net.blocks.parameters())
    pairs = 4 * 81**2 * config.net.width * config.net.blocks
    return 3 * config.net.passes * (2 * 81 * weights + pairs)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--puzzles", type=int, default=1000)
    given = arguments.parse_args()
    rows: list[dict] = []

    def tell(**row: object) -> None:
        rows.append(row)
        print(", ".join(f"{name} {value}" for name, value in row.items()), flush=True)

    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        build(SudokuRecipe(seed=1), 4_000, Path(folder) / "data")
        config = coordinates(Sudoku(9))
        run = Training(config, Path(folder) / "run", Path(folder) / "data", World(0, 1, CPU))
        plain = Plain(run.net)
        fastest = peak()
        ours, rival = our_steps(run), plain_steps(plain, run)
        step, plain_step = seconds(lambda: next(ours), 7), seconds(lambda: next(rival), 3)
        tell(
            what="training",
            weights=run.net.size,
            batch=config.batch,
            compiled=run.eager is None,
            samples_per_second=round(config.batch / step, 1),
            plain_samples_per_second=round(config.batch / plain_step, 1),
            times_faster=round(plain_step / step, 2),
            gflops=round(operations(config) * config.batch / step / 1e9),
            peak_gflops=round(fastest / 1e9),
            share_of_peak=round(operations(config) * config.batch / step / fastest, 3),
        )
        net = run.net.eval()
    puzzles = Sudoku(9).sample(given.puzzles, 0)
    found = evaluate(net, puzzles, Sudoku(9), "margin, per_step(1), greedy", batch=given.puzzles)
    began = time.perf_counter()
    calls = plain_decode(plain.eval(), puzzles.tokens, ~puzzles.given)
    plain_seconds = time.perf_counter() - began
    tell(
        what="decoding, one cell at a time",
        puzzles=given.puzzles,
        seconds=round(found.seconds, 1),
        calls=found.batch_calls,
        plain_seconds=round(plain_seconds, 1),
        plain_calls=calls,
        times_faster=round(plain_seconds / found.seconds, 2),
    )
    if given.json:
        write(given.json, about("python benchmarks/train.py"), rows)


if __name__ == "__main__":
    assert unmask.__version__
    main()
