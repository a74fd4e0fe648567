"""The exercises of chapter 01, tokenization."""

from itertools import pairwise

from ..cases import ONE_ROUND
from ..exercise.exercise import exercise

SPECIAL = {"<pad>": 0, "<unk>": 1, "<sos>": 2, "<eos>": 3}
SMALL = {**SPECIAL, "a": 4, "dog": 5}
OTHER = {**SPECIAL, "dog": 4, "<b>": 5, "the": 6, "a": 7, "sees": 8}

NO_ENDS = "<sos> (2) in front and <eos> (3) at the end are missing"
ONLY_A_WORD = "a special token in the text must become <unk>, 1: it is only a word"
LEFT_OUT = "an unknown word gets 1; do not leave it out"


IDS = "[index if index > 3 else 1 for index in ids]"
FIRST = "in words → in words[:1]"


@exercise(
    "The ids of a list of words, with <sos> in front and <eos> at the end.",
    cases={
        "an unknown word": (["a", "big", "dog"], SMALL),
        "<eos>, <unk> and <sos> in the text": (
            ["dog", "<eos>", "a", "<unk>", "<sos>"],
            SMALL,
        ),
        "only <pad>, in another table": (["<pad>"], OTHER),
        "a table with <b>, and with the, but not The": (
            ["The", "dog", "<b>", "a", "cat"],
            OTHER,
        ),
        "no word": ([], OTHER),
    },
    mistakes={
        ONLY_A_WORD: f"{IDS} → ids",
        f"{NO_ENDS}, and {ONLY_A_WORD}": "[stoi.get(word, 1) for word in words]",
        NO_ENDS: ("[2] + →", "+ [3] →"),
        "<eos> (3) at the end is missing": ["+ [3] →", ("+ [3] →", f"{IDS} → ids")],
        "<sos> (2) in front is missing": ["[2] + →", ("[2] + →", f"{IDS} → ids")],
        "<sos> is 2 and <eos> is 3; yours are swapped": (
            "[2] + → [3] +",
            "+ [3] → + [2]",
        ),
        LEFT_OUT: "in words → in words if stoi.get(word, 0) > 3",
        f"{LEFT_OUT}, and {ONLY_A_WORD}": (
            "[2, *(stoi[word] for word in words if word in stoi), 3]"
        ),
        "a special token in the text gets 1; do not leave it out": (
            "[2, *(stoi.get(word, 1) for word in words if word not in SPECIAL), 3]"
        ),
        "an unknown word gets 1, not 0": [
            "[2, *(stoi.get(word, 0) for word in words), 3]",
            (
                "stoi.get(word, 1) → 1 if word in SPECIAL else stoi.get(word, 0)",
                f"{IDS} → ids",
            ),
            "1 → 0",
        ],
        "stoi has no unknown word: stoi.get(word, 1) gives 1 for it": [
            "[2, *(stoi[word] for word in words), 3]",
            "[2, *(stoi.get(word) for word in words), 3]",
            "stoi.get(word, 1) → stoi[word]",
            "get(word, 1) → get(word)",
        ],
        "`>` compares with the ids of words: the first word has 4": "> 3 → > 4",
        "<eos>, 3, must not stay in the text either": "> 3 → >= 3",
        "<pad>, <unk>, <sos> and <eos> are special tokens: all ids from 0 to 3": [
            f"{IDS} → [1 if index in {some} else index for index in ids]"
            for some in ((2, 3), (1, 3), (0, 3), (0, 1, 3))
        ],
        "The and the are two words: change no letter": "get(word, → get(word.lower(),",
        "put 2 and 3 around the ids at the end: yours have become 1": (
            "[2] → [1]",
            "[3] → [1]",
        ),
        "<b> is a word: a special token is one whose id is 0 to 3": (
            "[2, *(1 if '<' in word else stoi.get(word, 1) for word in words), 3]"
        ),
        "these are tokens: give their ids": "['<sos>', *words, '<eos>']",
        ONE_ROUND: [
            (FIRST, "+ [3] → + [3] if words else None"),
            (FIRST, f"{IDS} → ids", "+ [3] → + [3] if words else None"),
            (FIRST, "+ [3] → if words else None"),
        ],
    },
    hints=(
        "Three kinds of words: those with an id above 3, those that stoi does not "
        "have, and those that look like <eos>. Which two get 1?",
        "`stoi.get(word, 1)` gives the id, or 1. Then turn what is at most 3 into 1, "
        "and put 2 and 3 around the list last of all.",
    ),
    says="unknown words become 1, and nothing in the text ends the sentence",
    difficulty=1,
    importance=2,
    minutes=5,
    part="encode",
)
def my_encode(words, stoi):
    ids = [stoi.get(word, 1) for word in words]
    return [2] + [index if index > 3 else 1 for index in ids] + [3]


