"""The exercises of chapter 03, masks."""

import torch

import nmt_lib as nmt

from .chapter01 import INSIDE
from .exercise import exercise

SELF = "a query may look at itself, too: its answer is one position further"
LEAK = "one diagonal too many: a query sees the word that it must say"
TURNED = "True means: may be attended to. Yours is True where the key is hidden"
FUTURE = "rows are queries: yours see the future instead of the past"


@exercise(
    "The causal mask, without loops, for any length.",
    cases={"T = 3": (3,), "T = 5": (5,), "T = 1": (1,)},
    mistakes={
        SELF: ".tril() → .tril(-1)",
        LEAK: ".tril() → .tril(1)",
        "two diagonals too many: count them from the diagonal itself": (
            ".tril() → .tril(2)"
        ),
        TURNED: ".tril() → .triu(1)",
        FUTURE: ".tril() → .triu()",
        "every query sees every key": ".tril() →",
        "each query sees nothing but itself": ".tril() → .tril().triu()",
        "nothing may be looked at": ".tril() → .logical_not()",
        "a mask holds booleans: dtype=torch.bool, or compare": [
            ", dtype=torch.bool →",
            ", dtype=torch.bool → , dtype=torch.int",
        ],
        "(T, T) is asked for; the library's two axes in front come in section 6": (
            ".tril() → .tril()[None, None]"
        ),
        "where it is 0, a score would stay; this is what is added to scores": (
            "torch.full((T, T), -torch.inf).triu(1)"
        ),
    },
    hints=(
        "Query t may look at the keys 0 … t. Which triangle of the square is that, "
        "with or without the diagonal?",
        "Begin with `torch.ones(T, T, dtype=torch.bool)`, and keep one triangle of it.",
    ),
    says="each query sees itself and its past, as in the library's mask",
    difficulty=1,
    importance=3,
    minutes=3,
    part="causal_mask",
)
def my_causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


def _rule(real, past=lambda n: nmt.causal_mask(n), join=torch.logical_and):
    """A target mask made of another padding mask, past or operator."""

    def my_target_mask(tgt_in):
        return join(real(tgt_in), past(tgt_in.size(1)))

    return my_target_mask


def _keys(ids, pad=lambda ids: ids == 0):
    return ~pad(ids)[:, None, None, :]  # (B, 1, 1, T)


def _ones(n):
    return torch.ones(1, 1, n, n, dtype=torch.bool)


