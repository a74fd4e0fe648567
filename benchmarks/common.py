"""Shared by the benchmarks: two shapes, and training steps of any model."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_book.benchmark import load_config, scratch
from nmt_book.loop import updates
from nmt_lib.config import TrainConfig
from nmt_lib.data.batches import Example
from nmt_lib.data.tokenizers import Tokenizers
from nmt_lib.training.optim import build_optimizer

SHAPES = {
    "d128 × 4 layers": nmt.parse_overrides(
        "model.d_model=128 model.n_heads=4 model.n_layers=4 model.d_ff=256"
    ),
    "d512 × 6 layers": nmt.parse_overrides(
        "model.d_model=512 model.n_heads=8 model.n_layers=6 model.d_ff=2048"
    ),
}


def load_data(
    config: str, /, **overrides: Any
) -> tuple[nmt.Config, Tokenizers, list[Example]]:
    """The config, both tokenizers, and the training set as ids."""
    settings = load_config(config, **overrides)
    pairs = nmt.load_corpus(settings.data).train
    tokenizers = nmt.build_tokenizers(settings.data, pairs)
    return settings, tokenizers, nmt.encode_pairs(pairs, tokenizers, settings)


def exported(translator: nmt.Translator) -> tuple[Any, str]:
    """A model of ``transformers`` with this translator's weights, and its folder."""
    from transformers import AutoModelForSeq2SeqLM

    folder = str(nmt.export_hugging_face(translator, scratch() / "exported"))
    return AutoModelForSeq2SeqLM.from_pretrained(folder), folder


def stepper(
    model: nn.Module,
    loss: Callable[[nn.Module, nmt.Batch], Tensor],
    train: TrainConfig,
    batches: Iterable[nmt.Batch],
    bf16: bool = False,
) -> Callable[[], Tensor]:
    """Takes the next batch at each call: forward, backward, update. The loss is a sum
    over the target tokens."""

    def mean(batch: nmt.Batch) -> Tensor:
        with torch.autocast(batch.src.device.type, torch.bfloat16, enabled=bf16):
            return loss(model, batch) / batch.n_tokens

    optimizer = build_optimizer(train, model.train().parameters())
    return partial(next, updates(optimizer, mean, batches))


def ratio(seconds: dict[Any, list[float]], slow: Any, fast: Any) -> float:
    """How many times as long ``slow`` took as ``fast``: the median over the rounds."""
    pairs = zip(seconds[slow], seconds[fast], strict=True)
    return statistics.median(a / b for a, b in pairs)
