"""A1: unusual right answers, and wrong ones with the parts where they must fail."""

RIGHT = {
    "tokenize": {
        "re.split": """
def tokenize(text):
    pieces = [piece for piece in re.split(r"\\s+|([.,!?;])", text.lower()) if piece]
    return list(map(lambda t: "<num>" if t.isascii() and t.isdigit() else t, pieces))
""",
        "split after spaces": """
def tokenize(text):
    for mark in ".,!?;":
        text = text.replace(mark, " " + mark + " ")
    digits, words = set("0123456789"), text.lower().split()
    return ["<num>" if digits.issuperset(word) else word for word in words]
""",
    },
    "vocab": {
        "two stable sorts": """
def build_vocab(sentences, min_freq):
    specials = ["<pad>", "<unk>", "<sos>", "<eos>"]
    counts = Counter()
    for words in sentences:
        counts.update(words)
    words = sorted(w for w, n in counts.items() if n >= min_freq and w not in specials)
    words.sort(key=counts.get, reverse=True)
    return specials + words
""",
        "plain dictionary": """
def build_vocab(sentences, min_freq=1):
    counts = {}
    for words in sentences:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    for special in ("<pad>", "<unk>", "<sos>", "<eos>"):
        counts.pop(special, None)
    pairs = sorted((-n, word) for word, n in counts.items() if n >= min_freq)
    return ["<pad>", "<unk>", "<sos>", "<eos>"] + [word for _, word in pairs]
""",
    },
    "encode": {
        "index": """
def encode(tokens, itos):
    words = list(itos)[4:]
    ids = [words.index(t) + 4 if t in words else 1 for t in tokens]
    return [2] + ids[:21] + [3]
""",
        "a tensor inside": """
def encode(tokens, itos):
    ids = torch.full((min(len(tokens), 21) + 2,), 1)
    ids[0], ids[-1] = 2, 3
    for i, token in enumerate(tokens[:21]):
        if token in itos[4:]:
            ids[i + 1] = itos.index(token)
    return ids.tolist()
""",
    },
    "decode": {
        "takewhile": """
from itertools import takewhile
def decode(ids, itos):
    kept = [itos[i] for i in takewhile(lambda i: i != 3, ids) if i in (1,) or i > 3]
    glued = tuple(".,!?;")
    return "".join(t if t in glued or not n else " " + t for n, t in enumerate(kept))
""",
        "backwards": """
def decode(ids, itos):
    end = next((n for n, i in enumerate(ids) if i == 3), len(ids))
    text = ""
    for i in reversed([i for i in ids[:end] if i % 2 or i > 3]):
        token = itos[i]
        space = "" if not text or text.split(" ")[0][0] in ".,!?;" else " "
        text = token + space + text
    return text
""",
    },
    "batch": {
        "pad_sequence": """
from torch.nn.utils.rnn import pad_sequence
def make_batch(pairs):
    src = pad_sequence([torch.tensor(s) for s, _ in pairs], batch_first=True)
    tgt_in = pad_sequence([torch.tensor(t[:-1]) for _, t in pairs], batch_first=True)
    tgt_out = pad_sequence([torch.tensor(t[1:]) for _, t in pairs], batch_first=True)
    return src, tgt_in, tgt_out
""",
        "filled zeros": """
def make_batch(pairs):
    def pad(rows):
        out = torch.zeros(len(rows), max(len(r) for r in rows), dtype=torch.long)
        for i, row in enumerate(rows):
            out[i, : len(row)] = torch.tensor(row)
        return out
    sources, targets = zip(*pairs)
    return pad(sources), pad([t[:-1] for t in targets]), pad([t[1:] for t in targets])
""",
    },
    "plan": {
        "a generator": """
def plan_batches(lengths, budget):
    order = [i for _, i in sorted(zip(lengths, range(len(lengths))))]
    while order:
        n = 1
        while n < min(13, len(order)) and (n + 1) * lengths[order[n]] <= budget:
            n += 1
        yield order[:n]
        order = order[n:]
""",
        "tensors": """
def plan_batches(lengths, budget):
    order = torch.tensor(lengths).argsort()
    plan = [[]]
    for i in order.tolist():
        if (len(plan[-1]) + 1) * lengths[i] > budget or len(plan[-1]) + 1 > 13:
            plan.append([])
        plan[-1].append(i)
    return tuple(map(tuple, filter(None, plan)))
""",
    },
    "share": {
        "a number": """
share = 0.6037
""",
        "a tensor": """
share = 1 - torch.tensor([6, 8, 10, 41]).sum().item() / 164
""",
    },
}

# fmt: off
WRONG = {
    "only \\n ends a line": ("tokenize", "tokenize-marks",
        "[^\\s.,!?;] → [^ \\t\\n.,!?;]"),
    "digits of all scripts": ("tokenize", "tokenize-numbers",
        "re.fullmatch(\"[0-9]+\", token) → token.isdigit()"),
    "all in angle brackets is special": ("vocab", "vocab-members",
        "if word not in specials → if not word.startswith(\"<\")"),
    "capitals sorted like small letters": ("vocab", "vocab-order",
        "(-counts[word], word) → (-counts[word], word.lower(), word)"),
    "5,000 words known": ("encode", "encode-frame",
        "if index > 3 → if 3 < index < 5000"),
    "angle brackets are unknown": ("encode", "encode-unknown",
        "stoi.get(token, unk)"
        " → unk if token.startswith(\"<\") else stoi.get(token, unk)"),
    "never cut": ("encode", "encode-longest", "[: 23 - 2] → "),
    "more marks joined": ("decode", "decode-all",
        "list(\".,!?;\") → list(\".,!?;:'\")"),
    "equal pairs once": ("batch", "batch-padding",
        "    targets ="
        " →     pairs = list(dict.fromkeys((tuple(s), tuple(t)) for s, t in "
        "pairs))\n    targets ="),
    "target not shifted": ("batch", "batch-shift", "tgt[1:] → tgt"),
    "budget without padding": ("plan", "plan-budget",
        "lengths[i] * (len(batches[-1]) + 1) > budget"
        " → sum(lengths[j] for j in batches[-1]) + lengths[i] > budget"),
    "a full budget is too much": ("plan", "plan-full", "> budget → >= budget"),
    "share of text": ("share", "share-value", "1 - (6 → (6"),
}
# fmt: on