@exercise(
    "The decoder's mask for a batch of ids: no padding and no future.",
    cases={
        "padding on the right": (torch.tensor([[2, 8, 0, 0], [2, 1, 7, 0]]),),
        "no padding": (torch.tensor([[2, 5, 6], [2, 9, 3], [2, 4, 1]]),),
        "padding on the left, and an <eos> that is read": (
            torch.tensor([[0, 0, 2, 5, 6, 3], [2, 1, 3, 0, 0, 0]]),
        ),
    },
    mistakes={
        "with | one permission is enough; a key needs both": [
            _rule(_keys, join=torch.logical_or),
            _rule(_keys, join=lambda a, b: torch.maximum(a, b)),
        ],
        "padding is not hidden": (
            "nmt.causal_mask(tgt_in.size(1)).expand(len(tgt_in), -1, -1, -1)"
        ),
        "padding is not hidden, and one mask is not enough for all sentences": (
            "nmt.causal_mask(tgt_in.size(1))"
        ),
        "the future is not hidden (& binds tighter than !=: put the comparison in "
        "brackets)": [
            "_keys(tgt_in).expand(-1, -1, tgt_in.size(1), -1)",
            ("tgt_in[:, None, None, :] != 0 & nmt.causal_mask(tgt_in.size(1))"),
        ],
        "the future is not hidden: this is the padding mask alone": _keys,
        "only id 0 is padding: <eos> stays": _rule(
            lambda ids: _keys(ids, lambda ids: (ids == 0) | (ids == 3))
        ),
        "only id 0 is padding: <unk> stays": _rule(
            lambda ids: _keys(ids, lambda ids: ids <= 1)
        ),
        "only id 0 is padding: <sos>, <unk> and <eos> stay": _rule(
            lambda ids: _keys(ids, lambda ids: ids <= 3)
        ),
        SELF: _rule(_keys, lambda n: _ones(n).tril(-1)),
        LEAK: _rule(_keys, lambda n: _ones(n).tril(1)),
        "padding must be hidden as a key (column), yours is hidden as a query (row)": (
            _rule(lambda ids: _keys(ids).mT)
        ),
        "padding is hidden as a key only; the rows of padded queries stay": _rule(
            lambda ids: _keys(ids) & _keys(ids).mT
        ),
        "True means: may be attended to. Yours is turned around": (
            "~(_keys(tgt_in) & nmt.causal_mask(tgt_in.size(1)))"
        ),
        "padding is what you let through: id 0 is <pad>": _rule(
            lambda ids: ~_keys(ids)
        ),
        "the future is what you let through": [
            _rule(_keys, lambda n: _ones(n).triu()),
            _rule(_keys, lambda n: _ones(n).triu(1)),
        ],
        "(B, 1, T, T): an axis for the heads is missing": (
            "(_keys(tgt_in) & nmt.causal_mask(tgt_in.size(1)))[:, 0]"
        ),
        "padding may be on the left, too: compare ids, don't count from the left": (
            "(torch.arange(tgt_in.size(1)) < (tgt_in != 0).sum(1, "
            "keepdim=True))[:, None, None] & "
            "nmt.causal_mask(tgt_in.size(1))"
        ),
        "a mask holds booleans: this one has numbers": (
            "(_keys(tgt_in) & nmt.causal_mask(tgt_in.size(1))).float()"
        ),
        "T is the length of the sentences, tgt_in.size(1), not their number": _rule(
            _keys, lambda n: nmt.causal_mask(2)
        ),
    },
    hints=(
        "Two masks, joined by `&`: which keys are real words, and which are not in the "
        "future? They differ in shape, and broadcasting does the rest.",
        "`(tgt_in != nmt.PAD)[:, None, None, :]` has the shape (B, 1, 1, T): one row "
        "for all queries.",
    ),
    says="no query sees padding or its future, wherever the padding is",
    difficulty=2,
    importance=3,
    minutes=6,
    part="target_mask",
)
def my_target_mask(tgt_in):
    real = (tgt_in != nmt.PAD)[:, None, None, :]  # (B, 1, 1, T)
    return real & nmt.causal_mask(tgt_in.size(1))  # (B, 1, T, T)


def _filled(number):
    return lambda scores, mask: scores.masked_fill(~mask, number).softmax(-1)


def _lowered(number):
    return lambda scores, mask: (scores - number * ~mask).softmax(-1)


def _kept(scores, mask, change=lambda scores: scores):
    kept = change(scores).exp() * mask
    return kept / kept.sum(-1, keepdim=True)


LOW = torch.finfo(torch.float32).min


