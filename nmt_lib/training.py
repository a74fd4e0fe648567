"""Training: from a config to a trained model, one update of the weights after another,
validated and saved on the way (paper, section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .batching import Example, encode_pairs, make_batch, plan_epoch, validation_batches
from .checkpoints import Progress, Run, RunFolder, checkpoint_name, pack, unpack
from .config import Config, load_config
from .corpora import Corpus, load_corpus
from .errors import TrainingError
from .losses import Objective, validation_loss
from .model_file import ModelFile, load_weights, model_tensors
from .schedules import build_optimizer, learning_rate, use_bf16
from .tokenizers import Tokenizers, build_tokenizers
from .transformer import build_model


class Trainer:
    """One run: the model, the optimizer, the data, and how far it has come."""

    def __init__(self, config: Config, corpus: Corpus, tokenizers: Tokenizers) -> None:
        from accelerate import Accelerator, DistributedDataParallelKwargs

        same = DistributedDataParallelKwargs(broadcast_buffers=False)  # positions
        self.accelerator = Accelerator(mixed_precision="no", kwargs_handlers=[same])
        self.device, rank = self.accelerator.device, self.accelerator.process_index
        self.config, self.pairs, self.tokenizers = config, corpus.train, tokenizers
        self.examples = encode_pairs(corpus.train, tokenizers, config)
        self.valid = validation_batches(corpus.valid, tokenizers, config)
        torch.manual_seed(config.train.seed)
        self.model = build_model(config.model, *map(len, tokenizers)).to(self.device)
        torch.manual_seed(config.train.seed + rank)  # each process drops other units
        self.optimizer = build_optimizer(config.train, self.model.parameters())
        self.bf16 = use_bf16(config.train, self.device)
        objective = Objective(self.model, config.train.label_smoothing)
        self.objective = self.accelerator.prepare_model(objective)
        self.progress = Progress()
        self.folder = RunFolder(config, config.run_path, writes=rank == 0)

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
                    loss = self.validate()
                    bar.set_postfix(valid_loss=f"{loss:.3f}")
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

        The loss of each batch is divided by the tokens of *all*, so that the gradient
        is that of one large batch, however it is cut and spread over processes.
        """
        train, progress = self.config.train, self.progress
        accelerator = self.accelerator
        n_tokens = sum(len(tgt) - 1 for examples in batches for _, tgt in examples)
        lr = learning_rate(progress.step + 1, train, self.config.model.d_model)
        for options in self.optimizer.param_groups:
            options["lr"] = lr
        self.objective.train()
        total = torch.zeros((), device=self.device)
        for examples in batches[accelerator.process_index :: accelerator.num_processes]:
            batch = make_batch(examples).to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                loss = self.objective(batch)
            # Processes average their gradients; the factor makes it a sum.
            (loss * accelerator.num_processes / n_tokens).backward()
            total += loss.detach()
        loss_sum = float(accelerator.reduce(total, "sum"))
        self.check_finite(loss_sum, "loss")
        if train.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), train.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        progress.step += 1
        progress.loss_sum += loss_sum
        progress.loss_tokens += n_tokens

    def validate(self) -> float:
        """The validation loss; the weights are saved if they are the best so far."""
        progress = self.progress
        loss = validation_loss(self.model, self.valid)
        self.check_finite(loss, "validation loss")
        progress.add_row(self.optimizer.param_groups[0]["lr"], loss)
        if loss < progress.best_loss:
            progress.best_loss, progress.best_step = loss, progress.step
            self.write("best", model_tensors(self.model))
        return loss

    def save(self) -> None:
        """Writes a checkpoint."""
        name = checkpoint_name(self.progress.step)
        self.write(name, pack(self.model, self.optimizer))

    def write(self, name: str, tensors: dict[str, Tensor]) -> None:
        self.folder.write(name, self.tokenizers, tensors, self.progress)

    def resume(self, saved: ModelFile) -> None:
        """Goes on from a checkpoint."""
        unpack(saved.tensors, self.model, self.optimizer)
        self.progress = Progress(**saved.state)
        rank = self.accelerator.process_index
        if rank:  # the file has the main process's random numbers only
            seed = self.config.train.seed + rank
            torch.manual_seed(seed + 1_000_003 * self.progress.step)

    def finish(self) -> None:
        """Loads the final weights into the model, and saves it."""
        history = self.progress.history
        if not history or history[-1]["step"] != self.progress.step:
            self.validate()  # it resumed at its end
        self.accelerator.wait_for_everyone()  # until the main process has written
        weights = self.folder.final_weights()
        if weights is not None:
            load_weights(self.model, weights)
        self.write("model", model_tensors(self.model))

    def check_finite(self, value: float, what: str) -> None:
        if not math.isfinite(value):
            raise TrainingError(
                f"the {what} is {value} after {self.progress.step} updates: lower "
                "train.lr, lengthen train.warmup or set train.clip_norm=1.0"
            )


def train(config: Config | str | Path, **overrides: Any) -> Run:
    """Trains until ``train.max_steps``, or resumes where an earlier call was cut off.

    Args:
        config: a ``Config``, or what ``load_config`` takes.

    Raises:
        CheckpointError: the run's folder holds another config's run, or cannot be
            written.
        ConfigError: settings that cannot be used.
        TrainingError: the loss is not finite.
    """
    config = load_config(config, **overrides)
    folder = RunFolder(config, config.run_path)
    threads = torch.get_num_threads()
    if run := folder.finished():
        return run
    # The caller's random numbers go on as if nothing had happened.
    with folder.locked(), torch.random.fork_rng(), torch.enable_grad():
        try:
            torch.set_num_threads(config.train.threads or threads)
            saved, corpus = folder.newest(), load_corpus(config.data)
            if saved:
                tokenizers = saved.tokenizers
            else:
                tokenizers = build_tokenizers(config.data, corpus.train)
            trainer = Trainer(config, corpus, tokenizers)
            if saved:
                trainer.resume(saved)
            trainer.run()
            trainer.finish()
        finally:
            torch.set_num_threads(threads)
    return Run(config, trainer.model, tokenizers, trainer.progress)
