"""The exercises of chapter 07, training."""

import torch
import torch.nn.functional as F

import nmt_lib as nmt

from ..exercise.exercise import exercise, unfilled
from ..yours.trials import NO_GRADIENT


class NotIds(TypeError):
    """Ids became numbers of another kind."""


def _ids(answer, tgt):
    returned = answer(tgt)
    parts = returned if isinstance(returned, tuple | list) else [returned]
    if any(
        isinstance(part, torch.Tensor) and part.is_floating_point() for part in parts
    ):
        raise NotIds("ids are whole numbers, and the library refuses others")
    return returned


def _cut_rows(tgt):
    rows = [row[row != nmt.PAD] for row in tgt]
    return [row[:-1] for row in rows], [row[1:] for row in rows]


@exercise(
    "Cut the target twice: what the decoder reads, and what it should say.",
    cases={
        "padding on the right": (
            torch.tensor([[2, 5, 6, 7, 3], [2, 8, 9, 3, 0], [2, 4, 3, 0, 0]]),
        ),
        "one sentence": (torch.tensor([[2, 7, 7, 3]]),),
        "padding on the left": (
            torch.tensor([[0, 0, 2, 9, 4, 3], [2, 8, 1, 5, 6, 3]]),
        ),
        "ten tokens": (torch.tensor([[2, *range(4, 12), 3]]),),
    },
    mistakes={
        "both lack the last token; tgt_out should lack the first": "1: → :-1",
        "both lack the first token; tgt_in should lack the last": ":-1 → 1:",
        "tgt_in and tgt_out are swapped": "(tgt[:, 1:], tgt[:, :-1])",
        "this cuts off whole sentences; axis 1 has the positions": (
            "(tgt[:-1], tgt[1:])"
        ),
        "tgt_in still has all T + 1 tokens": "[:, :-1] →",
        "tgt_out still has all T + 1 tokens": "[:, 1:] →",
        "nothing is cut: each should have T tokens": "(tgt, tgt)",
        "other batches have another T: count from the end, tgt[:, :-1]": (
            "(tgt[:, :7], tgt[:, 1:8])"
        ),
        "`roll` keeps all T + 1 columns: the last one must go": [
            "(tgt, tgt.roll(-1, 1))",
            "(tgt[:, :-1], tgt.roll(-1, 1))",
        ],
        "tgt_in has lost the <eos> of the shorter rows; leave it for now": (
            "(tgt[:, :-1].masked_fill(tgt[:, :-1] == nmt.EOS, nmt.PAD), tgt[:, 1:])"
        ),
        "tgt_out has lost its last token: <eos> must be said, too": "1: → 1:-1",
        "each should lack one token; yours lack two": [
            (":-1 → :-2", "1: → 2:"),
            (":-1 → :-2", "1: → 1:-1"),
        ],
        "both begin one token too late: tgt_in begins with <sos>": (
            ":-1 → 1:",
            "tgt[:, 1:]\n → tgt[:, 2:]\n",
        ),
        "return the two tensors one after the other, not a stack": (
            "torch.stack([tgt[:, :-1], tgt[:, 1:]], dim=-1)"
        ),
        "without <pad> the rows are of unequal length: cut whole columns": _cut_rows,
        "return both, tgt_in and tgt_out": [
            "tgt[:, :-1]",
            "tgt[:, 1:]",
        ],
        "ids stay whole numbers: leave out the .float()": (
            "(tgt[:, :-1].float(), tgt[:, 1:].float())"
        ),
    },
    hints=(
        "At position t the decoder reads token t and should say token t + 1. Which "
        "column does each of the two not need?",
        "`tgt[:, :-1]` has the shape (B, T): all columns but the last.",
    ),
    says="at each position the next token is to be said",
    difficulty=1,
    importance=3,
    minutes=4,
    part="shift",
    call=_ids,
)
def my_shift(tgt):
    return tgt[:, :-1], tgt[:, 1:]


class NoGradient(TypeError):
    """A loss from which no training can start."""


def _one_number(answer, logits, tgt_out):
    """Also of the shape (1,)."""
    loss = answer(logits.requires_grad_(), tgt_out)
    shape = getattr(loss, "shape", None)
    is_one = isinstance(loss, float) or shape in ((), (1,))
    if is_one and not getattr(loss, "requires_grad", False):
        raise NoGradient(NO_GRADIENT)
    return loss.sum() if shape == (1,) else loss


