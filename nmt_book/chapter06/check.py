"""The exercises of chapter 06, the decoder and the whole model."""

import torch

import nmt_lib as nmt

from ..cases import INSIDE, NO_NORM, NO_SUM, PRE, numbers, padding, parts
from ..exercise.exercise import exercise

OWN = "part.norm1(x + part.self_attention(x, x, tgt_mask))"
ACROSS = "part.norm2(x1 + part.cross_attention(x1, memory, src_mask))"
FEED = "part.norm3(x2 + part.feed_forward(x2))"


def _case(seed, D, H, T, S, *lengths):
    part = parts(nmt.DecoderLayer, seed, D, H)
    x, memory = numbers(seed, (len(lengths), T, D), (len(lengths), S, D))
    return part, x, memory, padding(S, *lengths), nmt.causal_mask(T)


@exercise(
    "A decoder layer: two attentions and feed-forward, each with its sum and norm.",
    cases={
        "T = 3, S = 5, padding in the source": _case(1, 8, 2, 3, 5, 5, 3),
        "T = 6, S = 4": _case(2, 12, 3, 6, 4, 4),
        "both sides have four positions": _case(3, 8, 4, 4, 4, 4, 2),
        "T = 1, the first step of a translation": _case(4, 12, 2, 1, 3, 3),
    },
    mistakes={
        "an attention takes two inputs and a mask, (x, memory, mask): keys and values "
        "both come from `memory`": [
            "x, x, tgt_mask → x, x, x, tgt_mask",
            "x, x, tgt_mask → x, x, x, mask=tgt_mask",
            "x1, memory, src_mask → x1, memory, memory, src_mask",
        ],
        "self-attention lacks its second input, which is x, too: (x, x, tgt_mask)": (
            "x, x, tgt_mask → x, tgt_mask"
        ),
        "tgt_mask is not used": "x, x, tgt_mask → x, x, None",
        "src_mask is not used": "memory, src_mask) → memory, None)",
        "no mask is used": ("x, x, tgt_mask → x, x, None", "y, src_mask) → y, None)"),
        "self-attention looks at the target: tgt_mask; cross-attention at the source: "
        "src_mask": ("x, tgt_mask → x, src_mask", "y, src_mask) → y, tgt_mask)"),
        "cross-attention looks at the source: src_mask": "y, src_mask) → y, tgt_mask)",
        "self-attention looks at the target: tgt_mask": "x, tgt_mask → x, src_mask",
        "cross-attention must read memory: keys and values come from there": [
            f"(x1, memory, src_mask) → (x1, x1, {mask})"
            for mask in ("src_mask", "tgt_mask", "None")
        ],
        "self-attention reads x alone; memory is for cross-attention": [
            f"x, x, tgt_mask → x, memory, {mask}"
            for mask in ("src_mask", "tgt_mask", "None")
        ],
        "queries come first: x1 asks, memory answers": [
            f"(x1, memory, src_mask) → (memory, x1, {mask})"
            for mask in ("src_mask", "tgt_mask", "None")
        ],
        "cross-attention is asked by x1, not by x": "n(x1, mem → n(x, mem",
        "memory is read as it is: the encoder has normed it": (
            "(x1, memory, → (x1, part.norm2(memory),"
        ),
        "there is no cross-attention: the source is never read": f"{ACROSS} → x1",
        "cross-attention comes second, self-attention first": (
            "self_attention(x, x, tgt_mask) → cross_attention(x, memory, src_mask)",
            "cross_attention(x1, memory, src_mask) → self_attention(x1, x1, tgt_mask)",
        ),
        "both attentions have weights of their own: part.cross_attention": (
            "part.cross → part.self"
        ),
        "x is not added to self-attention": "x + part → part",
        "x1 is not added to cross-attention": "x1 + part → part",
        "x2 is not added to the feed-forward network": "x2 + part → part",
        NO_SUM: ("x + part → part", "x1 + part → part", "x2 + part → part"),
        "what is added to cross-attention is x1, not x": "x1 + part → x + part",
        "what is added to the feed-forward network is x2, not x": "x2 + p → x + p",
        "what is added to the feed-forward network is x2, not x1": "x2 + p → x1 + p",
        "x is added to each sub-layer: x, then x1, then x2": (
            "x1 + part → x + part",
            "x2 + part → x + part",
        ),
        "the feed-forward network reads x2": [
            "feed_forward(x2) → feed_forward(x1)",
            "feed_forward(x2) → feed_forward(x)",
        ],
        "the feed-forward network is missing": [
            "+ part.feed_forward(x2) →",
            f"{FEED} → x2",
        ],
        NO_NORM: ("part.norm1 →", "part.norm2 →", "part.norm3 →"),
        "the first norm is missing": "part.norm1 →",
        "the second norm is missing": "part.norm2 →",
        "the last norm is missing": "part.norm3 →",
        "each sub-layer has a norm of its own: norm1, norm2, norm3": [
            ("norm2 → norm1", "norm3 → norm1"),
            "norm2 → norm1",
            "norm3 → norm2",
            "norm3 → norm1",
        ],
        "norm1 comes first, then norm2, then norm3": [
            (f"{a} → norm", f"{b} → {a}", f"norm( → {b}(")
            for a, b in (("norm1", "norm2"), ("norm2", "norm3"), ("norm1", "norm3"))
        ],
        PRE: (
            f"{OWN} → x + part.self_attention(part.norm1(x), part.norm1(x), tgt_mask)",
            f"{ACROSS} → x1 + part.cross_attention(part.norm2(x1), memory, src_mask)",
            f"{FEED} → x2 + part.feed_forward(part.norm3(x2))",
        ),
        INSIDE: (
            f"{OWN} → x + part.norm1(part.self_attention(x, x, tgt_mask))",
            f"{ACROSS} → x1 + part.norm2(part.cross_attention(x1, memory, src_mask))",
            f"{FEED} → x2 + part.norm3(part.feed_forward(x2))",
        ),
    },
    hints=(
        "Three lines, one for each formula. Who asks in the second attention, whose "
        "keys does it look at, and which mask hides some of these?",
        "The second line is `x2 = part.norm2(x1 + part.cross_attention(…))`, (B, T, D) "
        "as all of them; its queries are x1.",
    ),
    says="the library's layer gives the same, at any two lengths",
    difficulty=2,
    importance=3,
    minutes=5,
    part="decoder_layer",
    fixed=(3,),
)
def decoder_layer(part, x, memory, src_mask, tgt_mask):
    x1 = part.norm1(x + part.self_attention(x, x, tgt_mask))  # (B, T, D)
    x2 = part.norm2(x1 + part.cross_attention(x1, memory, src_mask))  # (B, T, D)
    return part.norm3(x2 + part.feed_forward(x2))  # (B, T, D)


