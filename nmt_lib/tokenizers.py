"""Tokenizers: text to ids and back.

Three kinds: words split at spaces, words split by spaCy's rules, and SentencePiece pieces (unigram or BPE).
All of them put the special tokens at the same ids: ``<pad>`` 0, ``<unk>`` 1, ``<sos>`` 2, ``<eos>`` 3.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import json
import random
import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from .errors import CorpusError
from .rows import Pair, as_rows
from .special import EOS, SOS, SPECIALS, UNK
from .vocab import Vocab, build_vocab_from_iterator
from .words import join_words, spacy_words

if TYPE_CHECKING:
    from .config import DataConfig


class Tokenizer(Protocol):
    """What the rest of the library needs of a tokenizer."""

    kind: str
    lowercase: bool
    sos: bool  # whether ``<sos>`` stands before a text; for a source, data.src_specials decides

    def __len__(self) -> int:
        """The size of the vocabulary."""

    def tokenize(self, text: str) -> list[str]:
        """The tokens of a text, without special ones."""

    def encode(self, text: str, sos: bool | None = None, eos: bool = True) -> list[int]:
        """The ids of a text, between ``<sos>`` and ``<eos>`` where asked for; ``sos`` None: as its own ``sos`` says."""

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; ``<pad>``, ``<sos>`` and ``<eos>`` are left out."""

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        """The tokens of ids, special ones included."""

    def dumps(self) -> str:
        """All that there is to it, as JSON; ``load_tokenizer`` reads it from a file."""


Tokenizers = tuple[Tokenizer, Tokenizer]  # of the source and of the target


class WordTokenizer:
    """Words and a ``Vocab``; unknown words get ``<unk>``.

    ``kind`` says where words end: ``"whitespace"`` at spaces, ``"spacy"`` by the rules of ``spacy.blank(lang)``, which
    are those of the ``…_sm`` models without their download. ``lowercase`` folds case before that.
    """

    sos = True

    def __init__(
        self, kind: str, lang: str, vocab: Vocab, lowercase: bool = False
    ) -> None:
        self.kind, self.lang, self.vocab, self.lowercase = kind, lang, vocab, lowercase
        self.vocab.set_default_index(UNK)

    @classmethod
    def train(
        cls, kind: str, lang: str, texts: Iterable[str], min_freq: int, lowercase: bool
    ) -> WordTokenizer:
        """Collects the vocabulary from texts."""
        tokenizer = cls(kind, lang, Vocab(SPECIALS), lowercase)
        words = map(tokenizer.tokenize, texts)
        return cls(
            kind,
            lang,
            build_vocab_from_iterator(words, min_freq, list(SPECIALS)),
            lowercase,
        )

    def __len__(self) -> int:
        return len(self.vocab)

    def tokenize(self, text: str) -> list[str]:
        text = text.lower() if self.lowercase else text
        return (
            text.split() if self.kind == "whitespace" else spacy_words(self.lang)(text)
        )

    def encode(self, text: str, sos: bool | None = None, eos: bool = True) -> list[int]:
        sos = self.sos if sos is None else sos
        ids = self.vocab(self.tokenize(text))
        # A word of the text that looks like a special token is a word: it must not end or pad a sentence.
        return (
            [SOS] * sos
            + [index if index >= len(SPECIALS) else UNK for index in ids]
            + [EOS] * eos
        )

    def decode(self, ids: Iterable[int]) -> str:
        words = [
            self.vocab.lookup_token(index)
            for index in ids
            if index == UNK or index >= len(SPECIALS)
        ]
        return (
            " ".join(words)
            if self.kind == "whitespace"
            else join_words(words, self.lang)
        )

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        return self.vocab.lookup_tokens(ids)

    def dumps(self) -> str:
        fields = {
            "kind": self.kind,
            "lang": self.lang,
            "lowercase": self.lowercase,
            "tokens": self.vocab.get_itos(),
        }
        return json.dumps(fields, ensure_ascii=False, indent=0)