SMALL = torch.tensor([[[0.0, 1, 3], [2, 0, 1]], [[1, 2, 0], [0, 0, 4]]])  # (B, T, V)
LOGITS = F.pad(
    torch.tensor(
        [
            [[0.0, 1, 3, 1, 0], [0, 0, 1, 2, 2], [6, 4, 0, 0, 1], [1, 0, 5, 0, 0]],
            [[0.0, 2, 0, 1, 0], [3, 0, 0, 0, 1], [1, 0, 2, 2, 0], [2, 0, 0, 0, 0]],
        ]
    ),
    (0, 1),
)  # (B, T, V) twice, <pad> is the most likely token of a real position
SURE = 9 * torch.randn(3, 5, 5, generator=torch.Generator().manual_seed(7))
REAL, MEAN = "tgt_out != nmt.PAD", "logs[tgt_out != nmt.PAD].mean()"
PICKED = "log_p.gather(-1, tgt_out[:, :, None])[:, :, 0]"
PADDING = "padding is counted; it should be left out"
FROM_MODEL = "the mask should come from tgt_out, not from what the model says"
SAID_PAD = "a real position counts, even where the model says <pad>"
OF_SENTENCES = "a mean of the sentences' means; add up all tokens and divide once"
SPECIAL = "only <pad> is left out; <eos> and <unk> are real tokens"


@exercise(
    "The mean surprise about the right tokens, without padding.",
    cases={
        "a short sentence and a padded one": (SMALL, torch.tensor([[2, 1], [1, 0]])),
        "two sentences of unequal length": (
            LOGITS,
            torch.tensor([[2, 3, 4, 3], [1, 0, 0, 0]]),
        ),
        "V = T = 5, a model that is sure, often wrongly": (
            SURE,
            torch.tensor([[4, 3, 1, 4, 3], [4, 4, 3, 0, 0], [2, 3, 0, 0, 0]]),
        ),
        "a logit of 120": (
            torch.tensor([[[0.0, 120, 0], [1, 0, 2]]]),
            torch.tensor([[2, 1]]),
        ),
    },
    mistakes={
        PADDING: f"[{REAL}] →",
        "the softmax of a small logit is 0, and log 0 is −∞: take log_softmax": (
            "log_softmax(-1) → softmax(-1).log()"
        ),
        NO_GRADIENT: [
            ".mean() → .mean().item()",
            "log_p = logits → log_p = logits.detach()",
        ],
        "padding costs 0 here, but you still divide by its positions": (
            f"{MEAN} → (logs * ({REAL})).mean()"
        ),
        OF_SENTENCES: (
            f"{MEAN} → sum(s[y != 0].mean() for s, y in zip(logs, tgt_out)) / len(logs)"
        ),
        "the sum; divide by the number of real positions": "mean → sum",
        "divided by the number of sentences, not of tokens": (
            "mean() → sum() / len(logs)"
        ),
        "one number is asked for: take the mean": ".mean() →",
        FROM_MODEL: f"{REAL} → logits.argmax(-1) != nmt.PAD",
        SAID_PAD: f"{REAL} → ({REAL}) & (logits.argmax(-1) != nmt.PAD)",
        SPECIAL: [
            f"{REAL} → tgt_out != nmt.EOS",
            f"{REAL} → tgt_out > nmt.EOS",
            f"{REAL} → ({REAL}) & (tgt_out != nmt.EOS)",
        ],
        "this is the first sentence alone: all of the batch counts": (
            "return → logs, tgt_out = logs[:1], tgt_out[:1]\n    return"
        ),
        "padding is what you keep: real positions are tgt_out != nmt.PAD": [
            "!= → ==",
        ],
        "softmax is taken twice": "logits.log → logits.softmax(-1).log",
        "log_softmax is missing: these are logits": ".log_softmax(-1) →",
        "softmax goes over the vocabulary, the last axis": [
            "softmax(-1) → softmax(1)",
            "softmax(-1) → softmax(0)",
        ],
        "log_softmax comes first, over the whole vocabulary; then pick": (
            "logits.log_softmax(-1) → logits",
            "[:, :, 0] → [:, :, 0].log_softmax(-1)",
        ),
        "take the log-probability of the right token only (gather)": (
            f"{PICKED} → log_p.mean(-1)"
        ),
        "`gather` keeps its axis, (B, T, 1): drop it, [:, :, 0], before you multiply": (
            f"{PICKED} → log_p.gather(-1, tgt_out[:, :, None])",
            f"{MEAN} → (logs * ({REAL})).sum() / ({REAL}).sum()",
        ),
        "the shift is done already: logits and tgt_out belong together as they are": (
            "F.cross_entropy(logits[:, :-1].mT, tgt_out[:, 1:], ignore_index=0)"
        ),
        "the right token counts, not the one that the model finds most likely": (
            f"{PICKED} → log_p.amax(-1)"
        ),
        "the sign: a loss is positive": "-logs → logs",
        "the logarithm is missing, and the sign": (
            "log_softmax → softmax",
            "-logs → logs",
        ),
        "the logarithm is missing": "log_softmax → softmax",
        "surprise is −log p, not 1 − p": (
            "log_softmax → softmax",
            "-logs → 1 - logs",
        ),
        "the mean of the logarithms, not the logarithm of the mean": (
            f"{MEAN} → logs.exp()[{REAL}].mean().log()"
        ),
        "this is the perplexity, exp(L); L itself is asked for": (
            f"-{MEAN} → (-{MEAN}).exp()"
        ),
        "a logarithm to base 2; take the natural one": ".mean() → .mean() / 0.693147",
        "a logarithm to base 10; take the natural one": ".mean() → .mean() / 2.302585",
        "cross_entropy wants the vocabulary on axis 1: transpose(1, 2); `view` and "
        "`reshape` would mix positions and tokens": [
            (
                "F.cross_entropy(logits.reshape(len(logits), -1, "
                "logits.size(1)), tgt_out, ignore_index=0)"
            ),
            "F.cross_entropy(logits, tgt_out, ignore_index=0)",
        ],
        "this loss is smoothed; here the plain one is asked for": (
            "nmt.cross_entropy(logits, tgt_out, 0.1)"
        ),
    },
    hints=(
        "Three steps: all log-probabilities; at each position that of the right token; "
        "the mean over the real positions.",
        "`logits.log_softmax(-1).gather(-1, tgt_out[:, :, None])` has the shape "
        "(B, T, 1).",
    ),
    says="nmt.cross_entropy gives the same",
    difficulty=2,
    importance=3,
    minutes=8,
    part="loss",
    call=_one_number,
)
def my_loss(logits, tgt_out):
    log_p = logits.log_softmax(-1)  # (B, T, V)
    logs = log_p.gather(-1, tgt_out[:, :, None])[:, :, 0]  # (B, T)
    return -logs[tgt_out != nmt.PAD].mean()


