"""Deeper 12: the parts of a current language model, trained for one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.data.batches import Example

from ..benchmark import flops
from ..loop import per_token, updates


def swap(model: nn.Module, old: type, make: Callable[[], nn.Module]) -> nn.Module:
    """Puts ``make()`` in the place of every part of the type ``old``."""
    for part in list(model.modules()):
        for name, child in list(part.named_children()):
            if type(child) is old:
                setattr(part, name, make())
    return model


def fresh(config: nmt.Config, tokenizers: Any, seed: int = 0) -> nmt.Transformer:
    """A model of the library, pre-LN, with the random weights of a seed."""
    pre_ln = nmt.load_config(config, **{"model.norm": "pre"})
    torch.manual_seed(seed)
    return nmt.Transformer(pre_ln.model, *map(len, tokenizers))


class NoPositions(nn.Module):
    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x


def without_positions(model: nn.Module) -> nn.Module:
    return swap(model, nmt.PositionalEncoding, NoPositions)


def decoder_only_loss(
    model: nn.Module, batch: nmt.Batch, n_src: int, smoothing: float = 0.0
) -> Tensor:
    """The sum over all target tokens; a target id is moved up by ``n_src``."""
    texts, starts = [], []
    for src, tgt_out in zip(batch.src, batch.tgt_out, strict=True):
        real = tgt_out != nmt.PAD
        source = src[src != nmt.PAD].tolist()
        texts.append([*source, nmt.SOS + n_src, *(tgt_out[real] + n_src).tolist()])
        starts.append(len(source))
    text = nmt.pad_batch(texts)  # (B, T)
    mask = torch.arange(text.size(1) - 1) >= torch.tensor(starts)[:, None]
    mask &= text[:, 1:] != nmt.PAD
    logits, targets = model(text[:, :-1])[mask], text[:, 1:][mask]  # (n, V), (n,)
    return F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")


def loss_of(model: Any, batch: nmt.Batch, n_src: int, smoothing: float = 0.0) -> Tensor:
    """The sum over all target tokens, of a translator or of a decoder alone."""
    if isinstance(model, nmt.Transformer):
        return nmt.Objective(model, smoothing)(batch)
    return decoder_only_loss(model, batch, n_src, smoothing)


def one_pass(
    model: Any,
    examples: Sequence[Example],
    plan: Sequence[Sequence[int]],
    valid: nmt.Batch,
    n_src: int,
    seed: int = 0,
) -> float:
    """Trains on each batch once; the validation loss, in nats per target token."""
    torch.manual_seed(seed)
    for part in model.modules():  # all begin alike, old parts and new ones
        if isinstance(part, nn.Linear) and part is not model.output:
            nn.init.xavier_uniform_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    model.train()
    smoothed = per_token(partial(loss_of, model, n_src=n_src, smoothing=0.1))
    batches = (nmt.make_batch(examples, rows) for rows in plan)
    rates = lambda step: 0.004 * min(step / 50, (50 / step) ** 0.5)  # noqa: E731
    for _ in updates(optimizer, smoothed, batches, rates):
        pass
    model.eval()
    with torch.no_grad():
        return float(loss_of(model, valid, n_src)) / valid.n_tokens


def operations(model: nn.Module, batch: nmt.Batch, n_src: int) -> int:
    """Of a forward and backward pass, as PyTorch counts them."""
    n = flops(lambda: loss_of(model, batch, n_src).backward())
    model.zero_grad()
    return n
