"""Training runs of seconds: they learn, resume, refuse other runs, and add up."""

import csv
import math
import os
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib import cli
from nmt_lib.training import trainer as training
from nmt_lib.training.model_file import load, save
from nmt_lib.training.run_folder import RunFolder
from nmt_lib.training.trainer import Trainer
from tests.lib.forked import exit_codes, start
from tests.lib.small import write_corpus

MINI = {  # a run of a second, on the corpus that write_corpus makes
    "data.tokenizer": "whitespace",
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.n_layers": 1,
    "model.d_ff": 24,
    "train.batch_by": "sentences",
    "train.batch_sentences": 4,
    "train.max_steps": 12,
    "train.validate_every": 4,
    "train.checkpoint_every": 4,
    "train.label_smoothing": 0.0,
}
SGD: dict[str, Any] = {
    "train__optimizer": "sgd",
    "train__warmup": 0,
    "train__schedule": "constant",
}


def mini(tmp_path: Path, run: str = "run", **overrides: Any) -> nmt.Config:
    corpus = tmp_path / "corpus"
    if not corpus.is_dir():
        write_corpus(corpus)
    values = MINI | {"data.corpus": str(corpus), "run_dir": str(tmp_path / run)}
    changes = {key.replace("__", "."): value for key, value in overrides.items()}
    return nmt.load_config("toy", **(values | changes))


def checkpoints(config: nmt.Config) -> list[Path]:
    return RunFolder(config).checkpoints()


def weights(run: nmt.Run | Path) -> dict[str, torch.Tensor]:
    return load(
        run if isinstance(run, Path) else run.path / "model.safetensors"
    ).weights


def assert_same(
    ours: nmt.Run | Path, theirs: nmt.Run | Path, atol: float = 0.0
) -> None:
    torch.testing.assert_close(weights(ours), weights(theirs), rtol=0, atol=atol)


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The steps that have been done, in any run."""
    done: list[int] = []
    update = Trainer.update

    def counted(self: Trainer, batches: Any) -> None:
        update(self, batches)
        done.append(self.progress.step)

    monkeypatch.setattr(Trainer, "update", counted)
    return done


@pytest.fixture
def validation(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Validation losses that are taken from this list instead of computed."""
    losses: list[float] = []
    monkeypatch.setattr(training, "validation_loss", lambda *_: losses.pop(0))
    return losses


def stopped(monkeypatch: pytest.MonkeyPatch, config: nmt.Config, step: int) -> None:
    """A run that is interrupted after this many updates."""
    update = Trainer.update

    def stops(self: Trainer, batches: Any) -> None:
        if self.progress.step == step:
            raise KeyboardInterrupt
        update(self, batches)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, "update", stops)
        nmt.train(config)


