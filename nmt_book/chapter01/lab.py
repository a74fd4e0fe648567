"""What chapter 01 measures."""

from __future__ import annotations

from nmt_lib.data.tokens import SPECIALS, build_vocab_from_iterator, spacy_words


def lost_words(train: list[str], test: list[str], lang: str, min_freq: int = 1) -> str:
    """How large the vocabulary of a text is, and how many words of another it lacks."""
    cut = spacy_words(lang)
    vocab = build_vocab_from_iterator(map(cut, train), min_freq, SPECIALS)
    words = [word for line in test for word in cut(line)]
    share = sum(word not in vocab for word in words) / len(words)
    return f"{len(vocab):>3} ids, {share:5.1%} of the test words unknown"
