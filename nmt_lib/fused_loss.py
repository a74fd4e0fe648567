"""Output layer and cross-entropy in one, a few positions at a time.

It gives what the two plain lines in ``losses.py`` give, but never holds all scores:
for 4,096 positions × 10,000 tokens they would take 160 MB. The gradient is computed
together with the loss. On a CPU a training step of multi30k is about a third faster
with it (``benchmarks/results/training.md``).
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CHUNK_FLOATS = 2 * 2**20  # scores held at once: 8 MB in fp32, for a CPU's cache


class FusedCrossEntropy(torch.autograd.Function):
    """Sum of the cross-entropies of ``hidden @ weight.T + bias``, and its gradients.

    With p the softmax of the scores and y the right token, the goal is
    q = (1 − ε) · [v = y] + ε / V. The loss of a row is −Σ q log p, and its gradient
    with respect to the scores is p − q. From there the chain rule needs two products:
    (p − q) W for ``hidden`` and (p − q)ᵀ h for ``weight``.
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
        wide = torch.promote_types(hidden.dtype, torch.float32)  # for sums of many
        loss = hidden.new_zeros((), dtype=wide)
        d_hidden = torch.empty_like(hidden)  # (N, D)
        d_weight = torch.zeros_like(weight)  # (V, D)
        d_bias = weight.new_zeros(vocab_size)  # (V,)
        rows = rows_at_once(hidden, vocab_size)
        for start in range(0, n_tokens, rows):
            h = hidden[start : start + rows]  # (n, D)
            y = targets[start : start + rows, None]  # (n, 1)
            logits = (h @ W.T).to(weight.dtype)  # (n, V)
            if bias is not None:
                logits += bias  # F.linear would first copy it to each row
            log_probs = logits.log_softmax(-1)  # (n, V)
            right = log_probs.gather(-1, y)  # (n, 1)
            loss -= (1 - eps) * right.sum() + eps / vocab_size * log_probs.sum()
            # The softmax minus the goal: ε/V for each token, 1 − ε more for the right.
            gradient = log_probs.exp_().sub_(eps / vocab_size)  # (n, V)
            gradient.scatter_add_(-1, y, gradient.new_full(y.shape, eps - 1))
            d_bias += gradient.sum(0)  # (V,)
            gradient = gradient.to(h.dtype)
            d_hidden[start : start + rows] = gradient @ W  # (n, D)
            d_weight += gradient.T @ h  # (V, D)
        ctx.save_for_backward(d_hidden, d_weight, None if bias is None else d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():  # create_graph=True asks for a second derivative
            raise RuntimeError(
                "fused_cross_entropy has no second derivative: use "
                "nmt_lib.cross_entropy of the logits"
            )
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * grad[0]
        return d_hidden * grad[0], d_weight * grad[0], d_bias, None, None


def fused_cross_entropy(
    hidden: Tensor, output: nn.Linear, targets: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The sum of the losses, in nats, from the vectors *before* the output layer.

    Args:
        hidden: ``(N, D)``; the layer ``output`` makes ``(N, V)`` of them.
        targets: ``(N,)``, no padding among them.
        label_smoothing: ε.
    """
    if torch.is_grad_enabled():
        return FusedCrossEntropy.apply(
            hidden, output.weight, output.bias, targets, label_smoothing
        )  # type: ignore[no-any-return]
    rows = rows_at_once(hidden, output.out_features)
    total = hidden.new_zeros((), dtype=torch.float32)
    for h, y in zip(hidden.split(rows), targets.split(rows), strict=True):
        total += F.cross_entropy(
            output(h).float(), y, reduction="sum", label_smoothing=label_smoothing
        )
    return total


def rows_at_once(hidden: Tensor, vocab_size: int) -> int:
    """How many positions; more on a GPU, which prefers few large products."""
    floats = CHUNK_FLOATS * (1 if hidden.device.type == "cpu" else 32)
    return max(1, floats // vocab_size)