UN = ("u", "n")


def _first_pair(subwords, pair):
    for i, both in enumerate(pairwise(subwords)):
        if both == pair:
            return *subwords[:i], "".join(pair), *subwords[i + 2 :]
    return subwords


def _joined(fits, first_stays=False):
    """Goes through the subwords; joins where ``fits(merged, part, before, pair)``."""

    def my_merge(subwords, pair):
        merged, before = [], ""
        for part in subwords:
            if merged and fits(merged[-1], part, before, pair):
                merged[len(merged) if first_stays else -1 :] = [merged[-1] + part]
            else:
                merged.append(part)
            before = part
        return tuple(merged)

    return my_merge


SLICE = "tuple(subwords[i : i + 2]) == pair"


@exercise(
    "Joins every two neighbours that form the pair, from left to right.",
    cases={
        "the pair occurs twice": (tuple("▁unrun"), UN),
        "n a, then a n": (tuple("▁naan"), ("n", "a")),
        "three a in a row": (tuple("▁aaab"), ("a", "a")),
        "ru and n are not u and n": (("▁", "ru", "n", "un"), UN),
        "ab and c are not a and bc": (("ab", "c", "a", "bc"), ("a", "bc")),
        "a single subword": (("▁day",), ("d", "ay")),
    },
    mistakes={
        "the last subword is lost when it does not belong to the pair": (
            "len(subwords): → len(subwords) - 1:"
        ),
        "the last subword is lost; and one that has been joined is used up: skip it": (
            "len(subwords): → len(subwords) - 1:",
            "+= size → += 1",
        ),
        "nothing is joined (a list, or a part of one, never equals a tuple: compare "
        "tuples)": "2 if → 1 if",
        "only the first pair is joined": _first_pair,
        "a subword that has been joined is used up: skip the second of the pair": (
            "+= size → += 1"
        ),
        "subwords are lost: go on by 2 only after a pair": "+= size → += 2",
        "the first of the pair must go, too: u n becomes un, not u un": [
            "merged.append → merged += subwords[i : i + size - 1]; merged.append",
            _joined(lambda last, part, before, pair: (before, part) == pair, True),
        ],
        "the order matters: n u is another pair than u n": [
            f"{SLICE} → set(subwords[i : i + 2]) == set(pair)",
            f"{SLICE} → sorted(subwords[i : i + 2]) == sorted(pair)",
        ],
        "compare both subwords: the first alone does not make the pair": (
            f"{SLICE} → subwords[i] == pair[0]"
        ),
        "compare whole subwords: ru and n are not the pair u n": [
            "(*' '.join(subwords).replace(' '.join(pair), ''.join(pair)).split(),)",
            _joined(lambda a, b, before, pair: (a[-1], b) == pair),
            _joined(lambda a, b, before, pair: a.endswith(pair[0]) and b == pair[1]),
        ],
        "compare both parts: ab and c are not the pair a and bc": (
            f'{SLICE} → "".join(subwords[i : i + 2]) == "".join(pair)'
        ),
        "aaa with the pair a a is aa a: a joined subword cannot be joined again": (
            _joined(lambda last, part, before, pair: (before, part) == pair)
        ),
        "go from left to right: aaa with the pair a a is aa a, not a aa": (
            "= [], 0 → = [], 0; subwords, pair = subwords[::-1], pair[::-1]",
            "subwords[i : i + size]) → subwords[i : i + size][::-1])",
            "tuple(merged) → tuple(merged[::-1])",
        ),
        "return a tuple of subwords, not one text": [
            'tuple(merged) → "".join(merged)',
            'tuple(merged) → " ".join(merged)',
        ],
        "join the two into one text: yours stay apart": [
            '"".join(subwords[i : i + size]) → subwords[i : i + size]',
            '"".join(subwords[i : i + size]) → pair if size == 2 else subwords[i]',
            '"".join → " ".join',
        ],
        ONE_ROUND: "    return →         return",
        "the last subword has no neighbour: an index goes past the end": (
            f"{SLICE} → (subwords[i], subwords[i + 1]) == pair"
        ),
    },
    hints=(
        "How far do you move on after a pair, and how far after a single subword?",
        "`while i < len(subwords):` and inside, is `tuple(subwords[i : i + 2]) == "
        "pair`?",
    ),
    says="each pair becomes one subword",
    difficulty=2,
    importance=3,
    minutes=10,
    part="merge",
    fixed=(1,),
)
def my_merge(subwords, pair):
    merged, i = [], 0
    while i < len(subwords):
        size = 2 if tuple(subwords[i : i + 2]) == pair else 1
        merged.append("".join(subwords[i : i + size]))
        i += size
    return tuple(merged)


