"""What chapter 08 measures: toys to search in, and caches that forget."""

from unittest import mock

import torch

import nmt_lib as nmt
from nmt_lib.translate.search import Scorer

WOMEN = (
    "Two young women in colorful dresses are laughing and holding hands while they "
    "walk across a crowded street."
)
DUCKS = (
    "An elderly couple is sitting on a bench near the lake and feeding the ducks with "
    "old bread from a paper bag."
)
toy = {  # the words so far → each next word → its probability
    "": {"le": 0.6, "un": 0.4},
    "le": {"chien": 0.45, "chat": 0.55},
    "un": {"chien": 0.9, "chat": 0.1},
    "le chat": {"dort": 0.55, "court": 0.45},
    "le chien": {"dort": 0.6, "court": 0.4},
    "un chat": {"court": 0.3, "dort": 0.7},
    "un chien": {"court": 0.9, "dort": 0.1},
}


def as_model(choices):
    """A toy as a search sees it: its tokens, and its ``next_log_probs(ids)``, (V,).

    A complete sentence is followed by ``<eos>``.
    """
    words = (word for follows in choices.values() for word in follows)
    tokens = [*nmt.SPECIALS, *dict.fromkeys(words)]

    def next_log_probs(ids):
        follows = choices.get(" ".join(tokens[i] for i in ids), {"<eos>": 1.0})
        return torch.tensor([follows.get(token, 0.0) for token in tokens]).log()  # (V,)

    return tokens, next_log_probs


def searched(translator, text, K, steps):
    """What ``plot_beam`` draws: candidates of some steps, words, the best ids."""
    src, trace = torch.tensor([translator.encode(text)]), []
    hypotheses = nmt.beam_search(translator.model, src, K, alpha=0.0, trace=trace)[0]
    trace = [candidate for candidate in trace if candidate.step <= steps]
    return trace, translator.tgt_tokenizer.lookup_tokens, hypotheses[0].ids


def forgetful_caches():
    """While this context lasts, cached keys stay where they are when prefixes move.

    Sentences that leave the batch still leave the caches.
    """
    select = Scorer.select

    def forgetful(scorer, rows, sources=True):
        if sources:
            select(scorer, rows)

    return mock.patch.object(Scorer, "select", forgetful)
