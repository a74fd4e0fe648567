"""Answers to the stubs of chapter 00, and what their checks say."""

UNKNOWN = "def unknown_words(text):\n    return "
NEXT = "def next_word(logits):\n    p = logits[0, -1].softmax(-1)\n    "
PRODUCT = "def sentence_probability(steps):\n    import math\n    return "
ANSWERS = {
    "unknown_words": {
        UNKNOWN + "tokenizer.tokenize(text)": "all tokens",
        UNKNOWN + "[w for w in text.split() if w not in known]": "split()",
        UNKNOWN + "[w for w in tokenizer.tokenize(text) if w in known]": "it knows",
        UNKNOWN + "[w for w in tokenizer.tokenize(text.lower()) if w not in known]": (
            "small and capital"
        ),
        UNKNOWN + "{w for w in tokenizer.tokenize(text) if w not in known}": "order",
        UNKNOWN + "len([w for w in tokenizer.tokenize(text) if w not in known])": (
            "how many"
        ),
        UNKNOWN + "sorted(w for w in tokenizer.tokenize(text) if w not in known)": (
            "order of the text"
        ),
        UNKNOWN + "[w for w in text if w not in known]": "expected",
        UNKNOWN + "[w for w in tokenizer.tokenize(text) if w not in ' '.join(known)]": (
            "expected"
        ),
        UNKNOWN + "list(dict.fromkeys(w for w in tokenizer.tokenize(text) if w not in "
        "known))": "counts twice",
        UNKNOWN + "[w for w in tokenizer.tokenize(text) if w not in words]": "right",
        UNKNOWN + "list(filter(lambda w: w not in known, tokenizer.tokenize(text)))": (
            "right"
        ),
        UNKNOWN + "[w for w in tokenizer.tokenize(text) if tokenizer.ids(w) == [1]]": (
            "right"
        ),
    },
    "next_word": {
        NEXT + "return int(p.argmax())": "half of the answer",
        NEXT + "return float(p.max()), int(p.argmax())": "the id first",
        NEXT + "p = logits[0, 0].softmax(-1)\n    return p.argmax(), p.max()": (
            "not the first"
        ),
        NEXT + "return logits[0, -1].argmax(), logits[0, -1].max()": "softmax",
        NEXT + "p = logits[0].softmax(-1)\n    return p.argmax(-1), p.amax(-1)": (
            "every row"
        ),
        NEXT + "p = logits[0].softmax(0)[-1]\n    return p.argmax(), p.max()": (
            "softmax runs along"
        ),
        NEXT + "return p.argmax(), logits[0].softmax(0)[-1].max()": "over the rows",
        NEXT + "return logits[0].softmax(-1).max(-1)": "max gives the value first",
        NEXT + "return logits.softmax(-1).max(-1)": "value first: logits[0, -1]",
        NEXT
        + "p, best = logits.softmax(-1).max(-1)\n    return best, p": "logits[0, -1]",
        NEXT + "p = logits[0, 2].softmax(-1)\n    return p.argmax(), p.max()": (
            "it raises IndexError"
        ),
        NEXT + "return p.argmin(), p.min()": "least likely",
        NEXT + "return logits.argmax(), logits.softmax(-1).max()": "within one row",
        NEXT + "return p.argmax(), p.max()": "right",
        NEXT + "top = p.topk(1)\n    return top.indices.item(), top.values.item()": (
            "right"
        ),
        NEXT + "best, index = p.max(-1)\n    return [index, best]": "right",
    },
    "sentence_probability": {
        PRODUCT + "sum(steps)": "that is the sum",
        PRODUCT + "sum(steps) / len(steps)": "that is the mean",
        PRODUCT + "min(steps)": "least sure",
        PRODUCT + "max(steps)": "surest",
        PRODUCT + "steps[0]": "expected",
        PRODUCT + "steps[-1]": "expected",
        PRODUCT + "0 * math.prod(steps)": "start at 1",
        PRODUCT + "math.prod(steps[:-1])": "<eos> is the last",
        PRODUCT + "sum(math.log(p) for p in steps)": "exp of them",
        PRODUCT + "math.prod(steps) ** (1 / len(steps))": "root",
        PRODUCT + "1 - math.prod(steps)": "expected",
        PRODUCT + "math.prod(steps)": "right",
        PRODUCT + "math.exp(sum(math.log(p) for p in steps))": "right",
        PRODUCT + "torch.tensor(steps).prod()": "right",
    },
}
