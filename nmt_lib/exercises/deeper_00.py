"""The exercises of the deeper page on recurrent translators."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

import nmt_lib as nmt
from nmt_lib.recurrent import OneVector
from nmt_lib.recurrent_trials import fit, gradient_by_word, seconds_of_step

from .exercise import exercise


def _numbers(seed, *shapes):
    draw = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=draw) for shape in shapes]


def _cell(width, hidden, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.GRUCell(width, hidden).requires_grad_(False)


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


def _from_zeros(cell, x, real):
    return cell(_at(x, real.sum(1) - 1))


def _backwards(cell, x, real):
    return read.right(cell, x.flip(1), real.flip(1))


(WORDS,) = _numbers(0, (3, 5, 4))
(LONGER,) = _numbers(1, (2, 7, 3))
(SAME,) = _numbers(2, (2, 4, 4))


@exercise(
    "Read each sentence word by word; give the state after its last real word.",
    cases={
        "lengths 5, 3 and 2": (_cell(4, 6, 0), WORDS, _real([5, 3, 2], 5)),
        "seven columns, of which the last two are padding": (
            _cell(3, 5, 1),
            LONGER,
            _real([4, 5], 7),
        ),
        "no padding": (_cell(4, 6, 2), SAME, _real([4, 4], 4)),
    },
    mistakes={
        "padding was read as well: where there is no word, keep the old state": [
            ("torch.where(real[:, t, None], new, h)", "new"),
            lambda cell, x, real: _states(cell, x)[:, -1],
        ],
        "the state was not handed on: every word was read from zeros": [
            _from_zeros,
            ("cell(x[:, t], h)", "cell(x[:, t])"),
        ],
        "the sentence was read from right to left": [
            _backwards,
            ("range(x.size(1))", "reversed(range(x.size(1)))"),
        ],
        "True is a word: here only padding was read": [
            ("real[:, t, None]", "~real[:, t, None]"),
            ("new, h)", "h, new)"),
        ],
        "the last state is asked for, not the mean of all": _mean,
        "on padding the state was set to 0: keep it": [
            ("torch.where(real[:, t, None], new, h)", "new * real[:, t, None]"),
            ("new, h)", "new, torch.zeros_like(h))"),
        ],
        "this is the state one word too late: the last word is at n − 1": (
            lambda cell, x, real: _at(_states(cell, x), real.sum(1))
        ),
        "every sentence was read as far as the shortest: each has its own end": (
            lambda cell, x, real: _states(cell, x)[:, int(real.sum(1).min()) - 1]
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


def _softmax(scores, real):
    return scores.masked_fill(~real, -torch.inf).softmax(-1)


def _case(seed, B, S, H, A, lengths):
    s, memory, W, U, v = _numbers(seed, (B, H), (B, S, H), (A, H), (A, H), (A,))
    return s, memory, W, U, v, _real(lengths, S)


@exercise(
    "Bahdanau's attention: the context and the weights for one state.",
    cases={
        "three sentences, H = 6, A = 5": _case(3, 3, 5, 6, 5, [5, 3, 2]),
        "two sentences, H = A = 4": _case(4, 2, 7, 4, 4, [4, 6]),
        "no padding, H = A = 3": _case(5, 2, 4, 3, 3, [4, 4]),
    },
    mistakes={
        "the tanh is missing: without it the question drops out of the softmax": (
            "torch.tanh((s @ W.T)[:, None] + memory @ U.T)",
            "((s @ W.T)[:, None] + memory @ U.T)",
        ),
        "tanh is of the sum: here it is of each part, then they are added": _weighted(
            lambda q, k, v, real: _softmax((q.tanh() + k.tanh()) @ v, real)
        ),
        "one state asks one sentence: this softmax runs over the batch": (
            "-torch.inf).softmax(-1)",
            "-1e9).softmax(0)",
        ),
        "padding was hidden after the softmax: the weights no longer sum to 1": (
            "scores.masked_fill(~real, -torch.inf).softmax(-1)",
            "scores.softmax(-1) * real",
        ),
        "padding was hidden with 0, and exp(0) is 1: use -inf": ("-torch.inf", "0.0"),
        "True is a word: this hides the words": [
            ("~real, -torch.inf", "real, -1e9"),
            ("~real, -torch.inf", "real, -torch.inf"),
        ],
        "W is for the state that asks, U for the memory": (
            "s @ W.T",
            "s @ U.T",
            "memory @ U.T",
            "memory @ W.T",
        ),
        "that is a dot product: here the two are added, inside the tanh": [
            _weighted(lambda q, k, v, real: _softmax((q * k).sum(-1), real)),
            _weighted(lambda q, k, v, real: _softmax((q * k).tanh() @ v, real)),
        ],
        "every word has the same weight: the scores were not used": _weighted(
            lambda q, k, v, real: real / real.sum(1, keepdim=True)
        ),
        "padding was not hidden": (".masked_fill(~real, -torch.inf)", ""),
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


# What the page measures.


def recurrent(make: Any, config: nmt.Config, max_steps: int) -> nmt.Translator:
    """A recurrent translator, trained on the corpus of the config."""
    options = {"train.lr": 0.012, "train.clip_norm": 1.0, "train.max_steps": max_steps}
    config = nmt.load_config(config, **options)
    pairs = nmt.load_corpus(config.data).train
    tokenizers = nmt.build_tokenizers(config.data, pairs)
    examples = nmt.encode_pairs(pairs, tokenizers, config)
    threads = torch.get_num_threads()
    torch.set_num_threads(config.train.threads or threads)
    model = fit(lambda: make(*map(len, tokenizers)), config, examples)
    torch.set_num_threads(threads)
    return nmt.Translator(model, *tokenizers, config)


def right_by_length(
    translator: nmt.Translator,
    said: Sequence[nmt.Translation],
    pairs: Sequence[nmt.Pair],
) -> dict[str, float]:
    """In percent of the sentences of each length, the full stop counted."""
    groups: dict[str, list[bool]] = {"up to 7": [], "8 to 10": [], "11 to 14": []}
    for one, pair in zip(said, pairs):
        n = len(translator.src_tokenizer.tokenize(pair.src))
        name = "up to 7" if n <= 7 else "8 to 10" if n <= 10 else "11 to 14"
        groups[name].append(one.text == pair.tgt)
    return {
        f"{name} words": 100 * sum(right) / max(1, len(right))
        for name, right in groups.items()
    }


def gap_to_library(read: Any, translator: nmt.Translator, texts: list[str]) -> float:
    """Between the last states that ``read`` and ``nn.GRU`` give, trained."""
    model: Any = translator.model
    cell = nn.GRUCell(model.encoder.input_size, model.encoder.hidden_size)
    with torch.no_grad():
        for name, weight in model.encoder.named_parameters():
            getattr(cell, name.removesuffix("_l0")).copy_(weight)
        src = nmt.pad_batch([translator.encode(text) for text in texts])  # (B, S)
        state = read(cell, model.src_embedding(src), src != nmt.PAD)  # (B, H)
        return float((state - model.encode(src)[:, 0]).abs().max())


def gradients(
    translators: dict[str, nmt.Translator], pairs: Sequence[nmt.Pair]
) -> dict[str, dict[str, Tensor]]:
    """The gradient by source word, the largest 1: new and trained models.

    New ones read 64 random words, trained ones the pairs of 13 words on each side; the
    loss is that of the last word, which comes before the full stop.
    """
    found: dict[str, dict[str, Tensor]] = {}
    for name, translator in translators.items():
        trained: Any = translator.model
        sizes = len(translator.src_tokenizer), len(translator.tgt_tokenizer)
        torch.manual_seed(0)
        if isinstance(trained, OneVector):
            new: Any = type(trained)(*sizes)
        else:
            new = nmt.build_model(translator.config.model, *sizes)
        ids = torch.randint(4, min(sizes), (8, 72))  # (8, 72)
        random = gradient_by_word(new, ids[:, :64], ids[:, 64:])  # (64,)
        tokenizers = translator.src_tokenizer, translator.tgt_tokenizer
        examples = nmt.encode_pairs(pairs, tokenizers, translator.config)
        chosen = [(s, t[:-2]) for s, t in examples if len(s) == len(t) == 15]
        src, tgt = (torch.tensor(side) for side in zip(*chosen))
        real = gradient_by_word(trained, src, tgt)  # (15,)
        for title, norms in (
            ("random weights, 64 words", random),
            ("trained, 13 words", real),
        ):
            found.setdefault(title, {})[name] = norms / norms.max()
    return found


def plug_in(translator: nmt.Translator, attend: Any) -> None:
    """Puts a reader's ``additive`` in the place of the model's attention."""
    model: Any = translator.model
    W, U, v = model.W.weight, model.U.weight, model.v.weight[0]
    model.attend = lambda s, memory, keys, real: attend(s, memory, W, U, v, real)


def times_by_length(lengths: Sequence[int], width: int) -> dict[str, list[float]]:
    """CPU seconds of a training step of a GRU and of self-attention, one sentence."""
    layers = {
        "GRU": nn.GRU(width, width, batch_first=True),
        "self-attention": nmt.MultiHeadAttention(width, n_heads=8),
    }
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    words = [torch.randn(1, n, width) for n in lengths]
    times = {
        name: [seconds_of_step(layer, x) for x in words]
        for name, layer in layers.items()
    }
    torch.set_num_threads(threads)
    return times
