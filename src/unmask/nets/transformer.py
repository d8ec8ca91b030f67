"""The Transformer: one net for every task, with what masked and autoregressive models of the literature differ in.

Tokens are embedded (what is hidden as a token of its own, which is never an answer), go through `blocks`, and the head
answers at the asked positions only. Three things are not in every Transformer:

- **Attention by equal coordinates.** Two positions have in common some of their coordinates: on Sudoku the row, the
  column, the box. With F coordinates there are 2^F such patterns, and every head learns one number for each, added to
  its scores. With that, no absolute position is needed, and what is learned in one row is known in all.
- **Passes.** The same blocks run `passes` times, with the embedded tokens added back before each. In training the
  head answers after every pass, so that each pass learns to improve on the one before, and at inference there may be
  more of them. `warm` passes without gradient may come first, a number of them drawn for each step: the net then
  learns to go on from what its own passes made, however many they were (Geiping et al. 2025, arXiv 2502.05171).
- **Causal** nets answer at a position from the positions before it, shown or not, and may be told which position is
  to be answered (`targets`; Pannatier et al. 2024, arXiv 2404.09562), since the order of the columns is theirs alone.

"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from unmask import noise
from unmask.errors import DenoiserError, UnmaskError
from unmask.part import Checked
from unmask.state import State

SHORT = 512
"""Positions up to which attention is written out on a CPU."""


@dataclass(frozen=True)
class TransformerConfig(metaclass=Checked):
    """What a Transformer is; plain values, kept in a checkpoint's metadata.

    `length` is the longest row, where positions are learned. `kv_heads` below `heads` groups the queries. `coordinates`
    is F, the number of coordinates whose pattern biases attention; 0 leaves them out. `autocast` is the precision of
    matrix products.
    """

    values: int
    width: int = 128
    heads: int = 4
    kv_heads: int | None = None
    blocks: int = 4
    inner: int | None = None
    passes: int = 1
    warm: int = 0
    causal: bool = False
    positions: Literal["none", "learned", "rotary"] = "none"
    targets: bool = False
    length: int = 0
    base: float = 10_000.0
    coordinates: int = 0
    norm: Literal["rms", "layer"] = "rms"
    epsilon: float = 1e-6
    activation: Literal["gelu", "swiglu", "relu2"] = "gelu"
    bias: bool = False
    qkv_bias: bool = False
    qk_norm: bool = False
    tied: bool = False
    autocast: Literal["float32", "bfloat16"] = "bfloat16"

    def __post_init__(self) -> None:
        groups = self.heads if self.kv_heads is None else self.kv_heads
        for wrong, told in (
            (self.values < 1, f"values must be at least 1, got {self.values}"),
            (min(self.width, self.heads, self.blocks, self.passes) < 1, "width, heads, blocks, passes: at least 1"),
            (self.warm < 0, f"warm must be at least 0, got {self.warm}"),
            (self.width % self.heads, f"width {self.width} is not a multiple of {self.heads} heads"),
            (groups < 1 or self.heads % groups, f"heads {self.heads} is not a multiple of kv_heads {groups}"),
            (self.positions == "learned" and self.length < 1, "learned positions need a length"),
            (self.targets and self.positions != "learned", "targets need learned positions"),
            (self.targets and not self.causal, "targets are for causal nets"),
            (self.positions == "rotary" and self.width // self.heads % 2, "rotary positions need an even head width"),
            (self.inner is not None and self.inner < 1, f"inner must be at least 1, got {self.inner}"),
            (not 0 <= self.coordinates <= 8, f"coordinates must be 0 to 8, got {self.coordinates}"),
        ):
            if wrong:
                raise UnmaskError(f"TransformerConfig: {told}")


class Transformer(nn.Module):
    """A Denoiser: `net(state, asked)` gives logits [n,V]; while training, [P,n,V], one for each pass.

    `passes` may be set to another number than the net was trained with. `about` is what its checkpoint says of it.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.passes = config.passes
        self.about: Mapping[str, Any] = {}
        self.tokens = nn.Embedding(config.values + 1, config.width)
        if config.positions == "learned":
            self.positions = nn.Embedding(config.length, config.width)
        if config.targets:
            self.targets = nn.Embedding(config.length, config.width)
        if config.causal:
            self.begin = nn.Parameter(torch.zeros(config.width))
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.blocks))
        self.norm = _norm(config, config.width)
        self.head = None if config.tied else nn.Linear(config.width, config.values, bias=config.bias)
        self.reset()

    @property
    def causal(self) -> bool:
        """Whether what is asked at a position is answered from the positions before it only."""
        return self.config.causal

    @property
    def size(self) -> int:
        """How many weights there are."""
        return sum(weight.numel() for weight in self.parameters())

    def reset(self) -> None:
        """Fresh weights: normal ones, and zero where a block writes, so that a new net passes tokens straight on."""
        for name, weight in self.named_parameters():
            if name.endswith("norm.weight"):
                nn.init.ones_(weight)
            elif weight.dim() < 2 or name.endswith(("out.weight", "down.weight", "pattern")):
                nn.init.zeros_(weight)
            elif name.startswith(("blocks", "head")):
                nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
            else:
                nn.init.normal_(weight, std=0.02 if self.config.tied else 0.5)

    def forward(
        self, state: State, asked: Bool[Tensor, "B L"], *, passes: int | None = None
    ) -> Float[Tensor, "n V"] | Float[Tensor, "P n V"]:
        self._expect(state, asked)
        flat = asked.reshape(-1).nonzero().squeeze(1)
        device = state.tokens.device.type
        half = self.config.autocast == "bfloat16"
        stream, kind, mask, turn = self.embed(state)
        warm, passes = self._warm(state), self.passes if passes is None else passes
        with torch.autocast(device, torch.bfloat16, enabled=half):
            carried = torch.zeros_like(stream)
            with torch.no_grad():
                for _ in range(warm):
                    carried = self._pass(stream + carried, kind, mask, turn)
        # A new context: what autocast has kept of the weights was made without gradient.
        with torch.autocast(device, torch.bfloat16, enabled=half):
            picked = []
            for number in range(passes):
                carried = self._pass(stream + carried, kind, mask, turn)
                if self.training or number + 1 == passes:
                    picked.append(self._before(carried, state).flatten(0, 1).index_select(0, flat))
        logits = self.answer(torch.stack(picked))
        return logits if self.training else logits[0]

    def embed(self, state: State) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor | None]:
        """The embedded tokens, the pattern of equal coordinates, what may be attended to, and the rotations."""
        config = self.config
        unknown = state.hidden | ~state.present
        stream = self.tokens(state.tokens.masked_fill(unknown, config.values))
        if config.positions == "learned":
            stream = stream + self.positions(state.place)
        if config.targets:
            after = state.place[:, 1:]
            stream = stream + F.pad(self.targets(after), (0, 0, 0, 1))
        length = state.tokens.shape[1]
        mask = None
        if not bool(state.present.all()):  # what is absent attends to itself, or its softmax would be 0 / 0
            mask = state.present[:, None, None, :] | torch.eye(length, dtype=torch.bool, device=stream.device)
        if config.causal and mask is not None:  # where all is present, attention knows what comes before by itself
            mask = mask & torch.ones((length, length), dtype=torch.bool, device=stream.device).tril()
        where = state.coordinates if config.coordinates else None
        kind = None if where is None else pattern(where)
        turn = rotations(state.place, config) if config.positions == "rotary" else None
        return stream, kind, mask, turn

    def answer(self, features: Float[Tensor, "*n W"]) -> Float[Tensor, "*n V"]:
        """The head: logits from features, in single precision."""
        features = self.norm(features.float())
        if self.head is not None:
            return self.head(features)
        return F.linear(features, self.tokens.weight[: self.config.values])

    def _pass(self, stream: Tensor, kind: Tensor | None, mask: Tensor | None, turn: Tensor | None) -> Tensor:
        for block in self.blocks:
            # While decoding, rows leave the batch: to compile for every size of it would take longer than it saves.
            run = block if self.training else block.forward
            stream = run(stream, kind, mask, turn)
        return stream

    def _before(self, stream: Tensor, state: State) -> Tensor:
        """A causal net answers at a position with what the one before it knows; at the first, with where it is."""
        if not self.config.causal:
            return stream
        begin = self.begin.expand(len(stream), 1, -1)
        if self.config.targets:
            begin = begin + self.targets(state.place[:, :1])
        return torch.cat([begin.to(stream.dtype), stream[:, :-1]], 1)

    def _warm(self, state: State) -> int:
        """How many passes go before those that are learned from: a matter of the seed and the step alone."""
        if not (self.training and self.config.warm):
            return 0
        return int(noise.uniform(state.seed, "warm", 0, int(state.step[0]), 0) * (self.config.warm + 1))

    def _expect(self, state: State, asked: Bool[Tensor, "B L"]) -> None:
        config, length = self.config, state.tokens.shape[1]
        if config.causal and not self.training:
            before = state.hidden.long().cumsum(1) - state.hidden.long()
            if bool((asked & (before > 0)).any()):
                raise DenoiserError("a causal net answers at the first hidden position of a row, and at none behind it")
        if config.positions == "learned" and length > config.length:
            raise DenoiserError(f"rows have {length} positions; this net has learned {config.length}")
        found = 0 if state.coordinates is None else state.coordinates.shape[-1]
        if config.coordinates and found != config.coordinates:
            raise DenoiserError(f"rows have {found} coordinates; this net goes by {config.coordinates}")


