"""Tokenizers: from text to ids and back.

There are three kinds: words split at spaces, words split by spaCy's rules, and
SentencePiece subwords (unigram or BPE). All give the special tokens the same ids:
``<pad>`` 0, ``<unk>`` 1, ``<sos>`` 2, ``<eos>`` 3.
"""

from __future__ import annotations

import base64
import copy
import io
import json
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Protocol

from ..config import SPACY, DataConfig
from ..errors import CorpusError
from .pairs import Pair
from .tokens import (
    EOS,
    SOS,
    SPECIALS,
    UNK,
    Vocab,
    build_vocab_from_iterator,
    join_words,
    spacy_words,
)


class Tokenizer(Protocol):
    """The interface of a tokenizer; two implementations follow."""

    fold: Callable[[str], str] = str  # applied to a text before anything else
    sos: bool = True  # whether ``<sos>`` comes before a text; see data.src_specials

    def __len__(self) -> int:
        """The size of the vocabulary."""

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text, without special ones."""

    def encode(self, text: str, sos: bool | None = None, eos: bool = True) -> list[int]:
        """The ids of a text, between ``<sos>`` and ``<eos>`` if these are asked for.

        If ``sos`` is None, the tokenizer's attribute ``sos`` decides.
        """
        sos = self.sos if sos is None else sos
        return [SOS] * sos + self.ids(text) + [EOS] * eos

    def ids(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; ``<pad>``, ``<sos>`` and ``<eos>`` are left out."""

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids, special ones included."""

    def dumps(self) -> str:
        """The tokenizer as JSON, which ``load_tokenizer`` reads."""


Tokenizers = tuple[Tokenizer, Tokenizer]  # of the source and of the target


class WordTokenizer(Tokenizer):
    """A tokenizer with words as tokens; unknown words get ``<unk>``.

    ``kind`` decides where words end: with ``"whitespace"`` at spaces, with ``"spacy"``
    by the rules of ``spacy.blank(lang)``, which are those of the ``…_sm`` models and
    need no download.
    """

    def __init__(
        self, kind: str, lang: str, vocab: Vocab, lowercase: bool = False
    ) -> None:
        self.kind, self.lang, self.vocab, self.lowercase = kind, lang, vocab, lowercase
        self.fold = str.lower if lowercase else str
        self.vocab.set_default_index(UNK)

    @classmethod
    def train(
        cls, kind: str, lang: str, texts: Iterable[str], min_freq: int, lowercase: bool
    ) -> WordTokenizer:
        """Collects the vocabulary from texts."""
        split, fold = splitter(kind, lang), str.lower if lowercase else str
        words = (split(fold(text.strip())) for text in texts)
        vocab = build_vocab_from_iterator(words, min_freq, SPECIALS)
        return cls(kind, lang, vocab, lowercase)

    def __len__(self) -> int:
        return len(self.vocab)

    def tokenize(self, text: str) -> list[str]:
        # Double spaces and line breaks are no words, unless the vocabulary holds them.
        words = splitter(self.kind, self.lang)(self.fold(text.strip()))
        return [word for word in words if not word.isspace() or word in self.vocab]

    def ids(self, text: str) -> list[int]:
        # A word that looks like a special token is a word: it must not end a sentence.
        ids = self.vocab(self.tokenize(text))
        return [index if index >= len(SPECIALS) else UNK for index in ids]

    def decode(self, ids: Iterable[int]) -> str:
        words = self.vocab.lookup_tokens(without_specials(ids))
        return join_words(words, self.lang) if self.kind == "spacy" else " ".join(words)

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        return self.vocab.lookup_tokens(ids)

    def dumps(self) -> str:
        fields = {"kind": self.kind, "lang": self.lang, "lowercase": self.lowercase}
        tokens = self.vocab.get_itos()
        return json.dumps(fields | {"tokens": tokens}, ensure_ascii=False)


class SentencePieceTokenizer(Tokenizer):
    """A tokenizer with subwords learnt from the text itself, so that no word is unknown
    (Kudo and Richardson, 2018).

    ``kind`` is ``"unigram"`` or ``"bpe"``; ``model`` is a serialised model.
    """

    def __init__(self, kind: str, model: bytes, lowercase: bool = False) -> None:
        import sentencepiece

        self.kind, self.model, self.lowercase = kind, model, lowercase
        self.fold = str.lower if lowercase else str
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    @classmethod
    def train(
        cls,
        kind: str,
        texts: Iterable[str],
        vocab_size: int,
        character_coverage: float,
        lowercase: bool,
        normalization: str = "nmt_nfkc",
    ) -> SentencePieceTokenizer:
        """Learns the subwords from texts.

        ``normalization`` is SentencePiece's name for the rules that first unify
        characters. The default turns a full-width comma into an ASCII one, so no
        Chinese translation can contain the right comma; ``"identity"`` changes nothing.

        If the texts do not contain ``vocab_size`` subwords, the result has fewer.
        """
        import sentencepiece

        model = io.BytesIO()
        special: dict[str, Any] = {}
        for index, name in enumerate(("pad", "unk", "bos", "eos")):
            special |= {f"{name}_id": index, f"{name}_piece": SPECIALS[index]}
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(t.lower() if lowercase else t for t in texts),
            model_writer=model,
            model_type=kind,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            normalization_rule_name=normalization,
            hard_vocab_limit=False,
            minloglevel=2,
            num_threads=1,  # the same subwords on every machine
            **special,
        )
        return cls(kind, model.getvalue(), lowercase)

    def __len__(self) -> int:
        return self.processor.get_piece_size()

    def tokenize(self, text: str) -> list[str]:
        return self.processor.encode(self.fold(text), out_type=str)

    def ids(self, text: str) -> list[int]:
        return self.processor.encode(self.fold(text))

    def decode(self, ids: Iterable[int]) -> str:
        return self.processor.decode(without_specials(ids))

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        return [self.processor.id_to_piece(index) for index in ids]

    def dumps(self) -> str:
        model = base64.b64encode(zlib.compress(self.model, 9)).decode()
        return json.dumps(
            {"kind": self.kind, "lowercase": self.lowercase, "model": model}
        )

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The id of each subword; the one merged first has the lowest."""
        ids = range(len(SPECIALS), len(self))
        return {self.processor.id_to_piece(index): index for index in ids}

    def sample(self, text: str, share: float, draw: Callable[[], float]) -> list[int]:
        """The ids of a text whose words are split by ``drop_merges``.

        If a character is unknown, these are the ids that ``encode`` gives.
        """
        ids = self.encode(text)
        if UNK in ids:
            return ids
        spelling = "".join(self.lookup_tokens(ids[self.sos : -1]))
        words = re.findall("▁[^▁]{,200}|[^▁]{1,200}", spelling)
        subwords = (s for word in words for s in drop_merges(self, word, share, draw))
        return [SOS] * self.sos + [self.ranks[subword] for subword in subwords] + [EOS]


