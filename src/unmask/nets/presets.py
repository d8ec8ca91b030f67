"""Nets of known sizes: the paper's (sections 3 and 4, appendix C), and ours for two CPU cores."""

from __future__ import annotations

from unmask.nets.transformer import TransformerConfig


def mdm_6m(values: int, length: int) -> TransformerConfig:
    """The paper's MDM for puzzles, 6M: GPT-2 style, seeing both ways, learned positions (3 blocks, width 384)."""
    return _gpt2(values, length, width=384, heads=12, blocks=3)


def mdm_19m(values: int, length: int) -> TransformerConfig:
    """The paper's MDM of 19M, for Zebra puzzles and latents-and-observations: its shape is not told; 6 blocks of
    width 512 have 18.9M."""
    return _gpt2(values, length, width=512, heads=8, blocks=6)


def arm_42m(values: int, length: int) -> TransformerConfig:
    """The paper's autoregressive model, 42M: 8 blocks of width 576, 8 heads, 3,456 neurons, normed queries and keys."""
    return _gpt2(values, length, width=576, heads=8, blocks=8, inner=3456, qk_norm=True, causal=True)


def by_coordinates(values: int, coordinates: int) -> TransformerConfig:
    """Ours: two blocks that run four times, attention by equal coordinates, no absolute positions (0.9M)."""
    return TransformerConfig(
        values, width=192, heads=6, blocks=2, passes=4, coordinates=coordinates, activation="relu2"
    )


def _gpt2(
    values: int,
    length: int,
    *,
    width: int,
    heads: int,
    blocks: int,
    inner: int | None = None,
    qk_norm: bool = False,
    causal: bool = False,
) -> TransformerConfig:
    return TransformerConfig(
        values,
        width=width,
        heads=heads,
        blocks=blocks,
        inner=inner,
        causal=causal,
        positions="learned",
        length=length,
        norm="layer",
        epsilon=1e-5,
        bias=True,
        qk_norm=qk_norm,
        tied=True,
    )
