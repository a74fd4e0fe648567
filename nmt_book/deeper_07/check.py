"""The exercises of the deeper page on what went wrong."""

import torch
import torch.nn.functional as F

import nmt_lib as nmt

from ..exercise.exercise import exercise


def lookup(seed, S=0):
    """A model of one table: logits by the token, the position, and the source if S."""
    draw = torch.Generator().manual_seed(seed)
    table, source = torch.randn(2, 9, 9, generator=draw)

    def model(src, tgt_in):
        steps = torch.arange(tgt_in.size(1))[:, None]  # (T, 1)
        read = S * source[src].cumsum(1).mean(1)[:, None]  # (B, 1, V)
        return 4 * table[tgt_in] + (read + torch.arange(9) / 9) * steps  # (B, T, V)

    return model


BATCH = nmt.make_batch(
    [
        ([2, 5, 6, 3], [2, 4, 5, 6, 7, 3]),
        ([2, 7, 3], [2, 8, 4, 3]),
        ([2, 8, 8, 3], [2, 6, 3]),
    ]
)
TWO = nmt.Batch(*(tensor[1:] for tensor in BATCH))


def next_word(ids):
    """A model that says these ids, (B, T)."""
    return lambda src, tgt_in: F.one_hot(ids[: len(src)], 9).float()


def on_pairs(numbers):
    return tuple(map(float, numbers)) if isinstance(numbers, tuple | list) else numbers


@exercise(
    "By how much does the loss grow when each sentence gets another one's source?",
    cases={
        "a model that reads its source": (lookup(3, S=1), TWO),
        "a model that the right source misleads": (lookup(1, S=1), TWO),
        "a model that reads no source, three sentences": (lookup(2), BATCH),
    },
    mistakes={
        "the loss with the right source is missing: by how much does it grow?": (
            " - losses[1] →"
        ),
        "the sign: it should be positive if the source is read": (
            "losses[0] - losses[1] → losses[1] - losses[0]"
        ),
        "dim 1 has the words of one sentence; exchange sentences, dim 0": (
            "roll(1, 0) → roll(1, 1)"
        ),
        "without dims, roll moves words from sentence to sentence: give it dim 0": (
            "roll(1, 0) → roll(1)"
        ),
        "always 0: both losses are of the same pairs. Did the targets move as well? "
        "Did batch.src itself change? Did a random order change nothing?": "0.0",
        "a source can do harm, too: no abs": "return float( → return abs(",
        "padding is counted: ignore_index=nmt.PAD": (
            "nmt.cross_entropy(model(src, batch.tgt_in), → F.cross_entropy("
            "model(src, batch.tgt_in).mT,"
        ),
        "a difference, not a ratio": "] - → ] /",
        "tgt_in is what the model reads; the loss is about tgt_out": (
            "), batch.tgt_out → ), batch.tgt_in"
        ),
    },
    hints=(
        "Two losses of the same targets. Only `src` differs, and `roll` moves rows.",
        "`batch.src.roll(1, 0)` gives sentence i the source of sentence i − 1.",
    ),
    says="a model that reads no source gets 0",
    difficulty=1,
    importance=3,
    minutes=6,
    fixed=(1,),
)
def reads_source(model, batch):
    exchanged = batch.src.roll(1, 0)  # (B, S)
    losses = [
        nmt.cross_entropy(model(src, batch.tgt_in), batch.tgt_out)
        for src in (exchanged, batch.src)
    ]
    return float(losses[0] - losses[1])


@exercise(
    "What a model says: how often the next word, and how often the word it has read.",
    cases={
        "it says the next word": (next_word(BATCH.tgt_out), BATCH),
        "it says its own input": (next_word(BATCH.tgt_in), BATCH),
        "it says something": (lookup(4), BATCH),
        "it says something, two sentences": (lookup(5, S=1), TWO),
    },
    mistakes={
        "padding is counted: look at real positions only": (
            "real = batch.tgt_out != nmt.PAD → real = batch.tgt_out >= 0"
        ),
        "first the next word, tgt_out, then what it has read, tgt_in": (
            "(batch.tgt_out, batch.tgt_in) → (batch.tgt_in, batch.tgt_out)"
        ),
        "the vocabulary is the last axis: argmax(-1)": "argmax(-1) → argmax(1)",
        "two fractions, not two counts": (
            ".float().mean()) for → .float().sum()) for",
        ),
        "what it says, not what is least likely": "argmax → argmin",
    },
    hints=(
        "The word that a model says has the largest logit. Compare it with each of two "
        "tensors, where `tgt_out` is no padding.",
        "`(likeliest == batch.tgt_in)[real].float().mean()` is the second fraction.",
    ),
    says="next word, own input",
    difficulty=2,
    importance=2,
    minutes=7,
    fixed=(1,),
    call=lambda answer, model, batch: on_pairs(answer(model, batch)),
)
def what_it_says(model, batch):
    likeliest = model(batch.src, batch.tgt_in).argmax(-1)  # (B, T)
    real = batch.tgt_out != nmt.PAD  # (B, T)
    pair = (batch.tgt_out, batch.tgt_in)
    return tuple(float((likeliest == ids)[real].float().mean()) for ids in pair)