def drop_merges(
    tokenizer: SentencePieceTokenizer,
    word: str,
    share: float,
    draw: Callable[[], float],
) -> tuple[str, ...]:
    """BPE dropout: a word is split differently each time (Provilkov et al., 2020,
    algorithm 1). Letters are merged, but each step skips some of the possible merges.

    SentencePiece has a sampler as well, but no seed makes it draw the same subwords
    in another process.

    Args:
        share: the probability that a step skips a merge; 0 is the same as ``tokenize``.
        draw: returns a random number from 0 to 1.
    """
    parts = tuple(word)
    while True:
        choices = (i for i in possible_merges(tokenizer, parts) if draw() >= share)
        i = next(choices, None)
        if i is None:
            return parts
        parts = (*parts[:i], parts[i] + parts[i + 1], *parts[i + 2 :])


@lru_cache(maxsize=200_000)
def possible_merges(
    tokenizer: SentencePieceTokenizer, parts: tuple[str, ...]
) -> list[int]:
    """The parts that can merge with the next, in the order of the learnt merges."""
    ranks = [tokenizer.ranks.get(left + right) for left, right in pairwise(parts)]
    return [i for _, i in sorted((r, i) for i, r in enumerate(ranks) if r is not None)]


def without_specials(ids: Iterable[int]) -> list[int]:
    """The ids without special tokens, except for ``<unk>``."""
    return [int(index) for index in ids if index == UNK or index >= len(SPECIALS)]


def load_tokenizer(text: str) -> Tokenizer:
    """The tokenizer that ``dumps`` has written as JSON.

    Raises:
        LookupError, TypeError, ValueError, RuntimeError: something else was written.
    """
    fields = json.loads(text)
    kind, lowercase = fields["kind"], fields["lowercase"]
    tokenizer: Tokenizer
    if "tokens" in fields:
        lang, vocab = fields["lang"], Vocab(fields["tokens"])
        if kind != "whitespace" and lang not in SPACY:
            raise ValueError(f"its words are split by rules for {lang!r}")
        tokenizer = WordTokenizer(kind, lang, vocab, lowercase)
    else:
        zipped, inflate = base64.b64decode(fields["model"]), zlib.decompressobj()
        model = inflate.decompress(zipped, 10 * len(zipped))
        if not inflate.eof:
            raise ValueError("its SentencePiece model is cut off, or far too large")
        tokenizer = SentencePieceTokenizer(kind, model, lowercase)
    tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
    "".join(tokens).encode()  # an error, unless each is text
    return tokenizer


SUBWORD_SENTENCES = 500_000  # to learn subwords from, at most; evenly spaced


def build_tokenizers(data: DataConfig, train: Sequence[Pair]) -> Tokenizers:
    """The tokenizers of both languages, built from the *training* pairs only.

    Raises:
        CorpusError: there is no text, or ``data.vocab_size`` is less than the number of
            its characters.
    """
    if data.joint:
        tgt = _train_one(data, f"{data.src_lang}/{data.tgt_lang}", train, "src", "tgt")
        src = copy.copy(tgt)
    else:
        src = _train_one(data, data.src_lang, train, "src")
        tgt = _train_one(data, data.tgt_lang, train, "tgt")
    src.sos = data.src_specials
    return src, tgt


def _train_one(
    data: DataConfig, lang: str, train: Sequence[Pair], *sides: str
) -> Tokenizer:
    kind, lowercase = data.tokenizer, data.lowercase
    has_words = kind in ("whitespace", "spacy")
    stride = 1 if has_words else 1 + len(train) * len(sides) // SUBWORD_SENTENCES
    texts = (getattr(pair, side) for side in sides for pair in train[::stride])
    if has_words:
        return WordTokenizer.train(kind, lang, texts, data.min_freq, lowercase)
    try:
        return SentencePieceTokenizer.train(
            kind,
            texts,
            data.vocab_size,
            data.character_coverage,
            lowercase,
            data.normalization,
        )
    except RuntimeError as error:
        reason = str(error).splitlines()[0].rpartition("] ")[2].strip()
        raise CorpusError(
            f"SentencePiece cannot make {data.vocab_size} subwords (data.vocab_size) "
            f"from {len(train) * len(sides)} sentences of {lang}: "
            f"{reason or 'no line has 1 to 4192 bytes of text'}"
        ) from None


def splitter(kind: str, lang: str) -> Callable[[str], list[str]]:
    """The function with which ``WordTokenizer`` splits a text into words."""
    return str.split if kind == "whitespace" else spacy_words(lang)
