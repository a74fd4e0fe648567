"""The exercises of chapter 08, inference."""

import math
from collections import Counter

import torch

import nmt_lib as nmt

from ..exercise.exercise import exercise


class HoldsSos(RuntimeError):
    """The model adds ``<sos>`` itself."""


class NoLimit(RuntimeError):
    """The model is asked for more words than the limit."""


class NeverStops(RuntimeError):
    """The model is asked again and again after ``<eos>``."""


class NeverGrows(RuntimeError):
    """The model is asked the same again and again."""


def _played(answer, V, story, then, limit):
    """By a model of V tokens that wants these ids, and after them always ``then``."""
    asked = Counter()

    def next_log_probs(so_far):
        ids = tuple(map(int, so_far))
        if nmt.SOS in ids:
            raise HoldsSos("so_far should not hold <sos>: the model adds it")
        if len(ids) > limit + 1:
            raise NoLimit("the model is asked for more words than the limit")
        follows = ids == tuple(story[: len(ids)])
        wish = [*story, *[then] * 99][len(ids)] if follows else V - 1
        asked[ids] += 1
        if wish == nmt.EOS and asked[ids] > 3:
            raise NeverStops("it keeps asking after <eos>")
        if asked[ids] > limit + 3:
            raise NeverGrows("it never ends: so_far does not grow")
        p = torch.arange(V, 0, -1) / 100  # (V,)
        p[wish] = 0.64
        return p.log()

    found = answer(next_log_probs, limit)
    return found if found is None or found is ... else list(found)


TOKEN = "int(next_log_probs(written).argmax())"
STOP = "            break\n"
APPEND = "        written.append(token)\n"


@exercise(
    "Greedy search: the most likely word at each step.",
    cases={
        "a sentence of four words": (8, [5, 4, 4, 6], nmt.EOS, 6),
        "a sentence that does not end": (8, [5, 4, 6, 6, 5, 4], 4, 5),
        "<eos> at once, and a limit of 9": (12, [], nmt.EOS, 9),
        "<unk> in it, and longer than a limit of 4": (12, [9, 9, 1, 10, 7], nmt.EOS, 4),
    },
    mistakes={
        "<eos> should not be in the list": f"{STOP} →     {APPEND}{STOP}",
        "<sos> should not be in the list": (
            "return written → return [nmt.SOS, *written]"
        ),
        "so_far should not hold <sos>: the model adds it": "= [] → = [nmt.SOS]",
        "the step does not see the words written so far": "probs(written) → probs([])",
        "the step gets all words written so far, not the last one alone": (
            "probs(written) → probs(written[-1:])"
        ),
        "the last word before the limit is missing": [
            "< limit → < limit - 1",
            (f"{STOP} →     {APPEND}{STOP}", "return written → return written[:-1]"),
        ],
        "it goes one word beyond the limit": "< limit → <= limit",
        "the limit is not used: nothing forces a model to write <eos>": (
            "len(written) < limit → True"
        ),
        "it keeps asking after <eos>: stop there": f"{STOP} →             continue\n",
        "it goes on after <eos>": f"        if token == nmt.EOS:\n{STOP} →",
        "stop at <eos>: taking it out of the list afterwards leaves what follows it": (
            f"        if token == nmt.EOS:\n{STOP} →",
            "return written → return [i for i in written if i != nmt.EOS]",
        ),
        "it never ends, because the list does not grow": f"{APPEND} →",
        "it takes the least likely word": "argmax → argmin",
        "take the most likely word; don't draw one": (
            ".argmax() → .exp().multinomial(1)"
        ),
        "max is the value; argmax is its index": [
            "argmax → max",
            f"{TOKEN} → next_log_probs(written).max()",
        ],
        "at <eos> it returns that id, not the list": (
            f"{STOP} →             return [token]\n"
        ),
        "at the limit it returns nothing: return the list there, too": (
            f"{STOP} →             return written\n",
            "(token)\n    return written → (token)",
        ),
        "return the ids alone, without their log-probability": (
            "return written → return written, 0.0"
        ),
    },
    hints=(
        "A loop with two ends: <eos>, or as many words as the limit. What does "
        "next_log_probs need each time?",
        "`token = int(next_log_probs(written).argmax())`, with `written` a list of ids "
        "that is empty at first.",
    ),
    says="it stops at <eos> or at the limit, whatever comes first",
    difficulty=1,
    importance=3,
    minutes=6,
    part="greedy",
    call=_played,
)
def my_greedy(next_log_probs, limit):
    written = []
    while len(written) < limit:
        token = int(next_log_probs(written).argmax())
        if token == nmt.EOS:
            break
        written.append(token)
    return written


