"""A1: right answers of other shapes, and wrong ones with the parts where they must fail."""

from tests.course.kit import Wrong

RIGHT = {
    "tokenize": {
        "split after spaces": """
def tokenize(text):
    for mark in ".,!?;":
        text = text.replace(mark, " " + mark + " ")
    return ["<num>" if all(c in "0123456789" for c in word) else word for word in text.lower().split()]
""",
        "character by character": """
def tokenize(text):
    tokens, word = [], ""
    for c in text.lower() + " ":
        if c.isspace() or c in ".,!?;":
            if word:
                tokens.append("<num>" if set(word) <= set("0123456789") else word)
            word = ""
            if not c.isspace():
                tokens.append(c)
        else:
            word += c
    return tokens
""",
        "translate": """
TABLE = str.maketrans({mark: f" {mark} " for mark in ".,!?;"})


def tokenize(text):
    return [re.sub(r"^[0-9]+$", "<num>", word) for word in text.translate(TABLE).lower().split()]
""",
        "re.split": r"""
def tokenize(text):
    pieces = [piece for piece in re.split(r"\s+|([.,!?;])", text.lower()) if piece]
    return list(map(lambda t: "<num>" if t.isascii() and t.isdigit() else t, pieces))
""",
        "generator": """
def pieces(text):
    for word in text.split():
        start = 0
        for i, c in enumerate(word):
            if c in {".", ",", "!", "?", ";"}:
                yield word[start:i]
                yield c
                start = i + 1
        yield word[start:]


def tokenize(text):
    found = [piece.lower() for piece in pieces(text) if piece]
    for i in range(len(found)):
        if re.match(r"[0-9]+\\Z", found[i]):
            found[i] = "<num>"
    return found
""",
    },
    "vocab": {
        "two stable sorts": """
def build_vocab(sentences, min_freq):
    specials = ["<pad>", "<unk>", "<sos>", "<eos>"]
    counts = Counter()
    for words in sentences:
        counts.update(words)
    words = sorted(word for word, n in counts.items() if n >= min_freq and word not in specials)
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
        "a heap": """
from heapq import heapify, heappop


def build_vocab(sentences, min_freq):
    counts, result = {}, ["<pad>", "<unk>", "<sos>", "<eos>"]
    for word in (word for sentence in sentences for word in sentence):
        counts[word] = counts.get(word, 0) + 1
    heap = [(-n, word) for word, n in counts.items() if word not in result]
    heapify(heap)
    while heap and -heap[0][0] >= min_freq:
        result.append(heappop(heap)[1])
    return result
""",
        "groupby": """
from itertools import chain, groupby


def build_vocab(sentences, min_freq):
    groups = [(len(list(same)), word) for word, same in groupby(sorted(chain.from_iterable(sentences)))]
    groups = [group for group in groups if group[0] >= min_freq and group[1] not in SPECIAL]
    return SPECIAL + [word for n, word in sorted(groups, key=lambda group: -group[0])]


SPECIAL = ["<pad>", "<unk>", "<sos>", "<eos>"]
""",
        "a class": """
class Counts(dict):
    def __missing__(self, word):
        return 0


def build_vocab(sentences, min_freq):
    counts = Counts()
    for sentence in sentences:
        for word in sentence:
            counts[word] += 1
    itos = ["<pad>", "<unk>", "<sos>", "<eos>"]
    for n in range(max(counts.values(), default=0), max(min_freq, 1) - 1, -1):
        itos.extend(sorted(w for w in counts if counts[w] == n and w not in itos[:4]))
    return itos
""",
    },
    "encode": {
        "index": """
def encode(tokens, itos):
    words = list(itos)[4:]
    ids = [words.index(t) + 4 if t in words else 1 for t in tokens]
    return [2] + ids[:21] + [3]
""",
        "a loop": """
def encode(tokens, itos):
    ids = [2]
    for token in tokens:
        if len(ids) == 22:
            break
        place = itos.index(token) if token in itos else 1
        ids.append(place if place > 3 else 1)
    ids.append(3)
    return ids
""",
        "a dictionary with default": """
from collections import defaultdict


def encode(tokens, itos):
    stoi = defaultdict(lambda: 1)
    stoi.update({t: i for i, t in enumerate(itos) if i >= 4})
    ids = [2] + [stoi[t] for t in tokens] + [3]
    return ids if len(ids) <= 23 else ids[:22] + [3]
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
        "words of their own type": """
class Id(int):
    pass


def encode(tokens, itos):
    specials = ["<pad>", "<unk>", "<sos>", "<eos>"]
    place = {token: Id(i) for i, token in reversed(list(enumerate(itos))) if token not in specials}
    ids = [specials.index("<sos>")] + [place.get(token, specials.index("<unk>")) for token in tokens]
    return [int(i) for i in ids[:22]] + [specials.index("<eos>")]
""",
        "helper in the cell": """
def lookup(token, itos):
    try:
        place = itos.index(token)
    except ValueError:
        return 1
    return max(place, 1) if place > 3 else 1


encode = lambda tokens, itos: [2, *(lookup(t, itos) for t in tokens[:21]), 3]
""",
    },
    "decode": {
        "join and replace": """
def decode(ids, itos):
    ids = list(ids)
    if 3 in ids:
        ids = ids[: ids.index(3)]
    words = [itos[i] for i in ids if i not in (0, 2)]
    text = " ".join(words)
    for mark in ".,!?;":
        text = text.replace(" " + mark, mark)
    return text
""",
        "regular expression": r"""
def decode(ids, itos):
    words = []
    for i in ids:
        if i == 3:
            break
        if i != 0 and i != 2:
            words.append(itos[i])
    return re.sub(r" ([.,!?;])(?= |$)", r"\1", " ".join(words))
""",
        "takewhile": """
from itertools import takewhile


def decode(ids, itos):
    kept = [itos[i] for i in takewhile(lambda i: i != 3, ids) if i in (1,) or i > 3]
    return "".join(t if t in tuple(".,!?;") or n == 0 else " " + t for n, t in enumerate(kept))
""",
        "list of pieces": """
def decode(ids, itos):
    pieces = []
    for i in ids:
        if i == 3:
            return "".join(pieces)
        if i in (0, 2):
            continue
        if pieces and itos[i] not in set(".,!?;"):
            pieces.append(" ")
        pieces.append(itos[i])
    return "".join(pieces)
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
        "filled zeros": """
def make_batch(pairs):
    def pad(rows):
        out = torch.zeros(len(rows), max(len(r) for r in rows), dtype=torch.long)
        for i, row in enumerate(rows):
            out[i, : len(row)] = torch.tensor(row)
        return out

    return pad([s for s, t in pairs]), pad([t[:-1] for s, t in pairs]), pad([t[1:] for s, t in pairs])
""",
        "pad_sequence": """
from torch.nn.utils.rnn import pad_sequence


def make_batch(pairs):
    src = pad_sequence([torch.tensor(s) for s, _ in pairs], batch_first=True)
    tgt_in = pad_sequence([torch.tensor(t[:-1]) for _, t in pairs], batch_first=True)
    tgt_out = pad_sequence([torch.tensor(t[1:]) for _, t in pairs], batch_first=True)
    return src, tgt_in, tgt_out
""",
        "shift the tensor": """
def make_batch(pairs):
    def pad(rows):
        width = max(map(len, rows))
        return torch.stack([torch.cat([torch.LongTensor(r), torch.zeros(width - len(r)).long()]) for r in rows])

    src, tgt = pad([p[0] for p in pairs]), pad([p[1] for p in pairs])
    tgt_in = tgt[:, :-1].clone()
    tgt_in[tgt_in == 3] = 0
    return [src, tgt_in, tgt[:, 1:]]
""",
        "zip_longest": """
from itertools import zip_longest


def make_batch(pairs):
    def pad(rows):
        return torch.tensor(list(zip_longest(*rows, fillvalue=0)), dtype=torch.int64).T

    sources, targets = zip(*pairs)
    return pad(sources), pad([t[:-1] for t in targets]), pad([t[1:] for t in targets])
""",
        "numpy": """
import numpy as np


def make_batch(pairs):
    out = []
    for rows in ([s for s, _ in pairs], [t[:-1] for _, t in pairs], [t[1:] for _, t in pairs]):
        array = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
        out.append(torch.from_numpy(array))
    return tuple(out)
""",
    },
    "plan": {
        "longest first": """
def plan_batches(lengths, budget):
    batches, batch, width = [], [], 0
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and ((len(batch) + 1) * width > budget or len(batch) == 13):
            batches.append(batch)
            batch = []
        if not batch:
            width = lengths[i]
        batch.append(i)
    return batches + [batch]
""",
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
        "shuffled batches": """
def plan_batches(lengths, budget):
    plan = [[]]
    for length, i in sorted((n, i) for i, n in enumerate(lengths)):
        if length * (len(plan[-1]) + 1) > budget or len(plan[-1]) >= 13:
            plan.append([])
        plan[-1].append(i)
    random.shuffle(plan)
    return [rows for rows in plan if rows]
""",
        "stack": """
def plan_batches(lengths, budget):
    left = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    plan = []
    while left:
        rows = [left.pop()]
        while left and len(rows) < 13 and lengths[left[-1]] * (len(rows) + 1) <= budget:
            rows.append(left.pop())
        plan.insert(0, rows)
    return plan
""",
    },
    "share": {
        "a number": "share = 0.6037",
        "an expression": "share = (35 + 33 + 31) / 164",
        "a tensor": "share = 1 - torch.tensor([6, 8, 10, 41]).sum().item() / 164",
        "a function": "def padding(n):\n    return 1 - sum(n) / len(n) / max(n)\n\n\nshare = padding([6, 8, 10, 41])",
        "two lines": "ids = 6 + 8 + 10 + 41\nshare = (4 * 41 - ids) / (4 * 41)",
    },
}

WRONG = {
    "lower-casing forgotten": Wrong(
        "tokenize", ["tokenize-marks"], edits={"text.lower()": "text"}
    ),
    "cut at spaces only": Wrong(
        "tokenize",
        ["tokenize-marks", "tokenize-numbers"],
        edits={r'r"[.,!?;]|[^\s.,!?;]+"': r'r"\S+"'},
    ),
    "one mark forgotten": Wrong(
        "tokenize",
        ["tokenize-marks"],
        edits={r'r"[.,!?;]|[^\s.,!?;]+"': r'r"[.,!?]|[^\s.,!?]+"'},
    ),
    "letters only": Wrong(
        "tokenize",
        ["tokenize-marks", "tokenize-numbers"],
        edits={r"[^\s.,!?;]+": "[a-z0-9]+"},
    ),
    "marks dropped": Wrong(
        "tokenize",
        ["tokenize-marks", "tokenize-numbers"],
        edits={r"[.,!?;]|[^\s": r"[^\s"},
    ),
    "split at single spaces": Wrong(
        "tokenize",
        ["tokenize-marks", "tokenize-numbers"],
        code='def tokenize(text):\n    for mark in ".,!?;":\n        text = text.replace(mark, " " + mark + " ")\n'
        '    return ["<num>" if t.isdigit() else t for t in text.lower().split(" ") if t]',
    ),
    "numbers kept": Wrong(
        "tokenize",
        ["tokenize-numbers"],
        edits={'"<num>" if re.fullmatch("[0-9]+", token) else token': "token"},
    ),
    "words with a digit are numbers": Wrong(
        "tokenize",
        ["tokenize-numbers"],
        edits={'re.fullmatch("[0-9]+"': 're.search("[0-9]"'},
    ),
    "one digit only": Wrong(
        "tokenize", ["tokenize-numbers"], edits={'"[0-9]+"': '"[0-9]"'}
    ),
    "ties by insertion order": Wrong(
        "vocab", ["vocab-order"], edits={"(-counts[word], word)": "-counts[word]"}
    ),
    "ties backwards": Wrong(
        "vocab",
        ["vocab-order"],
        edits={
            "key=lambda word: (-counts[word], word))": "key=lambda word: (counts[word], word))[::-1]"
        },
    ),
    "rising count": Wrong(
        "vocab",
        ["vocab-order"],
        edits={"(-counts[word], word)": "(counts[word], word)"},
    ),
    "alphabetical": Wrong(
        "vocab", ["vocab-order"], edits={"(-counts[word], word)": "word"}
    ),
    "capitals sorted like small letters": Wrong(
        "vocab",
        ["vocab-order"],
        edits={"(-counts[word], word)": "(-counts[word], word.lower(), word)"},
    ),
    "min_freq off by one": Wrong(
        "vocab", ["vocab-members"], edits={">= min_freq": "> min_freq"}
    ),
    "min_freq ignored": Wrong(
        "vocab", ["vocab-members"], edits={" if counts[word] >= min_freq]": "]"}
    ),
    "specials last": Wrong(
        "vocab",
        ["vocab-members"],
        edits={
            "specials + [word for word in ordered if counts[word] >= min_freq]": "[word for word in ordered if counts[word] >= min_freq] + specials"
        },
    ),
    "unk missing": Wrong(
        "vocab",
        ["vocab-members"],
        edits={'"<pad>", "<unk>", "<sos>"': '"<pad>", "<sos>"'},
    ),
    "specials of another program": Wrong(
        "vocab",
        ["vocab-members", "vocab-order"],
        edits={
            '"<pad>", "<unk>", "<sos>", "<eos>"': '"<pad>", "<sos>", "<eos>", "<unk>"'
        },
    ),
    "special words twice": Wrong(
        "vocab", ["vocab-members"], edits={" if word not in specials)": ")"}
    ),
    "eos missing": Wrong(
        "encode",
        ["encode-frame", "encode-longest"],
        edits={"[sos, *ids[: 23 - 2], eos]": "[sos, *ids[: 23 - 2]]"},
    ),
    "sos missing": Wrong(
        "encode",
        ["encode-frame", "encode-unknown", "encode-longest"],
        edits={"[sos, *ids[: 23 - 2], eos]": "[*ids[: 23 - 2], eos]"},
    ),
    "sos and eos swapped": Wrong(
        "encode",
        ["encode-frame", "encode-longest"],
        edits={"[sos, *ids[: 23 - 2], eos]": "[eos, *ids[: 23 - 2], sos]"},
    ),
    "unknown words dropped": Wrong(
        "encode",
        ["encode-unknown"],
        edits={
            "stoi.get(token, unk) for token in tokens": "stoi[token] for token in tokens if token in stoi"
        },
    ),
    "unknown words are an error": Wrong(
        "encode", ["encode-unknown"], edits={"stoi.get(token, unk)": "stoi[token]"}
    ),
    "unknown words are padding": Wrong(
        "encode",
        ["encode-unknown"],
        edits={"stoi.get(token, unk)": "stoi.get(token, 0)"},
    ),
    "a word ends the sentence": Wrong(
        "encode", ["encode-unknown"], edits={" if index > 3": ""}
    ),
    "eos cut off": Wrong(
        "encode",
        ["encode-longest"],
        edits={"[sos, *ids[: 23 - 2], eos]": "[sos, *ids, eos][:23]"},
    ),
    "never cut": Wrong("encode", ["encode-longest"], edits={"[: 23 - 2]": ""}),
    "cut without the specials": Wrong(
        "encode", ["encode-longest"], edits={"[: 23 - 2]": "[:23]"}
    ),
    "eos read over": Wrong("decode", ["decode-all"], edits={"break": "continue"}),
    "sos shown": Wrong(
        "decode", ["decode-all"], edits={', specials.index("<sos>")': ","}
    ),
    "unk left out": Wrong(
        "decode",
        ["decode-all"],
        edits={', specials.index("<sos>")': ', specials.index("<sos>"), 1'},
    ),
    "space before marks": Wrong(
        "decode",
        ["decode-all"],
        edits={
            'itos[index] if itos[index] in list(".,!?;") else " " + itos[index]': '" " + itos[index]'
        },
    ),
    "pad on the left": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={
            "[*row, *[empty] * (width - len(row))]": "[*[empty] * (width - len(row)), *row]"
        },
    ),
    "padded with 1": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={"*[empty] * (width": "*[1] * (width"},
    ),
    "fixed width": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={"width = max(map(len, rows))": "width = 30"},
    ),
    "float ids": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={"dtype=torch.long": "dtype=torch.float"},
    ),
    "cut to the shortest": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={
            "[*row, *[empty] * (width - len(row))] for": "row[:width] for",
            "max(map(len": "min(map(len",
        },
    ),
    "target not shifted": Wrong("batch", ["batch-shift"], edits={"tgt[1:]": "tgt"}),
    "input with eos": Wrong("batch", ["batch-shift"], edits={"tgt[:-1]": "tgt"}),
    "input and output swapped": Wrong(
        "batch",
        ["batch-shift"],
        edits={
            "pad([tgt[:-1] for tgt in targets]), pad([tgt[1:] for tgt in targets])": "pad([tgt[1:] for tgt in targets]), pad([tgt[:-1] for tgt in targets])"
        },
    ),
    "shifted after padding": Wrong(
        "batch",
        ["batch-shift"],
        edits={
            "pad([tgt[:-1] for tgt in targets]), pad([tgt[1:] for tgt in targets])": "pad(targets)[:, :-1], pad(targets)[:, 1:]"
        },
    ),
    "budget without padding": Wrong(
        "plan",
        ["plan-budget"],
        edits={
            "lengths[i] * (len(batches[-1]) + 1) > budget": "sum(lengths[j] for j in batches[-1]) + lengths[i] > budget"
        },
    ),
    "budget off by one sentence": Wrong(
        "plan",
        ["plan-budget", "plan-full"],
        edits={"(len(batches[-1]) + 1)": "len(batches[-1])"},
    ),
    "last batch lost": Wrong(
        "plan",
        ["plan-budget", "plan-full"],
        edits={"for batch in batches if batch": "for batch in batches[:-1] if batch"},
    ),
    "as it comes": Wrong(
        "plan",
        ["plan-budget", "plan-full"],
        edits={
            "sorted(range(len(lengths)), key=lambda i: lengths[i])": "range(len(lengths))"
        },
    ),
    "one by one": Wrong(
        "plan",
        ["plan-full"],
        code="def plan_batches(lengths, budget):\n    return [[i] for i in range(len(lengths))]",
    ),
    "no limit of sentences": Wrong(
        "plan", ["plan-full"], edits={" or len(batches[-1]) == 13": ""}
    ),
    "one sentence too many": Wrong("plan", ["plan-full"], edits={"== 13": "== 13 + 1"}),
    # what is a mark, and what is a special token
    "more marks": Wrong(
        "tokenize",
        ["tokenize-marks"],
        edits={r'r"[.,!?;]|[^\s.,!?;]+"': r'''r"[.,!?;:\"()]|[^\s.,!?;:\"()]+"'''},
    ),
    "all in angle brackets is special": Wrong(
        "vocab",
        ["vocab-members"],
        edits={"if word not in specials": 'if not word.startswith("<")'},
    ),
    "angle brackets are unknown": Wrong(
        "encode",
        ["encode-unknown"],
        edits={
            "stoi.get(token, unk)": 'unk if token.startswith("<") else stoi.get(token, unk)'
        },
    ),
    "marks joined to letters only": Wrong(
        "decode",
        ["decode-all"],
        edits={
            'itos[index] if itos[index] in list(".,!?;") else " " + itos[index]': '" " + itos[index]',
            "text.strip()": r"""re.sub(r"(\w) ([.,!?;])", r"\1\2", text.strip())""",
        },
    ),
    "all in angle brackets but <unk> skipped": Wrong(
        "decode",
        ["decode-all"],
        edits={
            'index not in (specials.index("<pad>"), specials.index("<sos>"))': 'itos[index] == "<unk>" or itos[index][0] != "<"'
        },
    ),
    "more marks joined": Wrong(
        "decode", ["decode-all"], edits={'list(".,!?;")': """list(".,!?;:'")"""}
    ),
    # state, arguments, sizes, types, boundaries
    "a list for all texts": Wrong(
        "tokenize",
        ["tokenize-marks", "tokenize-numbers"],
        code="""
def tokenize(text, tokens=[]):
    tokens += ["<num>" if re.fullmatch("[0-9]+", t) else t for t in re.findall(r"[.,!?;]|[^\\s.,!?;]+", text.lower())]
    return tokens
""",
    ),
    "digits of all scripts": Wrong(
        "tokenize",
        ["tokenize-numbers"],
        edits={'re.fullmatch("[0-9]+", token)': "token.isdigit()"},
    ),
    "a thousand tokens at most": Wrong(
        "tokenize",
        ["tokenize-numbers"],
        edits={"for token in tokens]": "for token in tokens[:1000]]"},
    ),
    "counts of the call before": Wrong(
        "vocab",
        ["vocab-members", "vocab-order"],
        edits={
            "def build_vocab": "counts = Counter()\n\n\ndef build_vocab",
            "    counts = Counter(word for words in sentences for word in words if word not in specials)": "    counts.update(word for words in sentences for word in words if word not in specials)",
        },
    ),
    "equal sentences count once": Wrong(
        "vocab",
        ["vocab-members"],
        edits={
            "for words in sentences for": "for words in set(map(tuple, sentences)) for"
        },
    ),
    "sentences sorted in place": Wrong(
        "vocab",
        ["vocab-members"],
        edits={
            "    specials =": "    [words.sort() for words in sentences]\n    specials ="
        },
    ),
    "5,000 words at most": Wrong(
        "vocab",
        ["vocab-members"],
        edits={"if counts[word] >= min_freq]": "if counts[word] >= min_freq][:5000]"},
    ),
    "the first itos is kept": Wrong(
        "encode",
        ["encode-frame", "encode-unknown", "encode-longest"],
        edits={
            "def encode": "known = {}\n\n\ndef encode",
            "stoi = {token: index for index, token in enumerate(itos) if index > 3}": "stoi = known\n    if not known:\n        known.update({token: index for index, token in enumerate(itos) if index > 3})",
        },
    ),
    "tokens taken off the list": Wrong(
        "encode",
        ["encode-frame"],
        edits={
            "for token in tokens]": "for token in [tokens.pop(0) for _ in range(len(tokens))]]"
        },
    ),
    "5,000 words known": Wrong(
        "encode", ["encode-frame"], edits={"if index > 3": "if 3 < index < 5000"}
    ),
    "one id less than allowed": Wrong(
        "encode", ["encode-longest"], edits={"23 - 2": "23 - 3"}
    ),
    "ids taken off the list": Wrong(
        "decode",
        ["decode-all"],
        edits={"for index in ids:": "while ids:\n        index = ids.pop(0)"},
    ),
    "256 ids read": Wrong(
        "decode", ["decode-all"], edits={"for index in ids:": "for index in ids[:256]:"}
    ),
    "the first itos shown": Wrong(
        "decode",
        ["decode-all"],
        edits={
            "def decode(ids, itos):": "first = []\n\n\ndef decode(ids, itos):\n    itos = (first or first.append(itos) or first)[0]"
        },
    ),
    "float targets": Wrong(
        "batch",
        ["batch-shift"],
        edits={
            "pad([tgt[:-1] for tgt in targets])": "pad([tgt[:-1] for tgt in targets]).float()"
        },
    ),
    "int32 targets": Wrong(
        "batch",
        ["batch-shift"],
        edits={
            "pad([tgt[1:] for tgt in targets])": "pad([tgt[1:] for tgt in targets]).int()"
        },
    ),
    "int32 ids": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={"dtype=torch.long": "dtype=torch.int32"},
    ),
    "targets on the right": Wrong(
        "batch",
        ["batch-shift"],
        edits={
            "pad([tgt[:-1] for tgt in targets]), pad([tgt[1:] for tgt in targets])": "pad([tgt[:-1][::-1] for tgt in targets]).flip(1), pad([tgt[1:][::-1] for tgt in targets]).flip(1)"
        },
    ),
    "64 places": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={
            "width = max(map(len, rows))": "rows = [row[:64] for row in rows]\n        width = max(map(len, rows))"
        },
    ),
    "as wide as the widest so far": Wrong(
        "batch",
        ["batch-padding", "batch-shift"],
        edits={
            "def make_batch": "widths = []\n\n\ndef make_batch",
            "width = max(map(len, rows))": "widths.append(max(map(len, rows)))\n        width = max(widths)",
        },
    ),
    "rows filled up in place": Wrong(
        "batch",
        ["batch-padding"],
        edits={
            "        return torch.tensor(": "        for row in rows:\n            row += [empty] * (width - len(row))\n        return torch.tensor("
        },
    ),
    "equal pairs once": Wrong(
        "batch",
        ["batch-padding"],
        edits={
            "    targets =": "    pairs = list(dict.fromkeys((tuple(s), tuple(t)) for s, t in pairs))\n    targets ="
        },
    ),
    "a full budget is too much": Wrong(
        "plan", ["plan-full"], edits={"> budget": ">= budget"}
    ),
    "equal lengths lost": Wrong(
        "plan",
        ["plan-budget", "plan-full"],
        edits={
            "sorted(range(len(lengths)), key=lambda i: lengths[i])": "dict(sorted((n, i) for i, n in enumerate(lengths))).values()"
        },
    ),
    "lengths sorted in place": Wrong(
        "plan",
        ["plan-budget"],
        edits={
            "    batches = [[]]": "    order = sorted(range(len(lengths)), key=lambda i: lengths[i])\n    batches, kept = [[]], list(lengths)\n    lengths.sort()\n    lengths = kept"
        },
    ),
    "batches of the call before": Wrong(
        "plan",
        ["plan-budget", "plan-full"],
        edits={
            "(lengths, budget):": "(lengths, budget, batches=[[]]):",
            "    batches = [[]]\n": "",
        },
    ),
    "5,000 sentences": Wrong(
        "plan",
        ["plan-full"],
        edits={"range(len(lengths))": "range(min(5000, len(lengths)))"},
    ),
    "share of text": Wrong("share", ["share-value"], edits={"1 - (6": "(6"}),
    "in per cent": Wrong("share", ["share-value"], code="share = 60.4"),
}
