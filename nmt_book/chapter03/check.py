"""The exercises of chapter 03, masks."""

import torch

import nmt_lib as nmt

from ..exercise.exercise import exercise

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
        "(T, T) is asked for; the library's two axes in front come in section 4": (
            ".tril() → .tril()[None, None]"
        ),
        "a mask says True or False; some programs add 0 and −∞ instead (chapter 04)": (
            "torch.full((T, T), -torch.inf).triu(1)"
        ),
    },
    hints=(
        "Query t may look at the keys 0 … t. Which triangle of the square is that, "
        "with or without the diagonal?",
        "For T = 3 the rows are 1 0 0, 1 1 0 and 1 1 1. Print `.tril()` and `.triu()` "
        "of `torch.ones(3, 3, dtype=torch.bool)`, and compare.",
    ),
    says="each query sees itself and its past, as in the library's mask",
    difficulty=1,
    importance=3,
    minutes=3,
    part="causal_mask",
)
def my_causal_mask(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


PAST = "nmt.causal_mask(tgt_in.size(1))"
AHEAD = "nmt.causal_mask(tgt_in.size(1) + 1)[..., 1:, :-1]"  # one word of the future
REAL = "(tgt_in != nmt.PAD)"
WHOLE = f"return real & {PAST}"


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
        "with | or + one permission is enough; a key needs both": "real & → real |",
        "padding is not hidden": (
            f"{WHOLE} → return {PAST}.expand(len(tgt_in), -1, -1, -1)"
        ),
        "padding is not hidden, and one mask is not enough for all sentences": PAST,
        "the future is not hidden; if you wrote != and &, put the comparison in "
        "brackets, since & binds tighter": f"tgt_in[:, None, None] != (0 & {PAST})",
        "the future is not hidden: this is the padding mask alone": f"& {PAST} →",
        "only id 0 is padding: <eos> stays": (
            f"{REAL} → ((tgt_in != 0) & (tgt_in != 3))"
        ),
        "only id 0 is padding: <unk> stays": f"{REAL} → (tgt_in > 1)",
        "only id 0 is padding: <sos>, <unk> and <eos> stay": f"{REAL} → (tgt_in > 3)",
        SELF: f"{PAST} → {PAST}.tril(-1)",
        LEAK: f"{PAST} → {AHEAD}",
        "padding must be hidden as a key (column), yours is hidden as a query (row)": (
            "None, None, : → None, :, None"
        ),
        "padding is hidden as a key only; the rows of padded queries stay": (
            "real & → real & real.mT &"
        ),
        "True means: may be attended to. Yours is turned around": (
            f"{WHOLE} → return ~(real & {PAST})"
        ),
        "padding is what you let through: id 0 is <pad>": "!= → ==",
        "the future is what you let through": [
            f"{PAST} → {PAST}.mT",
            f"{PAST} → ~{PAST}",
        ],
        "(B, 1, T, T): an axis for the heads is missing": (
            f"{WHOLE} → return (real & {PAST})[:, 0]"
        ),
        "(B, 1, T, T): sentences come first; yours lie along the axis of the heads": (
            "None, None, : → None"
        ),
        "the padding mask is (B, 1, 1, T): `None` adds the axes of heads and queries": (
            f"{REAL}[:, None, None, :] → {REAL}"
        ),
        "each sentence has its own padding, and so its own mask: (B, 1, T, T)": [
            f"{REAL} → {REAL}[:1]",
            f"{REAL} → {REAL}.any(0, keepdim=True)",
        ],
        "padding may be on the left, too: compare ids, don't count from the left": (
            f"{REAL} → (torch.arange(tgt_in.size(1)) < {REAL}.sum(1, keepdim=True))"
        ),
        "a mask holds booleans: this one has numbers": "real & → real.float() *",
        "T is the length of the sentences, tgt_in.size(1), not their number": (
            "size(1) → size(0)"
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


Q, K = "sentence[:, :, None]", "sentence[:, None, :]"
BEFORE = "nmt.causal_mask(sentence.size(1))"
BOTH = f"return same[:, None] & {BEFORE}"


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
        "numbers in any order": (torch.tensor([[3, 3, 1], [0, 2, 0]]),),
    },
    mistakes={
        "a query sees its future": f"& {BEFORE} →",
        "the second sentence sees the first": (
            f"{BEFORE}.expand(len(sentence), -1, -1, -1)"
        ),
        "use `sentence`: the second row is cut elsewhere": [
            "same[:, None] → same[:1, None]",
            "same[:, None] → same[:1, None].expand(len(sentence), -1, -1, -1)",
        ],
        "`sentence` holds numbers of sentences, not ids: 0 is no padding": (
            "same[:, None] → same[:, None] & nmt.padding_mask(sentence)"
        ),
        "0 is the number of a sentence, not padding: compare two numbers with ==": [
            "nmt.target_mask(sentence)",
            ("== → *", "same[:, None] → same[:, None].bool()"),
        ],
        SELF: f"{BEFORE} → {BEFORE}.tril(-1)",
        LEAK: f"{BEFORE} → nmt.causal_mask(sentence.size(1) + 1)[..., 1:, :-1]",
        "True means: may be attended to. Yours is turned around": (
            f"{BOTH} → return ~(same[:, None] & {BEFORE})"
        ),
        "yours sees the future instead of the past": f"{BEFORE} → {BEFORE}.mT",
        "yours sees every sentence but its own: compare with ==": "== → !=",
        "a key needs both permissions: the same sentence, and no future": (
            "same[:, None] & → same[:, None] |"
        ),
        "there may be three sentences: compare their numbers": (
            f"{Q} == {K} → ({Q} * {K} + (1 - {Q}) * (1 - {K})).bool()"
        ),
        "(B, 1, T, T): an axis for the heads is missing": (
            f"{BOTH} → return same & {BEFORE}[0]"
        ),
        "(B, 1, T, T): sentences come first; yours lie along the axis of the heads": (
            "same[:, None] → same"
        ),
        "a mask holds booleans: this one has numbers": "None] & → None].float() *",
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
    same = sentence[:, :, None] == sentence[:, None, :]  # (B, T, T)
    return same[:, None] & nmt.causal_mask(sentence.size(1))  # (B, 1, T, T)
