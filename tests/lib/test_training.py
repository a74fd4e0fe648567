import csv
import math
import os
import re
import socket
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from accelerate import Accelerator
from tests.lib.forked import exit_codes, start
from tests.lib.small import small_model, write_corpus

import nmt_lib as nmt
from nmt_lib import training
from nmt_lib.batching import make_batch
from nmt_lib.losses import validation_loss
from nmt_lib.runs import checkpoints as ckpt
from nmt_lib.runs import cli
from nmt_lib.training import Trainer, plan_epoch

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


def mini(tmp_path: Path, **overrides: Any) -> nmt.Config:
    corpus = tmp_path / "corpus"
    if not corpus.is_dir():
        write_corpus(corpus)
    values = MINI | {"data.corpus": str(corpus), "run_dir": str(tmp_path / "run")}
    return nmt.load_config(
        "toy",
        **(
            values | {key.replace("__", "."): value for key, value in overrides.items()}
        ),
    )


def weights(path: Path) -> dict[str, torch.Tensor]:
    return ckpt.part(ckpt.load_checkpoint(path).tensors, "model.")


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> nmt.Run:
    return nmt.train("toy", run_dir=str(tmp_path_factory.mktemp("toy")))


# ------------------------------------------------------------------------------------------------------ it learns
def test_toy_learns_its_two_sentences_by_heart(toy: nmt.Run) -> None:
    pairs = nmt.load_corpus(toy.config.data).train
    assert [t.text for t in toy.translator([pair.src for pair in pairs])] == [
        pair.tgt for pair in pairs
    ]
    assert nmt.evaluate(toy.translator, pairs).exact == 1.0
    assert toy.history[-1]["valid_loss"] < 0.1


def test_a_batch_of_multi30k_is_learnt_by_heart(
    tmp_path: Path, real_data: Path
) -> None:
    options = {
        "data.limit": 32,
        "data.max_length": 64,
        "data.tokenizer": "spacy",
        "data.joint": False,
    }
    options |= {
        "model.d_model": 64,
        "model.n_layers": 2,
        "model.d_ff": 128,
        "model.dropout": 0.0,
        "model.tying": "none",
    }
    options |= {
        "train.batch_by": "sentences",
        "train.batch_sentences": 32,
        "train.label_smoothing": 0.0,
    }
    options |= {
        "train.schedule": "constant",
        "train.lr": 3e-3,
        "train.warmup": 20,
        "train.max_steps": 120,
    }
    options |= {
        "train.validate_every": 120,
        "train.checkpoint_every": 120,
        "train.threads": 1,
    }
    config = nmt.load_config("multi30k", run_dir=str(tmp_path / "run"), **options)
    run = nmt.train(config)
    corpus = nmt.load_corpus(config.data)
    tokenizers = (run.translator.src_tokenizer, run.translator.tgt_tokenizer)
    loss = validation_loss(
        run.model, [make_batch(nmt.encode_pairs(corpus.train, tokenizers, config))]
    )
    assert run.config.train.max_steps == 120 and loss < 0.1


# ----------------------------------------------------------------------------------------------------- the history
def test_the_history_has_a_row_for_each_validation(toy: nmt.Run) -> None:
    assert [row["step"] for row in toy.history] == [20, 40, 60]
    assert all(
        tuple(row) == ("step", "epoch", "lr", "train_loss", "valid_loss")
        for row in toy.history
    )
    assert toy.history[-1]["lr"] == toy.config.train.lr
    with open(toy.path / "history.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["valid_loss"]) for row in rows] == pytest.approx(
        [row["valid_loss"] for row in toy.history], abs=1e-6
    )


