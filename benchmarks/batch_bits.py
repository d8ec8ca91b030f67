"""Does a net answer a row alike whatever its batch? How far apart are the logits, and how many rows decode otherwise?

    python benchmarks/batch_bits.py [--json FILE]        under a minute on two cores

Matrix products may round differently at another batch size. A small Transformer with random weights is asked about
every row alone and in a batch of 64, plainly and wrapped in `fixed_shape(net, 64)`; then all rows are decoded both
ways, greedily by the margin, where a last bit can change the order. Every number but the last column should be 0.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor, nn

from unmask import State, decode, fixed_shape
from unmask.recording import about

LENGTH, VALUES, ROWS = 81, 9, 64


class Net(nn.Module):
    """Four layers of 256, eight heads; hidden positions have a token of their own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True, norm_first=True)
        self.embed, self.place = nn.Embedding(VALUES + 1, 256), nn.Embedding(LENGTH, 256)
        self.body = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.head = nn.Linear(256, VALUES)

    def forward(self, state: State, asked: Tensor) -> Tensor:
        tokens = torch.where(state.hidden, VALUES, state.tokens)
        return self.head(self.body(self.embed(tokens) + self.place.weight))[asked]


@torch.no_grad()
def measure(dtype: torch.dtype, device: str, *, fixed: bool) -> dict:
    """The two differences, for one precision on one device."""
    net = Net().to(device, dtype).eval()
    denoise = fixed_shape(net, ROWS) if fixed else net
    draw = torch.Generator().manual_seed(1)
    tokens = torch.randint(VALUES, (ROWS, LENGTH), generator=draw)
    hidden = torch.rand((ROWS, LENGTH), generator=draw) < 0.7
    state = State.start(tokens, hidden).to(device)
    rows = [state.select(torch.tensor([row], device=device)) for row in range(ROWS)]

    together = denoise(state, state.hidden)
    alone = torch.cat([denoise(row, row.hidden) for row in rows])
    strategy = "margin, per_step(4), greedy"
    batch = decode(denoise, state, strategy).finish().tokens
    single = torch.cat([decode(denoise, row, strategy).finish().tokens for row in rows])
    return {
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "precision": str(dtype).removeprefix("torch."),
        "denoiser": f"fixed_shape(net, {ROWS})" if fixed else "net",
        "largest difference of logits": float((together - alone).abs().max()),
        "rows that decode otherwise": int((batch != single).any(1).sum()),
        "of": ROWS,
        "size of a logit": round(float(together.abs().float().mean()), 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="append the rows to this file, one JSON object a line")
    arguments = parser.parse_args()
    header = about("python benchmarks/batch_bits.py")
    print(json.dumps(header))
    rows = []
    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        for dtype in (torch.float32, torch.bfloat16):
            for fixed in (False, True):
                rows.append(measure(dtype, device, fixed=fixed))
                print(json.dumps(rows[-1]), flush=True)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        with arguments.json.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(header | row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