# --- it learns
def test_toy_learns_its_two_sentences_and_writes_its_history(tmp_path: Path) -> None:
    run = nmt.train("toy", run_dir=str(tmp_path))
    pairs = nmt.load_corpus(run.config.data).train
    assert nmt.evaluate(run.translator, pairs).exact == 1.0
    assert [row["step"] for row in run.history] == [20, 40, 60]
    assert run.history[-1]["valid_loss"] < 0.1
    assert run.history[-1]["lr"] == run.config.train.lr
    with open(tmp_path / "history.csv", encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
    assert [pytest.approx(row, abs=1e-6) for row in run.history] == rows


@pytest.mark.weekly
def test_write_up_e_learns_at_its_own_settings(tmp_path: Path) -> None:
    translator = nmt.load_or_train("writeup_e", run_dir=str(tmp_path))
    translations = translator(["ich mochte ein bier", "ich mochte ein cola"])
    assert [t.text for t in translations] == ["i want a beer .", "i want a coke ."]


def test_losses_weigh_tokens_and_validation_has_no_smoothing_and_no_dropout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sums: list[tuple[float, int]] = []
    forward = nmt.Objective.forward

    def spy(self: nmt.Objective, batch: nmt.Batch) -> torch.Tensor:
        loss = forward(self, batch)
        if self.training:
            sums.append((loss.item(), batch.n_tokens))
        return loss

    monkeypatch.setattr(nmt.Objective, "forward", spy)
    options: dict[str, Any] = {"data__tokenizer": "bpe", "data__vocab_size": 60}
    options |= {"train__label_smoothing": 0.4, "model__dropout": 0.4}
    options |= {"data__bpe_dropout": 0.4, "train__select": "last"}
    run = nmt.train(mini(tmp_path, **options))
    for i, row in enumerate(run.history):
        losses, counts = zip(*sums[4 * i : 4 * i + 4], strict=True)
        assert row["train_loss"] == pytest.approx(sum(losses) / sum(counts), rel=1e-5)
    valid, tokenizer = nmt.load_corpus(run.config.data).valid, run.tokenizers[1]
    n_tokens = sum(len(tokenizer.encode(pair.tgt, sos=False)) for pair in valid)
    loss = -sum(nmt.sentence_log_probs(run.translator, valid)) / n_tokens
    assert run.history[-1]["valid_loss"] == pytest.approx(loss, rel=1e-4)


# --- the same, again, further
def test_the_seed_alone_decides_a_run(tmp_path: Path) -> None:
    """Neither the caller's random numbers nor switched-off gradients do."""
    threads, runs = torch.get_num_threads(), list[nmt.Run]()
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        torch.manual_seed(len(runs))
        before = torch.get_rng_state()
        options = {"model__dropout": 0.2, "train__threads": 2, "train__max_steps": 2}
        with torch.inference_mode() if seed else torch.no_grad():
            run = nmt.train(mini(tmp_path, name, train__seed=seed, **options))
            assert not torch.is_grad_enabled()
        assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == threads
        assert not run.model.training and all(
            weight.requires_grad and not weight.is_inference()
            for weight in run.model.parameters()
        )
        runs.append(run)
    assert_same(runs[0], runs[1])
    with pytest.raises(AssertionError):
        assert_same(runs[1], runs[2])


def test_a_finished_run_is_loaded_and_more_steps_resume_it(
    tmp_path: Path, updates: list[int]
) -> None:
    first = nmt.load_or_train(mini(tmp_path, model__dropout=0.2, train__max_steps=8))
    options: dict[str, Any] = {"model__dropout": 0.2, "train__max_steps": 8}
    again = nmt.train(mini(tmp_path, **options, decode__beam_size=2))
    assert torch.equal(first.model.output.weight, again.model.output.weight)
    assert not again.model.training and len(again.translator("ich").n_best) == 2
    longer = nmt.train(mini(tmp_path, model__dropout=0.2))
    assert updates == list(range(1, 13))
    whole = nmt.train(mini(tmp_path, "whole", model__dropout=0.2))
    assert [row["step"] for row in longer.history] == [4, 8, 12]
    assert whole.history == longer.history
    assert_same(whole, longer)


def test_selecting_other_weights_does_not_train_again(
    tmp_path: Path, updates: list[int], validation: list[float]
) -> None:
    validation += [3.0, 1.0, 2.0]
    options: dict[str, Any] = {"train__keep_checkpoints": 2}
    last = nmt.train(mini(tmp_path, train__select="last", **options))
    files = checkpoints(last.config)
    assert [file.stem[-2:] for file in files] == ["08", "12"]
    assert_same(last, files[1])
    options["train__keep_checkpoints"] = 3
    with pytest.raises(nmt.CheckpointError, match=r"=average needs .*0004.*missing"):
        nmt.train(mini(tmp_path, train__select="average", **options))
    options["train__keep_checkpoints"] = 2
    best = nmt.train(mini(tmp_path, train__select="best", **options))
    assert best.best_step == 8
    assert_same(best, files[0])
    average = nmt.train(mini(tmp_path, train__select="average", **options))
    first, second = map(weights, files)
    mean = {name: (weight + second[name]) / 2 for name, weight in first.items()}
    torch.testing.assert_close(dict(average.model.named_parameters()), mean)
    options["train__keep_checkpoints"] = 1  # another mean than the one of two
    assert_same(nmt.train(mini(tmp_path, train__select="average", **options)), last)
    assert len(updates) == 12
    files[1].unlink()
    with pytest.raises(nmt.CheckpointError, match="no checkpoint to resume from"):
        nmt.train(mini(tmp_path, train__select="best", **options))


def test_the_last_step_is_validated_though_its_checkpoint_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, mini(tmp_path, train__validate_every=50), 6)
    run = nmt.train(mini(tmp_path, train__validate_every=50, train__max_steps=4))
    assert [row["step"] for row in run.history] == [4]


