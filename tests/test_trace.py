"""Traces: what they tell is what happened, they come back from a file as they were, and damage is one clear line."""

from __future__ import annotations

import json
import math
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
import safetensors.torch
import torch
from torch import Tensor
from toys import Stored, Toy, blank

from unmask.decode import Step, decode
from unmask.errors import UnmaskError
from unmask.state import State
from unmask.trace import KINDS, REWRITTEN, SHOWN, TAKEN_BACK, Trace, record

PLAIN = [
    "margin, per_step(1), greedy",
    "random, ancestral(6), sample",
    "entropy, entropy_bound(0.5), sample(0.7), blocks(5)",
    "klass, threshold(0.0), greedy",
]
REVISED = [
    'noisy(log_probability, "gumbel", 0.5, "annealed"), evenly(8, "down"), sample, lowest("again", "rewrite")',
    'log_probability, evenly(6), sample, lowest("again", "keep"), blocks(5)',
    'random, ancestral(10), sample, remdm("cap")',
    "log_chosen_probability, evenly(8), sample, p2(2.0)",
    "margin, evenly(6), sample, leave_one_out(0.6)",
]
ALL = PLAIN + REVISED


def start(batch: int = 4) -> State:
    return blank(batch, 12, seed=3, given=0.2)


def traced(strategy: str, *, candidates: int = 0, batch: int = 4) -> Trace:
    return record(decode(Toy(), start(batch), strategy), candidates)


def taken(strategy: str) -> list[Step]:
    return list(decode(Toy(), start(), strategy))


