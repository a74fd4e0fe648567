"""Runs: from a config to a trained translator on disk, ready to go on after any crash.

A run is a folder: ``config.yaml``, the two tokenizers, ``checkpoints/``, ``history.csv``, and at its end
``model.safetensors``. Asking for a run again loads it, or goes on where it was cut off.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from ..config import Config
from ..configs.reading import load_config
from ..corpora import Corpus, load_corpus
from ..errors import CheckpointError
from ..tokenizers import Tokenizer, build_tokenizers
from ..training import Progress, Trainer
from ..transformer import Transformer
from ..translator import Translator
from . import checkpoints as ckpt
from . import folder

if TYPE_CHECKING:
    from accelerate import Accelerator

# Keys that may differ between a run on disk and the config that asks for it: they don't change what was learnt so far.
FREE_KEYS = ("name", "run_dir", "decode", "train.max_steps", "train.checkpoint_every",
             "train.keep_checkpoints", "train.validate_every", "train.select", "train.threads")  # fmt: skip


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


def load_or_train(config: Config | str, **overrides: Any) -> Translator:
    """The translator of a config: loaded where its run is finished, trained first where it is not.

    Several processes may ask at once: one trains, the others wait for it.
    """
    return train(config, **overrides).translator


def train(config: Config | str, **overrides: Any) -> Run:
    """Trains until ``train.max_steps``, or goes on where an earlier call was cut off.

    Args:
        config: a ``Config``, or what ``load_config`` takes.

    Raises:
        CheckpointError: the run's folder holds another config's run, or cannot be written.
        TrainingError: the loss is not finite.
    """
    from accelerate import Accelerator, DistributedDataParallelKwargs
    from filelock import FileLock

    config = load_config(config, **overrides) if isinstance(config, str) else config
    constant = DistributedDataParallelKwargs(broadcast_buffers=False)  # positions: the same table in each process
    accelerator = Accelerator(mixed_precision="no", kwargs_handlers=[constant])  # precision is chosen in use_bf16
    path = config.run_path
    finished = _finished(config, path)  # before anything is written there
    if finished:
        return finished
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CheckpointError(
            f"cannot make the run's folder {path} ({error.strerror}): choose another run_dir"
        ) from None
    threads = torch.get_num_threads()
    torch.set_num_threads(config.train.threads or threads)
    try:
        with torch.random.fork_rng():  # the caller's random numbers go on as if nothing had happened
            if not accelerator.is_main_process:
                return _train(config, path, accelerator)
            with FileLock(path / ".lock"):
                return _train(config, path, accelerator)
    finally:
        torch.set_num_threads(threads)


def _train(config: Config, path: Path, accelerator: Accelerator) -> Run:
    finished = _finished(config, path)  # by another process, while this one waited for the lock
    if finished:
        return finished
    corpus = load_corpus(config.data)
    tokenizers = _tokenizers(config, corpus, path, accelerator)
    trainer = Trainer(config, corpus, tokenizers, path, accelerator)
    trainer.resume()
    trainer.run()
    accelerator.wait_for_everyone()
    run = _finished(config, path)
    assert run is not None
    return run


def _finished(config: Config, path: Path) -> Run | None:
    """The run on disk, if it is this config's and has nothing left to do."""
    check_same_run(config, path)
    if not (path / "model.safetensors").is_file():
        return None
    saved = ckpt.load_checkpoint(path / "model.safetensors")
    if "progress" not in saved.state:
        message = f"{path} holds a translator that was saved there, not a run: use Translator.load, or another run_dir"
        raise CheckpointError(message)
    progress = Progress.read(saved.state)
    if not progress.is_done(config.train) or saved.state["select"] != config.train.select:
        return None
    translator = Translator.from_checkpoint(path, saved, decode=config.decode)
    return Run(path, config, translator, saved.state["history"], progress.best_step)


def _tokenizers(config: Config, corpus: Corpus, path: Path, accelerator: Accelerator) -> tuple[Tokenizer, Tokenizer]:
    """Those of the run where it has begun; otherwise new ones, from the training pairs. The main process writes."""
    if accelerator.is_main_process:
        if not (path / "config.yaml").is_file():
            folder.save_tokenizers(path, build_tokenizers(config.data, corpus.train))
        folder.write_text(path / "config.yaml", config.to_yaml())  # a free key may have another value than before
    accelerator.wait_for_everyone()
    return folder.load_tokenizers(path, config.data)


def check_same_run(config: Config, path: Path) -> None:
    """Stops a config that would go on with another one's run.

    Raises:
        CheckpointError: names the first key that differs.
    """
    if not (path / "config.yaml").is_file():
        return
    theirs, ours = (_flat(c.model_dump(mode="json")) for c in (folder.read_config(path), config))
    for key in ours:
        if not key.startswith(FREE_KEYS) and theirs.get(key) != ours[key]:
            raise CheckpointError(
                f"{path} holds a run with {key}={theirs.get(key)!r}, not {ours[key]!r}: "
                "give this one a folder of its own (run_dir=…), or delete that one"
            )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat
