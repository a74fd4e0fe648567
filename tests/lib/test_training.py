"""Training runs of seconds: they learn, resume, refuse other runs, and add up."""

import csv
import math
import os
import shutil
import socket
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import torch
from torch.distributed import GradBucket
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

import nmt_lib as nmt
from nmt_lib import cli, run
from nmt_lib.training import trainer as training
from nmt_lib.training.model_file import load, save
from nmt_lib.training.run_folder import RunFolder
from nmt_lib.training.trainer import Trainer
from tests.lib.forked import exit_codes, start
from tests.lib.small import rows, small_run

# A run of a second.
MINI = """data.tokenizer=whitespace model.d_model=16 model.n_heads=2 model.n_layers=1
 model.d_ff=24 train.batch_by=sentences train.batch_sentences=4 train.max_steps=12
 train.validate_every=4 train.checkpoint_every=4 train.label_smoothing=0.0"""
SGD = "train.optimizer=sgd train.warmup=0 train.schedule=constant"
Mini = Callable[..., nmt.Config]
Train = Callable[..., nmt.Run]
Spy = Callable[[Callable[[Trainer, Any], object]], None]


@pytest.fixture
def mini(tmp_path: Path) -> Mini:
    """A config, with options as the CLI takes them: ``mini("train.lr=0.5", "run")``."""
    return lambda options="", run="run": small_run(tmp_path, f"{MINI} {options}", run)


@pytest.fixture
def train(mini: Mini) -> Train:
    return lambda *options: nmt.train(mini(*options))


def checkpoints(config: nmt.Config) -> list[Path]:
    return RunFolder(config).checkpoints()


def weights(run: nmt.Run | Path) -> dict[str, torch.Tensor]:
    path = run if isinstance(run, Path) else run.path / "model.safetensors"
    return load(path).weights


def assert_same(
    ours: nmt.Run | Path, theirs: nmt.Run | Path, atol: float = 0.0
) -> None:
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=0, atol=atol)


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Spy:
    """``before(call)``: each update first calls it with the trainer and its batches."""
    update = Trainer.update

    def put(call: Callable[[Trainer, Any], object]) -> None:
        def updated(self: Trainer, batches: Any) -> None:
            call(self, batches)
            update(self, batches)

        monkeypatch.setattr(Trainer, "update", updated)

    return put