def test_the_training_loss_weighs_tokens_not_batches(
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
    run = nmt.train(mini(tmp_path, train__batch_sentences=5, train__max_steps=8))
    for i, row in enumerate(run.history):
        part = sums[4 * i : 4 * i + 4]
        assert len({n for _, n in part}) > 1
        assert row["train_loss"] == pytest.approx(
            sum(loss for loss, _ in part) / sum(n for _, n in part), rel=1e-5
        )


def test_validation_loss_has_no_smoothing_and_no_dropout(tmp_path: Path) -> None:
    pieces = {
        "data__tokenizer": "bpe",
        "data__vocab_size": 60,
        "data__bpe_dropout": 0.4,
    }
    run = nmt.train(
        mini(
            tmp_path,
            train__label_smoothing=0.4,
            model__dropout=0.4,
            train__select="last",
            **pieces,
        )
    )
    tokenizers = (run.translator.src_tokenizer, run.translator.tgt_tokenizer)
    valid = nmt.encode_pairs(
        nmt.load_corpus(run.config.data).valid, tokenizers, run.config
    )
    total = count = 0.0
    for example in valid:
        batch = make_batch([example])
        logits = run.model(batch.src, batch.tgt_in)
        total += torch.nn.functional.cross_entropy(
            logits[0], batch.tgt_out[0], reduction="sum"
        ).item()
        count += batch.n_tokens
    assert run.history[-1]["valid_loss"] == pytest.approx(total / count, rel=1e-4)


def test_validation_leaves_the_model_in_its_mode() -> None:
    model, batches = small_model(), [make_batch([([2, 4, 3], [2, 5, 3])])]
    for mode in (True, False):
        model.train(mode)
        validation_loss(model, batches)
        assert model.training is mode


# ---------------------------------------------------------------------------------------------- same, again, further
def test_two_runs_with_one_seed_are_the_same(tmp_path: Path) -> None:
    runs = [
        nmt.train(
            mini(
                tmp_path,
                run_dir=str(tmp_path / str(i)),
                model__dropout=0.2,
                train__seed=i // 2,
            )
        )
        for i in range(3)
    ]
    states = [weights(run.path / "model.safetensors") for run in runs]
    assert same(states[0], states[1]) and runs[0].history == runs[1].history
    assert not same(states[0], states[2])


def test_training_leaves_the_callers_random_numbers_and_threads_alone(
    tmp_path: Path,
) -> None:
    torch.manual_seed(7)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    options = {
        "train__threads": 2,
        "train__max_steps": 2,
        "model__dropout": 0.2,
    }  # two threads wait for each other
    first = nmt.train(mini(tmp_path, run_dir=str(tmp_path / "a"), **options))
    assert (
        torch.equal(torch.get_rng_state(), state) and torch.get_num_threads() == threads
    )
    torch.manual_seed(8)
    second = nmt.train(mini(tmp_path, run_dir=str(tmp_path / "b"), **options))
    assert same(
        weights(first.path / "model.safetensors"),
        weights(second.path / "model.safetensors"),
    )


def test_training_goes_on_where_a_notebook_has_switched_gradients_off(
    tmp_path: Path,
) -> None:
    with torch.no_grad():
        assert nmt.train(mini(tmp_path)).history
        assert not torch.is_grad_enabled()


def count_updates(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    done: list[int] = []
    update = Trainer.update

    def counted(self: Trainer, group: list[list[int]]) -> None:
        update(self, group)
        done.append(self.progress.step)

    monkeypatch.setattr(Trainer, "update", counted)
    return done


def test_a_finished_run_is_loaded_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = count_updates(monkeypatch)
    first = nmt.load_or_train(mini(tmp_path))
    second = nmt.load_or_train(mini(tmp_path, decode__beam_size=2))
    assert done == list(range(1, 13))
    assert same(dict(first.model.state_dict()), dict(second.model.state_dict()))
    assert len(second("ich").n_best) == 2


def test_more_steps_go_on_where_the_run_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = count_updates(monkeypatch)
    nmt.train(mini(tmp_path, model__dropout=0.2, train__max_steps=8))
    longer = nmt.train(mini(tmp_path, model__dropout=0.2))
    assert done == list(range(1, 13)) and [row["step"] for row in longer.history] == [
        4,
        8,
        12,
    ]
    whole = nmt.train(
        mini(tmp_path, model__dropout=0.2, run_dir=str(tmp_path / "whole"))
    )
    assert whole.history == longer.history
    assert same(
        weights(whole.path / "model.safetensors"),
        weights(longer.path / "model.safetensors"),
    )


def test_another_choice_of_weights_is_handed_out_without_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = count_updates(monkeypatch)
    last = nmt.train(mini(tmp_path, train__select="last"))
    before = weights(last.path / "model.safetensors")
    average = nmt.train(mini(tmp_path, train__select="average"))
    assert len(done) == 12 and not same(
        before, weights(average.path / "model.safetensors")
    )


# ------------------------------------------------------------------------------------------- which weights come out
def test_select_last_is_the_last_checkpoint(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path, train__select="last"))
    files = ckpt.checkpoint_files(run.path / "checkpoints")
    assert [file.stem for file in files] == [
        "step-00000004",
        "step-00000008",
        "step-00000012",
    ]
    assert same(weights(run.path / "model.safetensors"), weights(files[-1]))


def test_select_average_is_the_mean_of_the_checkpoints_kept(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path, train__select="average", train__keep_checkpoints=2))
    files = ckpt.checkpoint_files(run.path / "checkpoints")
    assert [file.stem for file in files] == ["step-00000008", "step-00000012"]
    parts = [weights(file) for file in files]
    for name, value in weights(run.path / "model.safetensors").items():
        torch.testing.assert_close(value, (parts[0][name] + parts[1][name]) / 2)
        torch.testing.assert_close(run.model.get_parameter(name).cpu(), value)