class SentencePieceTokenizer:
    """Pieces of words, learnt from the text itself, so that no word is unknown (Kudo and Richardson, 2018).

    ``kind`` is ``"unigram"`` or ``"bpe"``, ``model`` the serialised SentencePiece model.
    """

    sos = True

    def __init__(self, kind: str, model: bytes, lowercase: bool = False) -> None:
        import sentencepiece

        self.kind, self.model, self.lowercase = kind, model, lowercase
        self.processor = sentencepiece.SentencePieceProcessor(model_proto=model)

    @classmethod
    def train(
        cls,
        kind: str,
        texts: Iterable[str],
        vocab_size: int,
        character_coverage: float,
        lowercase: bool,
    ) -> SentencePieceTokenizer:
        """Learns the pieces from texts. Fewer than ``vocab_size`` come out where the texts hold no more."""
        import sentencepiece

        model = io.BytesIO()
        special: dict[str, Any] = {
            f"{name}_id": index
            for index, name in enumerate(("pad", "unk", "bos", "eos"))
        }
        special |= {
            name.replace("_id", "_piece"): SPECIALS[index]
            for name, index in special.items()
        }
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(
                [text.lower() if lowercase else text for text in texts]
            ),
            model_writer=model,
            model_type=kind,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            hard_vocab_limit=False,
            minloglevel=2,
            **special,
            num_threads=1,  # the same pieces on every machine
        )
        return cls(kind, model.getvalue(), lowercase)

    def __len__(self) -> int:
        return self.processor.get_piece_size()

    def tokenize(self, text: str) -> list[str]:
        return self.processor.encode(
            text.lower() if self.lowercase else text, out_type=str
        )

    def encode(self, text: str, sos: bool | None = None, eos: bool = True) -> list[int]:
        sos = self.sos if sos is None else sos
        return (
            [SOS] * sos
            + self.processor.encode(text.lower() if self.lowercase else text)
            + [EOS] * eos
        )

    @cached_property
    def ranks(self) -> dict[str, int]:
        """The id of each piece; that which was merged first has the lowest."""
        return {
            self.processor.id_to_piece(index): index
            for index in range(len(SPECIALS), len(self))
        }

    def decode(self, ids: Iterable[int]) -> str:
        return self.processor.decode(
            [int(index) for index in ids if index == UNK or index >= len(SPECIALS)]
        )

    def lookup_tokens(self, ids: Iterable[int]) -> list[str]:
        return [self.processor.id_to_piece(index) for index in ids]

    def dumps(self) -> str:
        model = base64.b64encode(zlib.compress(self.model, 9)).decode()
        return json.dumps(
            {"kind": self.kind, "lowercase": self.lowercase, "model": model}
        )


PIECE_SENTENCES = 500_000  # pieces are learnt from at most so many, to bound memory; drawn by data.seed


def build_tokenizers(data: DataConfig, train: Sequence[Pair]) -> Tokenizers:
    """The tokenizers of both languages, made from the *training* pairs only.

    Raises:
        CorpusError: no text, or fewer pieces asked for (``data.vocab_size``) than it has characters.
    """
    most = PIECE_SENTENCES // (1 + data.joint)
    if data.tokenizer in ("unigram", "bpe") and len(train) > most:
        rows = random.Random(data.seed).sample(range(len(train)), most)
        train = as_rows(train).select(sorted(rows))
    if data.joint:
        tgt = _train_one(data, f"{data.src_lang}/{data.tgt_lang}", train, "src", "tgt")
        src = copy.copy(tgt)
    else:
        src, tgt = (
            _train_one(data, data.src_lang, train, "src"),
            _train_one(data, data.tgt_lang, train, "tgt"),
        )
    src.sos = data.src_specials
    return src, tgt


def _train_one(
    data: DataConfig, lang: str, train: Sequence[Pair], *sides: str
) -> Tokenizer:
    sentences = (getattr(pair, side) for side in sides for pair in train)
    if data.tokenizer in ("whitespace", "spacy"):
        return WordTokenizer.train(
            data.tokenizer, lang, sentences, data.min_freq, data.lowercase
        )
    try:
        return SentencePieceTokenizer.train(
            data.tokenizer,
            sentences,
            data.vocab_size,
            data.character_coverage,
            data.lowercase,
        )
    except RuntimeError as error:
        reason = (
            str(error).splitlines()[0].rpartition("] ")[2].strip()
            or "no line has 1 to 4192 bytes of text"
        )
        raise CorpusError(
            f"SentencePiece cannot make {data.vocab_size} pieces (data.vocab_size) from {len(train) * len(sides)} "
            f"sentences of {lang}: {reason}"
        ) from None


def fingerprint(tokenizers: Tokenizers) -> str:
    """A short text that differs as soon as one token has another id."""
    lists = [tokenizer.lookup_tokens(range(len(tokenizer))) for tokenizer in tokenizers]
    return hashlib.sha256(repr(lists).encode()).hexdigest()[:16]