@pytest.fixture
def validation(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Validation losses that are taken from this list instead of computed."""
    losses: list[float] = []
    monkeypatch.setattr(training, "validation_loss", lambda *_: losses.pop(0))
    return losses


def stopped(before: Spy, config: nmt.Config, step: int) -> None:
    """A run that is interrupted after this many updates."""

    def stop(trainer: Trainer, _: Any) -> None:
        if trainer.progress.step == step:
            raise KeyboardInterrupt

    before(stop)
    with pytest.raises(KeyboardInterrupt):
        nmt.train(config)
    before(lambda *_: None)


# --- it learns
@pytest.mark.parametrize(
    "name", ["toy", pytest.param("writeup_e", marks=pytest.mark.weekly)]
)
def test_two_sentences_are_learnt_and_the_history_is_written(
    name: str, tmp_path: Path
) -> None:
    run = nmt.train(name, run_dir=str(tmp_path))
    train, pairs = run.config.train, nmt.load_corpus(run.config.data).train
    assert nmt.evaluate(run.translator, pairs).exact == 1.0
    steps = range(train.validate_every, train.max_steps + 1, train.validate_every)
    assert [row["step"] for row in run.history] == [*steps]
    with open(tmp_path / "history.csv", encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    assert [pytest.approx(row, abs=1e-6) for row in run.history] == rows


def test_the_history_has_rates_and_losses_by_token_without_dropout_in_validation(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums: list[tuple[float, int]] = []
    forward = nmt.Objective.forward

    def spy(self: nmt.Objective, batch: nmt.Batch) -> torch.Tensor:
        loss = forward(self, batch)
        if self.training:
            sums.append((loss.item(), batch.n_tokens))
        return loss

    monkeypatch.setattr(nmt.Objective, "forward", spy)
    options = "data.tokenizer=bpe data.vocab_size=60 data.bpe_dropout=0.4"
    options += " train.label_smoothing=0.4 model.dropout=0.4 train.select=last"
    run = train(f"{options} train.schedule=noam train.lr=0.1 train.warmup=6")
    for i, row in enumerate(run.history):
        assert row["lr"] == nmt.learning_rate(int(row["step"]), run.config.train, 16)
        losses, counts = zip(*sums[4 * i : 4 * i + 4], strict=True)
        assert row["train_loss"] == pytest.approx(sum(losses) / sum(counts), rel=1e-5)
    valid, tokenizer = nmt.load_corpus(run.config.data).valid, run.tokenizers[1]
    n_tokens = sum(len(tokenizer.encode(pair.tgt, sos=False)) for pair in valid)
    loss = -sum(nmt.sentence_log_probs(run.translator, valid)) / n_tokens
    assert run.history[-1]["valid_loss"] == pytest.approx(loss, rel=1e-4)


# --- the same, again, further
def test_the_seed_alone_decides_a_run(train: Train) -> None:
    """Neither the caller's random numbers nor switched-off gradients do."""
    threads, runs = torch.get_num_threads(), list[nmt.Run]()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        torch.manual_seed(len(runs))
        drawn = torch.get_rng_state()
        options = "model.dropout=0.2 train.threads=2 train.max_steps=2 train.seed="
        with torch.inference_mode() if seed else torch.no_grad():
            run = train(f"{options}{seed}", name)
            assert not torch.is_grad_enabled()
        assert torch.equal(torch.get_rng_state(), drawn)
        assert torch.get_num_threads() == threads and not run.model.training
        for weight in run.model.parameters():
            assert weight.requires_grad and not weight.is_inference()
        runs.append(run)
    assert_same(runs[0], runs[1])
    with pytest.raises(AssertionError):
        assert_same(runs[1], runs[2])


def test_a_finished_run_is_loaded_and_more_steps_resume_it(
    mini: Mini, train: Train, before: Spy
) -> None:
    updates: list[int] = []
    before(lambda trainer, _: updates.append(trainer.progress.step))
    short = "model.dropout=0.2 train.max_steps=8"
    first = nmt.load_or_train(mini(short))
    again = train(f"{short} decode.beam_size=2")
    assert torch.equal(first.model.output.weight, again.model.output.weight)
    assert not again.model.training and len(again.translator("ich").n_best) == 2
    longer = train("model.dropout=0.2")
    assert updates == [*range(12)]
    assert [row["step"] for row in longer.history] == [4, 8, 12]


def test_selecting_other_weights_does_not_train_again(
    train: Train, before: Spy, validation: list[float]
) -> None:
    validation += [3.0, 1.0, 2.0]
    updates: list[Any] = []
    before(lambda _, batches: updates.append(batches))

    def select(which: str, keep: int = 2) -> nmt.Run:
        return train(f"train.select={which} train.keep_checkpoints={keep}")

    last = select("last")
    files = checkpoints(last.config)
    assert [file.stem[-2:] for file in files] == ["08", "12"]
    assert_same(last, files[1])
    with pytest.raises(nmt.CheckpointError, match=r"=average needs .*0004.*missing"):
        select("average", 3)
    best = select("best")
    assert best.best_step == 8
    assert_same(best, files[0])
    first, second = map(weights, files)
    mean = {name: (weight + second[name]) / 2 for name, weight in first.items()}
    torch.testing.assert_close(weights(select("average")), mean)
    assert_same(select("average", 1), last)  # another mean than the one of two
    assert len(updates) == 12
    files[1].unlink()
    with pytest.raises(nmt.CheckpointError, match="no checkpoint to resume from"):
        select("best")


def test_the_last_step_is_validated_though_its_checkpoint_was_not(
    mini: Mini, train: Train, before: Spy
) -> None:
    stopped(before, mini("train.validate_every=50"), 6)
    run = train("train.validate_every=50 train.max_steps=4")
    assert [row["step"] for row in run.history] == [4]


def test_the_best_step_survives_a_crash(
    mini: Mini, train: Train, before: Spy, validation: list[float]
) -> None:
    validation += [5.0, 4.0, 3.0, 2.0, 1.0, 9.0]  # after each update, at last after 6
    options = "train.checkpoint_every=3 train.max_steps=6 train.validate_every="
    stopped(before, mini(f"{options}1"), 5)
    assert train(f"{options}6").best_step in (3, 5)


# --- what is refused
def change(run: nmt.Run, what: str) -> None:
    """What is done to the folder of a finished run."""
    final = run.path / "model.safetensors"
    last, pairs = checkpoints(run.config)[-1], Path(run.config.data.corpus, "valid.en")
    if what == "only checkpoints":
        final.unlink()
    elif what == "other pairs":
        pairs.write_text(pairs.read_text().replace("dog", "cat"))
        nmt.train(run.config)  # finished, so its corpus is not read
    elif what == "other version":
        saved = load(final)
        saved.state["invented"] = 1
        save(final, saved)
    elif what == "cut off":
        last.with_name(".step-00000016.safetensors-1-2.tmp").write_bytes(b"half")
        newest = RunFolder(run.config).last_checkpoint()
        assert newest is not None and newest.state["step"] == 12
        last.write_bytes(last.read_bytes()[:-1])
    elif what == "translator":
        with pytest.raises(nmt.CheckpointError, match="is of a training run: save to"):
            run.translator.save(run.path)
        final.unlink()
        run.translator.save(run.path)
    elif what in ("best", "checkpoint"):
        shutil.copy(run.path / "best.safetensors" if what == "best" else last, final)
    elif what == "file":
        run.path.rename(run.path.with_name("away"))
        run.path.write_text("kept")


# Options, what is done to the folder, options then, the error.
REFUSED = r"""
train.schedule=cosine | - | train.max_steps=16 | max_steps=12, not 16
 - | - | train.lr=0.5 | train.lr=.*: set run_dir
 - | - | model.n_heads=1 | n_heads=2, not 1.*: set run_dir
 - | - | data.lowercase=true | =False, not True.*: set run_dir
 - | - | train.max_steps=7 | has 12 updates, more than .*: set run_dir
 - | other pairs | train.max_steps=16 | on other pairs.*data\.corpus
 - | other version | - | another version of nmt_lib
 - | cut off | train.max_steps=16 | 0012.* is damaged
 - | only checkpoints | model.d_ff=32 | model.d_ff=24, not 32.*move
 - | translator | - | a saved translator.*Translator\.load
train.select=average | best | - | is a checkpoint, not the final
 - | checkpoint | train.max_steps=16 | is a checkpoint, not the final
 - | file | - | cannot use .*run for a run
"""


@pytest.mark.parametrize(("options", "what", "then", "message"), rows(REFUSED))
def test_another_run_in_the_same_folder_is_refused_by_key(
    options: str, what: str, then: str, message: str, train: Train
) -> None:
    run = train(options := options.strip("-"))
    change(run, what)
    before = {path: path.read_bytes() for path in run.path.rglob("*.safetensors")}
    with pytest.raises(nmt.CheckpointError, match=message) as refused:
        train(f"{options} {then.strip('-')}")
    assert "delete" not in str(refused.value)  # what took her hours to train
    assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize(
    ("is_training", "n_good", "message"),
    [
        (True, 5, "the loss is nan after 5"),
        (False, 1, "validation loss is nan after 8"),
    ],
)
def test_a_loss_that_is_not_finite_keeps_the_checkpoint(
    is_training: bool,
    n_good: int,
    message: str,
    mini: Mini,
    train: Train,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    factors, forward = iter([1.0] * n_good + [math.nan]), nmt.Objective.forward

    def broken(self: nmt.Objective, batch: nmt.Batch) -> torch.Tensor:
        factor = next(factors) if self.training == is_training else 1.0
        return forward(self, batch) * factor

    with monkeypatch.context() as patch:
        patch.setattr(nmt.Objective, "forward", broken)
        with pytest.raises(nmt.TrainingError, match=message):
            train()
    assert [file.stem[-2:] for file in checkpoints(mini())] == ["04"]
    assert_same(train(), train("", "whole"))


@pytest.mark.parametrize("every", [1, 4])
def test_weights_that_explode_are_not_saved(mini: Mini, every: int) -> None:
    often = f"train.checkpoint_every={every} train.validate_every={every}"
    config = mini(f"{SGD} train.lr=1e6 {often}")
    with pytest.raises(nmt.TrainingError, match=r"is (nan|inf) after \d"):
        nmt.train(config)
    for saved in map(weights, checkpoints(config)):
        assert all(value.isfinite().all() for value in saved.values())


# --- settings
@pytest.mark.parametrize(
    "options",
    [
        "train.optimizer=sgd train.momentum=0.9",
        "train.schedule=cosine train.clip_norm=0.1",
        "train.batch_by=tokens train.batch_tokens=64",
        "model.norm=pre model.attention_dropout=0.1 data.joint=true",
        "train.precision=auto data.src_specials=false",
        "data.tokenizer=bpe data.vocab_size=400 data.joint=true model.max_positions=3 "
        "model.tying=three-way train.select=average",
    ],
)
def test_a_setting_runs_three_steps_and_learns(train: Train, options: str) -> None:
    few = "train.max_steps=3 train.validate_every=1 train.warmup=1 train.lr=0.01"
    fewer = pytest.warns(UserWarning, match=r"=400: the text gives only \d+")
    with fewer if "vocab_size" in options else nullcontext():
        run = train(f"{few} {options}")
    assert run.history[-1]["valid_loss"] < run.history[0]["valid_loss"]
    assert isinstance(run.translator("ich sehe ein haus").text, str)


def test_half_precision_gives_nearly_the_losses_of_fp32(train: Train) -> None:
    options = "train.clip_norm=0.5 train.precision="
    exact, *halves = (train(options + p, p) for p in ("fp32", "bf16", "fp16"))
    losses = [row["train_loss"] for row in exact.history]
    for half in halves:
        found = [row["train_loss"] for row in half.history]
        assert found == pytest.approx(losses, rel=0.02) and found != losses
        assert {p.dtype for p in half.model.parameters()} == {torch.float32}
    assert halves[1].progress.scale == 2**16


def test_after_an_overflow_the_weights_stay_and_the_scale_halves(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    scaler = partial(torch.amp.GradScaler, init_scale=2.0**120)
    monkeypatch.setattr(torch.amp, "GradScaler", scaler)
    options = "train.precision=fp16 train.select=last train.max_steps="
    first, third = train(f"{options}1", "a"), train(f"{options}3", "b")
    assert_same(first, third, atol=0)
    assert first.progress.scale == 2.0**119 and third.progress.scale == 2.0**117
    resumed = train(f"{options}3", "a")
    assert resumed.progress.scale == 2.0**117


def test_patience_ends_a_run_that_no_longer_gets_better(train: Train) -> None:
    still = f"{SGD} train.lr=1e-9 train.max_steps=12 train.validate_every=2 "
    still += "train.checkpoint_every=5"
    run = train(f"{still} train.patience=2")
    waited = [row["step"] > run.best_step for row in run.history]
    assert sum(waited) == 2 and run.progress.step == run.history[-1]["step"] < 12
    again = train(f"{still} train.patience=2")
    assert again.progress == run.progress, "it is finished"
    assert train(still).progress.step == 12, "without patience it goes on"


def test_a_corpus_that_changed_after_its_run_is_named(train: Train) -> None:
    run = train("train.max_steps=1")
    file = Path(run.config.data.corpus) / "train.en"
    os.utime(file, (2e9, 2e9))
    with pytest.warns(UserWarning, match=r"train\.en is newer than its model"):
        train("train.max_steps=1")


def test_accumulated_batches_equal_one_large_batch(train: Train) -> None:
    options = f"{SGD} train.lr=0.5 train.label_smoothing=0.1 train.max_steps=3"
    options += " train.select=last train.batch_sentences="
    small = train(f"{options}6 train.accumulate=3", "small")
    assert_same(small, train(f"{options}18"), atol=1e-5)


def test_clipping_bounds_the_step(train: Train) -> None:
    options = f"{SGD} train.lr=1.0 train.max_steps=1 train.clip_norm="
    still, moved = (train(options + n, n).model for n in ("1e-9", "1e-2"))
    both = zip(moved.parameters(), still.parameters(), strict=True)
    lengths = [(a - b).norm().item() for a, b in both]
    assert math.hypot(*lengths) == pytest.approx(1e-2, rel=1e-2)


def test_each_epoch_has_every_pair_once_in_another_order(
    train: Train, before: Spy
) -> None:
    seen: list[Any] = []
    before(lambda _, batches: seen.extend((*s, *t) for b in batches for s, t in b))
    run = train("train.batch_sentences=7 train.max_steps=9")
    first, second, third = seen[:18], seen[18:36], seen[36:]
    assert sorted(first) == sorted(second) == sorted(third) and len(set(first)) == 18
    assert first != second != third
    assert [row["epoch"] for row in run.history] == [1, 2, 2]


# --- several processes and GPUs
def test_no_gpu_is_touched_by_a_run_on_the_cpu(
    train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for name in ("get_rng_state", "set_rng_state", "manual_seed_all"):
        monkeypatch.setattr(torch.cuda, name, partial(pytest.fail, "a GPU is touched"))
    train("train.max_steps=1")


def test_two_threads_train_in_turn(mini: Mini, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would draw from each other's random numbers."""
    events: list[str] = []

    def noted(home: Any, name: str) -> None:
        call = getattr(home, name)

        def noting(*arguments: Any) -> Any:
            events.append(name)
            return call(*arguments)

        monkeypatch.setattr(home, name, noting)

    noted(run, "load_corpus")
    noted(Trainer, "finish")
    configs = [mini(run=name) for name in "ab"]
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(nmt.train, configs))
    assert events == ["load_corpus", "finish"] * 2


def ask(run_dir: Path, answer: Path) -> None:
    watched = mock.patch.object(
        Trainer, "update", autospec=True, side_effect=Trainer.update
    )
    with watched as update:
        translator = nmt.load_or_train("toy", run_dir=str(run_dir))
    text = translator("ich mochte ein bier").text
    answer.write_text(f"{text} {update.call_count}", encoding="utf-8")


def test_two_processes_that_ask_at_once_train_once(tmp_path: Path) -> None:
    answers = [tmp_path / "one", tmp_path / "two"]
    processes = [start(ask, tmp_path / "run", answer) for answer in answers]
    assert exit_codes(*processes) == [0, 0]
    texts = sorted(answer.read_text() for answer in answers)
    assert texts == ["i want a beer . 0", "i want a beer . 60"]


def share(config: Path, rank: int, port: int) -> None:
    """One of two processes, with the environment that `torchrun` sets.

    It ends with 0 if gradients are exchanged once in an update, without a warning.
    """
    buckets, patch, make = [], pytest.MonkeyPatch(), Trainer.__init__

    def exchange(group: Any, bucket: GradBucket) -> torch.futures.Future[torch.Tensor]:
        buckets.append(bucket)
        return default_hooks.allreduce_hook(group, bucket)

    def counted(self: Trainer, *arguments: Any) -> None:
        make(self, *arguments)
        assert isinstance(self.objective, DistributedDataParallel)
        self.objective.register_comm_hook(None, exchange)

    patch.setattr(Trainer, "__init__", counted)
    warnings.simplefilter("error", FutureWarning)
    environment = f"RANK={rank} LOCAL_RANK={rank} WORLD_SIZE=2 LOCAL_WORLD_SIZE=2"
    environment += f" MASTER_ADDR=127.0.0.1 MASTER_PORT={port}"
    for variable in environment.split():
        name, _, value = variable.partition("=")
        os.environ[name] = value
    code = cli.main(["train", str(config)])
    n_updates = nmt.load_config(config).train.max_steps
    sys.exit(code or len(buckets) != n_updates)


def test_two_processes_that_share_the_work_equal_one_that_accumulates(
    mini: Mini, train: Train, tmp_path: Path
) -> None:
    """The table of positions grows in each process; Adam would hide a wrong factor."""
    options = f"{SGD} train.clip_norm=0.5 model.max_positions=3"
    options += " train.batch_sentences=1 train.accumulate="
    one = train(f"{options}4", "one")
    file = tmp_path / "two.yaml"
    file.write_text(mini(f"{options}2", "two").to_yaml(), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    processes = [start(share, file, rank, port) for rank in (0, 1)]
    assert exit_codes(*processes) == [0, 0]
    final = tmp_path / "two" / "model.safetensors"
    assert_same(one, final, atol=1e-6)
    losses = [row["train_loss"] for row in one.history]
    history = load(final).state["history"]
    assert [row["train_loss"] for row in history] == pytest.approx(losses, rel=1e-4)


def test_a_run_without_run_dir_keeps_its_files_together(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_RUNS", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    run = train("run_dir='' name=home data.corpus=~/corpus")
    assert run.path == Path("somewhere/home")
    names = {str(file.relative_to(run.path)) for file in run.path.rglob("*.*s*")}
    files = {f"checkpoints/step-{step:08}.safetensors" for step in (4, 8, 12)}
    files |= {"best.safetensors", "model.safetensors", "history.csv"}
    assert files <= names and not [name for name in names if name.endswith(".tmp")]
