"""The loss: how surprised the model is by the right next token (paper, section 5.4 for
label smoothing)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .batching import Batch
from .fused_loss import fused_cross_entropy
from .masks import padding_mask
from .special import PAD
from .transformer import Transformer


def cross_entropy(
    logits: Tensor, tgt_out: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    """The mean over all positions that are not padding, in nats a token.

    Args:
        logits: ``(B, T, V)``, no softmax applied.
        tgt_out: ``(B, T)``.
        label_smoothing: ε; the right token's goal is 1 − ε, and ε is spread over the
            vocabulary.
    """
    logits, targets = logits.flatten(0, 1), tgt_out.flatten()  # (B·T, V), (B·T)
    return F.cross_entropy(
        logits, targets, ignore_index=PAD, label_smoothing=label_smoothing
    )


class Objective(nn.Module):
    """The model together with its loss, as one module, so that DDP can wrap both."""

    def __init__(self, model: Transformer, label_smoothing: float = 0.0) -> None:
        super().__init__()
        self.model, self.label_smoothing = model, label_smoothing

    def forward(self, batch: Batch) -> Tensor:
        """The *sum* of the losses of all target tokens, in nats.

        It equals ``cross_entropy(model(src, tgt_in), tgt_out, label_smoothing)`` times
        ``batch.n_tokens``, but padding is left out before the costly output layer.
        """
        x = before_output(self.model, batch)  # (B, T, D)
        real = batch.tgt_out != PAD  # (B, T)
        smoothing = self.label_smoothing if self.training else 0.0
        return fused_cross_entropy(
            x[real], self.model.output, batch.tgt_out[real], smoothing
        )


def before_output(model: Transformer, batch: Batch) -> Tensor:
    """The vectors that the output layer turns into scores, ``(B, T, D)``."""
    src_mask = padding_mask(batch.src)  # (B, 1, 1, S)
    memory = model.encode(batch.src, src_mask)  # (B, S, D)
    return model.decode(batch.tgt_in, memory, src_mask)  # (B, T, D)


@torch.no_grad()
def validation_loss(model: Transformer, batches: Sequence[Batch]) -> float:
    """The mean loss of a token, in nats: no smoothing, no dropout.

    Each *token* weighs the same. ``exp`` of the loss is the perplexity.
    """
    training, device = model.training, model.output.weight.device
    objective = Objective(model).eval()
    loss = sum(float(objective(batch.to(device))) for batch in batches)
    model.train(training)
    return loss / sum(batch.n_tokens for batch in batches)
