"""Other answers to the exercises of chapter 07."""

from fractions import Fraction

import torch
import torch.nn.functional as F

import nmt_lib as nmt
from nmt_lib.exercises import chapter07


def made(one, *changes):
    """The printed answer with other pieces of text."""
    (found,) = one._variants(changes)
    return found


def adam(*changes):
    return made(chapter07.my_adam, *changes)


def by_torch(gradients, rate):
    with torch.enable_grad():
        theta = torch.zeros(gradients.size(1), requires_grad=True)
        optimizer = torch.optim.Adam([theta], rate, (0.9, 0.98), 1e-9)
        for theta.grad in gradients:
            optimizer.step()
    return theta


def ends_in_steps(gradients, rate):
    """Weight by weight, with Python's numbers."""
    found = []
    for column in gradients.T.tolist():
        theta = m = v = 0.0
        for step, g in enumerate(column, 1):
            m, v = m + 0.1 * (g - m), v + 0.02 * (g * g - v)
            hat = (v / (1 - 0.98**step)) ** 0.5
            theta -= rate * m / (1 - 0.9**step) / (hat + 1e-9)
        found.append(theta)
    return found


def flat(logits, tgt_out):
    return F.cross_entropy(logits.flatten(0, 1), tgt_out.flatten(), ignore_index=0)


def by_loops(logits, tgt_out):
    said = [
        -z.log_softmax(-1)[y].item()
        for row, ids in zip(logits, tgt_out.tolist(), strict=True)
        for z, y in zip(row, ids, strict=True)
        if y
    ]
    return sum(said) / len(said)


def accuracy(count):
    def answer(logits, tgt_out):
        best, real = logits.argmax(-1), tgt_out != 0
        return count(best == tgt_out, real)

    return answer


def half_sure(logits, tgt_out):
    p = logits.softmax(-1).gather(-1, tgt_out[..., None])[..., 0]
    return (p > 0.5)[tgt_out != 0].float().mean()


RIGHT = {
    "my_shift": [
        lambda tgt: [tgt[:, :-1], tgt[:, 1:]],
        lambda tgt: tgt.unfold(1, tgt.size(1) - 1, 1).unbind(1),
        lambda tgt: (tgt.numpy()[:, :-1], tgt.numpy()[:, 1:]),
        lambda tgt: ([row[:-1] for row in tgt], [row[1:] for row in tgt.tolist()]),
        lambda tgt: (tgt.narrow(1, 0, tgt.size(1) - 1), tgt.roll(-1, 1)[:, :-1]),
    ],
    "my_loss": [
        flat,
        by_loops,
        lambda logits, tgt_out: flat(logits, tgt_out).view(1),
        lambda logits, tgt_out: F.cross_entropy(logits.mT, tgt_out, ignore_index=0),
        lambda logits, tgt_out: flat(logits.softmax(-1).log(), tgt_out).item(),
        lambda logits, tgt_out: nmt.cross_entropy(logits.double(), tgt_out),
    ],
    "my_adam": [
        by_torch,
        ends_in_steps,
        adam("return theta", "return theta.tolist()"),
        adam("(v_hat.sqrt() + 1e-9)", "v_hat.sqrt().add(1e-9)"),
        lambda gradients, rate: ends_in_steps(gradients.double(), rate),
    ],
    "my_accuracy": [
        accuracy(lambda hits, real: (hits & real).sum() / real.sum()),
        accuracy(lambda hits, real: Fraction(int(hits[real].sum()), int(real.sum()))),
        accuracy(lambda hits, real: sum(hits[real].tolist()) / len(hits[real])),
        lambda logits, tgt_out: (
            (logits.argmax(-1)[tgt_out > 0] - tgt_out[tgt_out > 0])
            .eq(0)
            .double()
            .mean()
        ),
    ],
}
WRONG = {
    "my_shift": [
        lambda tgt: (tgt[:, :4], tgt[:, 1:5]),
        lambda tgt: (tgt[:, :-1].masked_fill_(tgt[:, :-1] == 3, 0), tgt[:, 1:]),
        lambda tgt: (tgt[:, :-1], tgt[:, 1:] * (tgt[:, 1:] != 3)),
        lambda tgt: (tgt[0, :-1], tgt[0, 1:]),
        lambda tgt: tgt,
        lambda tgt: (tgt[:, :-1].bool(), tgt[:, 1:].bool()),
        lambda tgt: (tgt[:, :-1].flip(1), tgt[:, 1:]),
        lambda tgt: (tgt[:, :-1], tgt[:, 1:] - 1),
    ],
    "my_loss": [
        made(chapter07.my_loss, ".mean()", ".median()"),
        made(chapter07.my_loss, ".mean()", ".sum() / logits.size(-1)"),
        made(chapter07.my_loss, "-said", "+ 0.01 - said"),
        made(chapter07.my_loss, "tgt_out != nmt.PAD", "tgt_out.bool() & (said > -9)"),
        made(chapter07.my_loss, "[tgt_out != nmt.PAD]", "[:, 0]"),
        made(chapter07.my_loss, ".mean()", ".mean().missing"),
        made(chapter07.my_loss, "log_p.gather", "log_p.gathered"),
        made(chapter07.my_loss, "return -", "return -torch.tensor([1.0, 1]) * "),
        lambda logits, tgt_out: F.mse_loss(logits.argmax(-1).float(), tgt_out.float()),
    ],
    "my_adam": [
        adam("theta = theta - rate", "theta = 0.99 * theta - rate"),
        adam("g**2", "g.abs()"),
        adam("rate * m_hat", "rate * m_hat.sign()"),
        adam("gradients, start", "gradients[1:], start"),
        adam("v_hat.sqrt()", "v_hat.sqrt().sqrt()"),
        adam("1e-9", "1e-3"),
        adam("return theta", "return theta.mean()"),
        adam("return theta", "return m"),
        lambda gradients, rate: -rate * gradients.sign().sum(0),
        lambda gradients, rate: by_torch(gradients.flip(0), rate),
    ],
    "my_accuracy": [
        accuracy(lambda hits, real: hits[real].mean()),
        accuracy(lambda hits, real: hits[:, 1:][real[:, 1:]].float().mean()),
        accuracy(lambda hits, real: hits[real].float().mean().round()),
        accuracy(lambda hits, real: hits[real]),
        accuracy(lambda hits, real: (hits & real).float().mean(1)),
        accuracy(lambda hits, real: f"{hits[real].float().mean():.2f}"),
        accuracy(lambda hits, real: hits[0][real[0]].float().mean()),
        lambda logits, tgt_out: (logits.max(-1).values == tgt_out).float().mean(),
        half_sure,
    ],
}
