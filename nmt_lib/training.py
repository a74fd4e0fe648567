"""Training: one update of the weights after another, validated and saved on the way
(paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import torch
from torch import Tensor, nn

from . import checkpoints as ckpt
from .batching import Example, encode_pairs, make_batch, plan_epoch, token_batches
from .config import Config
from .corpora import Corpus
from .errors import TrainingError
from .losses import Objective, validation_loss
from .schedules import build_optimizer, learning_rate, use_bf16
from .tokenizers import Tokenizers
from .transformer import build_model


class Trainer:
    """One run: the model, the optimizer, the data, and how far it has come."""

    def __init__(self, config: Config, corpus: Corpus, tokenizers: Tokenizers) -> None:
        from accelerate import Accelerator, DistributedDataParallelKwargs

        same = DistributedDataParallelKwargs(broadcast_buffers=False)  # positions
        self.accelerator = Accelerator(mixed_precision="no", kwargs_handlers=[same])
        self.device, rank = self.accelerator.device, self.accelerator.process_index
        self.config, self.path = config, config.run_path
        self.pairs, self.tokenizers = corpus.train, tokenizers
        self.examples = encode_pairs(corpus.train, tokenizers, config)
        valid = encode_pairs(corpus.valid, tokenizers, config)
        plan = token_batches(valid, 4 * config.train.batch_tokens, seed=0, alone=True)
        self.valid = [make_batch(valid, rows) for rows in plan]
        torch.manual_seed(config.train.seed)
        self.model = build_model(config.model, *map(len, tokenizers)).to(self.device)
        torch.manual_seed(config.train.seed + rank)  # each process drops other units
        self.optimizer = build_optimizer(config.train, self.model.parameters())
        objective = Objective(self.model, config.train.label_smoothing)
        self.objective = self.accelerator.prepare_model(objective)
        self.bf16 = use_bf16(config.train, self.device)
        self.progress, self.history = ckpt.Progress(), list[dict[str, float]]()

    def run(self) -> None:
        """Updates, validates and saves, until ``train.max_steps`` updates are done."""
        from tqdm.auto import tqdm

        train, progress = self.config.train, self.progress
        with tqdm(
            desc=self.config.name,
            total=train.max_steps,
            initial=progress.step,
            unit="step",
            disable=not self.accelerator.is_main_process,
        ) as bar:
            for batches in self.updates():
                self.update(batches)
                bar.update()
                last = progress.step == train.max_steps
                if last or progress.step % train.validate_every == 0:
                    self.validate()
                    bar.set_postfix(valid_loss=f"{self.history[-1]['valid_loss']:.3f}")
                if last or progress.step % train.checkpoint_every == 0:
                    self.save()

    def updates(self) -> Iterator[list[list[Example]]]:
        """The batches of each update that is still to be done."""
        train, stream = self.config.train, self.batches()
        size = self.accelerator.num_processes * train.accumulate
        while self.progress.step < train.max_steps:
            yield list(islice(stream, size))

    def batches(self) -> Iterator[list[Example]]:
        """Epoch after epoch, from where the run is; drawn from seed and epoch only."""
        progress = self.progress
        while True:
            if self.config.data.bpe_dropout:
                self.examples = encode_pairs(
                    self.pairs, self.tokenizers, self.config, progress.epoch
                )
            plan = plan_epoch(self.examples, self.config.train, progress.epoch)
            for rows in plan[progress.position :]:
                progress.position += 1
                yield [self.examples[row] for row in rows]
            progress.epoch, progress.position = progress.epoch + 1, 0

    def update(self, batches: list[list[Example]]) -> None:
        """One update of the weights.

        The loss of each batch is divided by the tokens of *all*, so that the gradient
        is that of one large batch, however it is cut and spread over processes.
        """
        train, progress, processes = self.config.train, self.progress, self.accelerator
        n_tokens = sum(len(tgt) - 1 for examples in batches for _, tgt in examples)
        lr = learning_rate(progress.step + 1, train, self.config.model.d_model)
        for options in self.optimizer.param_groups:
            options["lr"] = lr
        self.objective.train()
        total = torch.zeros((), device=self.device)
        for examples in batches[processes.process_index :: processes.num_processes]:
            batch = make_batch(examples).to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                loss = self.objective(batch)
            # Processes average their gradients; the factor makes it a sum.
            (loss * processes.num_processes / n_tokens).backward()
            total += loss.detach()
        loss_sum = float(processes.reduce(total, "sum"))
        self.check_finite(loss_sum, "loss")
        if train.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), train.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        progress.step += 1
        progress.loss_sum += loss_sum
        progress.loss_tokens += n_tokens

    def validate(self) -> None:
        """Adds a row to the history; saves the weights if they are the best so far."""
        progress = self.progress
        loss = validation_loss(self.model, self.valid)
        self.check_finite(loss, "validation loss")
        row = {
            "step": progress.step,
            "epoch": progress.epoch,
            "lr": self.optimizer.param_groups[0]["lr"],
            "train_loss": progress.loss_sum / max(1, progress.loss_tokens),
            "valid_loss": loss,
        }
        self.history.append(row)
        progress.loss_sum, progress.loss_tokens = 0.0, 0
        if loss < progress.best_loss:
            progress.best_loss, progress.best_step = loss, progress.step
            weights = ckpt.model_tensors(self.model)
            self.write(self.path / "best.safetensors", weights)

    def save(self) -> None:
        """Writes a checkpoint, and deletes those that are no longer needed."""
        size = sum(float(w.detach().abs().sum()) for w in self.model.parameters())
        self.check_finite(size, "sum of the weights")
        steps = [*self.progress.checkpoints, self.progress.step]
        self.progress.checkpoints = steps[-self.config.train.keep_checkpoints :]
        kept = [self.checkpoint(step) for step in self.progress.checkpoints]
        self.write(kept[-1], ckpt.pack(self.model, self.optimizer))
        if self.accelerator.is_main_process:
            ckpt.write_history(self.path / "history.csv", self.history)
            for file in ckpt.checkpoint_files(kept[-1].parent):
                if file not in kept and file.is_file():
                    file.unlink()

    def resume(self, saved: ckpt.ModelFile) -> None:
        """Goes on from a checkpoint of this run."""
        ckpt.unpack(saved, self.model, self.optimizer)
        self.progress = ckpt.Progress(**saved.state["progress"])
        self.history = saved.state["history"]
        rank, seed = self.accelerator.process_index, self.config.train.seed
        if rank:  # the file has the main process's random numbers only
            torch.manual_seed(seed + rank + 1_000_003 * self.progress.step)

    def checkpoint(self, step: int) -> Path:
        return ckpt.checkpoint_path(self.path / "checkpoints", step)

    def write(self, path: Path, tensors: dict[str, Tensor]) -> None:
        if self.accelerator.is_main_process:
            state = {"progress": asdict(self.progress), "history": self.history}
            saved = ckpt.ModelFile(self.config, self.tokenizers, tensors, state)
            ckpt.save(path, saved)

    def check_finite(self, value: float, what: str) -> None:
        if not math.isfinite(value):
            raise TrainingError(
                f"the {what} is {value} after {self.progress.step} updates; the last "
                f"checkpoint in {self.path / 'checkpoints'} is good. Lower train.lr, "
                "lengthen train.warmup or set train.clip_norm=1.0"
            )
