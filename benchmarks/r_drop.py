"""R-Drop (Wu et al., 2021, https://arxiv.org/abs/2106.14448): two passes with two draws of dropout should agree.

With p and q what the passes make of a position, its loss is the mean of both cross-entropies and α/4 times
KL(p‖q) + KL(q‖p): half of the paper's, which adds the two up.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from nmt_lib.batching import Batch
from nmt_lib.losses import CHUNK_FLOATS, Objective
from nmt_lib.masks import padding_mask
from nmt_lib.special import PAD


class RDrop(Objective):
    """In validation it is the plain loss."""

    alpha = 5.0  # the paper's, for translation

    def forward(self, batch: Batch) -> Tensor:
        """The *sum* over all target tokens, in nats."""
        if not self.training:
            return super().forward(batch)
        src, tgt_in = (
            batch.src.repeat(2, 1),
            batch.tgt_in.repeat(2, 1),
        )  # (2B, S), (2B, T)
        src_mask = padding_mask(src)  # (2B, 1, 1, S)
        x = self.model.decode(
            tgt_in, self.model.encode(src, src_mask), src_mask
        )  # (2B, T, D)
        real, out = batch.tgt_out != PAD, self.model.output  # (B, T)
        hidden = torch.stack([half[real] for half in x.chunk(2)])  # (2, N, D)
        eps, alpha = self.label_smoothing, self.alpha
        return _ChunkedRDrop.apply(
            hidden, out.weight, out.bias, batch.tgt_out[real], eps, alpha
        )  # type: ignore[no-any-return]


class _ChunkedRDrop(torch.autograd.Function):
    """A few positions at a time, with its gradients, as ``nmt_lib.losses`` does it: all scores would be gigabytes.

    With l = log p − log q, the gradient of KL(p‖q) with respect to the scores of p is p · (l − KL(p‖q)), and that of
    KL(q‖p) is p − q.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        W: Tensor,
        bias: Tensor,
        targets: Tensor,
        eps: float,
        alpha: float,
    ) -> Tensor:
        V = len(W)
        loss = hidden.new_zeros(())
        d_hidden, d_W, d_bias = (
            torch.empty_like(hidden),
            torch.zeros_like(W),
            torch.zeros_like(bias),
        )
        rows = max(1, CHUNK_FLOATS // V // 2)
        for start in range(0, len(targets), rows):
            h = hidden[:, start : start + rows]  # (2, n, D)
            y = targets[start : start + rows, None].expand(2, -1, 1)  # (2, n, 1)
            log_probs = F.linear(h, W, bias).log_softmax(-1)  # (2, n, V)
            probs = log_probs.exp()
            log_ratio, difference = (
                log_probs[0] - log_probs[1],
                probs[0] - probs[1],
            )  # (n, V)
            kl_pq, kl_qp = (
                (probs[0] * log_ratio).sum(-1, keepdim=True),
                -(probs[1] * log_ratio).sum(-1, keepdim=True),
            )
            loss -= (
                (1 - eps) * log_probs.gather(-1, y).sum() + eps / V * log_probs.sum()
            ) / 2
            loss += alpha / 4 * (kl_pq.sum() + kl_qp.sum())
            to_p = (
                probs[0] * (log_ratio - kl_pq) + difference
            )  # (n, V) gradients of both divergences
            to_q = probs[1] * (-log_ratio - kl_qp) - difference
            gradient = probs.sub_(
                eps / V
            )  # (2, n, V) of the cross-entropies: softmax minus the goal
            gradient.scatter_add_(-1, y, gradient.new_full(y.shape, eps - 1)).div_(2)
            gradient[0].add_(to_p, alpha=alpha / 4)
            gradient[1].add_(to_q, alpha=alpha / 4)
            d_bias += gradient.sum((0, 1))
            d_hidden[:, start : start + rows] = gradient @ W
            d_W += gradient.flatten(0, 1).T @ h.flatten(0, 1)
        ctx.save_for_backward(d_hidden, d_W, d_bias)
        return loss

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        return *(grad[0] * gradient for gradient in ctx.saved_tensors), None, None, None