class NotAKey(RuntimeError):
    """The page could not look these ids up in a dict."""


def _is_key(ids):
    return isinstance(ids, tuple) and hash(ids) == hash(tuple(map(int, ids)))


def _tidy(answer, table, beam, K):
    """Both lists with their best pair first, whatever the order in which they came."""

    def next_log_probs(ids):
        return torch.tensor(table[tuple(map(int, ids))]).log()  # (V,)

    found = answer(beam, next_log_probs, K)
    if found is None or found is ... or found == (None, None):
        return found
    try:
        going, finished = (list(part) for part in found)
        if not all(_is_key(ids) for ids, _ in going + finished):
            raise NotAKey(
                "a pair is (ids, total), the ids a tuple of whole numbers, (*ids, i)"
            )
        return tuple(
            sorted(
                (((*map(int, ids),), float(total)) for ids, total in part),
                key=lambda pair: -pair[1],
            )
            for part in (going, finished)
        )
    except (TypeError, ValueError):
        return "no two lists of pairs"


SIX = {  # ids → p of each next id
    (4,): [0.01, 0.02, 0.03, 0.25, 0.29, 0.4],
    (5,): [0.01, 0.02, 0.03, 0.55, 0.28, 0.11],
    (6,): [0.01, 0.02, 0.03, 0.04, 0.83, 0.07],
}
EIGHT = {
    (5, 7): [0.0, 0.31, 0.0, 0.12, 0.05, 0.1, 0.2, 0.22],
    (6, 1): [0.0, 0.6, 0.0, 0.02, 0.08, 0.09, 0.1, 0.11],
    (): [0.0, 0.12, 0.0, 0.02, 0.38, 0.33, 0.1, 0.05],
}
ENDS = "for c in best if c[0][-1] == nmt.EOS"
GOES = "for c in best if c[0][-1] != nmt.EOS][:K]"
BEST = "sorted(candidates, key=lambda c: -c[1])[: 2 * K]"


def _kept(n, cut=None):
    """The best ``n(K)`` extensions of each prefix, then the best ``cut(K)`` of all."""

    def my_beam_step(beam, next_log_probs, K):
        candidates = []
        for ids, total in beam:
            own = [
                ((*ids, i), total + p)
                for i, p in enumerate(next_log_probs(ids).tolist())
            ]
            candidates += sorted(own, key=lambda c: -c[1])[: n(K)]
        candidates.sort(key=lambda c: -c[1])
        best = candidates[: cut(K)] if cut else candidates
        finished = [c for c in best if c[0][-1] == nmt.EOS]
        return [c for c in best if c[0][-1] != nmt.EOS][:K], finished

    return my_beam_step


TOGETHER = "the best 2K of all prefixes together, not the best of each"