def test_select_best_is_the_step_with_the_lowest_validation_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(training, "validation_loss", lambda *_: next(losses))
    run = nmt.train(mini(tmp_path, train__select="best"))
    assert run.best_step == 8
    step_8 = weights(run.path / "checkpoints" / "step-00000008.safetensors")
    assert same(weights(run.path / "model.safetensors"), step_8)


# ------------------------------------------------------------------------------------------------------ bad input
def test_another_config_in_the_same_folder_is_refused_by_key(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path))
    before = (run.path / "model.safetensors").read_bytes()
    for key, value in (
        ("model.d_ff", 32),
        ("train.lr", 0.1),
        ("data.lowercase", True),
        ("train.seed", 5),
    ):
        with pytest.raises(nmt.CheckpointError, match=rf"{key}=.*{value}"):
            nmt.train(mini(tmp_path, **{key: value}))
    assert (run.path / "model.safetensors").read_bytes() == before


def test_a_translator_saved_there_is_not_overwritten(tmp_path: Path) -> None:
    config = mini(tmp_path)
    nmt.train(config).translator.save(tmp_path / "saved")
    before = (tmp_path / "saved" / "model.safetensors").read_bytes()
    with pytest.raises(nmt.CheckpointError, match=r"saved.*Translator\.load"):
        nmt.train(config.model_copy(update={"run_dir": str(tmp_path / "saved")}))
    assert (tmp_path / "saved" / "model.safetensors").read_bytes() == before


def test_a_run_dir_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("kept")
    with pytest.raises(nmt.CheckpointError, match="run_dir"):
        nmt.train(mini(tmp_path))
    assert (tmp_path / "run").read_text() == "kept"


def test_a_checkpoint_of_another_vocabulary_is_refused(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path))
    tokens = run.path / "tgt_tokenizer.json"
    changed = tokens.read_text(encoding="utf-8").replace('"beer"', '"wine"')
    tokens.write_text(changed, encoding="utf-8")
    with pytest.raises(nmt.CheckpointError, match=r"tgt_tokenizer.json is damaged"):
        nmt.train(mini(tmp_path))
    tokens.write_text(
        "{" + changed.partition("\n")[2], encoding="utf-8"
    )  # without its digest, as older versions wrote
    for steps in (12, 16):
        with pytest.raises(nmt.CheckpointError, match="vocabulary"):
            nmt.train(mini(tmp_path, train__max_steps=steps))


def test_a_truncated_checkpoint_is_passed_over(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path, model__dropout=0.2, train__max_steps=8))
    last = ckpt.checkpoint_files(run.path / "checkpoints")[-1]
    last.write_bytes(last.read_bytes()[:500])
    with pytest.warns(UserWarning, match=r"step-00000008.*damaged"):
        longer = nmt.train(mini(tmp_path, model__dropout=0.2))
    whole = nmt.train(
        mini(tmp_path, model__dropout=0.2, run_dir=str(tmp_path / "whole"))
    )
    assert same(
        weights(whole.path / "model.safetensors"),
        weights(longer.path / "model.safetensors"),
    )


def stopped(monkeypatch: pytest.MonkeyPatch, config: nmt.Config, step: int) -> None:
    """A run that is cut off in the middle of an update."""
    update = Trainer.update

    def stops(self: Trainer, group: list[list[int]]) -> None:
        if self.progress.step == step:
            raise KeyboardInterrupt
        update(self, group)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, "update", stops)
        nmt.train(config)


