"""Trace: what a decode did, as data - for every position the step at which it was shown, its value and certainty.

A Trace is one file (safetensors, the header as JSON in its metadata), or JSON lines for a page. `record` drains the
loop into one; with `candidates` it also keeps, for every step, the score and the likeliest values of all that was
asked. Where a revision may change what is shown, `events` tell the whole story and the tables the end of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from unmask.decode import Decoding, Step
from unmask.errors import UnmaskError
from unmask.files import write_whole

FORMAT = "unmask trace 1"
SHOWN, REWRITTEN, TAKEN_BACK = 0, 1, 2
KINDS = ("shown", "rewritten", "taken back")


@dataclass(frozen=True, eq=False)
class Trace:
    """B rows, L positions. `step` is -1 and `score`, `probability` are NaN where decoding showed nothing.

    `calls` counts the denoiser calls that each row took part in; `denoiser_calls` those of the whole batch, which
    rows share. E events: row (within the batch), step, position, kind (see KINDS), value, score, probability. With
    candidates, A asked positions over all steps: row, step, position, score, and C top values and probabilities.
    """

    strategy: str
    seed: int
    denoiser_calls: int
    row: Int[Tensor, " B"]
    tokens: Int[Tensor, "B L"]
    given: Bool[Tensor, "B L"]
    present: Bool[Tensor, "B L"]
    hidden: Bool[Tensor, "B L"]
    step: Int[Tensor, "B L"]
    score: Float[Tensor, "B L"]
    probability: Float[Tensor, "B L"]
    calls: Int[Tensor, " B"]
    events: Int[Tensor, "E 5"]
    event_score: Float[Tensor, " E"]
    event_probability: Float[Tensor, " E"]
    asked: Int[Tensor, "A 3"]
    asked_score: Float[Tensor, " A"]
    top_values: Int[Tensor, "A C"]
    top_probabilities: Float[Tensor, "A C"]
    about: dict[str, str] = field(default_factory=dict)
    """Anything else worth keeping: the task's name, the model."""

    def __len__(self) -> int:
        return self.tokens.shape[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def select(self, index: Int[Tensor, " K"]) -> Trace:
        """The trace of some rows, as it would be had they been decoded alone (`denoiser_calls` stays the batch's)."""
        changed: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in _BY_ROW:
            changed[name] = changed[name][index]
        for log, beside in (
            ("events", ("event_score", "event_probability")),
            ("asked", ("asked_score", "top_values", "top_probabilities")),
        ):
            whole = changed[log]
            row, kept = (whole[None, :, 0] == index[:, None]).nonzero(as_tuple=True)
            changed[log] = torch.cat([row[:, None], whole[kept, 1:]], dim=1)
            for name in beside:
                changed[name] = changed[name][kept]
        return Trace(**changed)

    def save(self, path: Path | str) -> None:
        """Write the trace to one file, whole or not at all."""
        path = Path(path)
        tensors = {name: getattr(self, name).contiguous() for name in _TENSORS}
        header = json.dumps(self._header())
        packed = save(tensors, metadata={"unmask": header, "sha256": _digest(header, tensors)})
        write_whole(path, packed)

    @staticmethod
    def load(path: Path | str) -> Trace:
        """Read a trace back; raises UnmaskError where the file is not one, or one bit of it has changed."""
        path = Path(path)
        try:
            if path.is_dir():
                raise UnmaskError(f"{path} is a directory; expected a trace file")
            if not path.exists():
                raise UnmaskError(f"{path} does not exist; expected a trace file, as `unmask decode --out` writes it")
            if not path.stat().st_size:
                raise UnmaskError(f"{path} is empty; expected a trace file")
            with safe_open(path, framework="pt") as file:
                metadata = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        except OSError as error:
            raise UnmaskError(f"cannot read {path}: {error.strerror}") from error
        except SafetensorError as error:
            raise UnmaskError(f"{path} is not a trace, or is truncated: {' '.join(str(error).split())}") from error
        header = metadata.get("unmask", "")
        try:
            known = json.loads(header)
        except ValueError:
            known = None
        if not isinstance(known, dict) or "format" not in known:
            raise UnmaskError(f"{path} is a safetensors file, but not a trace")
        if known.pop("format") != FORMAT:
            found = json.loads(header)["format"]
            raise UnmaskError(f"{path} has the format {found!r}; this version reads {FORMAT!r}")
        if metadata.get("sha256") != _digest(header, tensors):
            raise UnmaskError(f"{path} is damaged: its checksum does not match what it holds; write it again")
        return Trace(**known, **tensors)

    def _header(self) -> dict[str, Any]:
        plain = ("strategy", "seed", "denoiser_calls", "about")
        return {"format": FORMAT} | {name: getattr(self, name) for name in plain}

    def json_lines(self) -> Iterator[str]:
        """One JSON object a line: a header, then one for each row with its tables, events and candidates."""
        yield json.dumps(self._header() | {"rows": len(self)})
        for number in range(len(self)):
            one = self.select(torch.tensor([number]))
            record: dict[str, Any] = {"row": int(one.row[0])}
            for name in ("tokens", "given", "present", "hidden", "step", "score", "probability"):
                record[name] = _plain(getattr(one, name)[0])
            record["calls"] = int(one.calls[0])
            record["events"] = [
                {
                    "step": step,
                    "position": position,
                    "kind": KINDS[kind],
                    "value": value,
                    "score": _number(score),
                    "probability": _number(probability),
                }
                for (_, step, position, kind, value), score, probability in zip(
                    one.events.tolist(), one.event_score.tolist(), one.event_probability.tolist(), strict=True
                )
            ]
            if one.top_values.shape[1]:
                record["candidates"] = [
                    {"step": s, "position": p, "score": _number(score), "values": v, "probabilities": q}
                    for (_, s, p), score, v, q in zip(
                        one.asked.tolist(),
                        one.asked_score.tolist(),
                        one.top_values.tolist(),
                        one.top_probabilities.tolist(),
                        strict=True,
                    )
                ]
            yield json.dumps(record)


_TENSORS = tuple(f.name for f in fields(Trace) if f.name not in ("strategy", "seed", "denoiser_calls", "about"))
_BY_ROW = ("row", "tokens", "given", "present", "hidden", "step", "score", "probability", "calls")


def record(
    steps: Decoding,
    candidates: int = 0,
    *,
    about: Mapping[str, str] | None = None,
    watch: Callable[[Step], object] | None = None,
) -> Trace:
    """Drain a decode into a Trace. `candidates`: how many top values to keep of every asked position at every step.

    Step numbers are the rows' own, so that the traces of a decode and of its continuation fit together. `watch` is
    called with every Step, for those who draw progress. `about` goes into the trace: {"task": "sudoku4"} lets
    `unmask trace show` draw it as that task does.
    """
    if steps.calls:
        raise UnmaskError(
            f"record: {steps.calls} calls of this decode were made before; record it from its beginning, or begin "
            f"another one from its state"
        )
    start = steps.state
    batch, length = start.tokens.shape
    device = start.tokens.device
    table = {"step": torch.full((batch, length), -1, device=device)}
    for name in ("score", "probability"):
        table[name] = torch.full((batch, length), torch.nan, dtype=torch.float64, device=device)
    calls = torch.zeros(batch, dtype=torch.int64, device=device)
    events: list[tuple[Tensor, Tensor, Tensor]] = []
    asked: list[tuple[Tensor, ...]] = []
    for step in steps:
        calls[step.rows] += step.row_calls
        events.append(_events(step))
        happened, score, probability = events[-1]
        row, number, position, kind = happened[:, 0], happened[:, 1], happened[:, 2], happened[:, 3]
        back = kind == TAKEN_BACK
        table["step"][row, position] = torch.where(back, -1, number)
        table["score"][row, position] = score.masked_fill(back, torch.nan)
        table["probability"][row, position] = probability.masked_fill(back, torch.nan)
        if watch is not None:
            watch(step)
        if candidates:
            asked.append(_candidates(step, candidates))
    end = steps.state
    revised = steps.strategy.revision is not None
    log = _joined(events if revised else (), ((0, 5), (0,), (0,)))
    kept = _joined(asked, ((0, 3), (0,), (0, candidates), (0, candidates)))
    return Trace(
        strategy=str(steps.strategy),
        about=dict(about or {}),
        seed=end.seed,
        denoiser_calls=steps.calls,
        row=end.row.cpu(),
        tokens=end.tokens.cpu(),
        given=end.given.cpu(),
        present=end.present.cpu(),
        hidden=end.hidden.cpu(),
        step=table["step"].cpu(),
        score=table["score"].cpu(),
        probability=table["probability"].cpu(),
        calls=calls.cpu(),
        events=log[0].long(),
        event_score=log[1].double(),
        event_probability=log[2].double(),
        asked=kept[0].long(),
        asked_score=kept[1].double(),
        top_values=kept[2].long(),
        top_probabilities=kept[3].double(),
    )


def _events(step: Step) -> tuple[Tensor, Tensor, Tensor]:
    """What this step did: [E,5] (row, step, position, kind, value), the scores, the probabilities."""
    changed = step.shown & (step.before.hidden | (step.after.tokens != step.before.tokens))
    row, position = (changed | step.back).nonzero(as_tuple=True)
    kind = torch.where(step.before.hidden[row, position], SHOWN, REWRITTEN)
    kind = torch.where(step.back[row, position], TAKEN_BACK, kind)
    written = torch.where(kind == TAKEN_BACK, step.before.tokens[row, position], step.after.tokens[row, position])
    happened = torch.stack([step.rows[row], step.before.step[row], position, kind, written], dim=1)
    score = step.belief.spread(step.score, torch.nan)[row, position]
    probability = torch.where(kind == TAKEN_BACK, torch.nan, step.after.shown_probability[row, position])
    return happened, score, probability


def _candidates(step: Step, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    belief = step.belief
    number = step.before.step[belief.index]
    where = torch.stack([step.rows[belief.index], number, belief.flat % belief.asked.shape[1]], dim=1)
    ordered = belief.log_probabilities.sort(dim=-1, descending=True, stable=True)
    missing = max(0, count - ordered.values.shape[1])
    values = torch.nn.functional.pad(ordered.indices[:, :count], (0, missing), value=-1)
    probabilities = torch.nn.functional.pad(ordered.values[:, :count].exp(), (0, missing))
    return where, step.score, values, probabilities


def _joined(parts: Sequence[tuple[Tensor, ...]], empty: tuple[tuple[int, ...], ...]) -> list[Tensor]:
    """The parts of a log under each other, sorted by row and otherwise as they happened."""
    if not parts:
        return [torch.empty(shape) for shape in empty]
    columns = [torch.cat(column).cpu() for column in zip(*parts, strict=True)]
    order = columns[0][:, 0].sort(stable=True).indices
    return [column[order] for column in columns]


def _digest(header: str, tensors: Mapping[str, Tensor]) -> str:
    """A checksum of everything that a trace holds."""
    total = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        total.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        total.update(tensor.contiguous().view(-1).view(torch.uint8).numpy().tobytes())
    return total.hexdigest()


def _same(one: Any, other: Any) -> bool:
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return type(one) is type(other) and one == other
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(one, other) if not one.is_floating_point() else bool(one.isclose(other, 0, 0, True).all())


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinities."""
    return value if value == value and abs(value) != float("inf") else None


def _plain(tensor: Tensor) -> list[Any]:
    return [_number(v) if isinstance(v, float) else v for v in tensor.tolist()]
