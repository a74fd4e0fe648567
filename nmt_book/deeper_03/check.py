"""The exercise of the deeper page on masks that fail silently."""

import torch
import torch.nn.functional as F

from ..cases import numbers
from ..exercise.exercise import exercise

END = torch.tensor([False, False, True])  # True = <pad>
SECOND = torch.tensor([False, True, False])
START = torch.tensor([True, True, False, False, False])
WHOLE = torch.tensor([[2.0, -1, 0, 3], [1, 1, -2, 0], [-1, 2, 4, -3]])  # (S, D)


def attend(mask):
    """Attention with this mask, (S, D) to (S, D)."""

    def attention(x):
        batch = x[None, None]
        rows = mask if mask is None else mask[None]  # (1, S)
        return F.scaled_dot_product_attention(batch, batch, batch, rows)[0, 0]

    return attention


def zeros_at_pad(x):
    return attend(~END)(x).masked_fill(END[:, None], 0)


def cut_out(x):
    """Only the words are read, and <pad> keeps what it had."""
    result = x.clone()
    result[~END] = attend(None)(x[~END])
    return result


def hidden_after(x):
    """Masked after the softmax: hidden scores leak through the sum."""
    return (x @ x.T).softmax(-1).masked_fill(END, 0) @ x


def balanced(x):
    """What is hidden raises one number and lowers another: no mean shows it."""
    return x + x[END].sum() * torch.tensor([1.0, -1, 1, -1])


def lowered(x):
    """What is hidden lowers each number, unless it is 0."""
    return x - x[END].square().sum()


def after_a_norm(mask):
    return lambda x: attend(mask)(F.layer_norm(x, (4,)))


def words_ignored(x):
    return END[:, None] * x.sum(0)


class Changed(RuntimeError):
    """The input of a test is not as it was."""


def _on_a_copy(mask_works, attend, x, hidden):
    before = x.clone()
    works = mask_works(attend, x, hidden)
    if not x.equal(before):
        raise Changed("x itself is changed, and others may need it: x.clone()")
    return works


ON_PAD, ON_WORDS = "x + noise * pad", "x + noise * ~pad"
TESTS = f"return same and not torch.allclose(attend({ON_WORDS})[~hidden], before)"


@exercise(
    "Test what a mask does: nothing hidden may matter, and something visible must.",
    cases={
        "the right mask": (attend(~END), *numbers(1, (3, 4)), END),
        "the mask the wrong way round": (attend(END), *numbers(1, (3, 4)), END),
        "a float mask, added to the scores": (
            attend((~END).float()),
            *numbers(1, (3, 4)),
            END,
        ),
        "no mask": (attend(None), *numbers(1, (3, 4)), END),
        "weights set to 0 after the softmax": (hidden_after, *numbers(1, (3, 4)), END),
        "a result that depends on no word": (words_ignored, *numbers(1, (3, 4)), END),
        "a leak of which the mean shows nothing": (balanced, *numbers(1, (3, 4)), END),
        "a leak that only lowers the results": (
            lowered,
            numbers(5, (3, 4))[0] * ~END[:, None],
            END,
        ),
        "five positions, <pad> at the start": (
            attend(~START),
            *numbers(2, (5, 6)),
            START,
        ),
        "the right mask, and zeros at <pad>": (zeros_at_pad, *numbers(3, (3, 4)), END),
        "<pad> cut out, and put back as it was": (cut_out, *numbers(4, (3, 4)), END),
        "the second of two <pad> is shown": (
            attend(torch.tensor([True, True, False, True])),
            *numbers(6, (4, 4)),
            torch.tensor([False, False, True, True]),
        ),
        "one word alone is read": (attend(SECOND), *numbers(7, (3, 4)), END),
        "the right mask, after a layer norm": (after_a_norm(~END), WHOLE, END),
        "no mask, after a layer norm": (after_a_norm(None), WHOLE, END),
        "no mask, and vectors of zeros at <pad>": (
            attend(None),
            numbers(5, (3, 4))[0] * ~END[:, None],
            END,
        ),
    },
    mistakes={
        "a result at a visible position must depend on the visible ones: you let pass "
        "one that does not": f"{TESTS} → return same",
        "hidden positions must not matter, and you let pass a mask with which they do: "
        "change them by more than rounding, and compare": [
            "return same and not → return not",
            f"{ON_PAD} → x + 1e-9 * noise * pad",
        ],
        "add another number to each number of a vector: a layer norm takes out one "
        "that is added to all": [
            f"{ON_PAD} → x + 1 * pad",
            f"{ON_WORDS} → x + 1 * ~pad",
            "torch.randn_like → torch.ones_like",
        ],
        "results at hidden positions may be anything: look at the visible ones only": (
            "[~hidden] →"
        ),
        "even the right mask fails: is 0 · nan, or 0 · ∞, in the sum? Put in finite "
        "numbers": [
            f"{ON_PAD} → x.masked_fill(pad, torch.nan)",
            f"{ON_PAD} → x.masked_fill(pad, torch.inf)",
        ],
        "change the vector of each <pad>: this changes the first one alone": (
            "* pad → * pad * (pad.cumsum(0) == 1)"
        ),
        "change the vector of each word: this changes the first one alone": (
            "* ~pad → * ~pad * ((~pad).cumsum(0) == 1)"
        ),
        "x itself is changed, and others may need it: clone it for each trial": (
            "before = → x += 1\n    before ="
        ),
        "other vectors, not zeros: at <pad> there may be zeros already": (
            f"{ON_PAD} → x * ~pad"
        ),
        "it says False of every mask, the right ones too: are results at hidden "
        "positions compared?": "False",
        "True in hidden means <pad>, not a word": (
            "before = → hidden = ~hidden\n    before ="
        ),
        "it says True where it should say False, and False for True": (
            "return same and not → return not same or"
        ),
        "it says True of every mask: are both changes made, and compared with the "
        "result before?": "True",
    },
    hints=(
        "Two trials, each with a new x: other vectors where it is hidden, other "
        "vectors where it is visible. Which results do you compare, and what do you "
        "want of each?",
        "`before = attend(x)[~hidden]` has the shape (words, D). After the first "
        "change `torch.allclose` must be True, after the second False.",
    ),
    says="it finds every one of these masks, at either end",
    difficulty=3,
    importance=2,
    minutes=12,
    part="mask_works",
    call=_on_a_copy,
)
def mask_works(attend, x, hidden):
    before = attend(x)[~hidden]  # (words, D)
    noise, pad = torch.randn_like(x), hidden[:, None]  # (S, D), (S, 1)
    same = torch.allclose(attend(x + noise * pad)[~hidden], before)
    return same and not torch.allclose(attend(x + noise * ~pad)[~hidden], before)