def test_good_checkpoints_stay_and_damaged_ones_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "train__checkpoint_every": 2,
        "train__keep_checkpoints": 3,
        "train__max_steps": 20,
    }
    stopped(monkeypatch, mini(tmp_path, **options), 15)
    folder = tmp_path / "run" / "checkpoints"
    for file in ckpt.checkpoint_files(folder):  # 10, 12 and 14
        file.write_bytes(file.read_bytes()[:-7])
    with pytest.warns(UserWarning, match="damaged"):
        stopped(monkeypatch, mini(tmp_path, **options), 9)
    assert [file.stem for file in ckpt.checkpoint_files(folder)] == [
        f"step-{step:08}" for step in (4, 6, 8)
    ]


def test_a_best_that_a_crash_took_away_keeps_its_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {
        "train__select": "best",
        "train__checkpoint_every": 3,
        "train__max_steps": 6,
    }
    losses = iter(
        [5.0, 4.0, 3.0, 2.0, 1.0, 9.0]
    )  # after 1, 2, 3, 4, 5, and then after 6 updates
    monkeypatch.setattr(training, "validation_loss", lambda *_: next(losses))
    stopped(monkeypatch, mini(tmp_path, **options, train__validate_every=1), 5)
    assert nmt.train(mini(tmp_path, **options, train__validate_every=6)).best_step == 5


def test_fewer_steps_than_a_checkpoint_has_are_validated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch, mini(tmp_path, train__validate_every=50), 6)
    run = nmt.train(mini(tmp_path, train__validate_every=50, train__max_steps=3))
    assert [row["step"] for row in run.history] == [4]


def test_an_update_sees_no_batch_twice(tmp_path: Path) -> None:
    config = mini(tmp_path, train__accumulate=500)
    corpus = nmt.load_corpus(config.data)
    trainer = Trainer(
        config,
        corpus,
        nmt.build_tokenizers(config.data, corpus.train),
        tmp_path,
        Accelerator(),
    )
    update = next(trainer.updates())
    assert sorted(row for batch in update for row in batch) == list(
        range(len(trainer.examples))
    )


def test_a_budget_of_tokens_means_nothing_to_batches_of_sentences(
    tmp_path: Path,
) -> None:
    assert nmt.train(mini(tmp_path, train__batch_tokens=1)).history


def test_overrides_of_a_config_are_refused_and_a_path_is_read(tmp_path: Path) -> None:
    config = mini(tmp_path)
    with pytest.raises(
        nmt.ConfigError, match=r"train.seed: a Config takes no overrides"
    ):
        nmt.train(config, **{"train.seed": 5})
    path = tmp_path / "mine.yaml"
    path.write_text(config.to_yaml(), encoding="utf-8")
    assert nmt.train(path).config.train == config.train


def test_a_loss_that_is_not_finite_names_step_and_pairs_and_keeps_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = nmt.Objective.forward
    calls = []

    def breaks(self: nmt.Objective, batch: nmt.Batch) -> torch.Tensor:
        calls.append(batch) if self.training else None
        return forward(self, batch) * (math.nan if len(calls) == 6 else 1.0)

    config = mini(tmp_path)
    monkeypatch.setattr(nmt.Objective, "forward", breaks)
    with pytest.raises(
        nmt.TrainingError, match=r"nan at step 6, .*step-00000004"
    ) as caught:
        nmt.train(config)
    corpus = nmt.load_corpus(config.data)
    examples = nmt.encode_pairs(
        corpus.train, nmt.build_tokenizers(config.data, corpus.train), config
    )
    named = [
        int(row)
        for row in re.search(r"pairs \[(.*)\]", str(caught.value)).group(1).split(",")
    ]
    assert make_batch(examples.take(named)).src.tolist() == calls[-1].src.tolist()
    monkeypatch.setattr(nmt.Objective, "forward", forward)
    rescued = nmt.train(mini(tmp_path))
    whole = nmt.train(mini(tmp_path, run_dir=str(tmp_path / "whole")))
    assert same(
        weights(rescued.path / "model.safetensors"),
        weights(whole.path / "model.safetensors"),
    )


