"""Distillation (Hinton et al., 2015, https://arxiv.org/abs/1503.02531): a student learns what its teachers think.

At each position of a target the goal is a mixture: of the right token, as ever, and of the mean of what the teachers
expect there (Kim and Rush, 2016, https://arxiv.org/abs/1606.07947, section 3.1). The student reads with dropout, the
teachers without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nmt_lib.batching import Batch
from nmt_lib.losses import CHUNK_FLOATS, Objective
from nmt_lib.masks import padding_mask
from nmt_lib.special import PAD
from nmt_lib.transformer import Transformer


class Distillation(Objective):
    """In validation it is the plain loss."""

    teachers: Sequence[
        Transformer
    ] = ()  # with the student's vocabulary, in evaluation mode
    share = 0.5  # of the goal that the teachers give

    def forward(self, batch: Batch) -> Tensor:
        """The *sum* over all target tokens, in nats."""
        if not self.training:
            return super().forward(batch)
        real, out = batch.tgt_out != PAD, self.model.output  # (B, T)
        with torch.no_grad():
            seen = [
                read(teacher, batch)[real] for teacher in self.teachers
            ]  # one (N, D) each
        mixture = [
            (x, teacher.output) for x, teacher in zip(seen, self.teachers, strict=True)
        ]
        x, targets = read(self.model, batch)[real], batch.tgt_out[real]  # (N, D), (N,)
        return _ChunkedDistillation.apply(
            x, out.weight, out.bias, targets, mixture, self.label_smoothing, self.share
        )  # type: ignore[no-any-return]


def read(model: Transformer, batch: Batch) -> Tensor:
    """What the output layer gets, ``(B, T, D)``."""
    src_mask = padding_mask(batch.src)  # (B, 1, 1, S)
    return model.decode(batch.tgt_in, model.encode(batch.src, src_mask), src_mask)


class _ChunkedDistillation(torch.autograd.Function):
    """A few positions at a time, with its gradients, as ``nmt_lib.losses`` does it: all scores would be gigabytes.

    Whatever the goal q is, as long as it adds up to 1, the gradient of −Σ q log p with respect to the scores is p − q.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        W: Tensor,
        bias: Tensor,
        targets: Tensor,
        teachers: Sequence[tuple[Tensor, nn.Linear]],
        eps: float,
        share: float,
    ) -> Tensor:
        V = len(W)
        loss = W.new_zeros(())
        d_hidden, d_W, d_bias = (
            torch.empty_like(hidden),
            torch.zeros_like(W),
            torch.zeros_like(bias),
        )
        rows = max(1, CHUNK_FLOATS // V)
        for start in range(0, len(targets), rows):
            h, y = (
                hidden[start : start + rows],
                targets[start : start + rows, None],
            )  # (n, D), (n, 1)
            log_probs = (
                F.linear(h, W.to(h.dtype), bias.to(h.dtype)).to(W.dtype).log_softmax(-1)
            )  # (n, V)
            goal = torch.full_like(log_probs, (1 - share) * eps / V)  # (n, V)
            goal.scatter_add_(-1, y, goal.new_full(y.shape, (1 - share) * (1 - eps)))
            for x, output in teachers:
                scores = F.linear(
                    x[start : start + rows],
                    output.weight.to(x.dtype),
                    output.bias.to(x.dtype),
                )  # (n, V)
                goal.add_(scores.to(W.dtype).softmax(-1), alpha=share / len(teachers))
            loss -= (goal * log_probs).sum()
            gradient = log_probs.exp_().sub_(goal)  # (n, V)
            d_bias += gradient.sum(0)
            gradient = gradient.to(h.dtype)
            d_hidden[start : start + rows] = gradient @ W.to(h.dtype)
            d_W += gradient.T @ h
        ctx.save_for_backward(d_hidden, d_W, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        return (
            *(grad[0] * gradient for gradient in ctx.saved_tensors),
            None,
            None,
            None,
            None,
        )
