"""The exercises of the deeper page on recurrent translators."""

import torch
from torch import nn

from ..cases import drawn, numbers
from ..exercise.exercise import exercise


def _real(lengths, S):
    return torch.arange(S) < torch.tensor(lengths)[:, None]  # (B, S)


def _states(cell, x):
    """The state after each word, padding read as well. (B, S, H)"""
    h, states = x.new_zeros(len(x), cell.hidden_size), []
    for word in x.unbind(1):
        h = cell(word, h)
        states.append(h)
    return torch.stack(states, 1)


def _at(states, places):
    last = states.size(1) - 1
    return states[torch.arange(len(states)), places.clamp(0, last)]


def _mean(cell, x, real):
    states = _states(cell, x) * real[..., None]
    return states.sum(1) / real.sum(1, keepdim=True)


def _each_state(cell, x, real):
    parts = [read.right(cell, x[:, :n], real) for n in range(1, x.size(1) + 1)]
    return torch.stack(parts, 1)


(WORDS,) = numbers(0, (3, 5, 4))
(LONGER,) = numbers(1, (2, 7, 3))
(SAME,) = numbers(2, (2, 4, 4))


@exercise(
    "Read each sentence word by word; give the state after its last real word.",
    cases={
        "two words and a padded one": (
            drawn(nn.GRUCell, 2, 1, seed=3),
            torch.tensor([[[1.0, 2], [3, 4], [5, 6]]]),
            _real([2], 3),
        ),
        "lengths 5, 3 and 2": (drawn(nn.GRUCell, 4, 6), WORDS, _real([5, 3, 2], 5)),
        "seven columns, of which the last two are padding": (
            drawn(nn.GRUCell, 3, 5, seed=1),
            LONGER,
            _real([4, 5], 7),
        ),
        "no padding": (drawn(nn.GRUCell, 4, 6, seed=2), SAME, _real([4, 4], 4)),
    },
    mistakes={
        "padding was read as well: where there is no word, keep the old state": (
            "torch.where(real[:, t, None], new, h) → new"
        ),
        "the state was not handed on: every word was read from zeros": (
            "cell(x[:, t], h) → cell(x[:, t])"
        ),
        "the sentence was read from right to left": (
            "range(x.size(1)) → reversed(range(x.size(1)))"
        ),
        "True is a word: here only padding was read": "new, h) → h, new)",
        "the last state is asked for, not the mean of all": _mean,
        "the last state alone is asked for, (B, H), not all of them": [
            "_states(cell, x)",
            _each_state,
        ],
        "the words are axis 1, and axis 0 are the sentences: x[:, t]": (
            "_states(cell, x.transpose(0, 1))[:, -1]"
        ),
        "a word of zeros changes the state as well: keep the old one": (
            "_states(cell, x * real[..., None])[:, -1]"
        ),
        "each sentence has its own end: ask of each row whether there is a word": (
            "new, h) → new, h) if not real[:, t].any() else new"
        ),
        "this is the state before the last word: the last one is at n − 1": (
            "_at(_states(cell, x), real.sum(1) - 2)"
        ),
        "on padding the state was set to 0: keep it": (
            "new, h) → new, torch.zeros_like(h))"
        ),
        "this is the state one word too late: the last word is at n − 1": (
            "_at(_states(cell, x), real.sum(1))"
        ),
        "every sentence was read as far as the shortest: each has its own end": (
            "_states(cell, x)[:, int(real.sum(1).min()) - 1]"
        ),
    },
    hints=(
        "At every t compute the new state for the whole batch. Which sentences may "
        "take it, and what do the others keep?",
        "`torch.where(condition, a, b)`; the condition needs the shape (B, 1): "
        "`real[:, t, None]`.",
    ),
    says="nn.GRU, with the padding packed away, ends in the same states",
    difficulty=2,
    importance=3,
    minutes=8,
)
def read(cell, x, real):
    h = x.new_zeros(len(x), cell.hidden_size)  # (B, H)
    for t in range(x.size(1)):
        new = cell(x[:, t], h)  # (B, H)
        h = torch.where(real[:, t, None], new, h)
    return h


def _weighted(weigh):
    """The context and the weights, of scores or weights made in another way."""

    def additive(s, memory, W, U, v, real):
        q, k = (s @ W.T)[:, None], memory @ U.T  # (B, 1, A), (B, S, A)
        weights = weigh(q, k, v, real)  # (B, S)
        return (weights[:, None] @ memory)[:, 0], weights

    return additive


def _context_of_keys(s, memory, W, U, v, real):
    weights = additive.right(s, memory, W, U, v, real)[1]
    return (weights[:, None] @ (memory @ U.T))[:, 0], weights


