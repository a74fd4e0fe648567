"""Other answers to the exercises of chapter 07."""

import torch.nn.functional as F

import nmt_lib as nmt
from nmt_book.chapter07 import check as chapter07


def made(one, *changes):
    """The printed answer with other pieces of text."""
    (found,) = one._variants(changes)
    return found


def in_place(theta, g, m, v, step, rate):
    m.mul_(0.9).add_(g, alpha=0.1)
    v.mul_(0.98).addcmul_(g, g, value=0.02)
    theta -= rate * (m / (1 - 0.9**step)) / ((v / (1 - 0.98**step)).sqrt() + 1e-9)
    return [theta, m, v]


def with_lerp(theta, g, m, v, step, rate):
    m, v = m.lerp(g, 0.1), v.lerp(g * g, 0.02)
    size = (v / (1 - 0.98**step)) ** 0.5 + 1e-9
    return theta - rate / (1 - 0.9**step) * m / size, m, v


RIGHT = {
    "my_shift": [
        lambda tgt: [tgt[:, :-1], tgt[:, 1:]],
        lambda tgt: (tgt.numpy()[:, :-1], tgt.numpy()[:, 1:]),
    ],
    "my_loss": [
        lambda logits, tgt_out: F.cross_entropy(logits.mT, tgt_out, ignore_index=0),
        lambda logits, tgt_out: nmt.cross_entropy(logits.double(), tgt_out),
    ],
    "my_adam": [
        in_place,
        with_lerp,
    ],
}
WRONG = {
    "my_shift": [
        lambda tgt: (tgt[:, :4], tgt[:, 1:5]),
    ],
    "my_loss": [
        made(chapter07.my_loss, "tgt_out != nmt.PAD → tgt_out.bool() & (logs > -9)"),
    ],
    "my_adam": [
        made(chapter07.my_adam, "1e-9 → 1e-3"),
    ],
}
