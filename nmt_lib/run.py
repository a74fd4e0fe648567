"""A run: from a config to a trained model and its translator (paper, section 5)."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .config import SUBWORDS, Config, load_config
from .data.corpora import load_corpus
from .data.tokenizers import Tokenizers, build_tokenizers
from .errors import warn
from .model.transformer import Transformer
from .training.device import default_device
from .training.model_file import load_weights
from .training.run_folder import Progress, Row, RunFolder, run_path
from .training.trainer import Trainer, join_processes, progress_bar
from .training.transfer import start_from_model
from .translate.translator import Translator


@dataclass(frozen=True)
class Run:
    """A finished training run; ``path`` is its folder.

    ``history`` has one row for each validation: ``step``, ``epoch``, ``lr``,
    ``train_loss`` (with smoothing, as optimised) and ``valid_loss`` (without, in nats
    per token).
    """

    config: Config
    model: Transformer
    tokenizers: Tokenizers
    progress: Progress

    @property
    def path(self) -> Path:
        return run_path(self.config)

    @property
    def history(self) -> list[Row]:
        return self.progress.history

    @property
    def best_step(self) -> int:
        return self.progress.best_step

    @cached_property
    def translator(self) -> Translator:
        return Translator(self.model, *self.tokenizers, self.config)


TURN = threading.RLock()  # all threads draw from the same random numbers


@torch.inference_mode(False)  # it needs gradients, even if the caller has none
def train(config: Config | str | Path, **overrides: Any) -> Run:
    """Trains a model for ``train.max_steps`` updates, or resumes an interrupted run.

    A finished run is loaded without reading its corpus; a warning says if a file of it
    is newer than the model. Threads of one process train in turn: the random numbers
    belong to all of them.

    Args:
        config: a ``Config``, or what ``load_config`` takes.

    Raises:
        CheckpointError: the run's folder holds a run of another config or corpus, lacks
            a file, or cannot be written.
        ConfigError: settings that cannot be used.
        TrainingError: the loss is not finite.
    """
    rank, _ = join_processes()
    config, device = load_config(config, **overrides), default_device()
    folder = RunFolder(config, writes=rank == 0)
    if saved := folder.final_model():
        corpus_path = Path(config.data.corpus).expanduser()
        trained = (folder.path / "model.safetensors").stat().st_mtime
        for file in [corpus_path, *corpus_path.glob("train.*")]:
            if file.is_file() and file.stat().st_mtime > trained:
                warn(f"{file} is newer than its model: to train, rename {folder.path}")
        progress = Progress(**saved.state)
        return Run(config, saved.build_model(), saved.tokenizers, progress)
    threads, gpus = torch.get_num_threads(), [] if device.type == "cpu" else [device]
    # The caller's random numbers continue as if nothing had happened.
    with TURN, folder.lock(), torch.random.fork_rng(gpus, device_type=device.type):
        try:
            torch.set_num_threads(config.train.threads or threads)
            saved, corpus = folder.last_checkpoint(), load_corpus(config.data)
            weights: dict[str, Tensor] = {}
            with progress_bar(config, is_hidden=rank > 0) as bar:
                if saved:
                    tokenizers = saved.tokenizers
                elif config.train.init_from:
                    tokenizers, weights = start_from_model(config, corpus.train)
                else:
                    tokenizers = build_tokenizers(config.data, corpus.train)
                n, data = min(map(len, tokenizers)), config.data
                if not saved and n < data.vocab_size and data.tokenizer in SUBWORDS:
                    warn(f"data.vocab_size={data.vocab_size}: the text gives only {n}")
                bar.set_description(f"{config.name}: model")
                trainer = Trainer(config, corpus, tokenizers)
                if saved:
                    trainer.resume(saved)
                elif weights:
                    load_weights(trainer.model, weights)
                trainer.run(bar)
            trainer.finish()
        finally:
            torch.set_num_threads(threads)
    return Run(config, trainer.model, tokenizers, trainer.progress)


def load_or_train(config: Config | str | Path, **overrides: Any) -> Translator:
    """The translator of a config: loaded if its run is finished, else trained first.

    Several processes may call this at once: one trains, and the others wait for it.
    """
    return train(config, **overrides).translator