def test_a_validation_loss_that_is_not_finite_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses = iter([2.0, math.inf])
    monkeypatch.setattr(training, "validation_loss", lambda *_: next(losses))
    with pytest.raises(
        nmt.TrainingError, match=r"validation loss is inf after step 8.*step-00000004"
    ):
        nmt.train(mini(tmp_path))
    assert len(ckpt.checkpoint_files(tmp_path / "run" / "checkpoints")) == 1


@pytest.mark.parametrize("every", [1, 4])
def test_a_learning_rate_that_explodes_leaves_no_checkpoint_that_is_not_finite(
    tmp_path: Path, every: int
) -> None:
    options = {"train__optimizer": "sgd", "train__lr": 1e6, "train__warmup": 0}
    with pytest.raises(nmt.TrainingError, match=r"step \d"):
        nmt.train(
            mini(
                tmp_path,
                train__checkpoint_every=every,
                train__validate_every=every,
                **options,
            )
        )
    for file in ckpt.checkpoint_files(tmp_path / "run" / "checkpoints"):
        assert all(value.isfinite().all() for value in weights(file).values())


def test_a_sentence_over_the_budget_is_named(tmp_path: Path) -> None:
    with pytest.raises(nmt.TrainingError, match=r"train\.batch_tokens=5"):
        nmt.train(mini(tmp_path, train__batch_by="tokens", train__batch_tokens=5))


def test_pairs_that_are_all_too_long_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(nmt.TrainingError, match=r"data\.max_length=4"):
        nmt.train(mini(tmp_path, data__max_length=4))