merge = my_merge.right  # the page has it, too
LEARNT = [UN, ("a", "y"), ("▁", "s"), ("▁s", "un"), ("d", "ay"), ("▁", "day")]


def _longest_first(word, merges):
    text, known, parts = "▁" + word, {"".join(pair) for pair in merges}, []
    while text:
        n = max(n for n in range(1, len(text) + 1) if n == 1 or text[:n] in known)
        parts.append(text[:n])
        text = text[n:]
    return parts


def _leftmost(word, merges):
    parts = tuple("▁" + word)
    while known := [pair for pair in pairwise(parts) if pair in merges]:
        parts = merge(parts, known[0])
    return parts


def _by_text(word, merges):
    parts, known = list("▁" + word), ["".join(pair) for pair in merges]
    while candidates := [pair for pair in pairwise(parts) if "".join(pair) in known]:
        parts = merge(
            parts, min(candidates, key=lambda pair: known.index("".join(pair)))
        )
    return parts


def _replaced(word, merges):
    text = " ".join("▁" + word)
    for pair in merges:
        text = text.replace(" ".join(pair), "".join(pair))
    return text.split()


@exercise(
    "Cuts a word with merges that are learnt already.",
    cases={
        "a known word": ("sunday", LEARNT),
        "a new word": ("mayday", LEARNT),
        "no pair in it": ("is", LEARNT),
        "a word that needs the last merge": ("day", LEARNT),
        "a b was learnt before z a": ("zab", [("a", "b"), ("z", "a")]),
        "z a was learnt before a b": ("zab", [("z", "a"), ("a", "b")]),
        "b c, then a b, then ab c": ("abc", [("b", "c"), ("a", "b"), ("ab", "c")]),
        "b c, then a b, then a bc": ("abc", [("b", "c"), ("a", "b"), ("a", "bc")]),
        "a capital letter, and a seventh merge": ("Sundays", [*LEARNT, ("day", "s")]),
    },
    mistakes={
        "▁ in front is missing": '"▁" +  →',
        "▁ marks where the word starts, so it goes in front": '"▁" + word → word + "▁"',
        "the order is that in which they were learnt, the first one first": (
            "in merges → in reversed(merges)"
        ),
        "keep the list in its order: sorting puts other merges first": (
            "in merges → in sorted(merges)"
        ),
        "don't look for the longest subwords: do the merges in their order": (
            _longest_first
        ),
        "do the first merge of the list first, not the leftmost pair that is in it": (
            _leftmost
        ),
        "merges with ▁ are never done: is it there before the first merge?": (
            '"▁" + →',
            'return subwords → return "▁", *subwords',
        ),
        "▁ is a character of its own, not the underscore": "▁ → _",
        "join only pairs of the list: a bc is none, though ab c is one": (_by_text),
        "compare whole subwords: `replace` joins a b in za b, too": _replaced,
        "nothing is merged: give merge the pair, and go on with what it returns": (
            "subwords = merge → merge"
        ),
        "go on with what merge returned: yours begins again with the characters": (
            "merge(tuple('▁' + word), merges[-1])"
        ),
        ONE_ROUND: "    return →         return",
        "return the subwords, not one text": [
            'return subwords → return "".join(subwords)',
            'return subwords → return " ".join(subwords)',
        ],
    },
    hints=(
        "What is there before the first merge? And which tuple does the second merge "
        "get?",
        'Begin with `subwords = tuple("▁" + word)`, and for each pair put what `merge` '
        "returns in its place.",
    ),
    says="the merges are done in the order in which they were learnt",
    difficulty=1,
    importance=2,
    minutes=5,
    part="cut",
)
def my_cut(word, merges):
    subwords = tuple("▁" + word)
    for pair in merges:
        subwords = merge(subwords, pair)
    return subwords
