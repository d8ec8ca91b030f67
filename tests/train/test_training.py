"""A run ends with the same bits, however often it is stopped or killed; what is wrong is told in a line."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from small_run import CONFIG, in_a_process, train

from unmask import checkpoint
from unmask.data.build import build
from unmask.errors import UnmaskError
from unmask.objectives import Key
from unmask.objectives.causal import causal
from unmask.objectives.one_order import one_order
from unmask.parallel import world
from unmask.tasks.sudoku import SudokuRecipe
from unmask.tasks.sudoku.symmetry import Symmetry
from unmask.train import Training
from unmask.train.config import from_about, override
from unmask.train.optimizers import Mean, rate

FILES = ("run", "weights", "best", "step-0000020", "step-0000060")


@pytest.fixture(scope="module")
def puzzles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("puzzles") / "data"
    build(SudokuRecipe(seed=5), 600, folder)
    return folder


@pytest.fixture(scope="module")
def whole(puzzles: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing interrupted."""
    out = tmp_path_factory.mktemp("whole") / "run"
    train(out, puzzles)
    return out


def lines(out: Path) -> list[dict]:
    """The log, but for how long things took."""
    found = [json.loads(line) for line in (out / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    return [{key: value for key, value in line.items() if "second" not in key} for line in found]


def assert_same(one: Path, other: Path) -> None:
    for name in FILES:
        first, second = (checkpoint.read(out / f"{name}.safetensors") for out in (one, other))
        assert first.tensors.keys() == second.tensors.keys()
        for key, tensor in first.tensors.items():
            assert torch.equal(tensor, second.tensors[key]), f"{name}: {key}"
    assert lines(one) == lines(other)


def test_a_run_that_is_stopped_and_gone_on_with_ends_with_the_same_bits(puzzles, whole, tmp_path) -> None:
    for steps in (10, 20, 40, None):
        train(tmp_path / "run", puzzles, steps=steps)
    assert_same(tmp_path / "run", whole)
    assert train(tmp_path / "run", puzzles) == []  # it is finished: nothing is done again
    assert_same(tmp_path / "run", whole)


def test_a_run_that_is_killed_at_any_moment_ends_with_the_same_bits(puzzles, whole, tmp_path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["small_run", "unmask.decode", "unmask.tasks.sudoku"])
    began = time.monotonic()
    process = context.Process(target=in_a_process, args=(tmp_path / "first", puzzles))
    process.start()
    process.join()
    assert process.exitcode == 0
    takes = time.monotonic() - began
    assert_same(tmp_path / "first", whole)
    draw, out, unfinished = random.Random(0), tmp_path / "run", 0
    for number in range(20):
        process = context.Process(target=in_a_process, args=(out, puzzles))
        process.start()
        process.join(timeout=draw.uniform(0, takes))
        process.kill()
        process.join()
        if (out / "run.safetensors").is_file():
            unfinished += checkpoint.read(out / "run.safetensors").about["step"] < CONFIG.steps
        if process.exitcode == 0:  # finished before it was killed: another run, to be killed elsewhere
            assert_same(out, whole)
            out = tmp_path / f"run {number}"
        else:
            assert process.exitcode == -signal.SIGKILL
    assert unfinished > 3
    train(out, puzzles)
    assert_same(out, whole)


def test_a_run_that_is_killed_before_it_was_ever_saved_has_one_log(puzzles, whole, tmp_path) -> None:
    (tmp_path / "run").mkdir()
    there = (whole / "log.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "run" / "log.jsonl").write_text("\n".join(there[:2]) + '\n{"step": 30, "lo', encoding="utf-8")
    (tmp_path / "run" / "weights.safetensors.77.partial").touch()
    train(tmp_path / "run", puzzles)
    assert_same(tmp_path / "run", whole)
    assert not list((tmp_path / "run").glob("*.partial"))


def test_what_the_run_says_is_done_has_been_written(puzzles, whole, tmp_path, monkeypatch) -> None:
    from unmask.train.folder import Folder

    def dies(*_: object) -> None:
        raise UnmaskError("killed")

    with monkeypatch.context() as now:
        now.setattr(Folder, "write_run", dies)
        with pytest.raises(UnmaskError, match="killed"):
            train(tmp_path / "run", puzzles, steps=20)
    assert checkpoint.read(tmp_path / "run" / "weights.safetensors").about["step"] == 1  # the first thing to be saved
    train(tmp_path / "run", puzzles)
    assert_same(tmp_path / "run", whole)


def test_two_processes_do_not_work_in_one_folder(puzzles, tmp_path) -> None:
    with world("cpu") as here:
        first, second = (Training(CONFIG, tmp_path / "run", puzzles, here, compiled=False) for _ in range(2))
        steps = first.steps()
        next(steps)
        with pytest.raises(UnmaskError, match="another process is at work in"):
            next(second.steps())
        steps.close()
        next(second.steps())


def test_a_full_disk_is_told_and_leaves_the_last_checkpoint_whole(puzzles, tmp_path) -> None:
    out = tmp_path / "run"
    train(out, puzzles, steps=20)
    before = (out / "run.safetensors").read_bytes()
    process = multiprocessing.get_context("spawn").Process(target=in_a_process, args=(out, puzzles, 20_000))
    process.start()
    process.join()
    assert process.exitcode == 2
    assert "UnmaskError: cannot write" in (out / "error.txt").read_text(encoding="utf-8")
    assert (out / "run.safetensors").read_bytes() == before
    assert not list(out.glob("*.partial"))
    checkpoint.read(out / "run.safetensors")


def test_how_many_rows_go_at_a_time_is_a_matter_of_rounding_only(puzzles, whole, tmp_path) -> None:
    reports = train(tmp_path / "run", puzzles, micro=8, steps=20)
    for one, other in zip(reports, lines(whole), strict=False):
        assert one.loss == pytest.approx(other["loss"], rel=1e-4)


def test_the_loss_falls(whole) -> None:
    losses = [line["loss"] for line in lines(whole)]
    assert losses[-1] < losses[0] - 1
    assert [line["step"] for line in lines(whole)] == [10, 20, 30, 40, 50, 60]
    assert all(line["found"]["loss"] > 0 for line in lines(whole) if line["step"] % 20 == 0)


def test_a_run_may_start_from_the_weights_of_another(puzzles, whole, tmp_path) -> None:
    reports = train(tmp_path / "run", puzzles, start=whole / "weights.safetensors", steps=10)
    assert reports[0].loss < lines(whole)[0]["loss"]
    (before,) = checkpoint.read(tmp_path / "run" / "weights.safetensors").about["before"]
    assert (before["step"], before["config"]) == (60, json.loads(json.dumps(CONFIG.about)))


@pytest.mark.parametrize("objective", [one_order(), one_order(tuple(range(80, -1, -1)))])
def test_every_objective_trains(objective, puzzles, tmp_path) -> None:
    reports = train(tmp_path / "run", puzzles, objective=objective)
    assert reports[-1].loss < reports[0].loss


def test_order_aware_training_of_a_causal_net(puzzles, tmp_path) -> None:
    net = dataclasses.replace(
        CONFIG.net, causal=True, coordinates=0, positions="learned", targets=True, length=81, passes=1
    )
    reports = train(tmp_path / "run", puzzles, objective=causal(), net=net)
    assert reports[-1].loss < reports[0].loss
    assert all(set(report.found) <= {"loss"} for report in reports)  # its columns are not where decoding has them
    assert checkpoint.read(tmp_path / "run" / "best.safetensors").about["step"] == 60  # the last, as losses fall


def test_rows_come_with_the_solver_s_turns_however_they_are_turned(puzzles) -> None:
    from unmask.data.dataset import Dataset
    from unmask.train.batches import Batches

    data = Dataset.open(puzzles, "easy-train")
    plain, turned = (
        Batches(dataclasses.replace(CONFIG, augment=augment), data, torch.device("cpu")).rows(Key.of(0, 0, 16))
        for augment in (False, True)
    )
    assert plain.turn is not None
    assert turned.turn is not None
    assert not torch.equal(plain.turn, turned.turn)
    key = Key.of(0, 0, 16)
    symmetry = Symmetry.draw(9, 0, key.row, torch.zeros_like(key.row))
    assert torch.equal(turned.turn, plain.turn.gather(1, symmetry.cells))
    assert torch.equal(turned.given, plain.given.gather(1, symmetry.cells))


# What is wrong


def test_a_folder_of_another_run_is_refused(puzzles, whole) -> None:
    with pytest.raises(UnmaskError, match=r"holds another run \(adam: 0.001 there, 0.01 wanted; net.width: 16 there"):
        train(whole, puzzles, adam=0.01, net=dataclasses.replace(CONFIG.net, width=32))


def test_other_data_are_refused(whole, tmp_path) -> None:
    build(SudokuRecipe(seed=6), 600, tmp_path / "data")
    with pytest.raises(UnmaskError, match=r"holds another run \(data: .*'seed': 5.* there, .*'seed': 6.* wanted"):
        train(whole, tmp_path / "data")


def test_data_of_another_task_are_refused(tmp_path) -> None:
    build(SudokuRecipe(seed=5, side=4), 50, tmp_path / "data")
    with pytest.raises(UnmaskError, match="holds data of sudoku4; this run is about sudoku"):
        train(tmp_path / "run", tmp_path / "data", validation="easy-train")


def test_weights_of_another_net_are_refused(puzzles, whole, tmp_path) -> None:
    net = dataclasses.replace(CONFIG.net, width=32)
    with pytest.raises(UnmaskError, match="holds the weights of another net"):
        train(tmp_path / "run", puzzles, net=net, start=whole / "weights.safetensors")


@pytest.mark.parametrize("out", ["file", "file/run", "/proc/run"])
def test_where_nothing_can_be_written_is_told(out, puzzles, tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnmaskError, match=r"cannot write|is a file"):
        train(tmp_path / out, puzzles)


def test_a_loss_that_is_no_number_stops_the_run(puzzles, tmp_path) -> None:
    with pytest.raises(UnmaskError, match=r"the loss is (nan|inf) at step|no numbers any more at step"):
        train(tmp_path / "run", puzzles, adam=1e30, muon=1e30, clip=0.0)


# Options


def test_a_config_reads_back_from_what_a_checkpoint_says() -> None:
    assert from_about(json.loads(json.dumps(CONFIG.about)), "there") == CONFIG


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"stepz": 5}, "there: .*stepz.*steps"),
        ({"net": {"values": 9, "depth": 5}}, "there: .*depth"),
        ({"objective": "any_order(flor=1)"}, "there: .*floor"),
        ({"schedule": "stairs"}, "there: .*schedule.*linear"),
        ({"net": []}, "there: .*names and values"),
        ({"strategy": "margn, per_step(1), greedy"}, "there: .*margin"),
    ],
)
def test_a_config_with_what_this_version_does_not_know_is_refused(changes, told) -> None:
    with pytest.raises(UnmaskError, match=told):
        from_about({**CONFIG.about, **changes}, "there")