@exercise(
    "Softmax over the keys that the mask shows.",
    cases={
        "small scores": (
            torch.tensor([[0.0, 2, 1, -3], [1, 0, -1, 2]]),
            torch.tensor([[True, True, False, True], [True, True, True, True]]),
        ),
        "visible scores near −60": (
            torch.tensor([[-60.0, -59, -7], [-62, 5, -60], [-1, -2, -3]]),
            torch.tensor([[1, 1, 0], [1, 0, 1], [0, 1, 1]]).bool(),
        ),
        "scores of ±1,600, as in a trained model": (
            torch.tensor([[1600.0, 1602, 0, 7, 1603], [1, 0, 2, 1600, -1600]]),
            torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0]]).bool(),
        ),
        "visible scores near −1,600": (
            torch.tensor([[-1600.0, -1602, 5, 0]]),
            torch.tensor([[1, 1, 0, 0]]).bool(),
        ),
    },
    mistakes={
        "the mask is not used": "scores.softmax(-1)",
        "a hidden score near 0 still gets the weight e⁰ = 1: write a very low number": [
            _filled(0.0),
            "(scores * mask).softmax(-1)",
        ],
        "the rows no longer sum to 1: the hidden keys are still in the denominator": (
            "scores.softmax(-1) * mask"
        ),
        "the hidden keys are those where the mask is False": [
            "scores.masked_fill(mask, LOW).softmax(-1)",
            "scores.masked_fill(mask, -1e9).softmax(-1)",
            "scores.masked_fill(mask, -torch.inf).softmax(-1)",
        ],
        "divide along the keys, so that each row sums to 1": [
            "scores.masked_fill(~mask, LOW).softmax(0)",
            "scores.masked_fill(~mask, -torch.inf).softmax(0)",
        ],
        "divide by the sum of each row, not by the sum of all": (
            "scores.exp() * mask / (scores.exp() * mask).sum()"
        ),
        "these are exponentials: divide by their sum": "scores.exp() * mask",
        "these are the masked scores: the softmax is missing": [
            "scores.masked_fill(~mask, LOW)",
            "scores.masked_fill(~mask, -torch.inf)",
            "scores.masked_fill(~mask, -1e9)",
            "scores * mask",
        ],
        "these are logarithms of weights: softmax, not log_softmax": (
            "scores.masked_fill(~mask, LOW).log_softmax(-1)"
        ),
        "0 · ∞ is nan: `masked_fill` puts the −∞ only where it belongs": (
            "(scores + ~mask * -torch.inf).softmax(-1)"
        ),
        "exp of a large score is infinite: take softmax, or subtract the largest "
        "*visible* score first": [
            _kept,
            "_kept(scores.double(), mask)",
        ],
        "the largest score may be a hidden one, and then all visible exponentials are "
        "0: hide before you subtract or take the softmax": [
            "_kept(scores, mask, lambda s: s.log_softmax(-1))",
            "_kept(scores, mask, lambda s: s - s.amax(-1, keepdim=True))",
        ],
        "your number is not low enough: a visible score may be lower still": [
            *(_filled(number) for number in (-1.0, -10.0, -20.0, -50.0, -100.0, -1e3)),
            *(_lowered(number) for number in (10, 20, 50, 100, 1e3)),
        ],
    },
    hints=(
        "The softmax does the dividing. What must a hidden score become beforehand, so "
        "that its exponential is 0?",
        "`scores.masked_fill(~mask, lowest)`, with the lowest number of the type, "
        "`torch.finfo(scores.dtype).min`, or with −∞; then `softmax(-1)`.",
    ),
    says="hidden keys get nothing, and each row sums to 1, for scores of any size",
    difficulty=2,
    importance=3,
    minutes=6,
    part="masked_softmax",
)
def masked_softmax(scores, mask):
    lowest = torch.finfo(scores.dtype).min
    return scores.masked_fill(~mask, lowest).softmax(-1)


def _pairs(sentence, fits=torch.eq):
    return fits(sentence[:, None, :, None], sentence[:, None, None, :])  # (B, 1, T, T)


def _packed(fits=torch.eq, past=lambda n: nmt.causal_mask(n)):
    return lambda sentence: _pairs(sentence, fits) & past(sentence.size(1))


@exercise(
    "The decoder's mask for several sentences in one row.",
    cases={
        "two sentences, three sentences": (
            torch.tensor([[0, 0, 0, 1, 1, 1], [0, 1, 1, 2, 2, 2]]),
        ),
        "a single sentence": (torch.zeros(1, 4, dtype=torch.long),),
        "numbers that don't begin at 0": (
            torch.tensor([[7, 7, 8, 8, 9], [1, 2, 4, 4, 4], [5, 5, 5, 5, 5]]),
        ),
    },
    mistakes={
        "a query sees its future": _pairs,
        "the second sentence sees the first": (
            "nmt.causal_mask(sentence.size(1)).expand(len(sentence), -1, -1, -1)"
        ),
        "use `sentence`: the second row is cut elsewhere": (
            "_packed()(sentence)[:1].expand(len(sentence), -1, -1, -1)"
        ),
        "`sentence` holds numbers of sentences, not ids: 0 is no padding": (
            "nmt.target_mask(sentence) & _packed()(sentence)"
        ),
        "compare the numbers of two sentences with ==: 0 is no padding, and a product "
        "says nothing": [
            "nmt.target_mask(sentence)",
            _packed(lambda q, k: (q * k).bool()),
        ],
        SELF: _packed(past=lambda n: _ones(n).tril(-1)),
        LEAK: _packed(past=lambda n: _ones(n).tril(1)),
        "True means: may be attended to. Yours is turned around": (
            "~_packed()(sentence)"
        ),
        "yours sees the future instead of the past": _packed(
            past=lambda n: _ones(n).triu()
        ),
        "a key needs both permissions: the same sentence, and no future": (
            "_pairs(sentence) | nmt.causal_mask(sentence.size(1))"
        ),
        "there may be three sentences: compare their numbers": _packed(
            lambda q, k: (q * k + (1 - q) * (1 - k)).bool()
        ),
        "(B, 1, T, T): an axis for the heads is missing": "_packed()(sentence)[:, 0]",
        "a mask holds booleans: this one has numbers": "_packed()(sentence).float()",
    },
    hints=(
        "When do a query and a key belong together? Compare the number of each token's "
        "sentence with that of every other; the future is hidden as before.",
        "`sentence[:, :, None] == sentence[:, None, :]` has the shape (B, T, T).",
    ),
    says="a staircase for each sentence",
    difficulty=2,
    importance=1,
    minutes=6,
    part="packed_mask",
)
def packed_mask(sentence):
    same = (
        sentence[:, :, None] == sentence[:, None, :]
    )  # (B, T, T) query and key in one
    return same[:, None] & nmt.causal_mask(sentence.size(1))  # (B, 1, T, T)


