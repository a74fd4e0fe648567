"""The loss: how surprised the model is by the right next token (paper, section 5.4 for
label smoothing), once written plainly and once fused with the output layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..data.batches import Batch
from ..data.tokens import PAD
from ..model.attention import padding_mask
from ..model.transformer import Transformer

CHUNK_FLOATS = 2 * 2**20  # scores held at once: 8 MB in fp32, for a CPU's cache


def cross_entropy(
    logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Cross-entropy: the mean over all tokens except padding, in nats per token.

    Args:
        logits: ``(B, T, V)``, no softmax applied.
        tgt_out: ``(B, T)``.
        label_smoothing: ε; the target distribution gives the right token 1 − ε, and
            spreads ε over the vocabulary.
    """
    logits, targets = logits.flatten(0, 1), tgt_out.flatten()  # (B·T, V), (B·T)
    return F.cross_entropy(
        logits, targets, ignore_index=PAD, label_smoothing=label_smoothing
    )


class FusedCrossEntropy(torch.autograd.Function):
    """Sum of the cross-entropies of ``hidden @ weight.T + bias``, and its gradients.

    With p the softmax of the scores and y the right token, the target distribution is
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
        rows: int,
    ) -> Tensor:
        n_tokens, vocab_size = len(hidden), len(weight)
        W = weight.to(hidden.dtype)  # (V, D) hidden may be bf16
        wide = torch.promote_types(hidden.dtype, torch.float32)  # for sums of many
        loss = hidden.new_zeros((), dtype=wide)
        d_hidden = torch.empty_like(hidden)  # (N, D)
        d_weight = torch.zeros_like(weight)  # (V, D)
        d_bias = weight.new_zeros(vocab_size)  # (V,)
        for start in range(0, n_tokens, rows):
            h = hidden[start : start + rows]  # (n, D)
            y = targets[start : start + rows, None]  # (n, 1)
            logits = (h @ W.T).to(weight.dtype)  # (n, V)
            if bias is not None:
                logits += bias  # F.linear would first copy it to each row
            log_probs = logits.log_softmax(-1)  # (n, V)
            log_p = log_probs.gather(-1, y)  # (n, 1)
            loss -= (1 - eps) * log_p.sum() + eps / vocab_size * log_probs.sum()
            # The softmax minus the target: ε/V for each token, 1 − ε more for y.
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
        return d_hidden * grad[0], d_weight * grad[0], d_bias, None, None, None


def fused_cross_entropy(
    hidden: Tensor, output: nn.Linear, targets: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """Cross-entropy summed over tokens, in nats, with the output layer fused in.

    It equals the two plain lines of ``cross_entropy``, but never holds all logits: for
    4,096 positions × 10,000 tokens they would take 160 MB. The gradient is computed
    together with the loss. On a CPU, it makes a training step of multi30k about a third
    faster (``benchmarks/results/training.md``).

    Args:
        hidden: ``(N, D)``, which the layer ``output`` turns into logits, ``(N, V)``.
        targets: ``(N,)``, no padding among them.
        label_smoothing: ε.
    """
    # Few rows at a time; more on a GPU, which prefers few large products.
    floats = CHUNK_FLOATS * (1 if hidden.device.type == "cpu" else 32)
    rows = max(1, floats // output.out_features)
    if torch.is_grad_enabled():
        return FusedCrossEntropy.apply(
            hidden, output.weight, output.bias, targets, label_smoothing, rows
        )  # type: ignore[no-any-return]
    loss = hidden.new_zeros((), dtype=torch.float32)
    for h, y in zip(hidden.split(rows), targets.split(rows), strict=True):
        loss += F.cross_entropy(
            output(h).float(), y, reduction="sum", label_smoothing=label_smoothing
        )
    return loss


class Objective(nn.Module):
    """The training objective: model and loss as one module, so that DDP wraps both."""

    def __init__(self, model: Transformer, label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.model, self.label_smoothing = model, label_smoothing

    def forward(self, batch: Batch) -> Tensor:
        """The loss *summed* over all target tokens, in nats.

        It equals ``cross_entropy(model(src, tgt_in), tgt_out, label_smoothing)`` times
        ``batch.n_tokens``, but padding is left out before the costly output layer.
        """
        src_mask = padding_mask(batch.src)  # (B, 1, 1, S)
        memory = self.model.encode(batch.src, src_mask)  # (B, S, D)
        x = self.model.decode(batch.tgt_in, memory, src_mask)  # (B, T, D)
        real = batch.tgt_out != PAD  # (B, T)
        smoothing = self.label_smoothing if self.training else 0.0
        return fused_cross_entropy(
            x[real], self.model.output, batch.tgt_out[real], smoothing
        )


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Evaluation mode, without dropout; each module gets its old mode back."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


@torch.no_grad()
def validation_loss(model: Transformer, batches: Sequence[Batch]) -> float:
    """Validation loss: the mean in nats per token, without smoothing or dropout.

    Each *token* has the same weight. ``exp`` of the loss is the perplexity.
    """
    device, loss_sum, n_tokens = model.output.weight.device, 0.0, 0
    with evaluation_mode(model):
        objective = Objective(model).eval()
        for batch in batches:
            batch = batch.to(device)
            n_tokens += batch.n_tokens
            loss_sum += float(objective(batch))
    return loss_sum / n_tokens
