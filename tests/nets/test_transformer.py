"""The Transformer keeps to the denoiser's contract, whatever it is made of."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import pytest
import torch

from unmask.decode import decode
from unmask.errors import DenoiserError, UnmaskError
from unmask.nets import presets, transformer
from unmask.nets.compiled import why_not
from unmask.nets.transformer import Transformer, TransformerConfig, mix, pattern
from unmask.state import State
from unmask.tasks.sudoku import Sudoku
from unmask.tasks.sudoku.symmetry import Symmetry

SMALL = TransformerConfig(5, width=16, heads=2, blocks=2, autocast="float32")
KINDS = {
    "plain": SMALL,
    "coordinates": dataclasses.replace(SMALL, coordinates=2),
    "looped": dataclasses.replace(SMALL, coordinates=2, passes=3),
    "learned": dataclasses.replace(SMALL, positions="learned", length=12, norm="layer", bias=True, tied=True),
    "rotary": dataclasses.replace(SMALL, positions="rotary", activation="swiglu", qkv_bias=True, kv_heads=1),
    "rotary and coordinates": dataclasses.replace(SMALL, positions="rotary", coordinates=2, kv_heads=1, qk_norm=True),
    "squared": dataclasses.replace(SMALL, activation="relu2", positions="learned", length=12),
}
CAUSAL = {
    "rotary": dataclasses.replace(SMALL, causal=True, positions="rotary"),
    "targets": dataclasses.replace(SMALL, causal=True, positions="learned", length=12, targets=True),
    "coordinates": dataclasses.replace(SMALL, causal=True, coordinates=2),
}


def net_of(config: TransformerConfig, seed: int = 0) -> Transformer:
    """A net whose every weight counts: fresh ones are zero where blocks write."""
    torch.manual_seed(seed)
    net = Transformer(config)
    with torch.no_grad():
        for weight in net.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return net.eval()


def state_of(batch: int = 3, length: int = 8, seed: int = 0, present: torch.Tensor | None = None) -> State:
    draw = torch.Generator().manual_seed(seed)
    tokens = torch.randint(5, (batch, length), generator=draw)
    hidden = torch.rand((batch, length), generator=draw) < 0.5
    hidden = hidden if present is None else hidden & present
    where = torch.stack([torch.arange(length) // 3, torch.arange(length) % 3], 1)
    return State.start(tokens, hidden, present=present, coordinates=where)


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_what_is_asked(kind: str) -> None:
    net, state = net_of(KINDS[kind]), state_of()
    few = state.hidden.clone()
    few[:, ::2] = False
    whole = net(state, torch.ones_like(state.hidden)).view(3, 8, 5)
    assert torch.allclose(net(state, state.hidden), whole[state.hidden], atol=1e-5)
    assert torch.allclose(net(state, few), whole[few], atol=1e-5)
    assert net(state, torch.zeros_like(few)).shape == (0, 5)
    assert decode(net, state, "margin, per_step(1), greedy").finish().hidden.sum() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_it_sees_both_ways_and_not_under_what_is_hidden(kind: str) -> None:
    net, state = net_of(KINDS[kind]), state_of()
    hidden = torch.zeros_like(state.hidden)
    hidden[:, 3] = True
    state = dataclasses.replace(state, hidden=hidden)
    first, last, under = (state.tokens.clone() for _ in range(3))
    first[:, 0] = (first[:, 0] + 1) % 5
    last[:, -1] = (last[:, -1] + 1) % 5
    under[:, 3] = (under[:, 3] + 1) % 5
    before = net(state, hidden)
    assert not torch.allclose(net(dataclasses.replace(state, tokens=first), hidden), before, atol=1e-4)
    assert not torch.allclose(net(dataclasses.replace(state, tokens=last), hidden), before, atol=1e-4)
    assert torch.equal(net(dataclasses.replace(state, tokens=under), hidden), before)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", KINDS)
def test_padding_changes_nothing(kind: str, side: str) -> None:
    net, state = net_of(KINDS[kind]), state_of()
    alone = net(state, state.hidden)
    pad = (3, 0) if side == "left" else (0, 3)
    tokens, hidden = torch.nn.functional.pad(state.tokens, pad, value=4), torch.nn.functional.pad(state.hidden, pad)
    present = torch.nn.functional.pad(torch.ones_like(state.hidden), pad)
    where = torch.nn.functional.pad(state.coordinates, (0, 0, *pad), value=-1)
    padded = State.start(tokens, hidden, present=present, coordinates=where)
    assert torch.allclose(net(padded, padded.hidden), alone, atol=1e-4)


@pytest.mark.parametrize("kind", CAUSAL)
def test_causal_nets_answer_from_what_comes_before(kind: str) -> None:
    net, state = net_of(CAUSAL[kind]), state_of()
    state = dataclasses.replace(state, hidden=torch.zeros_like(state.hidden))
    asked = torch.ones_like(state.hidden)
    before = net(state, asked).view(3, 8, 5)
    for place in range(8):
        tokens = state.tokens.clone()
        tokens[:, place] = (tokens[:, place] + 1) % 5
        after = net(dataclasses.replace(state, tokens=tokens), asked).view(3, 8, 5)
        assert torch.equal(after[:, : place + 1], before[:, : place + 1])
        if place < 7:
            assert not torch.allclose(after[:, place + 1], before[:, place + 1], atol=1e-5)


def test_a_causal_net_refuses_what_it_cannot_know() -> None:
    net, state = net_of(CAUSAL["rotary"]), state_of()
    with pytest.raises(DenoiserError, match="first hidden position"):
        net(state, state.hidden)
    first = state.hidden & (state.hidden.long().cumsum(1) == 1)
    assert net(state, first).shape == (int(first.sum()), 5)


def test_targets_tell_a_causal_net_where_it_answers() -> None:
    net, state = net_of(CAUSAL["targets"]), state_of()
    asked = torch.zeros_like(state.hidden)
    state = dataclasses.replace(state, hidden=asked)
    for place in (4, 0):
        asked = torch.zeros_like(state.hidden)
        asked[:, place] = True
        moved = state.place.clone()
        moved[:, place] = 9
        assert not torch.allclose(net(state, asked), net(dataclasses.replace(state, place=moved), asked), atol=1e-4)


def test_the_pattern_of_equal_coordinates() -> None:
    where = torch.tensor([[0, 0], [0, 1], [1, 1], [-1, 1]])
    assert pattern(where).tolist() == [[3, 1, 0, 0], [1, 3, 2, 2], [0, 2, 3, 2], [0, 2, 2, 2]]


def test_a_net_by_coordinates_keeps_the_symmetries_of_sudoku() -> None:
    task = Sudoku(4)
    net = net_of(TransformerConfig(4, width=16, heads=2, blocks=1, passes=2, coordinates=3, autocast="float32"))
    rows = task.sample(6, 0)
    symmetry = Symmetry.draw(4, 0, torch.arange(6), torch.zeros(6, dtype=torch.int64))
    symmetry = Symmetry(symmetry.cells, torch.arange(4).expand(6, 4))  # cells move, digits keep their names
    moved = task.rows(symmetry.values(rows.tokens), symmetry.places(rows.given))
    everywhere = torch.ones_like(rows.given)
    said = net(rows.start(), everywhere).view(6, 16, 4)
    row_and_column = net(moved.start(), everywhere).view(6, 16, 4)
    straight = (symmetry.cells[:, 1] // 4 == symmetry.cells[:, 0] // 4).nonzero().squeeze(1)
    assert len(straight)  # what is transposed swaps rows and columns, which the net may tell apart
    expected = said.gather(1, symmetry.cells[:, :, None].expand(6, 16, 4))
    assert torch.allclose(row_and_column[straight], expected[straight], atol=1e-4)


def test_in_training_it_answers_after_every_pass() -> None:
    net, state = net_of(KINDS["looped"]), state_of()
    last = net(state, state.hidden)
    net.train()
    each = net(state, state.hidden)
    assert each.shape == (3, int(state.hidden.sum()), 5)
    assert torch.allclose(each[-1], last, atol=1e-5)
    net.eval()
    net.passes = 2
    assert torch.allclose(net(state, state.hidden), each[1], atol=1e-5)
    net.passes = 7
    assert net(state, state.hidden).shape == last.shape


def test_warm_passes_are_drawn_by_step_and_have_no_gradient() -> None:
    net = net_of(dataclasses.replace(KINDS["looped"], warm=5)).train()
    state = state_of()
    drawn = []
    for step in range(12):
        here = dataclasses.replace(state, step=torch.full((3,), step))
        drawn.append(net(here, state.hidden))
        assert torch.equal(drawn[-1], net(here, state.hidden))
    assert len({float(logits.detach().sum()) for logits in drawn}) > 2
    drawn[0].sum().backward()
    assert all(weight.grad is not None for weight in net.parameters())


def test_grouped_queries_are_many_heads_that_share() -> None:
    shared = net_of(dataclasses.replace(SMALL, kv_heads=1))
    full = net_of(SMALL)
    weights = shared.state_dict()
    for name in list(weights):
        if "attend.key" in name or "attend.value" in name:
            weights[name] = weights[name].repeat(2, 1)
    full.load_state_dict(weights)
    state = state_of()
    assert torch.allclose(shared(state, state.hidden), full(state, state.hidden), atol=1e-5)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_attention_written_out_is_the_fused_one(heads: int, masked: bool, monkeypatch) -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, count, 7, 6) for count in (4, heads, heads))
    mask = torch.rand(3, 1, 7, 7) < 0.7 if masked else None
    mask = None if mask is None else mask | torch.eye(7, dtype=torch.bool)
    bias = torch.randn(4, 7, 7)
    written = mix(query, key, value, None, mask)
    assert torch.allclose(mix(query, key, value, 0 * bias, mask), written, atol=1e-6)
    added = bias if mask is None else (0 * bias + bias).expand(3, 4, 7, 7).masked_fill(~mask, -torch.inf)
    repeated = (tensor.repeat_interleave(4 // heads, 1) for tensor in (key, value))
    expected = torch.nn.functional.scaled_dot_product_attention(query, *repeated, attn_mask=added)
    assert torch.allclose(mix(query, key, value, bias, mask), expected, atol=1e-5)
    monkeypatch.setattr(transformer, "SHORT", 3)
    assert torch.allclose(mix(query, key, value, None, mask), written, atol=1e-5)


@pytest.mark.parametrize(
    ("config", "millions"),
    [(presets.mdm_6m(9, 81), 5.4), (presets.mdm_19m(50, 160), 19.0), (presets.arm_42m(9, 243), 42.6)],
)
def test_the_paper_s_nets_have_the_paper_s_sizes(config: TransformerConfig, millions: float) -> None:
    with torch.device("meta"):
        net = Transformer(config)
    assert sum(weight.numel() for weight in net.parameters()) / 1e6 == pytest.approx(millions, abs=0.3)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"width": 15}, "multiple of 2 heads"),
        ({"kv_heads": 3}, "multiple of kv_heads"),
        ({"positions": "learned"}, "need a length"),
        ({"positions": "lerned"}, "learned"),
        ({"targets": True}, "targets need"),
        ({"passes": 0}, "at least 1"),
        ({"width": "wide"}, "whole number"),
        ({"widht": 4}, "width"),
    ],
)
def test_what_cannot_be_a_net_is_refused(options: dict, told: str) -> None:
    with pytest.raises(UnmaskError, match=told):
        TransformerConfig(**{"values": 5, "heads": 2, "width": 16, **options})


def test_rows_of_another_kind_are_refused() -> None:
    state = state_of()
    with pytest.raises(DenoiserError, match="2 coordinates; this net goes by 3"):
        net_of(dataclasses.replace(SMALL, coordinates=3))(state, state.hidden)
    with pytest.raises(DenoiserError, match="8 positions; this net has learned 4"):
        net_of(dataclasses.replace(SMALL, positions="learned", length=4))(state, state.hidden)


def test_without_a_compiler_it_says_so(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert why_not(torch.device("cpu")) == "there is no C++ compiler"


def test_a_compiler_that_does_not_work_is_told(tmp_path) -> None:
    broken = tmp_path / "g++"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    asked = "import torch; from unmask.nets.compiled import why_not; print(why_not(torch.device('cpu')))"
    fresh = {"CXX": str(broken), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, env=os.environ | fresh
    )
    assert done.stdout.startswith("the compiler failed (")
