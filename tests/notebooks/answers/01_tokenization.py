"""Answers to the stubs of chapter 01, and what their checks must say."""

ENCODE = """
def my_encode(words, stoi):
    return [2] + [i if i > 3 else 1 for i in (stoi.get(w, 1) for w in words)] + [3]
"""
MERGE = """
def my_merge(subwords, pair):
    merged = []
    for subword in subwords:
        if merged and (merged[-1], subword) == pair:
            merged[-1] += subword
        else:
            merged.append(subword)
    return tuple(merged)
"""
CUT = """
def my_cut(word, merges):
    parts = tuple("▁" + word)
    for pair in merges:
        parts = merge(parts, pair)
    return parts
"""
BATCHES = """
def my_batches(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if batch and length * (len(batch) + 1) > budget:
            batches.append(batch)
            batch = []
        batch.append(length)
    return batches + [batch]
"""
IN_PLACE = """
def my_batches(lengths, budget):
    batches = []
    for length in lengths:
        if not batches or length * (len(batches[-1]) + 1) > budget:
            batches.append([])
        batches[-1].append(length)
    return batches
"""
ANSWERS = {
    "my_encode": {
        """
def my_encode(words, stoi):
    ids = [2]
    for word in words:
        index = stoi[word] if word in stoi else 1
        ids.append(1 if index in (0, 1, 2, 3) else index)
    return ids + [3]
""": "right",
        """
def my_encode(words, stoi):
    known = {word: index for word, index in stoi.items() if index > 3}
    return torch.tensor([2, *(known.get(word, 1) for word in words), 3])
""": "right",
        """
def my_encode(words, stoi):
    return (2, *[1 if w[:1] == "<" else stoi.get(w, 1) for w in words], 3)
""": "right",
        """
def my_encode(words, stoi):
    return [2] + [stoi.get(word, 1) for word in words] + [3]
""": "a special token in the text",
        """
def my_encode(words, stoi):
    return [2] + [stoi[word] for word in words] + [3]
""": "it raises KeyError",
        """
def my_encode(words, stoi):
    return [2] + [stoi[word] for word in words if word in stoi] + [3]
""": "expected",
        """
def my_encode(words, stoi):
    return [2] + [stoi[w] for w in words if stoi.get(w, 0) > 3] + [3]
""": "do not leave it out",
        """
def my_encode(words, stoi):
    return [stoi.get(word, 1) for word in words]
""": "are missing, and a special token",
        """
def my_encode(words, stoi):
    return [max(stoi.get(word, 1), 1) if stoi.get(word, 1) > 3 else 1 for word in words]
""": "<sos> (2) in front and <eos> (3) at the end are missing",
        ENCODE.replace(" + [3]", ""): "<eos> (3) at the end is missing",
        ENCODE.replace(" [2] +", ""): "<sos> (2) in front is missing",
        ENCODE.replace("2", "3").replace("+ [3", "+ [2"): "yours are swapped",
        ENCODE.replace("else 1", "else 0").replace("1", "0"): "gets 1, not 0",
        """
def my_encode(words, stoi):
    return [2] + [stoi.get(word, 0) for word in words] + [3]
""": "expected",
        """
def my_encode(words, stoi):
    return ["<sos>"] + words + ["<eos>"]
""": "expected",
        """
def my_encode(words, stoi):
    return [2, 4, 1, 5, 3]
""": "expected",
    },
    "my_merge": {
        MERGE.replace("tuple(merged)", "merged"): "right",
        """
def my_merge(subwords, pair):
    if len(subwords) < 2:
        return subwords
    if subwords[:2] == pair:
        return (pair[0] + pair[1],) + my_merge(subwords[2:], pair)
    return subwords[:1] + my_merge(subwords[1:], pair)
""": "right",
        """
def my_merge(subwords, pair):
    text = "".join(f" {s} " for s in subwords)
    a, b = pair
    return tuple(text.replace(f" {a}  {b} ", f" {a}{b} ").split())
""": "right",
        """
def my_merge(subwords, pair):
    return tuple(" ".join(subwords).replace(" ".join(pair), "".join(pair)).split())
""": "compare whole subwords",
        """
def my_merge(subwords, pair):
    merged, i = [], 0
    while i < len(subwords) - 1:
        if (subwords[i], subwords[i + 1]) == pair:
            merged.append(subwords[i] + subwords[i + 1])
            i += 2
        else:
            merged.append(subwords[i])
            i += 1
    return tuple(merged)
""": "the last subword is lost",
        """
def my_merge(subwords, pair):
    return subwords
""": "nothing is joined",
        """
def my_merge(subwords, pair):
    for i in range(len(subwords) - 1):
        if subwords[i : i + 2] == pair:
            return (*subwords[:i], "".join(pair), *subwords[i + 2 :])
    return subwords
""": "only the first pair",
        MERGE.replace(" (", " ").replace(
            ", subword) == pair", ' + subword == "".join(pair)'
        ): "compare both parts",
        """
def my_merge(subwords, pair):
    merged = []
    for i, subword in enumerate(subwords):
        merged.append("".join(pair) if subwords[i : i + 2] == pair else subword)
    return tuple(merged)
""": "skip the second of the pair",
        MERGE.replace(" (", " {").replace(
            ") == pair", "} == set(pair)"
        ): "the order matters",
        """
def my_merge(subwords, pair):
    merged = []
    for subword in subwords:
        if merged and merged[-1][-1] == pair[0] and subword == pair[1]:
            merged[-1] += subword
        else:
            merged.append(subword)
    return tuple(merged)
""": "expected",
        """
def my_merge(subwords, pair):
    return "".join(subwords)
""": "not one text",
        """
def my_merge(subwords, pair):
    return tuple("".join(subwords).replace("".join(pair), "*"))
""": "expected",
    },
    "my_cut": {
        """
def my_cut(word, merges):
    if not merges:
        return tuple("▁" + word)
    return merge(my_cut(word, merges[:-1]), merges[-1])
""": "right",
        """
from functools import reduce
def my_cut(word, merges):
    return list(reduce(merge, merges, ("▁", *word)))
""": "right",
        """
def my_cut(word, merges):
    parts, rank = list("▁" + word), {pair: i for i, pair in enumerate(merges)}
    while True:
        pairs = [pair for pair in pairwise(parts) if pair in rank]
        if not pairs:
            return parts
        parts = list(merge(tuple(parts), min(pairs, key=rank.get)))
""": "right",
        CUT.replace('"▁" + ', ""): "▁ in front is missing",
        CUT.replace(
            "in merges", "in reversed(merges)"
        ): "the order is that in which they were learnt",
        CUT.replace("parts = merge", "merge"): "nothing is merged",
        CUT.replace("parts = merge", "result = merge").replace(
            "return parts", "return result"
        ): "nothing is merged",
        """
def my_cut(word, merges):
    text, known, parts = "▁" + word, {"".join(pair) for pair in merges}, []
    while text:
        n = max(n for n in range(1, len(text) + 1) if n == 1 or text[:n] in known)
        parts.append(text[:n])
        text = text[n:]
    return tuple(parts)
""": "b c was learnt first",
        CUT.replace("tuple(", "").replace("word)", "word"): "expected",
        CUT.replace("in merges", "in sorted(merges)"): "b c was learnt first",
        CUT.replace("return parts", 'return "".join(parts)'): "expected",
        """
def my_cut(word, merges):
    return merge(tuple("▁" + word), merges)
""": "nothing is merged",
        CUT.replace(", pair", ', "".join(pair)'): "give merge the pair itself",
        """
def my_cut(word, merges):
    text = " ".join("▁" + word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return tuple(text.split())
""": "no b is left for a b",
    },
    "my_batches": {
        """
def my_batches(lengths, budget):
    batches, batch = [], []
    for length in lengths:
        if batch and (len(batch) + 1) * length > budget:
            batches.append(batch)
            batch = []
        batch.append(length)
    return batches + [batch] if batch else batches
""": "right",
        """
def my_batches(lengths, budget):
    if not lengths:
        return []
    n = max(k for k in range(1, len(lengths) + 1) if k * lengths[k - 1] <= budget)
    return [lengths[:n]] + my_batches(lengths[n:], budget)
""": "right",
        """
def my_batches(lengths, budget):
    batches, start = [], 0
    for end in range(1, len(lengths) + 1):
        if end == len(lengths) or lengths[end] * (end + 1 - start) > budget:
            batches.append(tuple(lengths[start:end]))
            start = end
    return tuple(batches)
""": "right",
        IN_PLACE.replace("length * (len", "sum").replace(
            "1)", "length"
        ): "not the sum of the lengths",
        IN_PLACE.replace(">", ">="): "may fill the budget exactly",
        IN_PLACE.replace(
            " or length", " or batches[-1][0]"
        ): "take the longest sentence",
        BATCHES.replace(" + [batch]", ""): "the last batch is missing",
        BATCHES: "yours has an empty one",
        IN_PLACE.replace(" [", " [[]").replace(
            " not batches or", ""
        ): "yours has an empty one",
        BATCHES.replace("batch and ", "").replace(
            "batch.", "else:\n            batch."
        ): "is lost",
        IN_PLACE.replace(" (", " ").replace(") + 1", ""): "with the new sentence",
        """
def my_batches(lengths, budget):
    return [[length] for length in lengths]
""": "expected",
        """
def my_batches(lengths, budget):
    n = budget // max(lengths, default=1)
    return [lengths[i : i + n] for i in range(0, len(lengths), n)]
""": "not of all",
        IN_PLACE.replace(" or length", " or batches[-1][-1]"): "not with those before",
        IN_PLACE.replace("length * (", "batches[-1][-1] * ").replace(
            ") + 1", ""
        ): "in the batch, not before",
    },
}