M, V = "0.9 * m + 0.1 * g", "0.98 * v + 0.02 * g**2"
M_HAT, V_HAT = "m / (1 - 0.9**step)", "v / (1 - 0.98**step)"
ROOT = "(v_hat.sqrt() + 1e-9)"


def _updates(answer, gradients, rate):
    """The weights, from 0, after an update for each row of gradients."""
    theta = m = v = torch.zeros(gradients.size(1))
    for step, g in enumerate(gradients, start=1):
        new = answer(theta.clone(), g.clone(), m.clone(), v.clone(), step, rate)
        if not (isinstance(new, tuple | list) and len(new) == 3) or unfilled(new):
            return new
        theta, m, v = map(torch.as_tensor, new)
    return theta


@exercise(
    "One update of Adam: the new weights, and the two means for the next update.",
    cases={
        "gradients of very different sizes, a weight without any": (
            torch.tensor(
                [[3.0, 2e-5, 1, 0], [2, 1e-5, -1, 2], [4, 4e-5, 1, 0], [1, 3e-5, -2, 1]]
            ),
            2,
        ),
        "a weight that never has a gradient": (torch.tensor([[0.0], [0.0]]), 1),
        "six updates at a rate of 0.5": (
            torch.randn(6, 3, generator=torch.Generator().manual_seed(1)),
            0.5,
        ),
        "one update": (torch.tensor([[5.0, -0.1]]), 3),
    },
    mistakes={
        "m and v are not corrected (the hats)": f"{M_HAT}, {V_HAT} → m, v",
        "v is not corrected: its hat is missing": f"{V_HAT} → v",
        "m is not corrected: its hat is missing": f"{M_HAT} → m",
        "the root of v̂ is missing": "v_hat.sqrt() → v_hat",
        "ε should be outside the root": f"{ROOT} → (v_hat + 1e-9).sqrt()",
        "ε should be added to the root of v̂, not of v": (
            "m_hat / (v_hat.sqrt() + 1e-9) → m_hat * (1 - 0.98**step) "
            "** 0.5 / (v.sqrt() + 1e-9)"
        ),
        "the latest gradient is used instead of m̂": "rate * m_hat → rate * g",
        "β₁ and β₂ are swapped": [
            f"{M}, {V} → 0.98 * m + 0.02 * g, 0.9 * v + 0.1 * g**2",
            (
                f"{M}, {V} → 0.98 * m + 0.02 * g, 0.9 * v + 0.1 * g**2",
                f"{M_HAT}, {V_HAT} → m / (1 - 0.98**step), v / (1 - 0.9**step)",
            ),
        ],
        "m̂ is corrected with β₁ = 0.9, v̂ with β₂ = 0.98": [
            f"{V_HAT} → v / (1 - 0.9**step)",
            f"{M_HAT} → m / (1 - 0.98**step)",
            ("1 - 0.98** → 1 - 0.900**", "1 - 0.9** → 1 - 0.98**"),
        ],
        "β keeps the old mean, 1 − β takes in the new gradient: yours are exchanged": (
            f"{M}, {V} → 0.1 * m + 0.9 * g, 0.02 * v + 0.98 * g**2"
        ),
        "a running mean: the new gradient is multiplied by 1 − β": [
            f"{M}, {V} → 0.9 * m + g, 0.98 * v + g**2",
            "0.1 * g → g",
            "0.02 * g → g",
        ],
        "divide by √v̂: this is momentum without it": [
            f" / {ROOT} →",
            f"m_hat / {ROOT} → m",
        ],
        "v is a mean of squares: g**2": "g**2 → g",
        "v is a mean of the gradients' squares, not of m's": "g**2 → m**2",
        "a weight moves against its gradient: subtract": "theta - → theta +",
        "plain gradient descent, without m and v": f"m_hat / {ROOT} → g",
        "ε is missing in the denominator: a weight without a gradient gets 0 / 0": (
            " + 1e-9 →"
        ),
        "β₂ is 0.98 here, not 0.999": ("0.98 → 0.999", "0.02 → 0.001"),
        "ε is 1e-9 here, not 1e-8": "1e-9 → 1e-8",
        "the correction uses the same step each time: β to the power of step": (
            "**step →"
        ),
        "β to the power of the step: **, not *": "**step → *step",
        "the first update has step = 1, and β is taken to the power of step": [
            "**step → **(step + 1)",
            "**step → **(step - 1)",
        ],
        "the rate is missing": "rate *  →",
        "the step alone; the new weights are asked for": "theta - → -",
        "return three: the new theta, m and v": "theta, m, v\n → theta\n",
        "return m and v themselves: their hats are for this update only": (
            "theta, m, v\n → theta, m_hat, v_hat\n"
        ),
        "the order is theta, m, v": "theta, m, v\n → theta, v, m\n",
        "the new m and v are returned, not those that came in": (
            f"m, v = {M}, {V} → new_m, new_v = {M}, {V}",
            f"m_hat, v_hat = {M_HAT}, {V_HAT} → "
            "m_hat, v_hat = new_m / (1 - 0.9**step), new_v / (1 - 0.98**step)",
        ),
    },
    hints=(
        "The formulas above, from top to bottom: first the new m and v, then their "
        "hats, which are used for theta only.",
        "`m = 0.9 * m + 0.1 * g`; m, v, g and theta all have one shape.",
    ),
    says="PyTorch's Adam gives the same, update after update",
    difficulty=2,
    importance=1,
    minutes=8,
    part="adam",
    call=_updates,
)
def my_adam(theta, g, m, v, step, rate):
    m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g**2
    m_hat, v_hat = m / (1 - 0.9**step), v / (1 - 0.98**step)
    theta = theta - rate * m_hat / (v_hat.sqrt() + 1e-9)
    return theta, m, v
