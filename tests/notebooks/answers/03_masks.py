"""Answers to the stubs of chapter 03, and what their checks say."""

CAUSAL = "def my_causal_mask(T):\n    ones = torch.ones(T, T, dtype=torch.bool)\n"
TARGET = "def my_target_mask(tgt_in):\n    n = tgt_in.size(1)\n"
SOFT = "def masked_softmax(scores, mask):\n"
PACKED = """\
def packed_mask(sentence):
    n = sentence.size(1)
    same = sentence[:, None, :, None] == sentence[:, None, None, :]
"""
ANSWERS = {
    "my_causal_mask": {
        CAUSAL + "    return ones.tril(-1)": "may look at itself",
        CAUSAL + "    return ones.tril(1)": "one diagonal too many",
        CAUSAL + "    return ones.triu(1)": "True where the key is hidden",
        CAUSAL + "    return ones.triu()": "the future instead of the past",
        CAUSAL + "    return ones": "every query sees every key",
        CAUSAL + "    return ones.float().tril()": "got torch.float32",
        CAUSAL + "    return nmt.causal_mask(T)": "the shape (3, 3)",
        CAUSAL + "    return ones[:3, :3].tril()": "the shape (5, 5)",
        CAUSAL + "    return torch.eye(T) > 0": "nothing but itself",
        CAUSAL
        + "    t = torch.arange(T)\n    return t[:, None] > t": "may look at itself",
        CAUSAL + "    t = torch.arange(T)\n    return t >= t[:, None]": "of the past",
        CAUSAL + "    return ones.tril(2)": "expected",
        CAUSAL + "    t = torch.arange(T)\n    return t <= t[:, None]": "right",
        CAUSAL + "    return ~ones.triu(1)": "right",
        CAUSAL + "    return ones.cumsum(0) >= ones.cumsum(1)": "right",
        CAUSAL + "    return [[s <= t for s in range(T)] for t in range(T)]": "right",
    },
    "my_target_mask": {
        TARGET
        + "    return nmt.padding_mask(tgt_in) | nmt.causal_mask(n)": "needs both",
        TARGET + "    return nmt.causal_mask(n)": "the shape (3, 1, 4, 4)",
        TARGET + "    return nmt.padding_mask(tgt_in)": "the shape (3, 1, 4, 4)",
        TARGET + "    real = (tgt_in != 0)[:, None, :, None]\n"
        "    return real & nmt.causal_mask(n)": "hidden as a query",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & real.mT & nmt.causal_mask(n)": "padded queries stay",
        TARGET + "    real = (tgt_in == 0)[:, None, None]\n"
        "    return real & nmt.causal_mask(n)": "what you let through",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & ~nmt.causal_mask(n)": "expected",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & nmt.causal_mask(n).mT": "the future is what you let",
        TARGET + "    real = (tgt_in != 0)[:, None]\n"
        "    return real & nmt.causal_mask(n)[0]": "the shape (3, 1, 4, 4)",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return (real & nmt.causal_mask(n)).float()": "got torch.float32",
        TARGET + "    real = (tgt_in > 3)[:, None, None]\n"
        "    return real & nmt.causal_mask(n)": "<sos>, <unk> and <eos> stay",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & nmt.causal_mask(n).tril(-1)": "may look at itself",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & torch.ones(n, n).tril(1).bool()": "one diagonal too many",
        TARGET + "    real = (tgt_in != 0)[:, None, None]\n"
        "    return real & nmt.causal_mask(len(tgt_in))": "it raises RuntimeError",
        TARGET + "    return nmt.padding_mask(tgt_in) * nmt.causal_mask(n)": "right",
        TARGET + "    past = torch.ones(n, n).tril()\n"
        "    return (tgt_in.sign()[:, None, None] * past) > 0": "right",
        TARGET + "    hidden = (tgt_in == 0)[:, None, None, :]\n"
        "    return ~(hidden | ~nmt.causal_mask(n))": "right",
    },
    "masked_softmax": {
        SOFT + "    return scores.softmax(-1)": "not used",
        SOFT + "    return (scores * mask).softmax(-1)": "e⁰ = 1",
        SOFT + "    return scores.masked_fill(~mask, 0).softmax(-1)": "e⁰ = 1",
        SOFT + "    return scores.softmax(-1) * mask": "no longer sum to 1",
        SOFT + "    return scores.masked_fill(mask, -1e9).softmax(-1)": "is False",
        SOFT + "    return scores.masked_fill(~mask, -1e9).softmax(0)": "each row sums",
        SOFT + "    return scores.exp() * mask": "divide by their sum",
        SOFT
        + "    kept = scores.exp() * mask\n    return kept / kept.sum()": "expected",
        SOFT + "    return scores.masked_fill(~mask, -1).softmax(-1)": "not low enough",
        SOFT + "    return scores.masked_fill(~mask, -30).softmax(-1)": "your number",
        SOFT + "    return scores[mask].softmax(-1)": "the shape (3, 4)",
        SOFT + "    scores.masked_fill(~mask, -1e9)\n"
        "    return scores.softmax(-1)": "not used",
        SOFT + "    return scores.masked_fill(~mask, -torch.inf).softmax(-1)": "right",
        SOFT + "    kept = scores.exp() * mask\n"
        "    return kept / kept.sum(-1, keepdim=True)": "right",
        SOFT + "    w = scores.softmax(-1) * mask\n"
        "    return w / w.sum(-1, keepdim=True)": "right",
        SOFT
        + "    return (scores + torch.where(mask, 0.0, -1e4)).softmax(-1)": "right",
        SOFT + "    return F.softmax(torch.where(mask, scores, -1e9), dim=1)": "right",
    },
    "packed_mask": {
        PACKED + "    return same": "sees its future",
        PACKED
        + "    return nmt.causal_mask(n).expand(2, -1, -1, -1)": "sees the first",
        PACKED + "    return nmt.target_mask(sentence)": "not ids",
        PACKED + "    return same & nmt.causal_mask(n).tril(-1)": "may look at itself",
        PACKED + "    return ~(same & nmt.causal_mask(n))": "turned around",
        PACKED + "    return same & nmt.causal_mask(n).mT": "instead of the past",
        PACKED
        + "    return (same & nmt.causal_mask(n))[:, 0]": "the shape (2, 1, 6, 6)",
        PACKED + "    return (same & nmt.causal_mask(n))[:1].expand(2, -1, -1, -1)": (
            "is cut elsewhere"
        ),
        PACKED + "    return same | nmt.causal_mask(n)": "needs both",
        PACKED + "    return (same & nmt.causal_mask(n)).long()": "got torch.int64",
        PACKED + "    return torch.where(nmt.causal_mask(n), same, False)": "right",
        PACKED + "    return same.tril()": "right",
        PACKED + "    a = sentence[:, None]\n"
        "    return (a.mT == a)[:, None] * nmt.causal_mask(n)": "right",
    },
}
