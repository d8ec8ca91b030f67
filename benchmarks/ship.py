"""Make a checkpoint one that comes with the package: half precision, and the passes that it is to run at inference.

    python benchmarks/ship.py RUN/weights.safetensors sudoku --passes 8

What is said about it (config, step, seconds, where its weights came from) is kept. Write its card beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

from unmask import checkpoint

MODELS = Path(checkpoint.__file__).parent / "models"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("source", type=Path)
    arguments.add_argument("name")
    arguments.add_argument("--passes", type=int)
    given = arguments.parse_args()
    saved = checkpoint.read(given.source)
    weights = {f"weights.{name}": tensor.to(torch.float16) for name, tensor in saved.part("weights").items()}
    passes = {} if given.passes is None else {"passes": given.passes}
    MODELS.mkdir(exist_ok=True)
    file = MODELS / f"{given.name}.safetensors"
    checkpoint.write(file, weights, {**saved.about, **passes})
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
