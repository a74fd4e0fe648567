"""Runs: from a config to a trained translator, ready to resume after any crash.

A run is a folder. ``checkpoints/`` holds what it resumes from, ``best.safetensors`` its
best weights so far, ``model.safetensors``, written at its end, the translator.
``config.yaml`` and ``history.csv`` are for people; nothing reads them back.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock

from . import checkpoints as ckpt
from .config import Config, load_config
from .corpora import load_corpus
from .errors import CheckpointError, ConfigError
from .tokenizers import build_tokenizers
from .training import Trainer
from .transformer import Transformer
from .translator import Translator


@dataclass(frozen=True)
class Run:
    """A finished training run.

    ``history`` has one row for each validation: ``step``, ``epoch``, ``lr``,
    ``train_loss`` (with smoothing, as optimised) and ``valid_loss`` (without, in nats a
    token). ``path`` is the run's folder.
    """

    path: Path
    config: Config
    translator: Translator
    history: list[dict[str, float]]
    best_step: int

    @property
    def model(self) -> Transformer:
        return self.translator.model


def load_or_train(
    config: Config | str | os.PathLike[str], **overrides: Any
) -> Translator:
    """The translator of a config: loaded if its run is finished, else trained first.

    Several processes may ask at once: one trains, the others wait for it.
    """
    return train(config, **overrides).translator


def train(config: Config | str | os.PathLike[str], **overrides: Any) -> Run:
    """Trains until ``train.max_steps``, or resumes where an earlier call was cut off.

    Args:
        config: a ``Config``, or what ``load_config`` takes.

    Raises:
        CheckpointError: the run's folder holds another config's run, or cannot be
            written.
        ConfigError: settings that cannot be used.
        TrainingError: the loss is not finite.
    """
    from accelerate import PartialState

    if not isinstance(config, Config):
        config = load_config(config, **overrides)
    elif overrides:
        raise ConfigError(
            f"{', '.join(overrides)}: a Config takes no overrides, give them to "
            "load_config"
        )
    path = config.run_path
    run = _finished(config, path / "model.safetensors")
    if run is not None:
        return run
    processes, threads = PartialState(), torch.get_num_threads()
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / ".lock") if processes.is_main_process else nullcontext()
        # The caller's random numbers go on as if nothing had happened.
        with lock, torch.random.fork_rng(), torch.enable_grad():
            processes.wait_for_everyone()
            wanted = config.train.threads or threads
            torch.set_num_threads(min(wanted, os.cpu_count() or 1))
            return _train(config, path)
    except OSError as error:
        raise CheckpointError(
            f"cannot use {path} as the run's folder ({error.strerror or error}): "
            "choose another run_dir"
        ) from None
    finally:
        torch.set_num_threads(threads)


def _train(config: Config, path: Path) -> Run:
    corpus = load_corpus(config.data)
    saved = ckpt.newest_checkpoint(path / "checkpoints", config)
    if saved is None:
        tokenizers = build_tokenizers(config.data, corpus.train)
    else:
        tokenizers = saved.tokenizers
    trainer = Trainer(config, corpus, tokenizers)
    ckpt.write_file(path / "config.yaml", config.to_yaml().encode())
    if saved is not None:
        trainer.resume(saved)
    trainer.run()
    _select_weights(trainer)
    translator = Translator(trainer.model, *tokenizers, config)
    return Run(path, config, translator, trainer.history, trainer.progress.best_step)


def _select_weights(trainer: Trainer) -> None:
    """The final weights: the best, the last, or the mean of the last checkpoints."""
    train, progress = trainer.config.train, trainer.progress
    if not trainer.history or trainer.history[-1]["step"] != progress.step:
        trainer.validate()  # train.max_steps is lower than it was
    trainer.accelerator.wait_for_everyone()  # until the main process has written
    if train.select == "best":
        best = ckpt.load(trainer.path / "best.safetensors", trainer.config)
        ckpt.load_weights(trainer.model, best.weights)
    elif train.select == "average":
        kept = progress.checkpoints[-train.keep_checkpoints :]
        paths = [trainer.checkpoint(step) for step in kept]
        mean = ckpt.average_weights(paths, trainer.config)
        ckpt.load_weights(trainer.model, mean)
    weights = ckpt.model_tensors(trainer.model)
    trainer.write(trainer.path / "model.safetensors", weights)


def _finished(config: Config, file: Path) -> Run | None:
    """The run on disk, if it is this config's and has nothing left to do."""
    if not file.exists():
        return None
    saved = ckpt.load(file, config)
    if not saved.state:
        raise CheckpointError(
            f"{file} is a saved translator, not a run: choose another run_dir, or load "
            "it with Translator.load"
        )
    progress, select = saved.state["progress"], saved.config.train.select
    if progress["step"] < config.train.max_steps or select != config.train.select:
        return None
    translator = Translator.from_file(saved, decode=config.decode)
    history = saved.state["history"]
    return Run(file.parent, config, translator, history, progress["best_step"])