def test_the_best_step_survives_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, validation: list[float]
) -> None:
    validation += [5.0, 4.0, 3.0, 2.0, 1.0, 9.0]  # after each update, at last after 6
    options: Any = {"train__checkpoint_every": 3, "train__max_steps": 6}
    stopped(monkeypatch, mini(tmp_path, train__validate_every=1, **options), 5)
    run = nmt.train(mini(tmp_path, train__validate_every=6, **options))
    assert run.best_step in (3, 5)


# --- what is refused
def test_a_cosine_ends_where_it_was_meant_to(tmp_path: Path) -> None:
    nmt.train(mini(tmp_path, train__schedule="cosine"))
    with pytest.raises(nmt.CheckpointError, match=r"max_steps=12, not 16"):
        nmt.train(mini(tmp_path, train__schedule="cosine", train__max_steps=16))


def test_another_corpus_under_a_run_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nmt.train(mini(tmp_path))
    file = tmp_path / "corpus" / "valid.en"
    file.write_text(file.read_text().replace("dog", "cat"))
    nmt.train(mini(tmp_path))  # finished, so its corpus is not read
    with pytest.raises(nmt.CheckpointError, match=r"on other pairs.*data\.corpus"):
        nmt.train(mini(tmp_path, train__max_steps=16))
    monkeypatch.setenv("HOME", str(tmp_path))
    nmt.train(mini(tmp_path, "home", data__corpus="~/corpus", train__max_steps=1))


def test_a_file_of_another_run_is_refused_by_key(tmp_path: Path) -> None:
    file = nmt.train(mini(tmp_path)).path / "model.safetensors"
    before = file.read_bytes()
    for options, message in (
        ({"train__lr": 0.5}, "train.lr="),
        ({"model__n_heads": 1}, "model.n_heads=2, not 1"),
        ({"data__lowercase": True}, "data.lowercase=False, not True"),
        ({"train__max_steps": 7}, "has 12 updates, more than train.max_steps=7"),
    ):
        with pytest.raises(nmt.CheckpointError, match=f"{message}.*: set run_dir"):
            nmt.train(mini(tmp_path, **options))
        assert file.read_bytes() == before


def test_a_run_of_another_version_is_refused(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path))
    saved = load(run.path / "model.safetensors")
    saved.state["invented"] = 1
    save(run.path / "model.safetensors", saved)
    with pytest.raises(nmt.CheckpointError, match="another version of nmt_lib"):
        nmt.train(mini(tmp_path))


def test_the_newest_checkpoint_must_be_whole(tmp_path: Path) -> None:
    config = mini(tmp_path)
    folder = RunFolder(config)
    assert folder.newest() is None
    nmt.train(config)
    *_, last = checkpoints(config)
    last.with_name(".step-00000016.safetensors-1.tmp").write_bytes(b"half")
    newest = folder.newest()
    assert newest is not None and newest.state["step"] == 12
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(nmt.CheckpointError, match=r"0012.* is damaged"):
        folder.newest()


def test_another_run_in_the_same_folder_is_refused_by_key(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path))
    run.translator.save(tmp_path / "saved")
    (run.path / "model.safetensors").unlink()  # its checkpoints stay
    with pytest.raises(nmt.CheckpointError, match=r"model.d_ff=24, not 32.*delete"):
        nmt.train(mini(tmp_path, model__d_ff=32))
    with pytest.raises(nmt.CheckpointError, match=r"saved.*Translator\.load"):
        nmt.train(mini(tmp_path, "saved"))
    (tmp_path / "file").write_text("kept")
    with pytest.raises(nmt.CheckpointError, match=r"cannot use .*file for a run"):
        nmt.train(mini(tmp_path, "file"))