@exercise(
    "One step of beam search: extend, keep the best 2K, set apart what has finished.",
    cases={
        "two prefixes": (SIX, [((4,), math.log(0.5)), ((5,), math.log(0.3))], 2),
        "one of them nearly certain": (
            SIX,
            [((4,), math.log(0.4)), ((6,), math.log(0.35))],
            2,
        ),
        "K = 1": (SIX, [((5,), -1.0)], 1),
        "one prefix far behind": (
            SIX,
            [((4,), math.log(0.6)), ((6,), math.log(0.05))],
            2,
        ),
        "a prefix of two ids ends": (
            {(4, 6): SIX[5,], (5, 4): SIX[4,]},
            [((4, 6), math.log(0.5)), ((5, 4), math.log(0.3))],
            2,
        ),
        "K = 3, and the sixth best has ended": (
            {(9,): [0.02, 0.01, 0.03, 0.05, 0.3, 0.2, 0.15, 0.14, 0.1]},
            [((9,), -0.5)],
            3,
        ),
        "K = 3, and the seventh best has ended": (
            {(9,): [0.02, 0.01, 0.05, 0.03, 0.3, 0.2, 0.15, 0.14, 0.1]},
            [((9,), -0.5)],
            3,
        ),
        "K = 3, <unk> is the most likely": (
            EIGHT,
            [((5, 7), math.log(0.45)), ((6, 1), math.log(0.3)), ((), -2.5)],
            3,
        ),
    },
    mistakes={
        "look at the best 2K, not K: too few continue": "2 * K → K",
        "only an <eos> among the best 2K of all extensions has finished": [
            _kept(lambda K: 2 * K),
            f"{ENDS} → for c in candidates if c[0][-1] == nmt.EOS",
            ": 2 * K → :",
        ],
        "add to the total so far": "total + log_prob → log_prob",
        "a pair is (ids, total), the ids a tuple of whole numbers, (*ids, i)": [
            "(*ids, token) → [*ids, token]",
            "(*ids, token) → (*ids, torch.tensor(token))",
        ],
        "no division by the length here: the page's loop compares the plain totals": (
            "total + log_prob → (total + log_prob) / (len(ids) + 1)"
        ),
        "K prefixes continue, whatever has finished": "[:K] → [: K - len(finished)]",
        "log-probabilities are added, not multiplied": "total + log → total * log",
        "add log-probabilities as they are, without exp": (
            "total + log_prob → total + math.exp(log_prob)"
        ),
        TOGETHER: [
            _kept(lambda K: 1),
            _kept(lambda K: K, lambda K: 2 * K),
            _kept(lambda K: K),
        ],
        "what has ended should not continue": " if c[0][-1] != nmt.EOS →",
        "the next beam has K prefixes at most": "EOS][:K] → EOS]",
        "the next beam has K prefixes, not K + 1": "[:K] → [: K + 1]",
        "<eos> takes no slot of the next beam: first leave it out, then take K": (
            f"{GOES} → for c in best[:K] if c[0][-1] != nmt.EOS]"
        ),
        "the two lists are swapped: the next beam comes first": (
            f"return [c {GOES}, finished → return finished, [c {GOES}"
        ),
        "a finished pair keeps its <eos>, as its last id": (
            f"[c {ENDS}] → [(c[0][:-1], c[1]) {ENDS}]"
        ),
        "the best are the largest totals: sort downwards": "-c[1] → c[1]",
        "sort the extensions before you cut": f"{BEST} → candidates[: 2 * K]",
        "sort by the total, which comes second in a pair": (
            "key=lambda c: -c[1] → reverse=True"
        ),
        "an extension has all its ids, not the new one alone": (
            "(*ids, token) → (token,)"
        ),
        "extend each prefix of the beam, not the first or last one alone": [
            "in beam: → in beam[:1]:",
            "in beam: → in beam[-1:]:",
        ],
        "any id may be next, <unk>, too: what must not be next has log 0 = −∞": (
            "for token, log_prob in "
            "enumerate(next_log_probs(ids).tolist()): → for token, "
            "log_prob in "
            "list(enumerate(next_log_probs(ids).tolist()))[3:]:"
        ),
        "return two lists of pairs, each pair (ids, total)": [
            "[:K], finished → [:K] + finished",
            "[:K], finished → [:K]",
        ],
    },
    hints=(
        "Three parts: all extensions of all prefixes in one list; the best 2K of it; "
        "two lists, by their last id.",
        "An extension is `((*ids, token), total + log_prob)`; with V tokens there are "
        "len(beam) · V of them.",
    ),
    says="the loop below can use it",
    difficulty=3,
    importance=3,
    minutes=12,
    part="beam_step",
    call=_tidy,
)
def my_beam_step(beam, next_log_probs, K):
    candidates = []
    for ids, total in beam:
        for token, log_prob in enumerate(next_log_probs(ids).tolist()):
            candidates.append(((*ids, token), total + log_prob))
    best = sorted(candidates, key=lambda c: -c[1])[: 2 * K]
    finished = [c for c in best if c[0][-1] == nmt.EOS]
    return [c for c in best if c[0][-1] != nmt.EOS][:K], finished
