"""Decoding: from a trained model to a translation, greedily or with a beam (paper, section 6.1).

Every sentence is searched for on its own: neither its neighbours in the batch nor padding changes what it gets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from .errors import TrainingError
from .masks import padding_mask
from .special import EOS, PAD, SOS
from .transformer import Transformer


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation: its ids without ``<sos>`` and ``<eos>``, and how well the model likes it."""

    ids: tuple[int, ...]
    log_prob: float  # sum over the ids and <eos>, in nats
    score: float  # log_prob / length_penalty; the search maximises it


@dataclass(frozen=True)
class Candidate:
    """One extension that a beam step looked at; a list of them lets a chapter draw the search as a tree."""

    step: int
    prefix: tuple[int, ...]  # ids before this one, without <sos>
    token: int
    log_prob: float  # of prefix and token together
    fate: str  # "kept", "finished" or "dropped"


def length_penalty(length: int, alpha: float) -> float:
    """((5 + length) / 6)^α (Wu et al., 2016, equation 14), ``<eos>`` counted; without it short translations win."""
    return float(((5 + length) / 6) ** alpha)


class Scorer:
    """Log-probabilities of the next token for every row, with or without a cache.

    With a cache a step computes one new position. Without, it computes the whole prefix again, as the write-ups do.
    """

    def __init__(self, model: Transformer, src: Tensor, use_cache: bool = True) -> None:
        self.model = model
        self.src_mask = padding_mask(src)  # (B, 1, 1, S)
        memory = model.encode(src, self.src_mask)  # (B, S, D)
        self.caches = model.decoder.make_caches(memory) if use_cache else None
        self.memory = (
            None if use_cache else memory
        )  # the caches hold all that is needed of it

    def __call__(self, prefix: Tensor) -> Tensor:
        """``(B, t)`` ids from ``<sos>`` on to ``(B, V)`` log-probabilities; ``<pad>`` and ``<sos>`` get −∞."""
        tgt_in = prefix if self.caches is None else prefix[:, -1:]  # (B, t) or (B, 1)
        x = self.model.decode(
            tgt_in, self.memory, self.src_mask, caches=self.caches
        )  # (B, t, D) or (B, 1, D)
        logits = self.model.output(x[:, -1])  # (B, V)
        log_probs = logits.float().log_softmax(-1)  # (B, V)
        log_probs[:, [PAD, SOS]] = -torch.inf
        return log_probs

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Keeps the rows with these numbers; ``sources=False`` where each still has the same source."""
        if sources:
            self.src_mask = self.src_mask[rows]
            self.memory = self.memory if self.memory is None else self.memory[rows]
        for cache in self.caches or []:
            cache.select(rows, rows if sources else None)


@torch.inference_mode()
def greedy_search(
    model: Transformer,
    src: Tensor,
    max_extra_tokens: int = 50,
    alpha: float = 0.0,
    use_cache: bool = True,
) -> list[Hypothesis]:
    """Takes the likeliest token at each step; one hypothesis for each sentence, in order.

    Args:
        model: in evaluation mode.
        src: ``(B, S)`` source ids.
        max_extra_tokens: a translation may have this many tokens more than its source; then ``<eos>`` is forced.
        alpha: of the length penalty; it changes the score, not the choice.
        use_cache: off: compute the whole prefix at every step (slower, same result).
    """
    scorer = Scorer(model, src, use_cache)
    limits = length_limits(src, max_extra_tokens)  # (B,)
    active = torch.arange(
        len(src), device=src.device
    )  # which sentence each row belongs to
    prefix = torch.full_like(src[:, :1], SOS)  # (B, 1)
    total = torch.zeros(len(src), device=src.device)  # (B,)
    found: dict[int, Hypothesis] = {}
    while len(found) < len(src):
        log_probs = scorer(prefix)  # (B, V)
        best, token = log_probs.max(-1)  # (B,), (B,)
        forced = limits < prefix.size(1)  # (B,) the step after the last one allowed
        token = torch.where(forced, EOS, token)
        total = total + torch.where(forced, log_probs[:, EOS], best)
        prefix = torch.cat([prefix, token[:, None]], dim=1)  # (B, t + 1)
        for row in (token == EOS).nonzero()[:, 0].tolist():
            ids = prefix[row, 1:-1].tolist()
            found.setdefault(
                int(active[row]), _hypothesis(ids, float(total[row]), alpha)
            )  # the first <eos> counts
        going = torch.tensor(
            [r for r, i in enumerate(active.tolist()) if i not in found],
            device=src.device,
        )
        if (
            0 < len(going) <= 0.75 * len(active)
        ):  # moving the caches costs as much as some idle rows
            active, limits, prefix, total = (
                active[going],
                limits[going],
                prefix[going],
                total[going],
            )
            scorer.select(going)
    return [found[i] for i in range(len(src))]


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
    """Keeps the K = ``beam_size`` likeliest prefixes at each step, and the best finished translations.

    A sentence is done when no open prefix can still beat the worst of its K finished ones. For each there are up to
    K hypotheses, best first. A ``trace`` gets every candidate of the first; the rest is as of ``greedy_search``.
    """
    K, device = beam_size, src.device
    scorer = Scorer(model, src, use_cache)
    scorer.select(
        torch.arange(len(src), device=device).repeat_interleave(K)
    )  # K rows for each sentence
    limits = length_limits(src, max_extra_tokens).tolist()
    active = list(range(len(src)))
    prefix = torch.full((len(src) * K, 1), SOS, device=device)  # (B·K, 1)
    total = torch.full((len(src), K), -torch.inf, device=device)  # (B, K)
    total[:, 0] = 0.0  # all K prefixes are equal at first: only one counts
    found: list[list[Hypothesis]] = [[] for _ in active]
    while active:
        step = prefix.size(
            1
        )  # how many tokens a translation has that ends now, <eos> included
        log_probs = scorer(prefix).view(len(active), K, -1)  # (B, K, V)
        forced = torch.tensor([limits[i] < step for i in active], device=device)  # (B,)
        vocab_size = log_probs.size(-1)
        if forced.any():  # nothing but <eos> is left to them
            is_eos = torch.arange(vocab_size, device=device) == EOS  # (V,)
            log_probs = log_probs.masked_fill(
                forced[:, None, None] & ~is_eos, -torch.inf
            )  # (B, K, V)
        candidates = (total[:, :, None] + log_probs).flatten(1)  # (B, K·V)
        top, index = candidates.topk(
            min(2 * K, candidates.size(1)), dim=1
        )  # (B, 2K) enough for K that go on
        beam, token = index // vocab_size, index % vocab_size  # (B, 2K)
        ends = (token == EOS) & top.isfinite()  # (B, 2K)
        for b, c in ends.nonzero().tolist():
            ids = prefix[b * K + int(beam[b, c]), 1:].tolist()
            found[active[b]].append(_hypothesis(ids, float(top[b, c]), alpha))
        open_scores = top.masked_fill(token == EOS, -torch.inf)  # (B, 2K)
        total, chosen = open_scores.topk(K, dim=1)  # (B, K)
        if trace is not None and active[0] == 0:
            trace += _candidates(
                step, prefix[:K, 1:], beam[0], token[0], top[0], set(chosen[0].tolist())
            )
        rows = (
            beam.gather(1, chosen)
            + torch.arange(len(active), device=device)[:, None] * K
        ).flatten()  # (B·K,)
        prefix = torch.cat(
            [prefix[rows], token.gather(1, chosen).view(-1, 1)], dim=1
        )  # (B·K, t + 1)
        scorer.select(rows, sources=False)

        going = [
            b
            for b, i in enumerate(active)
            if not _is_done(found[i], K, float(total[b, 0]), limits[i], alpha)
        ]
        if len(going) < len(active):
            active = [active[b] for b in going]
            kept = torch.tensor(going, dtype=torch.long, device=device)
            total = total[kept]
            rows = (kept[:, None] * K + torch.arange(K, device=device)).flatten()
            prefix = prefix[rows]
            scorer.select(rows)
    return [sorted(hypotheses, key=lambda h: -h.score)[:K] for hypotheses in found]


def length_limits(src: Tensor, max_extra_tokens: int) -> Tensor:
    """How many tokens each translation may have, ``(B,)``: as many as its source ``(B, S)``, and some more."""
    return (src != PAD).sum(1) + max_extra_tokens  # (B,)


def _hypothesis(ids: list[int], log_prob: float, alpha: float) -> Hypothesis:
    check_number(log_prob)
    return Hypothesis(
        tuple(ids), log_prob, log_prob / length_penalty(len(ids) + 1, alpha)
    )


def _is_done(
    found: list[Hypothesis], K: int, best_open: float, limit: int, alpha: float
) -> bool:
    """Whether no open prefix can reach the K best: log-probabilities only fall, the penalty is largest at the limit."""
    check_number(best_open)
    if best_open == -torch.inf:
        return True
    if len(found) < K:
        return False
    worst = sorted((h.score for h in found), reverse=True)[K - 1]
    return best_open / length_penalty(limit + 1, alpha) <= worst


def check_number(score: float) -> None:
    if math.isnan(score):
        raise TrainingError(
            "the scores are not numbers: the model's weights are not finite; train it again"
        )


def _candidates(
    step: int,
    prefixes: Tensor,
    beam: Tensor,
    token: Tensor,
    top: Tensor,
    chosen: set[int],
) -> list[Candidate]:
    fates = [
        "finished" if int(t) == EOS else "kept" if c in chosen else "dropped"
        for c, t in enumerate(token)
    ]
    return [
        Candidate(step, tuple(prefixes[int(b)].tolist()), int(t), float(score), fate)
        for b, t, score, fate in zip(beam, token, top, fates, strict=True)
        if score > -torch.inf
    ]
