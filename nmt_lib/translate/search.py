"""Decoding: from a trained model to a translation, greedily or with a beam (paper,
section 6.1).

Each sentence is decoded on its own: neither its neighbours in the batch nor padding
changes the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..data.tokens import EOS, PAD, SOS
from ..errors import TrainingError
from ..model.attention import padding_mask
from ..model.transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: ids without ``<sos>`` and ``<eos>``, and its score."""

    ids: tuple[int, ...]
    log_prob: float  # sum over the ids and <eos>, in nats
    score: float  # log_prob / length_penalty; the search maximises it


@dataclass(frozen=True)
class Candidate:
    """One extension that a beam step considered; a list of them is the search tree."""

    step: int
    prefix: tuple[int, ...]  # ids before this one, without <sos>
    token: int
    log_prob: float  # of prefix and token together
    fate: str  # "kept", "finished" or "dropped"


def length_penalty(length: int, alpha: float) -> float:
    """Length penalty ((5 + length) / 6)^α; ``<eos>`` counts (Wu et al., 2016,
    equation 14). Without it, short translations win.
    """
    return float(((5 + length) / 6) ** alpha)


class Scorer:
    """Log-probabilities of the next token for every row, with or without a cache.

    With a cache, a step computes one new position. Without a cache, it computes the
    whole prefix again, as the write-ups do.
    """

    def __init__(self, model: Transformer, src: Tensor, use_cache: bool = True) -> None:
        self.model = model
        self.src_mask = padding_mask(src)  # (B, 1, 1, S)
        self.memory = model.encode(src, self.src_mask)  # (B, S, D)
        self.caches = model.decoder.make_caches(self.memory) if use_cache else None

    def __call__(self, prefix: Tensor) -> Tensor:
        """Ids ``(B, t)``, starting with ``<sos>``, to log-probabilities ``(B, V)``.

        The log-probabilities of ``<pad>`` and ``<sos>`` are −∞.
        """
        ids = prefix if self.caches is None else prefix[:, -1:]  # (B, t) or (B, 1)
        x = self.model.decode(
            ids, self.memory, self.src_mask, caches=self.caches
        )  # (B, t, D) or (B, 1, D)
        logits = self.model.output(x[:, -1])  # (B, V)
        log_probs = logits.float().log_softmax(-1)  # (B, V)
        log_probs[:, [PAD, SOS]] = -torch.inf
        return log_probs

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Keeps the rows with these indices.

        ``sources=False`` means that each position keeps its source sentence.
        """
        if sources:
            self.src_mask, self.memory = self.src_mask[rows], self.memory[rows]
        for cache in self.caches or []:
            cache.own.select(rows)
            if sources:
                cache.source.select(rows)


@torch.inference_mode()
def greedy_search(
    model: Transformer,
    src: Tensor,
    max_extra_tokens: int = 50,
    alpha: float = 0.0,
    use_cache: bool = True,
) -> list[Hypothesis]:
    """Greedy search: the most likely token at each step; one hypothesis per sentence.

    Args:
        model: in evaluation mode.
        src: ``(B, S)`` source ids.
        max_extra_tokens: a translation may have this many tokens more than its source,
            after which ``<eos>`` is forced.
        alpha: of the length penalty; it changes the score, not the choice.
        use_cache: False computes the whole prefix at every step (slower, same result).
    """
    device = src.device
    scorer = Scorer(model, src, use_cache)
    limits = length_limits(src, max_extra_tokens)  # (B,)
    sentences = torch.arange(len(src), device=device)  # (B,) the sentence of each row
    prefix = torch.full_like(src[:, :1], SOS)  # (B, 1)
    total = torch.zeros(len(src), device=device)  # (B,)
    hypotheses: dict[int, Hypothesis] = {}
    while len(hypotheses) < len(src):
        log_probs = scorer(prefix)  # (B, V)
        best, token = log_probs.max(-1)  # (B,), (B,)
        at_limit = limits < prefix.size(1)  # (B,) no room for another word
        token = torch.where(at_limit, EOS, token)  # (B,)
        total = total + torch.where(at_limit, log_probs[:, EOS], best)  # (B,)
        prefix = torch.cat([prefix, token[:, None]], dim=1)  # (B, t + 1)
        for row in (token == EOS).nonzero()[:, 0].tolist():
            hypothesis = _hypothesis(prefix[row, 1:-1], float(total[row]), alpha)
            hypotheses.setdefault(
                int(sentences[row]), hypothesis
            )  # the first <eos> counts
        open_rows = [r for r, i in enumerate(sentences.tolist()) if i not in hypotheses]
        # Moving the caches costs about as much as decoding a few finished rows.
        if 0 < len(open_rows) <= 0.75 * len(sentences):
            rows = torch.tensor(open_rows, device=device)
            sentences, limits = sentences[rows], limits[rows]
            prefix, total = prefix[rows], total[rows]
            scorer.select(rows)
    return [hypotheses[i] for i in range(len(src))]


@torch.inference_mode()
def beam_search(
    model: Transformer,
    src: Tensor,
    beam_size: int = 5,
    alpha: float = 0.6,
    max_extra_tokens: int = 50,
    use_cache: bool = True,
    trace: list[Candidate] | None = None,
) -> list[list[Hypothesis]]:
    """Beam search: keeps the K = ``beam_size`` most likely prefixes at each step.

    A sentence is done when no open prefix can still beat the worst of its K finished
    translations. It gets up to K hypotheses, best first. All candidates of the first
    sentence are appended to ``trace``. For the other arguments, see ``greedy_search``.
    """
    K, device = beam_size, src.device
    scorer = Scorer(model, src, use_cache)
    rows = torch.arange(len(src), device=device).repeat_interleave(K)  # (B·K,)
    scorer.select(rows)  # K rows for each sentence
    limits = length_limits(src, max_extra_tokens).tolist()
    sentences = list(range(len(src)))
    prefix = torch.full((len(src) * K, 1), SOS, device=device)  # (B·K, 1)
    total = torch.full((len(src), K), -torch.inf, device=device)  # (B, K)
    total[:, 0] = 0.0  # all K prefixes are equal at first: only one counts
    results: list[list[Hypothesis]] = [[] for _ in sentences]
    while sentences:
        step = prefix.size(1)  # tokens of a translation that ends now, with <eos>
        log_probs = scorer(prefix).view(len(sentences), K, -1)  # (B, K, V)
        V = log_probs.size(-1)
        at_limit = [limits[i] < step for i in sentences]  # these may only end
        if any(at_limit):
            words = torch.arange(V, device=device) != EOS  # (V,)
            blocked = torch.tensor(at_limit, device=device)[:, None, None] & words
            log_probs = log_probs.masked_fill(blocked, -torch.inf)  # (B, K, V)
        candidates = (total[:, :, None] + log_probs).flatten(1)  # (B, K·V)
        n_best = min(2 * K, candidates.size(1))  # enough for K that don't end
        top, flat_index = candidates.topk(n_best, dim=1)  # (B, 2K)
        beam, token = flat_index // V, flat_index % V  # (B, 2K)
        ends = (token == EOS) & top.isfinite()  # (B, 2K)
        for b, c in ends.nonzero().tolist():
            ids = prefix[b * K + int(beam[b, c]), 1:]  # (t,)
            results[sentences[b]].append(_hypothesis(ids, float(top[b, c]), alpha))
        open_scores = top.masked_fill(token == EOS, -torch.inf)  # (B, 2K)
        total, picks = open_scores.topk(K, dim=1)  # (B, K)
        if trace is not None and sentences[0] == 0:
            trace += _candidates(
                prefix[:K, 1:], beam[0], token[0], top[0], picks[0].tolist()
            )
        offsets = torch.arange(len(sentences), device=device)[:, None] * K  # (B, 1)
        rows = (offsets + beam.gather(1, picks)).flatten()  # (B·K,)
        next_ids = token.gather(1, picks).view(-1, 1)  # (B·K, 1)
        prefix = torch.cat([prefix[rows], next_ids], dim=1)  # (B·K, t + 1)
        scorer.select(rows, sources=False)

        open_rows = [
            b
            for b, i in enumerate(sentences)
            if not _is_done(results[i], K, float(total[b, 0]), limits[i], alpha)
        ]
        if len(open_rows) < len(sentences):
            sentences = [sentences[b] for b in open_rows]
            index = torch.tensor(open_rows, dtype=torch.long, device=device)  # (B,)
            rows = (index[:, None] * K + torch.arange(K, device=device)).flatten()
            total, prefix = total[index], prefix[rows]  # (B, K), (B·K, t + 1)
            scorer.select(rows)
    return [sorted(hypotheses, key=lambda h: -h.score)[:K] for hypotheses in results]


def length_limits(src: Tensor, max_extra_tokens: int) -> Tensor:
    """The most tokens that each translation may have, ``(B,)``, for ``(B, S)`` ids."""
    return (src != PAD).sum(1) + max_extra_tokens  # (B,)


def _hypothesis(ids: Tensor, log_prob: float, alpha: float) -> Hypothesis:
    check_number(log_prob)
    score = log_prob / length_penalty(len(ids) + 1, alpha)
    return Hypothesis(tuple(ids.tolist()), log_prob, score)


def _is_done(
    hypotheses: list[Hypothesis], K: int, best_open: float, limit: int, alpha: float
) -> bool:
    """Whether no open prefix can become one of the K best hypotheses.

    Log-probabilities only decrease, and the penalty is largest at the length limit.
    """
    check_number(best_open)
    if best_open == -torch.inf:
        return True
    best = sorted((h.score for h in hypotheses), reverse=True)[:K]
    return len(best) == K and best_open / length_penalty(limit + 1, alpha) <= best[-1]


def check_number(score: float) -> None:
    if math.isnan(score):
        raise TrainingError(
            "the scores are not numbers, since the model's weights are not finite: "
            "train it again"
        )


def _candidates(
    prefixes: Tensor, beam: Tensor, token: Tensor, top: Tensor, picks: list[int]
) -> list[Candidate]:
    candidates = []
    for c, (b, t, score) in enumerate(
        zip(beam.tolist(), token.tolist(), top.tolist(), strict=True)
    ):
        fate = "finished" if t == EOS else "kept" if c in picks else "dropped"
        if score > -torch.inf:
            prefix = tuple(prefixes[b].tolist())
            candidates.append(Candidate(len(prefix) + 1, prefix, t, score, fate))
    return candidates
