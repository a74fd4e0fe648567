"""Evaluation: how good translations are, in numbers that others can reproduce.

BLEU and chrF come from sacrebleu, with the signature that says how they were computed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from ..data.batches import Example, example_lengths, make_batch, token_batches
from ..data.corpora import Contrast
from ..data.pairs import Pair, as_pairs, references_by_source
from ..data.tokens import PAD
from ..errors import CorpusError, ShapeError, check_kind
from ..training.loss import evaluation_mode
from .search import check_number
from .translator import Translation, Translator


@dataclass(frozen=True)
class Evaluation:
    """Scores over a list of pairs.

    ``bleu`` and ``chrf`` run from 0 to 100; ``perplexity`` is exp of the loss per
    *token*, so compare it only between models with the same target tokens; ``exact`` is
    the fraction of sources whose translation equals a reference. ``translations`` has
    one for each pair.
    """

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    perplexity: float
    exact: float
    translations: list[Translation]


def evaluate(
    translator: Translator,
    pairs: Sequence[Pair | tuple[str, str]],
    beam_size: int | None = None,
    tokenize: str | None = None,
) -> Evaluation:
    """Scores of a translator, whose translations are compared with the targets.

    A source that occurs in several pairs is scored once, with all its references.

    Args:
        translator: the model to evaluate.
        pairs: sources with their reference translations, also as plain tuples.
        beam_size: default: the config's.
        tokenize: sacrebleu's tokeniser; default: the one for the target language
            (``bleu_tokenizer``); ``"none"`` for text that is already tokenised.

    Raises:
        CorpusError: no pairs.
    """
    from sacrebleu.metrics import BLEU, CHRF

    check_kind(translator, Translator)
    tokenize = tokenize or bleu_tokenizer(translator.config.data.tgt_lang)
    pairs = as_pairs(pairs)
    surprise = perplexity(translator, pairs)
    references = references_by_source(pairs)
    sources = list(references)
    translations = translator.translate(sources, beam_size=beam_size)
    by_source = dict(zip(sources, translations, strict=True))
    texts = [t.text for t in translations]
    # sacrebleu takes the first reference of each source, then the second of each …
    streams = list(zip_longest(*references.values()))
    bleu, chrf = BLEU(tokenize=tokenize, force=True), CHRF()
    right = sum(map(list.__contains__, references.values(), texts))
    return Evaluation(
        bleu=bleu.corpus_score(texts, streams).score,
        bleu_signature=str(bleu.get_signature()),
        chrf=chrf.corpus_score(texts, streams).score,
        chrf_signature=str(chrf.get_signature()),
        perplexity=surprise,
        exact=right / len(sources),
        translations=[by_source[pair.src] for pair in pairs],
    )


# Languages that BLEU splits into characters, by codes of two and of three letters.
CHINESE = {"zh", "zho", "chi", "cmn", "yue", "lzh"}
BY_CHARACTER = {"ja", "jpn", "ko", "kor", "th", "tha", "lo", "lao", "km", "khm"}
BY_CHARACTER |= {"my", "mya", "bur", "bo", "bod", "tib"}


def bleu_tokenizer(lang: str) -> str:
    """sacrebleu's tokeniser for a target language.

    Its default, 13a, splits at spaces. It takes a Chinese sentence for a single word,
    and a translation with one wrong character would score nothing.
    """
    code = lang.replace("_", "-").partition("-")[0]
    return "zh" if code in CHINESE else "char" if code in BY_CHARACTER else "13a"


def perplexity(translator: Translator, pairs: Sequence[Pair]) -> float:
    """Perplexity of the references: exp of the mean loss of a target token, in nats.

    Each token has the same weight.
    """
    if not pairs:
        raise CorpusError("nothing to evaluate: the list of pairs is empty")
    encode = translator.tgt_tokenizer.encode
    n_tokens = sum(len(encode(pair.tgt, sos=False)) for pair in pairs)  # with <eos>
    loss = -sum(sentence_log_probs(translator, pairs)) / n_tokens
    return math.exp(min(700.0, loss))


@torch.no_grad()
def sentence_log_probs(translator: Translator, pairs: Sequence[Pair]) -> list[float]:
    """log P(target | source) of each pair, in nats, summed over the target's tokens.

    ``<eos>`` counts, and dropout is off. The model reads the targets, so any text can
    be scored. Each token lowers the sum, so compare only targets of the same source
    and of about the same length.

    Args:
        translator: the model that scores the targets.
        pairs: sources, each with the target to score.

    Returns:
        One number for each pair, in the same order; 0 means that the model is certain.
    """
    model, pairs = translator.model, as_pairs(pairs)
    log_probs = [0.0] * len(pairs)
    empty = translator.src_tokenizer.encode("")  # special tokens only
    sources = [translator.encode(pair.src) or empty for pair in pairs]
    targets = [translator.tgt_tokenizer.encode(pair.tgt) for pair in pairs]
    examples: list[Example] = list(zip(sources, targets, strict=True))
    lengths = example_lengths(examples)
    for rows in token_batches(lengths, batch_tokens=2048, seed=0, alone=True):
        batch = make_batch(examples, rows).to(model.output.weight.device)
        with evaluation_mode(model):
            logits = model(batch.src, batch.tgt_in)  # (B, T, V)
        table = logits.float().log_softmax(-1)  # (B, T, V)
        log_p = table.gather(-1, batch.tgt_out[:, :, None])[:, :, 0]  # (B, T)
        sums = log_p.masked_fill(batch.tgt_out == PAD, 0.0).sum(-1)  # (B,)
        for i, value in zip(rows, sums.tolist(), strict=True):
            check_number(value)
            log_probs[i] = value
    return log_probs


def contrastive_accuracy(
    translator: Translator, contrasts: Sequence[Contrast]
) -> float:
    """Contrastive accuracy: how often the right translation is the more likely one.

    Guessing gives 0.5.

    Raises:
        CorpusError: no contrasts.
    """
    if not contrasts:
        raise CorpusError("nothing to compare: the list of contrasts is empty")
    right, wrong = (
        sentence_log_probs(
            translator, [Pair(c.src, getattr(c, side)) for c in contrasts]
        )
        for side in ("right", "wrong")
    )
    return sum(a > b for a, b in zip(right, wrong, strict=True)) / len(contrasts)


def alignment_error_rate(
    weights: Tensor, gold: Sequence[tuple[int, int]], src_offset: int = 1
) -> float:
    """Alignment error rate (Och and Ney, 2003, all links sure), if each target word is
    linked to the source word with the largest weight.

    Args:
        weights: ``(T, S)`` cross-attention of one head, with a row for each target
            word; leave out that of ``<eos>`` (``weights[:-1]``).
        gold: links (source word, target word), counted from 0 without special tokens;
            one that is repeated counts once.
        src_offset: how many special tokens come before the first source word.

    Returns:
        From 0 (every link right) to 1 (none right):
        1 − 2 |predicted ∩ gold| / (|predicted| + |gold|).

    Raises:
        ShapeError: the weights of more than one head.
        ValueError: no gold links, or links beyond the rows or columns.
    """
    if weights.dim() != 2:
        raise ShapeError(f"one head's weights are (T, S), not {tuple(weights.shape)}")
    links = {(int(source), int(target)) for source, target in gold}
    if not links:
        raise ValueError("there are no gold links to compare with")
    n_words, n_columns = len(weights), weights.size(1) - src_offset
    in_range = (0 <= s < n_columns and 0 <= t < n_words for s, t in links)
    if not all(in_range):
        raise ValueError(
            "the gold links name words beyond the rows and columns of the weights, "
            f"{tuple(weights.shape)}"
        )
    predicted = {(int(weights[t].argmax()) - src_offset, t) for t in range(n_words)}
    return 1 - 2 * len(predicted & links) / (len(predicted) + len(links))
