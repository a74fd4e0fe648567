"""Runs: from a config to a trained translator on disk, ready to go on after any crash.

A run is a folder: ``config.yaml``, the two tokenizers, ``checkpoints/``, ``history.csv``, and at its end
``model.safetensors``. Asking for a run again loads it, or goes on where it was cut off.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from filelock import FileLock

from ..config import Config
from ..configs.reading import load_config
from ..corpora import load_corpus
from ..errors import CheckpointError, ConfigError
from ..tokenizers import build_tokenizers
from ..training import Trainer
from ..transformer import Transformer
from ..translator import Translator
from . import checkpoints as ckpt
from . import folder

if TYPE_CHECKING:
    from accelerate import Accelerator


@dataclass(frozen=True)
class Run:
    """A finished training run.

    ``history`` has one row for each validation: ``step``, ``epoch``, ``lr``, ``train_loss`` (with smoothing, as
    optimised) and ``valid_loss`` (without, in nats a token). ``path`` is the run's folder.
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
    """The translator of a config: loaded where its run is finished, trained first where it is not.

    Several processes may ask at once: one trains, the others wait for it.
    """
    return train(config, **overrides).translator


def train(config: Config | str | os.PathLike[str], **overrides: Any) -> Run:
    """Trains until ``train.max_steps``, or goes on where an earlier call was cut off.

    Args:
        config: a ``Config``, or what ``load_config`` takes.

    Raises:
        CheckpointError: the run's folder holds another config's run, or cannot be written.
        ConfigError: settings that cannot be used: such a model does not fit into memory.
        TrainingError: the loss is not finite.
    """
    from accelerate import Accelerator, DistributedDataParallelKwargs

    if not isinstance(config, Config):
        config = load_config(config, **overrides)
    elif overrides:
        raise ConfigError(
            f"{', '.join(overrides)}: a Config takes no overrides, give them to load_config"
        )
    config.model.check_memory(config.data.vocab_size, copies=4)
    constant = DistributedDataParallelKwargs(
        broadcast_buffers=False
    )  # positions: the same table in each process
    accelerator = Accelerator(
        mixed_precision="no", kwargs_handlers=[constant]
    )  # precision is chosen in use_bf16
    path = config.run_path
    finished = _finished(config, path)  # before anything is written there
    if finished:
        return finished
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make the run's folder {path} ({error.strerror}): choose another run_dir"
        raise CheckpointError(message) from None
    lock = FileLock(path / ".lock") if accelerator.is_main_process else nullcontext()
    threads = torch.get_num_threads()
    torch.set_num_threads(
        min(config.train.threads or threads, os.cpu_count() or 1)
    )  # more would only wait
    try:
        # The caller's random numbers go on as if nothing happened.
        with torch.random.fork_rng(), torch.enable_grad(), lock:
            return _train(config, path, accelerator)
    finally:
        torch.set_num_threads(threads)


def _train(config: Config, path: Path, accelerator: Accelerator) -> Run:
    accelerator.wait_for_everyone()  # the main process may have waited for the lock
    run = _finished(config, path)  # by another process, meanwhile
    if run is None:
        corpus = load_corpus(config.data)
        if accelerator.is_main_process:
            if not (path / "config.yaml").is_file():
                folder.save_tokenizers(
                    path, build_tokenizers(config.data, corpus.train)
                )
            folder.save_config(
                path, config
            )  # a free key may have another value than before
        accelerator.wait_for_everyone()
        trainer = Trainer(
            config, corpus, folder.load_tokenizers(path, config.data), path, accelerator
        )
        trainer.resume()
        trainer.run()
        accelerator.wait_for_everyone()
        run = _finished(config, path)
        assert run is not None
    return run


def _finished(config: Config, path: Path) -> Run | None:
    """The run on disk, if it is this config's and has nothing left to do."""
    if os.path.exists(path / "config.yaml"):
        folder.check_same_run(config, folder.fixed_keys(folder.read_config(path)), path)
    file = path / "model.safetensors"
    if not os.path.exists(file):
        return None
    saved = ckpt.load_checkpoint(file)
    progress = ckpt.Progress.read(file, saved)
    if (
        not progress.is_done(config.train)
        or saved.state.get("select") != config.train.select
    ):
        return None
    translator = Translator.from_checkpoint(path, saved, decode=config.decode)
    return Run(
        path, config, translator, saved.state.get("history", []), progress.best_step
    )