# ------------------------------------------------------------------------------------------------ settings that run
@pytest.mark.parametrize(
    "options",
    [
        {"train.optimizer": "sgd", "train.momentum": 0.9},
        {"train.schedule": "cosine"},
        {"train.schedule": "noam", "train.lr": 0.05},
        {"train.schedule": "inverse-sqrt"},
        {"train.clip_norm": 0.1},
        {"train.accumulate": 3},
        {"train.batch_by": "tokens", "train.batch_tokens": 64},
        {"train.precision": "bf16"},
        {"train.precision": "auto"},
        {
            "model.norm": "pre",
            "model.attention_dropout": 0.1,
            "data.src_specials": False,
        },
        {
            "data.tokenizer": "bpe",
            "data.vocab_size": 40,
            "data.joint": True,
            "model.tying": "three-way",
        },
        {"train.select": "average"},
        {"model.max_positions": 3},
    ],
)
def test_a_setting_runs_three_steps_and_learns(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    steps = {
        "train.max_steps": 3,
        "train.validate_every": 1,
        "train.checkpoint_every": 2,
        "train.warmup": 1,
    }
    run = nmt.train(mini(tmp_path, **(steps | {"train.lr": 0.01} | options)))
    assert [row["step"] for row in run.history] == [1, 2, 3]
    assert run.history[-1]["valid_loss"] < run.history[0]["valid_loss"]
    assert isinstance(run.translator("ich sehe ein haus").text, str)


def test_the_learning_rate_of_each_update_is_that_of_the_schedule(
    tmp_path: Path,
) -> None:
    config = mini(
        tmp_path,
        train__schedule="noam",
        train__lr=1.0,
        train__warmup=4,
        train__validate_every=1,
    )
    rates = [row["lr"] for row in nmt.train(config).history]
    assert rates == pytest.approx(
        [nmt.learning_rate(step, config.train, 16) for step in range(1, 13)]
    )


def test_bf16_gives_nearly_the_losses_of_fp32(tmp_path: Path) -> None:
    runs = [
        nmt.train(mini(tmp_path, train__precision=p, run_dir=str(tmp_path / p)))
        for p in ("fp32", "bf16")
    ]
    losses = [[row["train_loss"] for row in run.history] for run in runs]
    assert losses[1] == pytest.approx(losses[0], rel=0.02) and losses[1] != losses[0]
    assert all(
        value.dtype == torch.float32 for value in runs[1].model.state_dict().values()
    )


def test_accumulated_batches_equal_one_large_batch(tmp_path: Path) -> None:
    options = {
        "train__max_steps": 3,
        "train__schedule": "constant",
        "train__warmup": 0,
        "train__label_smoothing": 0.1,
    }
    options |= {"train__optimizer": "sgd", "train__lr": 0.5}
    small = mini(
        tmp_path,
        run_dir=str(tmp_path / "a"),
        train__batch_sentences=6,
        train__accumulate=3,
        **options,
    )
    large = mini(
        tmp_path, run_dir=str(tmp_path / "b"), train__batch_sentences=18, **options
    )
    runs = [nmt.train(small), nmt.train(large)]
    for name, value in weights(
        runs[0].path / "checkpoints" / "step-00000003.safetensors"
    ).items():
        other = weights(runs[1].path / "checkpoints" / "step-00000003.safetensors")[
            name
        ]
        torch.testing.assert_close(value, other, rtol=1e-4, atol=1e-5)


def test_clipping_bounds_the_step(tmp_path: Path) -> None:
    options = {
        "train__optimizer": "sgd",
        "train__lr": 1.0,
        "train__warmup": 0,
        "train__max_steps": 1,
    }
    states = []
    for clip in (1e-9, 1e-2):
        run = nmt.train(
            mini(
                tmp_path,
                run_dir=str(tmp_path / str(clip)),
                train__clip_norm=clip,
                **options,
            )
        )
        states.append(torch.cat([p.detach().flatten() for p in run.model.parameters()]))
    assert (states[1] - states[0]).norm().item() == pytest.approx(1e-2, rel=1e-2)


def test_each_epoch_of_a_run_draws_its_batches_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[list[int]] = []
    update = Trainer.update
    monkeypatch.setattr(
        Trainer,
        "update",
        lambda self, group: (groups.append(sum(group, [])), update(self, group)),
    )  # noqa: RUF017
    run = nmt.train(
        mini(
            tmp_path,
            train__batch_sentences=6,
            train__max_steps=9,
            train__validate_every=3,
        )
    )
    epochs = [groups[i : i + 3] for i in (0, 3, 6)]
    assert all(
        sorted(i for rows in epoch for i in rows) == list(range(18)) for epoch in epochs
    )
    assert epochs[0] != epochs[1] != epochs[2] and [
        row["epoch"] for row in run.history
    ] == [0, 1, 2]


@pytest.mark.parametrize("batch_by", ["tokens", "sentences"])
def test_an_epoch_sees_each_pair_once_in_an_order_of_its_own(batch_by: str) -> None:
    train = nmt.load_config(
        "toy",
        **{
            "train.batch_by": batch_by,
            "train.batch_tokens": 30,
            "train.batch_sentences": 4,
        },
    ).train
    lengths = np.array([(3 + i % 5, 4 + i % 3) for i in range(40)])
    plans = [plan_epoch(lengths, train, epoch) for epoch in (0, 0, 1)]
    assert plans[0] == plans[1] != plans[2]
    assert all(
        sorted(i for rows in plan for i in rows) == list(range(40)) for plan in plans
    )


# -------------------------------------------------------------------------------------------------- two at one time
def ask(run_dir: Path, answer: Path) -> None:
    count, update = [], Trainer.update
    Trainer.update = lambda self, group: (count.append(1), update(self, group))[1]
    text = nmt.load_or_train("toy", run_dir=str(run_dir))("ich mochte ein bier").text
    answer.write_text(f"{text} {len(count)}", encoding="utf-8")


def test_two_processes_that_ask_at_once_train_once(tmp_path: Path) -> None:
    answers = [tmp_path / "one", tmp_path / "two"]
    assert exit_codes(
        *[start(ask, tmp_path / "run", answer) for answer in answers]
    ) == [0, 0]
    assert sorted(answer.read_text() for answer in answers) == [
        "i want a beer . 0",
        "i want a beer . 60",
    ]


def share(config: Path, rank: int, port: int) -> None:
    """One of two processes, told what `accelerate launch` and `torchrun` tell theirs."""
    told = {
        "RANK": rank,
        "LOCAL_RANK": rank,
        "WORLD_SIZE": 2,
        "LOCAL_WORLD_SIZE": 2,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "ACCELERATE_USE_CPU": 1,
    }
    os.environ.update({key: str(value) for key, value in told.items()})
    sys.exit(cli.main(["train", str(config)]))


def test_two_processes_that_share_the_work_equal_one_that_accumulates(
    tmp_path: Path,
) -> None:
    one = nmt.train(
        mini(
            tmp_path,
            run_dir=str(tmp_path / "one"),
            train__accumulate=2,
            train__clip_norm=0.5,
        )
    )
    options = {
        "train__clip_norm": 0.5,
        "model__max_positions": 3,
    }  # the table of positions grows in each process
    two = mini(tmp_path, run_dir=str(tmp_path / "two"), **options)
    (tmp_path / "two.yaml").write_text(two.to_yaml(), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert exit_codes(
        *[start(share, tmp_path / "two.yaml", rank, port) for rank in (0, 1)]
    ) == [0, 0]
    ours = weights(tmp_path / "two" / "model.safetensors")
    for name, value in weights(one.path / "model.safetensors").items():
        torch.testing.assert_close(ours[name], value, rtol=0, atol=1e-4)
    history = ckpt.load_checkpoint(tmp_path / "two" / "model.safetensors").state[
        "history"
    ]
    assert [row["train_loss"] for row in history] == pytest.approx(
        [row["train_loss"] for row in one.history], rel=1e-4
    )


def test_a_run_with_a_relative_path_keeps_its_files_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NMT_RUNS", raising=False)
    config = mini(
        tmp_path,
        run_dir="",
        name="home",
        train__select="average",
        train__keep_checkpoints=2,
    )
    run = nmt.train(config)
    assert run.path == Path("runs/home")
    files = {
        str(path.relative_to(tmp_path / "runs/home"))
        for path in (tmp_path / "runs").rglob("*.safetensors")
    }
    checkpoints = {f"checkpoints/step-{step:08d}.safetensors" for step in (8, 12)}
    assert files == checkpoints | {"best.safetensors", "model.safetensors"}
    (tmp_path / "runs/home/model.safetensors").unlink()
    assert same(
        dict(nmt.train(config).model.named_parameters()),
        dict(run.model.named_parameters()),
    )


def test_a_missing_checkpoint_of_the_average_is_named(tmp_path: Path) -> None:
    options = {
        "train__select": "average",
        "train__keep_checkpoints": 3,
        "train__checkpoint_every": 2,
    }
    run = nmt.train(mini(tmp_path, **options))
    steps = [
        int(file.stem[5:]) for file in ckpt.checkpoint_files(run.path / "checkpoints")
    ]
    assert steps == [8, 10, 12]
    ckpt.checkpoint_path(run.path / "checkpoints", 10).unlink()
    (run.path / "model.safetensors").unlink()
    with pytest.raises(
        nmt.CheckpointError, match=r"no checkpoint .*step-00000010.*average needs it"
    ):
        nmt.train(mini(tmp_path, **options))
    ckpt.checkpoint_path(
        run.path / "checkpoints", 12
    ).unlink()  # as the message says: those after it too
    again = nmt.train(mini(tmp_path, **options))
    assert same(
        weights(again.path / "model.safetensors"), dict(run.model.named_parameters())
    )


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    run = nmt.train(mini(tmp_path))
    other = nmt.train(mini(tmp_path, run_dir=str(tmp_path / "other"), train__lr=0.03))
    for name in (
        "checkpoints/step-00000012.safetensors",
        "best.safetensors",
        "model.safetensors",
    ):
        kept = (run.path / name).read_bytes()
        (run.path / name).write_bytes((other.path / name).read_bytes())
        if name != "model.safetensors":
            (run.path / "model.safetensors").unlink()
        options = {"train__select": "best"} if name.startswith("best") else {}
        with pytest.raises(nmt.CheckpointError, match=r"train.lr=0.03, not"):
            nmt.train(mini(tmp_path, **options))
        (run.path / name).write_bytes(kept)
        nmt.train(mini(tmp_path))


def test_an_average_of_nothing_is_an_error() -> None:
    with pytest.raises(nmt.CheckpointError, match="no checkpoints to average"):
        ckpt.average_weights([])


def test_write_up_e_learns_its_two_sentences_at_its_own_settings(
    tmp_path: Path,
) -> None:
    translator = nmt.load_or_train("writeup_e", run_dir=str(tmp_path))
    translations = translator(["ich mochte ein bier", "ich mochte ein cola"])
    assert [t.text for t in translations] == ["i want a beer .", "i want a coke ."]
