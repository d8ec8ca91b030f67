"""Training: a config (`config`), optimisers (`optimizers`), and one loop for every task and objective (`loop`)."""

from unmask.train.config import TrainConfig
from unmask.train.loop import Report, Training

__all__ = ["Report", "TrainConfig", "Training"]