def test_options_are_changed_by_name() -> None:
    changed = override(CONFIG, ["steps=7", "net.width=32", "objective=one_order((1, 0))", "betas=(0.8, 0.9)"])
    assert (changed.steps, changed.net.width, changed.betas) == (7, 32, (0.8, 0.9))
    assert str(changed.objective) == "one_order((1, 0))"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("steps", "NAME=VALUE"),
        ("stepz=5", "steps"),
        ("net.wdth=5", "net.width"),
        ("steps=many", "whole number"),
        ("steps=0", "at least 1"),
        ("schedule=stairs", "linear"),
        ("net.heads=3", "multiple"),
        ("objective=anyorder", "any_order"),
        ("strategy=margn", "margin"),
        ("betas=(0.9, 1.5)", "betas"),
        ("net.inner=-4", "inner"),
        ("task=zebra", "stands before"),
    ],
)
def test_a_change_that_cannot_be_made_is_refused(change, told) -> None:
    with pytest.raises(UnmaskError, match=told):
        override(CONFIG, [change])


def test_the_rate_over_time() -> None:
    config = dataclasses.replace(CONFIG, steps=100, warmup=10, decay=0.2, least=0.1)
    rates = [rate(config, step) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert rates[9:80] == [1.0] * 71
    assert rates[90] == pytest.approx(0.5)
    assert rates[99] == pytest.approx(0.1)
    cosine = dataclasses.replace(config, schedule="cosine")
    assert rate(cosine, 50) == pytest.approx(0.5)
    assert rate(dataclasses.replace(config, schedule="linear"), 25) == pytest.approx(0.75)


def test_the_mean_of_weights_is_put_in_and_taken_out_without_a_trace() -> None:
    torch.manual_seed(0)
    net = torch.nn.Linear(3, 3)
    mean = Mean(net, 0.9)
    before = [weight.detach().clone() for weight in net.parameters()]
    with torch.no_grad():
        for weight in net.parameters():
            weight += 1
    mean.update(1_000)
    held = [weight.clone() for weight in mean.weights]
    assert torch.allclose(held[0], before[0] + 0.1)
    mean.swap()
    assert torch.equal(next(iter(net.parameters())), held[0])
    mean.swap()
    assert torch.equal(next(iter(net.parameters())), before[0] + 1)
    assert all(torch.equal(one, other) for one, other in zip(mean.weights, held, strict=True))


def test_batches_are_a_matter_of_the_step(puzzles) -> None:
    from unmask.data.dataset import Dataset
    from unmask.train.batches import Batches

    data = Dataset.open(puzzles, "easy-train")
    batches, again = (Batches(CONFIG, data, torch.device("cpu")) for _ in range(2))
    step = len(data) // 8  # a batch that is the end of one round and the beginning of the next
    whole = batches.rows(Key.of(0, step, 8))
    parts = [again.rows(Key(0, step, part, 8)) for part in torch.arange(8).split(3)]
    assert torch.equal(whole.tokens, torch.cat([part.tokens for part in parts]))
    assert torch.equal(whole.given, torch.cat([part.given for part in parts]))
    plain = Batches(dataclasses.replace(CONFIG, augment=False), data, torch.device("cpu"))
    seen = torch.cat([plain.rows(Key.of(0, step, 8)).tokens for step in range(-(-len(data) // 8))])
    assert len(seen[: len(data)].unique(dim=0)) == len(data)  # every row once before any comes again


# Several processes


def test_two_processes_train_as_one_does(puzzles, tmp_path) -> None:
    options = ["batch=16", "micro=4", "steps=20", "net.autocast=float32", "validate=2", "warmup=2"]
    command = ["train", "sudoku", *options, "--preset", "tiny", "--data", str(puzzles), "--no-compile", "--json"]
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "unmask"]
    losses = []
    for start in (["unmask"], torchrun):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", *start, *command, "--out", str(tmp_path / start[0])],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        assert time.monotonic() - began < 300
        told = [json.loads(line) for line in done.stdout.splitlines()]
        losses.append([line["loss"] for line in told] + [told[-1]["found"]["loss"]])
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