def nan_to_none(values: list[float]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


# What it tells


@pytest.mark.parametrize("strategy", ALL)
def test_tables_hold_the_end_of_the_decode(strategy: str) -> None:
    trace, begin = traced(strategy), start()
    steps = decode(Toy(), begin, strategy)
    end = steps.finish()
    assert trace.strategy == str(steps.strategy)
    assert (trace.seed, trace.denoiser_calls) == (3, steps.calls)
    for name in ("row", "tokens", "given", "present", "hidden"):
        assert torch.equal(getattr(trace, name), getattr(end, name)), name
    assert len(trace) == 4
    assert not trace.hidden.any()
    assert torch.equal(trace.step >= 0, begin.hidden)
    assert torch.equal(trace.score.isnan(), ~begin.hidden)
    assert torch.equal(trace.probability.isnan(), ~begin.hidden)
    assert bool(trace.events.shape[0] > 0) == (strategy in REVISED)


@pytest.mark.parametrize("strategy", PLAIN)
def test_tables_tell_when_and_how_sure(strategy: str) -> None:
    trace, seen = traced(strategy), 0
    for step in decode(Toy(), start(), strategy):
        score = step.belief.spread(step.score, math.nan)
        chosen = step.belief.spread(step.belief.log_chosen.exp(), math.nan)
        for inside, position in step.shown.nonzero().tolist():
            row, seen = int(step.rows[inside]), seen + 1
            assert trace.step[row, position] == step.before.step[inside]
            assert trace.score[row, position] == score[inside, position]
            assert trace.probability[row, position] == chosen[inside, position]
            assert trace.tokens[row, position] == step.after.tokens[inside, position]
    assert seen == int(start().hidden.sum())


@pytest.mark.parametrize("strategy", ALL)
def test_calls_are_counted_for_each_row(strategy: str) -> None:
    trace = traced(strategy)
    expected = [0] * 4
    for step in taken(strategy):
        for row, calls in zip(step.rows.tolist(), step.row_calls.tolist(), strict=True):
            expected[row] += calls
    assert trace.calls.tolist() == expected
    assert max(expected) <= trace.denoiser_calls or "leave_one_out" in strategy


@pytest.mark.parametrize("strategy", REVISED)
def test_events_replayed_give_the_end(strategy: str) -> None:
    trace, begin = traced(strategy), start()
    tokens, hidden = begin.tokens.clone(), begin.hidden.clone()
    table = {
        "step": torch.full_like(tokens, -1),
        "score": torch.full(tokens.shape, math.nan, dtype=torch.float64),
        "probability": torch.full(tokens.shape, math.nan, dtype=torch.float64),
    }
    kinds = set()
    clock = [-1] * 4
    for number, (row, step, position, kind, value) in enumerate(trace.events.tolist()):
        kinds.add(kind)
        assert step >= clock[row]
        clock[row] = step
        assert bool(hidden[row, position]) == (kind == SHOWN)
        assert not begin.given[row, position]
        if kind == TAKEN_BACK:
            assert value == tokens[row, position]
            tokens[row, position], hidden[row, position] = 0, True
            table["step"][row, position] = -1
            table["score"][row, position] = table["probability"][row, position] = math.nan
            assert math.isnan(trace.event_probability[number])
        else:
            assert kind == SHOWN or value != tokens[row, position]
            tokens[row, position], hidden[row, position] = value, False
            table["step"][row, position] = step
            table["score"][row, position] = trace.event_score[number]
            table["probability"][row, position] = trace.event_probability[number]
            assert 0 < trace.event_probability[number] <= 1
    assert torch.equal(tokens, trace.tokens)
    assert torch.equal(hidden, trace.hidden)
    for name, replayed in table.items():
        assert torch.equal(replayed.nan_to_num(nan=-9), getattr(trace, name).nan_to_num(nan=-9)), name
    assert trace.events[:, 0].tolist() == sorted(trace.events[:, 0].tolist())
    expected = {SHOWN, REWRITTEN} if "rewrite" in strategy else {SHOWN, TAKEN_BACK}
    assert kinds >= expected


def test_every_kind_of_event_happens_and_has_a_name() -> None:
    kinds = {kind for strategy in REVISED for kind in traced(strategy).events[:, 3].tolist()}
    assert kinds == {SHOWN, REWRITTEN, TAKEN_BACK}
    assert [KINDS[kind] for kind in (SHOWN, REWRITTEN, TAKEN_BACK)] == ["shown", "rewritten", "taken back"]


@pytest.mark.parametrize("count", [1, 3, 5, 8])
@pytest.mark.parametrize("strategy", [ALL[0], ALL[2], ALL[4], ALL[7]])
def test_candidates_are_the_likeliest_values_of_all_that_was_asked(strategy: str, count: int) -> None:
    trace = traced(strategy, candidates=count)
    expected: dict[int, list[tuple]] = {row: [] for row in range(4)}
    for step in decode(Toy(), start(), strategy):
        probabilities, score = step.belief.probabilities.tolist(), step.score.tolist()
        for number, (inside, position) in enumerate(step.belief.asked.nonzero().tolist()):
            ranked = sorted(range(5), key=lambda value, p=probabilities[number]: (-p[value], value))[:count]
            beside = [probabilities[number][value] for value in ranked]
            pad = max(0, count - 5)
            row, clock = int(step.rows[inside]), int(step.before.step[inside])
            expected[row].append((clock, position, score[number], ranked + [-1] * pad, beside + [0.0] * pad))
    flat = [(row, *entry) for row in range(4) for entry in expected[row]]
    assert trace.asked.tolist() == [[row, step, position] for row, step, position, *_ in flat]
    assert trace.asked_score.tolist() == [score for _, _, _, score, _, _ in flat]
    assert trace.top_values.tolist() == [values for *_, values, _ in flat]
    assert trace.top_probabilities.tolist() == [beside for *_, beside in flat]
    assert trace.top_values.shape == (len(flat), count)


def test_candidates_change_nothing_else() -> None:
    with_candidates, without = traced(ALL[4], candidates=2), traced(ALL[4])
    assert with_candidates != without
    empty = {name: getattr(without, name) for name in ("asked", "asked_score", "top_values", "top_probabilities")}
    assert replace(with_candidates, **empty) == without


def test_trace_of_nothing_to_do() -> None:
    state = State.start(torch.ones((2, 3), dtype=torch.int64), torch.zeros((2, 3), dtype=torch.bool))
    trace = record(decode(Toy(3), state, "margin, per_step(1), greedy"), 2)
    assert trace.denoiser_calls == 0
    assert trace.calls.tolist() == [0, 0]
    assert trace.step.tolist() == [[-1] * 3] * 2
    assert [json.loads(line)["candidates"] for line in list(trace.json_lines())[1:]] == [[], []]


def early(state: State) -> Tensor:
    return state.step >= state.row + 1


def test_what_stays_hidden_has_no_step() -> None:
    trace = record(decode(Toy(), start(), "margin, per_step(2), greedy", until=early))
    assert (trace.step >= 0).sum(1).tolist() == [2, 4, 6, 8]
    assert torch.equal(trace.hidden, start().hidden & (trace.step < 0))
    assert trace.calls.tolist() == [1, 2, 3, 4]
    assert trace.denoiser_calls == 4


@pytest.mark.parametrize("strategy", [ALL[6], ALL[7]])
def test_what_was_taken_back_and_stays_hidden_has_no_step(strategy: str) -> None:
    trace = record(decode(Toy(), start(), strategy, until=lambda state: state.step >= 6))
    last: dict[tuple[int, int], int] = {(row, place): kind for row, _, place, kind, _ in trace.events.tolist()}
    back = [where for where, kind in last.items() if kind == TAKEN_BACK]
    assert back
    for where in back:
        assert bool(trace.hidden[where])
        assert trace.tokens[where] == 0
    assert torch.equal(trace.step >= 0, start().hidden & ~trace.hidden)
    assert torch.equal(trace.score.isnan(), trace.step < 0)
    assert torch.equal(trace.probability.isnan(), trace.step < 0)


@pytest.mark.parametrize("strategy", [ALL[0], ALL[3], ALL[4], ALL[6]])
def test_a_continuation_counts_its_steps_on(strategy: str) -> None:
    whole = traced(strategy)
    steps = decode(Toy(), start(), strategy)
    next(steps)
    middle = next(steps).state
    rest = record(decode(Toy(), middle, strategy))
    later = rest.step >= 0
    assert torch.equal(rest.tokens, whole.tokens)
    assert torch.equal(rest.step[later], whole.step[later])
    assert int(rest.step[later].min()) >= 2
    assert bool(((rest.step == -1) | (rest.step == whole.step)).all())


# Equality and selection


def altered(value: Any) -> Any:
    """The same but for the least change, in one place."""
    if isinstance(value, dict):
        return {"task": "x"}
    if not isinstance(value, Tensor):
        return value + type(value)(1)
    other = value.clone()
    flat = other.view(-1)
    if value.dtype == torch.bool:
        flat[-1] = ~flat[-1]
    elif value.is_floating_point():
        place = int(flat.isfinite().nonzero()[0])
        flat[place] = flat[place].nextafter(torch.tensor(math.inf, dtype=value.dtype))
    else:
        flat[-1] += 1
    return other


def test_equal_to_itself_only() -> None:
    one = traced(ALL[4], candidates=2)
    assert one == traced(ALL[4], candidates=2)
    assert one != "a trace"
    for f in fields(one):
        assert one != replace(one, **{f.name: altered(getattr(one, f.name))}), f.name


def test_nan_equals_nan_and_nothing_else() -> None:
    one = traced(ALL[0])
    assert bool(one.score.isnan().any())
    assert one != replace(one, score=one.score.nan_to_num(nan=0.0))


def test_precision_and_shape_count() -> None:
    one = traced(ALL[0])
    assert one != replace(one, score=one.score.float())
    assert one != one.select(torch.arange(3))


@pytest.mark.parametrize("strategy", ALL)
@pytest.mark.parametrize("index", [[0], [3], [1, 2], [0, 1, 2, 3], [2, 0], [3, 1, 0, 2]], ids=str)
def test_selected_rows_are_as_if_decoded_alone(strategy: str, index: list[int]) -> None:
    chosen = torch.tensor(index)
    alone = record(decode(Toy(), start().select(chosen), strategy), 2)
    selected = traced(strategy, candidates=2).select(chosen)
    assert selected.denoiser_calls == traced(strategy).denoiser_calls
    assert replace(selected, denoiser_calls=alone.denoiser_calls) == alone


@pytest.mark.parametrize("strategy", [ALL[0], ALL[4], ALL[6]])
def test_a_row_may_be_selected_more_than_once(strategy: str) -> None:
    trace = traced(strategy, candidates=1)
    alone = trace.select(torch.tensor([1]))
    assert len(alone.asked) > 0
    twice = trace.select(torch.tensor([1, 3, 1]))
    for number in (0, 2):
        assert twice.select(torch.tensor([number])) == alone


# Files


@pytest.mark.parametrize("strategy", ALL)
@pytest.mark.parametrize("candidates", [0, 3])
def test_saved_and_loaded_is_equal(strategy: str, candidates: int, tmp_path: Path) -> None:
    trace = replace(traced(strategy, candidates=candidates), about={"task": "тест\n\"'", "model": ""})
    path = tmp_path / "ein Name mit Leerzeichen.trace"
    trace.save(path)
    assert Trace.load(path) == trace
    assert Trace.load(str(path)).about == trace.about
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_selected_traces_can_be_saved(tmp_path: Path) -> None:
    trace = traced(ALL[4], candidates=2).select(torch.tensor([3, 1]))
    trace.save(tmp_path / "trace")
    assert Trace.load(tmp_path / "trace") == trace


def test_saved_over_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    traced(ALL[0]).save(path)
    traced(ALL[1]).save(path)
    assert Trace.load(path) == traced(ALL[1])


def refuse_constants(text: str) -> NoReturn:
    raise AssertionError(f"{text} is not JSON")


@pytest.mark.parametrize("strategy", ALL)
def test_json_lines_agree_with_the_tables(strategy: str) -> None:
    trace = replace(traced(strategy, candidates=2), about={"task": "toy"})
    lines = list(trace.json_lines())
    assert not any("\n" in line for line in lines)
    header, *rows = [json.loads(line, parse_constant=refuse_constants) for line in lines]
    assert header == {
        "format": "unmask trace 1",
        "strategy": trace.strategy,
        "seed": 3,
        "denoiser_calls": trace.denoiser_calls,
        "rows": 4,
        "about": {"task": "toy"},
    }
    assert len(rows) == 4
    for number, row in enumerate(rows):
        assert (row["row"], row["calls"]) == (int(trace.row[number]), int(trace.calls[number]))
        for name in ("tokens", "given", "present", "hidden", "step"):
            assert row[name] == getattr(trace, name)[number].tolist(), name
        for name in ("score", "probability"):
            assert row[name] == nan_to_none(getattr(trace, name)[number].tolist()), name
        mine = trace.events[:, 0] == number
        events = [[e["step"], e["position"], KINDS.index(e["kind"]), e["value"]] for e in row["events"]]
        assert events == trace.events[mine, 1:].tolist()
        assert [e["score"] for e in row["events"]] == nan_to_none(trace.event_score[mine].tolist())
        assert [e["probability"] for e in row["events"]] == nan_to_none(trace.event_probability[mine].tolist())
        mine = trace.asked[:, 0] == number
        asked = row["candidates"]
        assert [[a["step"], a["position"]] for a in asked] == trace.asked[mine, 1:].tolist()
        assert [a["score"] for a in asked] == nan_to_none(trace.asked_score[mine].tolist())
        assert [a["values"] for a in asked] == trace.top_values[mine].tolist()
        assert [a["probabilities"] for a in asked] == trace.top_probabilities[mine].tolist()
        assert len(asked) > 0


def test_json_has_no_candidates_where_none_were_kept() -> None:
    rows = [json.loads(line) for line in traced(ALL[0]).json_lines()][1:]
    assert len(rows) == 4
    assert not any("candidates" in row for row in rows)


def test_infinite_scores_are_null_in_json() -> None:
    logits = torch.tensor([[[0.0, -math.inf], [0.0, 1.0]]])
    trace = record(decode(Stored(logits), blank(1, 2), "log_margin, per_step(1), greedy"), 2)
    assert trace.score[0, 0] == math.inf
    row = json.loads(list(trace.json_lines())[1], parse_constant=refuse_constants)
    assert row["score"] == [None, 1.0]
    assert row["candidates"][0] == {
        "step": 0,
        "position": 0,
        "score": None,
        "values": [0, 1],
        "probabilities": [1.0, 0.0],
    }


# Damage


def one_line(path: Path) -> str:
    """The error that loading gives, which must be one line that names the file."""
    with pytest.raises(UnmaskError) as caught:
        Trace.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "trace"
    traced(ALL[4], candidates=1, batch=2).save(path)
    return path


def test_truncated_files_are_refused(saved: Path) -> None:
    packed = saved.read_bytes()
    header = 8 + int.from_bytes(packed[:8], "little")
    lengths = [1, 2, 7, 8, 9, header // 2, header - 1, header, header + 1, len(packed) // 2, len(packed) - 1]
    lengths += list(range(10, len(packed), len(packed) // 60))
    for length in lengths:
        saved.write_bytes(packed[:length])
        assert "is not a trace, or is truncated" in one_line(saved)


def test_longer_files_are_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"\0")
    one_line(saved)


@pytest.mark.parametrize("flip", [0x01, 0x02, 0x10, 0x20, 0x80, 0xFF])
def test_flipped_bytes_are_refused(saved: Path, flip: int) -> None:
    """Wherever they are; or else the same trace is read (a space between two words of the header may change)."""
    good, packed = Trace.load(saved), bytearray(saved.read_bytes())
    header = 8 + int.from_bytes(packed[:8], "little")
    places = [*range(8), *range(8 + flip % 3, header, 5), *range(header, len(packed), 97), len(packed) - 1]
    refused = 0
    for place in places:
        packed[place] ^= flip
        saved.write_bytes(packed)
        packed[place] ^= flip
        try:
            assert Trace.load(saved) == good
        except UnmaskError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
    assert refused > len(places) * 0.95


def test_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert "is empty; expected a trace file" in one_line(tmp_path / "empty")


def test_directory_is_refused(tmp_path: Path) -> None:
    assert "is a directory; expected a trace file" in one_line(tmp_path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    assert "does not exist; expected a trace file" in one_line(tmp_path / "none")
    assert "does not exist; expected a trace file" in one_line(tmp_path / "none" / "at all")


def test_path_below_a_file_is_refused(saved: Path) -> None:
    one_line(saved / "trace")


def test_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    one_line(tmp_path / ("x" * 5000))


@pytest.mark.parametrize(
    "content",
    [
        b"{}",
        b"not a trace\n" * 40,
        b"\0" * 100,
        b"\xff" * 100,
        (2).to_bytes(8, "little") + b"{}",
        (4).to_bytes(8, "little") + b"null",
        (2).to_bytes(8, "little") + b"[]",
        (3).to_bytes(8, "little") + b'"\xff"',
        b"PK\x03\x04" + b"\0" * 60,
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    assert "not a trace" in one_line(path)


def repacked(path: Path, metadata: dict[str, str] | None, **tensors: Tensor | None) -> None:
    """Writes the file again with other metadata, and some tensors changed, added or (None) left out."""
    held = safetensors.torch.load_file(path) | tensors
    kept = {name: tensor for name, tensor in held.items() if tensor is not None}
    path.write_bytes(safetensors.torch.save(kept, metadata=metadata))


GOOD = {"format": "unmask trace 1", "strategy": "s", "seed": 0, "denoiser_calls": 1, "about": {}}


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {"other": "x"},
        {"unmask": ""},
        {"unmask": "nonsense"},
        {"unmask": "[]"},
        {"unmask": "3"},
        {"unmask": "null"},
        {"unmask": "{}"},
        {"unmask": json.dumps({name: value for name, value in GOOD.items() if name != "strategy"})},
        {"unmask": json.dumps({name: value for name, value in GOOD.items() if name != "about"})},
        {"unmask": json.dumps(GOOD)[:-1] + ', "seed": ' + "9" * 5000 + "}"},
    ],
)
def test_files_without_a_right_header_are_refused(saved: Path, metadata: dict[str, str] | None) -> None:
    repacked(saved, metadata)
    one_line(saved)


def test_other_formats_are_named(saved: Path) -> None:
    repacked(saved, {"unmask": json.dumps(GOOD | {"format": "unmask trace 2"})})
    assert "has the format 'unmask trace 2'; this version reads 'unmask trace 1'" in one_line(saved)


def test_the_header_that_others_spoil_lacks_its_checksum_alone(saved: Path) -> None:
    repacked(saved, {"unmask": json.dumps(GOOD)})
    assert "its checksum does not match" in one_line(saved)


@pytest.mark.parametrize("change", [{"events": None}, {"more": torch.zeros(2)}, {"strategy": torch.zeros(2)}], ids=str)
def test_files_with_other_tensors_are_refused(saved: Path, change: dict[str, Tensor | None]) -> None:
    repacked(saved, {"unmask": json.dumps(GOOD)}, **change)
    one_line(saved)


# Writing that fails


@pytest.mark.parametrize("name", ["none/trace", "file/trace", "x" * 300, "x" * 250, "."])
def test_failed_writes_leave_nothing(tmp_path: Path, name: str) -> None:
    """No such folder, a file for a folder, names too long (one only with the ending of its draft), a folder."""
    (tmp_path / "file").write_text("here before")
    with pytest.raises(UnmaskError) as caught:
        traced(ALL[0]).save(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert str(tmp_path / name) in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "here before"


def test_failed_replacement_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace"
    traced(ALL[0]).save(path)

    def full(self: Path, target: Path) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(UnmaskError, match=r"^cannot write .*trace: No space left on device$"):
        traced(ALL[1]).save(path)
    assert Trace.load(path) == traced(ALL[0])
    assert [entry.name for entry in tmp_path.iterdir()] == ["trace"]


def test_a_write_cut_short_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "trace"
    traced(ALL[0]).save(path)

    def full(descriptor: int) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnmaskError, match="No space left on device"):
        traced(ALL[1]).save(path)
    assert Trace.load(path) == traced(ALL[0])
    assert [entry.name for entry in tmp_path.iterdir()] == ["trace"]


def test_a_decode_that_has_begun_is_not_recorded_as_if_it_had_not() -> None:
    steps = decode(Toy(12), start(), "margin, per_step(1), greedy")
    next(steps)
    with pytest.raises(UnmaskError, match="record it from its beginning"):
        record(steps)
    rest = record(decode(Toy(12), steps.state, "margin, per_step(1), greedy"), about={"task": "toy"})
    assert rest.about == {"task": "toy"}
