"""Training: from a config to a trained model, one update of the weights after another,
with validation and checkpoints on the way (paper, section 5)."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from ..config import Config
from ..data.batches import (
    SEED_STEP,
    Example,
    encode_pairs,
    example_lengths,
    make_batch,
    plan_epoch,
    token_batches,
)
from ..data.corpora import Corpus
from ..data.tokenizers import Tokenizers
from ..errors import CheckpointError, TrainingError
from ..model.transformer import Transformer
from .average import final_weights
from .device import default_device, half_precision
from .loss import Objective, validation_loss
from .model_file import ModelFile, load_weights, unpack
from .optim import build_optimizer, learning_rate
from .run_folder import Progress, Row, RunFolder, is_over


def progress_bar(config: Config, is_hidden: bool) -> Any:
    """The progress bar of a run, there before its tokenizers are, and gone on an error.

    ``TQDM_DISABLE=1`` hides it.
    """
    from tqdm.auto import tqdm

    return tqdm(
        desc=f"{config.name}: tokenizers",
        total=config.train.max_steps,
        unit="step",
        leave=False,
        disable=is_hidden or "TQDM_DISABLE" in os.environ,
    )


class Trainer:
    """One training run: the model, the optimizer, the data and the progress."""

    def __init__(self, config: Config, corpus: Corpus, tokenizers: Tokenizers) -> None:
        self.device, seed = default_device(), config.train.seed
        self.rank, self.n_processes = join_processes()
        set_seed(seed, self.device)
        self.progress = Progress(corpus_digest(corpus))
        self.folder = RunFolder(config, writes=self.rank == 0)
        self.config, self.pairs, self.tokenizers = config, corpus.train, tokenizers
        self.examples = encode_pairs(corpus.train, tokenizers, config)
        valid = encode_pairs(corpus.valid, tokenizers, config)
        budget = 4 * config.train.batch_tokens
        plan = token_batches(example_lengths(valid), budget, seed=0, alone=True)
        self.valid = [make_batch(valid, rows) for rows in plan]
        self.model = Transformer(config.model, *map(len, tokenizers)).to(self.device)
        set_seed(seed + self.rank, self.device)  # each process has a dropout of its own
        self.optimizer = build_optimizer(config.train, self.model.parameters())
        self.half = half_precision(config.train, self.device)
        # float16 loses small gradients, unless the loss is scaled up.
        self.scaler = torch.amp.GradScaler(
            self.device.type, enabled=self.half == torch.float16
        )
        self.objective: Any = Objective(self.model, config.train.label_smoothing)
        if self.n_processes > 1:  # their position tables may differ in length
            self.objective = DistributedDataParallel(self.objective)
            self.objective.broadcast_buffers = False

    def run(self, bar: Any) -> None:
        """The training loop: update, validate and save, until the run is over."""
        train, progress = self.config.train, self.progress
        stream, size = self.batches(), self.n_processes * train.accumulate
        bar.reset()  # its seconds begin here
        bar.initial = bar.n = progress.step
        bar.leave = True
        bar.set_description(self.config.name)
        while not is_over(train, progress):
            self.update(list(islice(stream, size)))
            bar.update()
            is_last = progress.step == train.max_steps
            if is_last or progress.step % train.validate_every == 0:
                loss = self.validate()
                bar.set_postfix(valid_loss=f"{loss:.3f}")
            due = progress.step % train.checkpoint_every == 0
            if due or is_over(train, progress):
                self.save()

    def batches(self) -> Iterator[list[Example]]:
        """All further batches, epoch by epoch; they depend only on seed and epoch."""
        config, progress = self.config, self.progress
        while True:
            if config.data.bpe_dropout:
                epoch = progress.epoch
                self.examples = encode_pairs(self.pairs, self.tokenizers, config, epoch)
            plan = plan_epoch(self.examples, config.train, progress.epoch)
            for rows in plan[progress.position :]:
                progress.position += 1
                yield [self.examples[row] for row in rows]
            progress.epoch, progress.position = progress.epoch + 1, 0

    def update(self, batches: list[list[Example]]) -> None:
        """One update of the weights.

        The loss of each batch is divided by the number of tokens in *all* of them. The
        gradient is then that of one large batch, however it is split among processes.
        """
        train, progress = self.config.train, self.progress
        n_tokens = sum(len(tgt) - 1 for examples in batches for _, tgt in examples)
        lr = learning_rate(progress.step + 1, train, self.config.model.d_model)
        for options in self.optimizer.param_groups:
            options["lr"] = lr
        self.objective.train()
        total = torch.zeros((), device=self.device)
        mine = batches[self.rank :: self.n_processes]
        for examples in mine:
            batch = make_batch(examples).to(self.device)
            # As with ``no_sync``, gradients are exchanged after the last batch only.
            self.objective.require_backward_grad_sync = examples is mine[-1]
            is_half = self.half is not None
            with torch.autocast(self.device.type, self.half, enabled=is_half):
                loss = self.objective(batch)
            # Processes average their gradients; the factor makes it a sum.
            self.scaler.scale(loss * self.n_processes / n_tokens).backward()
            total += loss.detach()
        if self.n_processes > 1:
            distributed.all_reduce(total)
        self.check_finite(loss_sum := float(total), "loss")
        if train.clip_norm is not None:
            self.scaler.unscale_(self.optimizer)
            nn.utils.clip_grad_norm_(self.model.parameters(), train.clip_norm)
        self.scaler.step(self.optimizer)  # not after an overflow
        self.scaler.update()
        self.optimizer.zero_grad()
        progress.step += 1
        progress.loss_sum += loss_sum
        progress.loss_tokens += n_tokens

    def validate(self) -> float:
        """The validation loss; the weights are saved if they are the best so far."""
        progress = self.progress
        loss = validation_loss(self.model, self.valid)
        self.check_finite(loss, "validation loss")
        row: Row = {
            "step": progress.step,
            "epoch": progress.epoch,
            "lr": self.optimizer.param_groups[0]["lr"],
            "train_loss": progress.loss_sum / max(1, progress.loss_tokens),
            "valid_loss": loss,
        }
        progress.history.append(row)
        progress.loss_sum, progress.loss_tokens = 0.0, 0
        if loss < progress.best_loss:
            progress.best_loss, progress.best_step = loss, progress.step
            self.folder.write("best", self.model, self.tokenizers, progress)
        return loss

    def save(self) -> None:
        """Writes a checkpoint."""
        progress, name = self.progress, self.progress.checkpoint
        progress.checkpoints.append(name)
        if self.scaler.is_enabled():
            state = self.scaler.state_dict()
            progress.scale, progress.scale_age = (
                state["scale"],
                state["_growth_tracker"],
            )
        self.folder.write(name, self.model, self.tokenizers, progress, self.optimizer)

    def resume(self, saved: ModelFile) -> None:
        """Restores the state saved in a checkpoint.

        Raises:
            CheckpointError: the checkpoint was trained on other pairs.
        """
        if saved.state.get("corpus") != self.progress.corpus:
            raise CheckpointError(
                f"{self.folder.path} is of a run on other pairs than those that "
                f"data.corpus={self.config.data.corpus!r} holds now: set run_dir to "
                "another folder, or move that one away"
            )
        unpack(saved.tensors, self.model, self.optimizer)
        self.progress = progress = Progress(**saved.state)
        if progress.scale:
            scale = {"scale": progress.scale, "_growth_tracker": progress.scale_age}
            self.scaler.load_state_dict(self.scaler.state_dict() | scale)
        if self.rank:  # the file has the main process's random numbers only
            seed = self.config.train.seed + self.rank
            set_seed(seed + SEED_STEP * self.progress.step, self.device)

    def finish(self) -> None:
        """Loads the final weights into the model, and saves it."""
        history = self.progress.history
        if not history or history[-1]["step"] != self.progress.step:
            self.validate()  # resumed from the last checkpoint, before its validation
        if self.n_processes > 1:
            distributed.barrier()  # until the main process has written
        if self.config.train.select != "last":
            load_weights(self.model, final_weights(self.folder, self.progress))
        self.folder.write("model", self.model.eval(), self.tokenizers, self.progress)

    def check_finite(self, value: float, name: str) -> None:
        if not math.isfinite(value):
            raise TrainingError(
                f"the {name} is {value} after {self.progress.step} updates: lower "
                "train.lr, lengthen train.warmup or set train.clip_norm=1.0"
            )


def join_processes() -> tuple[int, int]:
    """The rank of this process, and how many processes ``torchrun`` has started."""
    if os.environ.get("WORLD_SIZE", "1") == "1":
        return 0, 1
    if not distributed.is_initialized():
        has_gpu = torch.cuda.is_available()
        if has_gpu:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        distributed.init_process_group("nccl" if has_gpu else "gloo")
    return distributed.get_rank(), distributed.get_world_size()


def set_seed(seed: int, device: torch.device) -> None:
    """Seeds the CPU and this device; ``torch.manual_seed`` would seed every GPU."""
    torch.default_generator.manual_seed(seed)
    if device.type != "cpu":
        torch.get_device_module(device).manual_seed(seed)


def corpus_digest(corpus: Corpus) -> str:
    """A digest of the training and validation pairs, to detect a changed corpus."""
    digest = hashlib.blake2b(digest_size=16)
    for pairs in (corpus.train, corpus.valid):
        for pair in pairs:
            digest.update(f"{pair.src}\n{pair.tgt}\n".encode())
        digest.update(b"\n")
    return digest.hexdigest()