BOTH = "return (weights[:, None] @ memory)[:, 0], weights"


def _softmax(scores, real):
    return scores.masked_fill(~real, -torch.inf).softmax(-1)


def _case(seed, B, S, H, A, lengths):
    s, memory, W, U, v = numbers(seed, (B, H), (B, S, H), (A, H), (A, H), (A,))
    return s, memory, W, U, v, _real(lengths, S)


@exercise(
    "Bahdanau's attention: the context and the weights for one state.",
    cases={
        "two words and a padded one, H = A = 1": (
            torch.tensor([[1.0]]),
            torch.tensor([[[1.0], [2.0], [4.0]]]),
            torch.tensor([[0.5]]),
            torch.tensor([[-0.25]]),
            torch.tensor([3.0]),
            _real([2], 3),
        ),
        "three sentences, H = 6, A = 5": _case(3, 3, 5, 6, 5, [5, 3, 2]),
        "two sentences, H = A = 4": _case(4, 2, 7, 4, 4, [4, 6]),
        "no padding, H = A = 3": _case(5, 2, 4, 3, 3, [4, 4]),
    },
    mistakes={
        "the tanh is missing: without it the question drops out of the softmax": (
            "torch.tanh((s @ W.T)[:, None] + memory @ U.T) → ((s @ "
            "W.T)[:, None] + memory @ U.T)"
        ),
        "tanh is of the sum: here it is of each part, then they are added": _weighted(
            lambda q, k, v, real: _softmax((q.tanh() + k.tanh()) @ v, real)
        ),
        "one state asks one sentence: this softmax runs over the batch": [
            "-torch.inf).softmax(-1) → -1e9).softmax(0)",
            ".softmax(-1) → .softmax(0)",
        ],
        "return both, the context and the weights": [
            f"{BOTH} → return (weights[:, None] @ memory)[:, 0]",
            f"{BOTH} → return weights",
        ],
        "the context comes first, then the weights": (
            f"{BOTH} → return weights, (weights[:, None] @ memory)[:, 0]"
        ),
        "the context is (B, H): the axis of the one question must go": (
            "[:, 0], w → , w"
        ),
        "a weighted sum: the weights divide already": (
            f"{BOTH} → return (weights[..., None] * memory).mean(1), weights"
        ),
        "the memory itself is weighted, not U h": _context_of_keys,
        "tanh comes before v: it is of each number of the sum": (
            "torch.tanh((s @ W.T)[:, None] + memory @ U.T) @ v → "
            "torch.tanh(((s @ W.T)[:, None] + memory @ U.T) @ v)"
        ),
        "here the scores are not scaled": "@ v  → @ v / len(v) ** 0.5 ",
        "tanh, not a sigmoid": "torch.tanh → torch.sigmoid",
        "padding was hidden after the softmax: the weights no longer sum to 1": (
            "scores.masked_fill(~real, -torch.inf).softmax(-1) → "
            "scores.softmax(-1) * real"
        ),
        "padding was hidden with 0, and exp(0) is 1: use -inf": "-torch.inf → 0.0",
        "True is a word: this hides the words": [
            "~real, -torch.inf → real, -1e9",
            "~real, -torch.inf → real, -torch.inf",
        ],
        "W is for the state that asks, U for the memory": (
            "s @ W.T → s @ U.T",
            "memory @ U.T → memory @ W.T",
        ),
        "that is a dot product: here the two are added, inside the tanh": [
            _weighted(lambda q, k, v, real: _softmax((q * k).sum(-1), real)),
            _weighted(lambda q, k, v, real: _softmax((q * k).tanh() @ v, real)),
        ],
        "every word has the same weight: the scores were not used": _weighted(
            lambda q, k, v, real: real / real.sum(1, keepdim=True)
        ),
        "padding was not hidden": ".masked_fill(~real, -torch.inf) →",
    },
    hints=(
        "`s @ W.T` is (B, A) and `memory @ U.T` is (B, S, A). Which axis must the "
        "first one get, so that it can be added at every word?",
        "`torch.tanh((s @ W.T)[:, None] + memory @ U.T) @ v` has the shape (B, S).",
    ),
    says="the context and the weights of Bahdanau's model",
    difficulty=2,
    importance=3,
    minutes=8,
)
def additive(s, memory, W, U, v, real):
    scores = torch.tanh((s @ W.T)[:, None] + memory @ U.T) @ v  # (B, S)
    weights = scores.masked_fill(~real, -torch.inf).softmax(-1)  # (B, S)
    return (weights[:, None] @ memory)[:, 0], weights  # (B, H), (B, S)
