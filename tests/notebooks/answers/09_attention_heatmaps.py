"""Answers to chapter 09, and what its checks must say."""

ERROR_RATE = """
def error_rate(weights, gold):
    found = {(int(row.argmax()) - 1, t) for t, row in enumerate(weights)}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))
"""
HEAD_MAP = """
def head_map(x, attention, h):
    d = x.size(1) // attention.n_heads
    own = slice(h * d, (h + 1) * d)
    Q, K = attention.W_q(x)[:, own], attention.W_k(x)[:, own]
    return (Q @ K.T / d**0.5).softmax(-1)
"""
CUT_HEAD = """
def cut_head(H, T, S, head, t, s):
    mask = torch.ones(1, H, T, S).bool()
    mask[0, head, t, s] = False
    return mask
"""
ACCURACY = """
def link_accuracy(weights, gold):
    found = [(int(row.argmax()), t) for t, row in enumerate(weights)]
    return sum(link in gold for link in found) / len(weights)
"""
ANSWERS = {
    "error_rate": {
        ERROR_RATE.replace(" - 1", ""): "column 0 is <sos>",
        ERROR_RATE.replace("{(", "{(t, ").replace(", t", ""): "not (target, source)",
        """
def error_rate(weights, gold):
    best = weights.argmax(0)
    found = {(s - 1, int(t)) for s, t in enumerate(best)}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))
""": "in each row",
        ERROR_RATE.replace("1 - ", ""): "AER is 1 minus it",
        ERROR_RATE.replace("2 * ", ""): "count twice",
        ERROR_RATE.replace("2 * ", "").replace(
            "(len(found) + len(gold))", "len(found)"
        ): "divides by |A| alone",
        ERROR_RATE.replace("2 * ", "").replace(
            "(len(found) + len(gold))", "len(gold)"
        ): "divides by |G| alone",
        ERROR_RATE.replace("2 * ", "").replace(
            "(len(found) + len(gold))", "len(found | gold)"
        ): "union",
        """
def error_rate(weights, gold):
    found = [int(row.argmax()) - 1 for row in weights]
    return 1 - 2 * len(set(found) & gold) / (len(found) + len(gold))
""": "expected (0.1111, 0.5, 0.6364), got (1, 1, 1)",
        """
def error_rate(weights, gold):
    return weights.argmax(1) - 1
""": "expected",
        ERROR_RATE.replace("(row", "(row[1:]").replace(" - 1", ""): "largest at <sos>",
        ERROR_RATE.replace("weights)}", "weights) if row.argmax()}"): "count it in |A|",
        ERROR_RATE.replace("int(row.argmax())", "s").replace(
            "weights)",
            "weights)\n             for s, weight in enumerate(row) if weight >= 0.5",
        ): "small or not",
        """
def error_rate(weights, gold):
    both = 0
    for t in range(weights.size(0)):
        if (weights[t].max(0).indices.item() - 1, t) in gold:
            both = both + 1
    return 1 - both / ((weights.shape[0] + len(gold)) / 2)
""": "right",
        """
def error_rate(weights, gold):
    best = (weights.argmax(dim=-1) - 1).tolist()
    found = list(zip(best, range(len(best))))
    hits = torch.tensor([link in gold for link in found]).float().sum()
    return 1 - 2 * hits / (len(found) + len(gold))
""": "right",
        """
def error_rate(weights, gold):
    return nmt.alignment_error_rate(weights, sorted(gold))
""": "right",
    },
    "head_map": {
        HEAD_MAP.replace(" / d**0.5", ""): "square root of d_k",
        HEAD_MAP.replace("**0.5", ""): "not by d_k",
        HEAD_MAP.replace("d**", "x.size(1) ** "): "not of D",
        HEAD_MAP.replace("d**", "len(Q) ** "): "number of tokens",
        HEAD_MAP.replace("d**0.5", "attention.n_heads"): "number of heads",
        HEAD_MAP.replace("-1", "0"): "along each row",
        HEAD_MAP.replace("return (", "return ").replace(
            ").softmax(-1)", ""
        ): "softmax is missing",
        HEAD_MAP.replace("Q @ K", "K @ Q"): "rows are queries",
        """
def head_map(x, attention, h):
    d = x.size(1) // attention.n_heads
    Q, K = attention.W_q(x)[:, :d], attention.W_k(x)[:, :d]
    return (Q @ K.T / d**0.5).softmax(-1)
""": "head 0, whatever h says",
        """
def head_map(x, attention, h):
    d = x.size(1) // attention.n_heads
    Q, K = attention.W_q(x), attention.W_k(x)
    return (Q @ K.T / d**0.5).softmax(-1)
""": "cut out the columns",
        """
def head_map(x, attention, h):
    d = x.size(1) // attention.n_heads
    H = attention.n_heads
    Q, K = attention.W_q(x)[:, h::H], attention.W_k(x)[:, h::H]
    return (Q @ K.T / d**0.5).softmax(-1)
""": "expected ",
        """
def head_map(x, attention, h):
    Q, K = (W(x).chunk(attention.n_heads, dim=-1)[h] for W in
            (attention.W_q, attention.W_k))
    scores = torch.einsum("td,sd->ts", Q, K) * Q.size(-1) ** -0.5
    return scores.exp() / scores.exp().sum(-1, keepdim=True)
""": "right",
        """
def head_map(x, attention, h):
    Q = attention.split_heads(attention.W_q(x[None]))[0, h]
    K = attention.split_heads(attention.W_k(x[None]))[0, h]
    return torch.softmax(Q @ K.mT / len(Q[0]) ** 0.5, dim=1)
""": "right",
        """
def head_map(x, attention, h):
    watched, maps = nmt.collect_weights(attention)
    watched(x[None], x[None])
    return maps[attention][0, h]
""": "right",
    },
    "cut_head": {
        CUT_HEAD.replace("ones", "zeros").replace(
            "False", "True"
        ): "True means: may look",
        CUT_HEAD.replace("0, head", "..."): "only one head",
        """
def cut_head(H, T, S, head, t, s):
    mask = torch.ones(1, H, max(S, T), max(S, T)).bool()
    mask[0, head, s, t] = False
    return mask[:, :, :T, :S]
""": "the row is t",
        CUT_HEAD.replace("0", ":").replace(", head, t, s]", ", head, t]"): "whole row",
        CUT_HEAD.replace("0", ":").replace(
            ", head, t, s]", ", head, :, s]"
        ): "whole column",
        CUT_HEAD.replace("0, head, t, s", "0, head"): "the whole head",
        """
def cut_head(H, T, S, head, t, s):
    return torch.ones(1, H, T, S).bool()
""": "nothing is cut",
        CUT_HEAD.replace(".bool()", "").replace("False", "0"): "expected torch.bool",
        CUT_HEAD.replace("1, ", "").replace(
            "0, ", ""
        ): "expected the shape (1, 2, 3, 4), got (2, 3, 4)",
        CUT_HEAD.replace("0, head", "0, head - 1"): "expected ",
        """
def cut_head(H, T, S, head, t, s):
    return torch.arange(H * T * S).view(1, H, T, S) != (head * T + t) * S + s
""": "right",
        """
def cut_head(H, T, S, head, t, s):
    closed = torch.zeros(H, T, S, dtype=torch.bool)
    closed[head][t][s] = True
    return ~closed.unsqueeze(0)
""": "right",
        """
def cut_head(H, T, S, head, t, s):
    mask = [[[[(a, b, c) != (head, t, s) for c in range(S)] for b in range(T)]
             for a in range(H)]]
    return torch.tensor(mask)
""": "right",
    },
    "link_accuracy": {
        ACCURACY.replace("[(", "[(t, ").replace(", t", ""): "not (target, source)",
        ACCURACY.replace("))", ")) - 1"): "no <sos> here",
        ACCURACY.replace("len(weights", "weights.size(1"): "not of source words",
        ACCURACY.replace("len(weights", "len(gold"): "not of gold links",
        """
def link_accuracy(weights, gold):
    found = {(int(row.argmax()), t) for t, row in enumerate(weights)}
    return 2 * len(found & gold) / (len(found) + len(gold))
""": "this is 1 - AER",
        """
def link_accuracy(weights, gold):
    found = {(int(row.argmax()), t) for t, row in enumerate(weights)}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))
""": "this is AER",
        ACCURACY.replace("(link ", "(link not "): "share that is wrong",
        """
def link_accuracy(weights, gold):
    best = weights.argmax(0)
    return sum((s, int(t)) in gold for s, t in enumerate(best)) / len(weights)
""": "in each row",
        ACCURACY.replace("(row", "(row[1:]"): "column 0 is a word",
        """
def link_accuracy(weights, gold):
    return sum(weights[t, s] >= 0.5 for s, t in gold) / len(weights)
""": "small or not",
        """
def link_accuracy(weights, gold):
    return len({(int(row.argmax()), t) for t, row in enumerate(weights)} & gold)
""": "expected (0.75, 0.4, 0.5), got (3, 2, 1)",
        """
def link_accuracy(weights, gold):
    best = weights.max(dim=1).indices.tolist()
    return len(gold.intersection(zip(best, range(len(best))))) / len(best)
""": "right",
        """
def link_accuracy(weights, gold):
    table = torch.zeros(weights.T.shape)
    for link in gold:
        table[link] = 1
    return table[weights.argmax(-1), torch.arange(len(weights))].mean()
""": "right",
        """
def link_accuracy(weights, gold):
    import numpy
    best = numpy.argmax(weights.numpy(), axis=1)
    return numpy.mean([(int(s), t) in gold for t, s in enumerate(best)])
""": "right",
    },
}