TABLE, MIX, WORDS = numbers(6, (12, 6), (6, 9), (6, 7))


def past_only(ids):
    """Logits that depend on the past, like a decoder's: (B, T, 9)."""
    return (TABLE[ids].cumsum(1) + TABLE[ids]).tanh() @ MIX


def whole_sentence(ids):
    """Logits that depend on each word of the sentence: (B, T, 7)."""
    x = TABLE[ids]
    return (x + 2 * x.mean(1, keepdim=True)).tanh() @ WORDS


def _ids(seed, B, T):
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(4, 12, (B, T), generator=draw)


@exercise(
    "How far does the word at each position move the logits at each other one?",
    cases={
        "with the causal mask, T = 6": (past_only, _ids(7, 3, 6)),
        "without it, T = 4": (whole_sentence, _ids(8, 2, 4)),
        "one sentence, T = 5": (past_only, _ids(9, 1, 5)),
    },
    mistakes={
        "rows and columns are swapped: row t, column j": "dim=1 → dim=0",
        "the changes pile up: for column j, only column j may be changed": [
            "= tgt_in.clone() → = tgt_in",
            "changed[:, j] = → changed[:, : j + 1] =",
        ],
        "only word j is exchanged, not those after it": "[:, j] = → [:, j:] =",
        "all sentences count: change position j in each, take the largest of all": [
            "changed[:, j] → changed[0, j]",
            ".amax((0, 2)) → [0].amax(-1)",
        ],
        "take the largest of the absolute values": ".abs() →",
        "take the largest, not the mean": "amax → mean",
        "take the largest, not the sum": "amax → sum",
        "the largest over sentences and words, axes 0 and 2: a number for each "
        "position": ".amax((0, 2)) → .amax((0, 1))",
        "this puts <pad> there, not <unk>": "UNK → PAD",
        "this puts <sos> there, not <unk>": "UNK → SOS",
        "this puts <eos> there, not <unk>": "UNK → EOS",
        "the largest over the sentences, too: (T, T), without an axis for them": (
            "amax((0, 2)) → amax(2)"
        ),
        "how far one logit moves, not how far all of them together": (
            ".abs().amax((0, 2)) → .norm(dim=-1).amax(0)"
        ),
        "compare the logits themselves: no softmax": [
            (
                "logits_of(changed) - before → "
                "logits_of(changed).softmax(-1) - before.softmax(-1)"
            ),
            (
                "logits_of(changed) - before → "
                "logits_of(changed).log_softmax(-1) - "
                "before.log_softmax(-1)"
            ),
        ],
        "nothing moves: the same ids give both logits": [
            "logits_of(changed) → logits_of(tgt_in)",
            "- before → - logits_of(changed)",
        ],
        "how far, not only whether": ".amax((0, 2)) → .amax((0, 2)).gt(0)",
    },
    hints=(
        "Once the logits of `tgt_in` as it is; then a loop over j. What must each turn "
        "of the loop begin with, so that only word j differs?",
        "`(logits_of(changed) - before).abs()` has the shape (B, T, V); its largest "
        "over the axes 0 and 2 is column j.",
    ),
    says="with the causal mask nothing reaches back",
    difficulty=2,
    importance=2,
    minutes=7,
    part="influence",
)
def influence(logits_of, tgt_in):
    before = logits_of(tgt_in)  # (B, T, V)
    columns = []
    for j in range(tgt_in.size(1)):
        changed = tgt_in.clone()
        changed[:, j] = nmt.UNK
        columns.append((logits_of(changed) - before).abs().amax((0, 2)))  # (T,)
    return torch.stack(columns, dim=1)  # (T, T)