class Block(nn.Module):
    """Attention and a layer of neurons, each read from the normed stream and added to it."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.attend_norm = _norm(config, config.width)
        self.attend = Attention(config)
        self.mlp_norm = _norm(config, config.width)
        self.mlp = Neurons(config)

    def forward(self, stream: Tensor, kind: Tensor | None, mask: Tensor | None, turn: Tensor | None) -> Tensor:
        stream = stream + self.attend(self.attend_norm(stream), kind, mask, turn)
        return stream + self.mlp(self.mlp_norm(stream))


class Attention(nn.Module):
    """Multi-head attention, grouped queries included, biased by the pattern of equal coordinates."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.heads, self.groups = config.heads, config.kv_heads or config.heads
        self.size, self.causal = config.width // config.heads, config.causal
        inner, bias = self.groups * self.size, config.bias or config.qkv_bias
        self.query = nn.Linear(config.width, config.width, bias=bias)
        self.key = nn.Linear(config.width, inner, bias=bias)
        self.value = nn.Linear(config.width, inner, bias=bias)
        self.out = nn.Linear(config.width, config.width, bias=config.bias)
        self.query_norm = _norm(config, self.size) if config.qk_norm else nn.Identity()
        self.key_norm = _norm(config, self.size) if config.qk_norm else nn.Identity()
        if config.coordinates:
            self.pattern = nn.Parameter(torch.zeros(config.heads, 2**config.coordinates))

    def forward(self, x: Tensor, kind: Tensor | None, mask: Tensor | None, turn: Tensor | None) -> Tensor:
        query = self.query_norm(self._split(self.query(x), self.heads))
        key = self.key_norm(self._split(self.key(x), self.groups))
        value = self._split(self.value(x), self.groups)
        if turn is not None:
            query, key = rotate(query, turn), rotate(key, turn)
        bias = None
        if kind is not None:
            bias = self.pattern[:, kind] if kind.dim() == 2 else self.pattern[:, kind].transpose(0, 1)
        mixed = mix(query, key, value, bias, mask, causal=self.causal and mask is None)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor, heads: int) -> Tensor:
        return x.unflatten(-1, (heads, self.size)).transpose(1, 2)