COUNT = "length * (len(batches[-1]) + 1)"


def _cleared(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if batch and length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch.clear()
        batch.append(length)
    return [*batches, batch] if batch else batches


def _first_lost(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch = []
        else:
            batch.append(length)
    return [*batches, batch]


@exercise(
    "Fills batches with sentences that are sorted by length.",
    cases={
        "a batch that fills the budget exactly": ([3, 3, 4, 5, 5, 6, 6], 18),
        "a budget that is never full": ([4, 4, 4], 11),
        "no sentence": ([], 9),
        "a long one at the end": ([1, 1, 1, 1, 6], 6),
        "one sentence": ([5], 20),
    },
    mistakes={
        "count the padding too: sentences × longest, not the sum of the lengths": (
            f"{COUNT} → sum(batches[-1]) + length"
        ),
        "the new sentence is now the longest: count with it, not with those before": (
            f"{COUNT} → batches[-1][-1] * (len(batches[-1]) + 1)"
        ),
        "take the longest sentence, which comes last, not the first one": (
            f"{COUNT} → batches[-1][0] * (len(batches[-1]) + 1)"
        ),
        "count the new sentence, too: its batch goes over the budget": (
            "(len(batches[-1]) + 1) → len(batches[-1])"
        ),
        "a batch goes over its budget by a sentence: check before that one joins": (
            f"{COUNT} → batches[-1][-1] * len(batches[-1])"
        ),
        "batches differ in size: count with the longest of this batch, not of all": [
            f"{COUNT} → lengths[-1] * (len(batches[-1]) + 1)",
        ],
        "all are in one batch: the budget counts ids, sentences × longest": (
            f"{COUNT} → len(batches[-1]) + 1"
        ),
        "a batch may fill the budget exactly": "> budget → >= budget",
        "the last batch is missing": "return batches → return batches[:-1]",
        "without sentences there are no batches; yours has an empty one": (
            "return batches → return batches or [[]]"
        ),
        "the sentence that starts a new batch is lost": [
            _first_lost,
            "        batches[-1] →         else:\n            batches[-1]",
        ],
        "each batch needs a list of its own: `clear` empties those in batches, too": (
            _cleared
        ),
        "a batch takes sentences for as long as they fit; yours are all alone": (
            "[[length] for length in lengths]"
        ),
        "give the lengths in each batch, not how many there are": (
            "return batches → return [len(batch) for batch in batches]"
        ),
        INSIDE: "    return →         return",
    },
    hints=(
        "The lengths are sorted, so the new sentence is the longest of its batch. How "
        "many ids has the batch with it?",
        "A new batch starts if there is none yet, or if `length * (len(batches[-1]) + "
        "1)` is over the budget.",
    ),
    says="every batch keeps to its budget",
    difficulty=2,
    importance=1,
    minutes=8,
    part="batches",
)
def my_batches(lengths, budget):
    batches = []
    for length in lengths:  # the longest of a batch is always the one that comes last
        if not batches or length * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(length)
    return batches