def test_a_loss_that_is_not_finite_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    factors, forward = iter([1.0] * 5 + [math.nan]), nmt.Objective.forward

    def broken(self: nmt.Objective, batch: nmt.Batch) -> torch.Tensor:
        return forward(self, batch) * (next(factors) if self.training else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(nmt.Objective, "forward", broken)
        with pytest.raises(nmt.TrainingError, match="loss is nan after 5 updates"):
            nmt.train(mini(tmp_path))
    (tmp_path / "run.yaml").write_text(mini(tmp_path).to_yaml(), encoding="utf-8")
    rescued = nmt.train(tmp_path / "run.yaml")
    assert_same(rescued, nmt.train(mini(tmp_path), run_dir=str(tmp_path / "whole")))


@pytest.mark.parametrize("every", [1, 4])
def test_weights_that_explode_are_not_saved(tmp_path: Path, every: int) -> None:
    often: Any = {"train__checkpoint_every": every, "train__validate_every": every}
    config = mini(tmp_path, train__lr=1e6, **SGD, **often)
    with pytest.raises(nmt.TrainingError, match=r"is (nan|inf) after \d"):
        nmt.train(config)
    for saved in map(weights, checkpoints(config)):
        assert all(value.isfinite().all() for value in saved.values())


def test_a_validation_loss_that_is_not_finite_stops_the_run(
    tmp_path: Path, validation: list[float]
) -> None:
    validation += [2.0, math.inf]
    with pytest.raises(nmt.TrainingError, match="validation loss is inf after 8"):
        nmt.train(mini(tmp_path))
    assert len(checkpoints(mini(tmp_path))) == 1


# --- settings
@pytest.mark.parametrize(
    "options",
    [
        {"train.optimizer": "sgd", "train.momentum": 0.9},
        {"train.schedule": "cosine", "train.clip_norm": 0.1},
        {"train.batch_by": "tokens", "train.batch_tokens": 64},
        {"model.norm": "pre", "model.attention_dropout": 0.1, "data.joint": True},
        {"train.precision": "auto", "data.src_specials": False},
        {
            "data.tokenizer": "bpe",
            "data.vocab_size": 40,
            "data.joint": True,
            "model.tying": "three-way",
            "train.select": "average",
            "model.max_positions": 3,
        },
    ],
)
def test_a_setting_runs_three_steps_and_learns(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    steps = {"train.max_steps": 3, "train.validate_every": 1, "train.warmup": 1}
    run = nmt.train(mini(tmp_path, **(steps | {"train.lr": 0.01} | options)))
    assert run.history[-1]["valid_loss"] < run.history[0]["valid_loss"]
    assert isinstance(run.translator("ich sehe ein haus").text, str)


def test_the_learning_rate_of_each_update_is_that_of_the_schedule(
    tmp_path: Path,
) -> None:
    noam: Any = {"train__schedule": "noam", "train__lr": 1.0, "train__warmup": 4}
    config = mini(tmp_path, **noam, train__validate_every=1)
    rates = [nmt.learning_rate(step, config.train, 16) for step in range(1, 13)]
    assert [row["lr"] for row in nmt.train(config).history] == pytest.approx(rates)


def test_bf16_gives_nearly_the_losses_of_fp32(tmp_path: Path) -> None:
    runs = [
        nmt.train(mini(tmp_path, precision, train__precision=precision))
        for precision in ("fp32", "bf16")
    ]
    losses = [[row["train_loss"] for row in run.history] for run in runs]
    assert losses[1] == pytest.approx(losses[0], rel=0.02) and losses[1] != losses[0]
    assert {p.dtype for p in runs[1].model.parameters()} == {torch.float32}


def test_accumulated_batches_equal_one_large_batch(tmp_path: Path) -> None:
    options = SGD | {"train__lr": 0.5, "train__label_smoothing": 0.1}
    options |= {"train__max_steps": 3, "train__select": "last"}
    small = {"train__batch_sentences": 6, "train__accumulate": 3}
    runs = [
        nmt.train(mini(tmp_path, "a", **options, **small)),
        nmt.train(mini(tmp_path, "b", **options, train__batch_sentences=18)),
    ]
    assert_same(runs[0], runs[1], atol=1e-5)


def test_clipping_bounds_the_step(tmp_path: Path) -> None:
    options = SGD | {"train__lr": 1.0, "train__max_steps": 1}
    still, moved = (
        nmt.train(mini(tmp_path, str(clip), train__clip_norm=clip, **options)).model
        for clip in (1e-9, 1e-2)
    )
    both = zip(moved.parameters(), still.parameters(), strict=True)
    lengths = [(a - b).norm().item() for a, b in both]
    assert math.hypot(*lengths) == pytest.approx(1e-2, rel=1e-2)


def test_each_epoch_has_every_pair_once_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []
    update = Trainer.update

    def spy(self: Trainer, batches: Any) -> None:
        seen.extend((*src, *tgt) for batch in batches for src, tgt in batch)
        update(self, batches)

    monkeypatch.setattr(Trainer, "update", spy)
    run = nmt.train(mini(tmp_path, train__batch_sentences=7, train__max_steps=9))
    first, second, third = seen[:18], seen[18:36], seen[36:]
    assert sorted(first) == sorted(second) == sorted(third) and len(set(first)) == 18
    assert first != second != third
    assert [row["epoch"] for row in run.history] == [1, 2, 2]


# --- several processes and GPUs
def test_no_gpu_is_touched_by_a_run_on_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def touched(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for name in ("get_rng_state", "set_rng_state", "manual_seed_all"):
        monkeypatch.setattr(torch.cuda, name, touched)
    nmt.train(mini(tmp_path, train__max_steps=1))


def ask(run_dir: Path, answer: Path) -> None:
    count, update = [], Trainer.update

    def counted(self: Trainer, batches: Any) -> None:
        count.append(1)
        update(self, batches)

    pytest.MonkeyPatch().setattr(Trainer, "update", counted)
    text = nmt.load_or_train("toy", run_dir=str(run_dir))("ich mochte ein bier").text
    answer.write_text(f"{text} {len(count)}", encoding="utf-8")


def test_two_processes_that_ask_at_once_train_once(tmp_path: Path) -> None:
    answers = [tmp_path / "one", tmp_path / "two"]
    processes = [start(ask, tmp_path / "run", answer) for answer in answers]
    assert exit_codes(*processes) == [0, 0]
    texts = sorted(answer.read_text() for answer in answers)
    assert texts == ["i want a beer . 0", "i want a beer . 60"]


def share(config: Path, rank: int, port: int) -> None:
    """One of two processes, with the environment that `torchrun` sets."""
    environment: dict[str, Any] = {"RANK": rank, "LOCAL_RANK": rank}
    environment |= {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2}
    environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({key: str(value) for key, value in environment.items()})
    sys.exit(cli.main(["train", str(config)]))


def test_two_processes_that_share_the_work_equal_one_that_accumulates(
    tmp_path: Path,
) -> None:
    """The table of positions grows in each process."""
    options = {
        "train__clip_norm": 0.5,
        "model__max_positions": 3,
        "train__optimizer": "sgd",  # Adam would hide a wrong factor
        "train__warmup": 0,
    }
    one = nmt.train(mini(tmp_path, "one", train__accumulate=2, **options))
    two = mini(tmp_path, "two", **options)
    (tmp_path / "two.yaml").write_text(two.to_yaml(), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    processes = [start(share, tmp_path / "two.yaml", rank, port) for rank in (0, 1)]
    assert exit_codes(*processes) == [0, 0]
    assert_same(one, tmp_path / "two" / "model.safetensors", atol=1e-6)
    history = load(tmp_path / "two" / "model.safetensors").state["history"]
    losses = [row["train_loss"] for row in one.history]
    assert [row["train_loss"] for row in history] == pytest.approx(losses, rel=1e-4)


def test_a_run_without_run_dir_keeps_its_files_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NMT_RUNS", "somewhere")
    run = nmt.train(mini(tmp_path).model_copy(update={"run_dir": "", "name": "home"}))
    assert run.path == Path("somewhere/home")
    names = {str(file.relative_to(run.path)) for file in run.path.rglob("*.*s*")}
    files = {f"checkpoints/step-{step:08}.safetensors" for step in (4, 8, 12)}
    files |= {"best.safetensors", "model.safetensors", "history.csv"}
    assert files <= names and not [name for name in names if name.endswith(".tmp")]