def mix(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, mask: Tensor | None, *, causal: bool = False
) -> Tensor:
    """Attention of [B,H,L,S]; fewer heads of keys and values are shared by those of queries. Written out where a bias
    is to be learned, and for short rows on a CPU, where it is several times faster (compiled) than the fused kernel."""
    if bias is None and (query.is_cuda or query.shape[2] > SHORT):
        grouped = key.shape[1] != query.shape[1]
        return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, enable_gqa=grouped)
    repeat = query.shape[1] // key.shape[1]
    if repeat > 1:
        key, value = key.repeat_interleave(repeat, 1), value.repeat_interleave(repeat, 1)
    scores = (query * query.shape[3] ** -0.5) @ key.transpose(-1, -2)
    scores = scores if bias is None else scores + bias
    if causal:
        mask = torch.ones_like(scores[0, 0], dtype=torch.bool).tril()
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1, dtype=value.dtype) @ value


class Neurons(nn.Module):
    """The layer of neurons: GELU, a gate (SwiGLU), or squared ReLU, which costs the least."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        inner = config.inner or 4 * config.width
        self.up = nn.Linear(config.width, inner, bias=config.bias)
        self.squared = config.activation == "relu2"
        self.gate = nn.Linear(config.width, inner, bias=config.bias) if config.activation == "swiglu" else None
        self.down = nn.Linear(inner, config.width, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        if self.gate is not None:
            return self.down(F.silu(self.gate(x)) * self.up(x))
        if self.squared:
            return self.down(F.relu(self.up(x)).square())
        return self.down(F.gelu(self.up(x), approximate="tanh"))


def pattern(coordinates: Int[Tensor, "*B L F"]) -> Int[Tensor, "*B L L"]:
    """Which coordinates every two positions have in common, as bits; -1 is equal to nothing."""
    one, other = coordinates[..., :, None, :], coordinates[..., None, :, :]
    bits = 1 << torch.arange(coordinates.shape[-1], device=coordinates.device)
    return (((one == other) & (one >= 0)) * bits).sum(-1)


def rotations(place: Int[Tensor, "B L"], config: TransformerConfig) -> Float[Tensor, "2 B 1 L H"]:
    """Cosines and sines by which pairs of features turn with the position (RoPE, the halves as pairs)."""
    size = config.width // config.heads
    rates = config.base ** -(torch.arange(0, size, 2, device=place.device) / size)
    angles = place[:, None, :, None] * rates
    return torch.stack([angles.cos(), angles.sin()]).repeat(1, 1, 1, 1, 2)


def rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Turn pairs of features: the i-th of the first half with the i-th of the second."""
    first, second = x.float().chunk(2, -1)
    return (x * turn[0] + torch.cat([-second, first], -1) * turn[1]).to(x.dtype)


def _norm(config: TransformerConfig, size: int) -> nn.Module:
    if config.norm == "layer":
        return nn.LayerNorm(size, eps=config.epsilon, bias=config.bias)
    return nn.RMSNorm(size, eps=config.epsilon)
