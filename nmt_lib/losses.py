"""The loss: how surprised the model is by the right next token (paper, section 5.4 for the smoothing).

Padding has nothing to predict, so its positions are taken out *before* the costly output layer, and the scores of
the others are made a few positions at a time: all at once, 4,096 positions × 10,000 tokens would be 160 MB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .batching import Batch
from .masks import padding_mask
from .special import PAD
from .transformer import Transformer

CHUNK_FLOATS = (
    4 * 2**20
)  # scores held at once: 16 MB in fp32, which the CPU's allocator hands out again and again


def cross_entropy(
    logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The mean over all positions that are no padding, in nats a token.

    Args:
        logits: ``(B, T, V)``, no softmax applied.
        tgt_out: ``(B, T)``.
        label_smoothing: ε; the right token's goal is 1 − ε, and ε is spread over the vocabulary.
    """
    return F.cross_entropy(
        logits.flatten(0, 1),
        tgt_out.flatten(),
        ignore_index=PAD,
        label_smoothing=label_smoothing,
    )


class _ChunkedLoss(torch.autograd.Function):
    """Sum of the cross-entropies of ``hidden @ weight.T + bias``, and its gradients, a few rows at a time.

    With p the softmax of the scores and y the right token, the goal is q = (1 − ε) · [v = y] + ε / V. The loss of a
    row is −Σ q log p, and its gradient with respect to the scores is p − q. From there the chain rule needs two
    products: (p − q) W for ``hidden`` and (p − q)ᵀ h for ``weight``.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        eps: float,
    ) -> Tensor:
        n_tokens, vocab_size = len(hidden), len(weight)
        W = weight.to(hidden.dtype)  # (V, D) hidden may be bf16
        wide = torch.promote_types(
            hidden.dtype, torch.float32
        )  # sums of exponentials need it
        loss = hidden.new_zeros((), dtype=wide)
        d_hidden = torch.empty_like(hidden)  # (N, D)
        d_weight, d_bias = (
            torch.zeros_like(weight),
            weight.new_zeros(vocab_size),
        )  # (V, D), (V,)
        rows = max(1, CHUNK_FLOATS // vocab_size)
        for start in range(0, n_tokens, rows):
            h, y = (
                hidden[start : start + rows],
                targets[start : start + rows, None],
            )  # (n, D), (n, 1)
            logits = F.linear(
                h, W, None if bias is None else bias.to(h.dtype)
            )  # (n, V)
            log_probs = logits.to(weight.dtype).log_softmax(-1)  # (n, V)
            loss -= (1 - eps) * log_probs.gather(
                -1, y
            ).sum() + eps / vocab_size * log_probs.sum()
            gradient = log_probs.exp_().sub_(
                eps / vocab_size
            )  # (n, V) of the logits: softmax minus the goal, which is
            gradient.scatter_add_(
                -1, y, gradient.new_full(y.shape, eps - 1)
            )  # ε/V each, and 1 − ε more where right
            d_bias += gradient.sum(0)  # (V,)
            gradient = gradient.to(h.dtype)
            d_hidden[start : start + rows] = gradient @ W  # (n, D)
            d_weight += gradient.T @ h  # (V, D)
        ctx.save_for_backward(d_hidden, d_weight, d_bias if bias is not None else None)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        return (
            d_hidden * grad[0],
            d_weight * grad[0],
            None if d_bias is None else d_bias * grad[0],
            None,
            None,
        )


def chunked_cross_entropy(
    hidden: Tensor, output: nn.Linear, targets: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The same loss as ``cross_entropy`` gives, as a sum in nats, from the vectors *before* the output layer.

    Args:
        hidden: ``(N, D)``; the layer ``output`` makes ``(N, V)`` of them.
        targets: ``(N,)``, no padding among them.
    """
    if torch.is_grad_enabled():
        return _ChunkedLoss.apply(
            hidden, output.weight, output.bias, targets, label_smoothing
        )  # type: ignore[no-any-return]
    rows = max(1, CHUNK_FLOATS // output.out_features)
    parts = zip(hidden.split(rows), targets.split(rows), strict=True)
    total = hidden.new_zeros((), dtype=torch.float32)
    for h, y in parts:
        total += F.cross_entropy(
            output(h).float(), y, reduction="sum", label_smoothing=label_smoothing
        )
    return total


class Objective(nn.Module):
    """The model together with its loss, as one module: that is what runs on each of several processes."""

    def __init__(self, model: Transformer, label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.model, self.label_smoothing = model, label_smoothing

    def forward(self, batch: Batch) -> Tensor:
        """The *sum* of the losses of all target tokens, in nats; divide by ``batch.n_tokens``."""
        src_mask = padding_mask(batch.src)  # (B, 1, 1, S)
        x = self.model.decode(
            batch.tgt_in, self.model.encode(batch.src, src_mask), src_mask
        )  # (B, T, D)
        real = batch.tgt_out != PAD  # (B, T)
        smoothing = self.label_smoothing if self.training else 0.0
        return chunked_cross_entropy(
            x[real], self.model.output, batch.tgt_out[real], smoothing
        )


@torch.no_grad()
def validation_loss(model: Transformer, batches: Sequence[Batch]) -> float:
    """The mean loss of a token, in nats: each *token* weighs the same, no smoothing, no dropout.

    ``exp`` of it is the perplexity.
    """
    training, device = model.training, model.output.weight.device
    objective = Objective(model).eval()
    loss = sum(float(objective(batch.to(device))) for batch in batches)
    model.train(training)
    return loss / sum(batch.n_tokens for batch in batches)
