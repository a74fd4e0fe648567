"""Training: one update of the weights after another, validated and saved on the way (paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from .batching import make_batch, sentence_batches, token_batches
from .config import Config, TrainConfig
from .corpora import Corpus
from .encoding import encode_pairs
from .errors import CheckpointError, ConfigError, TrainingError
from .losses import Objective, validation_loss
from .runs import checkpoints as ckpt
from .runs import folder as run_folder
from .runs.checkpoints import Progress
from .schedules import build_optimizer, learning_rate
from .tokenizers import Tokenizers, fingerprint
from .transformer import build_model

if TYPE_CHECKING:
    from accelerate import Accelerator


class Trainer:
    """One run: the model, the optimizer, the data, and how far it has come."""

    def __init__(
        self,
        config: Config,
        corpus: Corpus,
        tokenizers: Tokenizers,
        path: Path,
        accelerator: Accelerator,
    ) -> None:
        self.config, self.path, self.accelerator = config, path, accelerator
        self.pairs, self.tokenizers = corpus.train, tokenizers
        self.examples = encode_pairs(corpus.train, tokenizers, config)
        valid = encode_pairs(corpus.valid, tokenizers, config)
        plan = token_batches(
            valid.lengths, config.train.batch_tokens * 4, 0, alone=True
        )
        self.valid = [make_batch(valid.take(rows)) for rows in plan]
        self.vocabulary = fingerprint(tokenizers)
        torch.manual_seed(config.train.seed)
        self.model = build_model(config.model, *map(len, tokenizers)).to(
            accelerator.device
        )
        torch.manual_seed(
            config.train.seed + accelerator.process_index
        )  # each process drops other units
        self.optimizer = build_optimizer(config.train, self.model.parameters())
        self.objective = accelerator.prepare_model(
            Objective(self.model, config.train.label_smoothing)
        )
        self.bf16 = use_bf16(config.train, accelerator.device)
        self.progress = Progress()
        self.history: list[dict[str, float]] = []

    def resume(self) -> None:
        """Goes on from the newest checkpoint that can be read.

        Raises:
            CheckpointError: it was made with another vocabulary or another model.
        """
        found = ckpt.newest_checkpoint(self.path / "checkpoints")
        if found is None:
            return
        file, saved = found
        if saved.state.get("vocabulary") != self.vocabulary:
            raise CheckpointError(
                f"{file} was made with another vocabulary: restore its tokenizers, or delete the run"
            )
        run_folder.check_same_run(self.config, saved.state.get("config", {}), file)
        ckpt.unpack(saved.tensors, self.model, self.optimizer)
        self.progress, self.history = (
            Progress.read(file, saved),
            saved.state.get("history", []),
        )
        older = (
            int(path.stem[5:]) for path in ckpt.checkpoint_files(file.parent)
        )  # not written down before
        self.progress.checkpoints = self.progress.checkpoints or list(older)
        if (
            self.accelerator.process_index
        ):  # the file has the main process's random numbers only
            torch.manual_seed(
                self.config.train.seed
                + self.accelerator.process_index
                + 1_000_003 * self.progress.step
            )

    def run(self) -> None:
        """The loop: update, now and then validate, now and then save."""
        from tqdm.auto import tqdm

        train, progress = self.config.train, self.progress
        shown: Any = {
            "desc": self.config.name,
            "unit": "step",
            "disable": not self.accelerator.is_main_process,
        }
        with tqdm(total=train.max_steps, initial=progress.step, **shown) as bar:
            for batches in self.updates():
                if progress.is_done(train):
                    break
                self.update(batches)
                bar.update()
                if (
                    progress.step >= train.max_steps
                    or progress.step % train.validate_every == 0
                ):
                    self.validate()
                    bar.set_postfix(valid_loss=f"{self.history[-1]['valid_loss']:.3f}")
                if (
                    progress.is_done(train)
                    or progress.step % train.checkpoint_every == 0
                ):
                    self.save()
        if (
            not self.history or self.history[-1]["step"] != progress.step
        ):  # max_steps was lowered below a checkpoint
            self.validate()
        self.hand_out()

    def updates(self) -> Iterator[list[list[int]]]:
        """The batches of each update, epoch after epoch, from where the run stands.

        All processes draw the same plan and each takes its share, so the plan depends only on seed and epoch.
        """
        train, progress = self.config.train, self.progress
        world = self.accelerator.num_processes
        while True:
            if self.config.data.bpe_dropout:
                self.examples = encode_pairs(
                    self.pairs, self.tokenizers, self.config, progress.epoch
                )
            plan = plan_epoch(self.examples.lengths, train, progress.epoch)
            size = world * min(
                train.accumulate, math.ceil(len(plan) / world)
            )  # an epoch at most
            groups = [plan[i : i + size] for i in range(0, len(plan), size)]
            groups[-1] += [
                plan[i % len(plan)] for i in range(size - len(groups[-1]))
            ]  # filled up from the front
            while progress.position < len(groups):
                progress.position += 1
                yield groups[progress.position - 1]
            progress.epoch, progress.position = progress.epoch + 1, 0

    def update(self, group: list[list[int]]) -> None:
        """One update of the weights from one group of batches.

        The loss of each batch is divided by the tokens of the *whole* group, so that the gradient is that of
        one large batch, however it is cut into pieces and spread over processes.
        """
        train, world = self.config.train, self.accelerator.num_processes
        pairs = list(chain(*group))
        n_tokens = int((self.examples.lengths[pairs, 1] - 1).sum())
        step = self.progress.step + 1
        for options in self.optimizer.param_groups:
            options["lr"] = learning_rate(step, train, self.config.model.d_model)
        self.objective.train()
        device = self.accelerator.device
        total = torch.zeros((), device=device)
        own = group[self.accelerator.process_index :: world]
        for i, rows in enumerate(own):
            batch = make_batch(self.examples.take(rows)).to(device)
            last = (
                i == len(own) - 1
            )  # processes exchange gradients only with the last batch of an update
            together = (
                nullcontext() if last else self.accelerator.no_sync(self.objective)
            )
            with (
                together,
                torch.autocast(device.type, torch.bfloat16, enabled=self.bf16),
            ):
                loss = self.objective(batch)
            (
                loss * world / n_tokens
            ).backward()  # processes average their gradients; this makes it a sum
            total += loss.detach()
        loss_sum = float(self.accelerator.reduce(total, "sum"))
        if not math.isfinite(loss_sum):
            on = f"on the batch of training pairs {pairs[:8]}{' …' * (len(pairs) > 8)}"
            raise self._not_finite(f"the loss is {loss_sum} at step {step}, {on}")
        if train.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), train.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.progress.step = step
        self.progress.loss_sum += loss_sum
        self.progress.loss_tokens += n_tokens

    def validate(self) -> None:
        """Adds a row to the history; keeps the weights where they are the best so far."""
        progress = self.progress
        loss = validation_loss(self.model, self.valid)
        if not math.isfinite(loss):
            raise self._not_finite(
                f"the validation loss is {loss} after step {progress.step}"
            )
        lr = self.optimizer.param_groups[0]["lr"]
        train_loss = progress.loss_sum / max(1, progress.loss_tokens)
        row = {
            "step": progress.step,
            "epoch": progress.epoch,
            "lr": lr,
            "train_loss": train_loss,
            "valid_loss": loss,
        }
        self.history.append(row)
        progress.loss_sum, progress.loss_tokens = 0.0, 0
        if loss < progress.best_loss:
            progress.best_loss, progress.best_step = loss, progress.step
            weights = {
                f"model.{name}": value
                for name, value in ckpt.model_state(self.model).items()
            }
            self._write(self.path / "best.safetensors", weights)

    def save(self) -> None:
        """Writes a checkpoint and the history, then deletes checkpoints that are no longer needed."""
        folder = self.path / "checkpoints"
        if not all(bool(weight.isfinite().all()) for weight in self.model.parameters()):
            raise self._not_finite(
                f"some weights are not finite after step {self.progress.step}"
            )
        progress, keep = self.progress, self.config.train.keep_checkpoints
        progress.checkpoints = [*progress.checkpoints, progress.step][-keep:]
        self._write(
            ckpt.checkpoint_path(folder, progress.step),
            ckpt.pack(self.model, self.optimizer),
        )
        if self.accelerator.is_main_process:
            run_folder.write_history(self.path / "history.csv", self.history)
            for file in ckpt.checkpoint_files(folder):
                if (
                    int(file.stem[5:]) not in progress.checkpoints
                ):  # too old, or damaged and behind this one
                    file.unlink()

    def hand_out(self) -> None:
        """Writes ``model.safetensors``: the best weights, the last ones, or the mean of the last checkpoints."""
        select = self.config.train.select
        weights = ckpt.model_state(self.model)
        if select == "best" and self.progress.best_step:
            best = ckpt.load_checkpoint(self.path / "best.safetensors")
            run_folder.check_same_run(
                self.config,
                best.state.get("config", {}),
                self.path / "best.safetensors",
            )
            weights = ckpt.part(best.tensors, "model.")
            theirs = Progress.read(
                self.path / "best.safetensors", best
            )  # of a validation that a crash took away, maybe
            self.progress.best_step, self.progress.best_loss = (
                theirs.best_step,
                theirs.best_loss,
            )
        elif select == "average":
            steps = self.progress.checkpoints[-self.config.train.keep_checkpoints :]
            weights = ckpt.average_weights(
                [
                    ckpt.checkpoint_path(self.path / "checkpoints", step)
                    for step in steps
                ]
            )
        self._write(
            self.path / "model.safetensors",
            {f"model.{name}": value for name, value in weights.items()},
        )

    def _write(self, path: Path, tensors: dict[str, torch.Tensor]) -> None:
        if self.accelerator.is_main_process:
            state = {
                "vocabulary": self.vocabulary,
                "progress": vars(self.progress),
                "history": self.history,
                "select": self.config.train.select,
                "config": run_folder.fixed_keys(self.config),
            }
            ckpt.save_checkpoint(path, ckpt.Checkpoint(tensors, state))

    def _not_finite(self, what: str) -> TrainingError:
        files = ckpt.checkpoint_files(self.path / "checkpoints")
        kept = (
            f"the last good checkpoint is {files[-1]}"
            if files
            else "no checkpoint was written yet"
        )
        return TrainingError(
            f"{what}; {kept}. Lower train.lr, lengthen train.warmup or set train.clip_norm=1.0"
        )


def plan_epoch(lengths: np.ndarray, train: TrainConfig, epoch: int) -> list[list[int]]:
    """Which examples go together in an epoch, in order, given their lengths; drawn from the seed and the epoch only."""
    seed = train.seed * 1_000_003 + epoch
    if train.batch_by == "sentences":
        return sentence_batches(len(lengths), train.batch_sentences, seed)
    return token_batches(lengths, train.batch_tokens, seed)


def use_bf16(train: TrainConfig, device: torch.device) -> bool:
    """Whether to compute in bfloat16.

    Raises:
        ConfigError: asked for, but the device does not have it.
    """
    has_it = device.type == "cpu"
    if device.type == "cuda":  # older GPUs imitate it, slowly
        has_it = bool(torch.version.hip) or torch.cuda.get_device_capability(
            device
        ) >= (8, 0)
    if train.precision == "bf16" and not has_it:
        raise ConfigError(
            f"train.precision=bf16, but this {device.type} device has no bfloat16: use fp32 or auto"
        )
    return train.precision == "bf16" or (
        train.precision == "auto" and has_it and device.type == "cuda"
    )
