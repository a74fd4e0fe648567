"""Decoding: from a trained model to a translation, greedily or with a beam (paper,
section 6.1).

Each sentence is decoded on its own: neither its neighbours in the batch nor padding
change the result.
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
    """((5 + length) / 6)^α (Wu et al., 2016, equation 14), ``<eos>`` counted.

    Without it, short translations win.
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
        """Ids ``(B, t)`` from ``<sos>`` on to log-probabilities ``(B, V)``.

        Those of ``<pad>`` and ``<sos>`` are −∞.
        """
        new = prefix if self.caches is None else prefix[:, -1:]  # (B, t) or (B, 1)
        x = self.model.decode(
            new, self.memory, self.src_mask, caches=self.caches
        )  # (B, t, D) or (B, 1, D)
        logits = self.model.output(x[:, -1])  # (B, V)
        log_probs = logits.float().log_softmax(-1)  # (B, V)
        log_probs[:, [PAD, SOS]] = -torch.inf
        return log_probs

    def select(self, rows: Tensor, sources: bool = True) -> None:
        """Keeps the rows with these numbers.

        ``sources=False`` says that each row keeps its source.
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
    """Takes the most likely token at each step; one hypothesis a sentence, in order.

    Args:
        model: in evaluation mode.
        src: ``(B, S)`` source ids.
        max_extra_tokens: a translation may have this many tokens more than its source;
            then ``<eos>`` is forced.
        alpha: of the length penalty; it changes the score, not the choice.
        use_cache: off: compute the whole prefix at every step (slower, same result).
    """
    device = src.device
    scorer = Scorer(model, src, use_cache)
    limits = length_limits(src, max_extra_tokens)  # (B,)
    active = torch.arange(len(src), device=device)  # (B,) the sentence of each row
    prefix = torch.full_like(src[:, :1], SOS)  # (B, 1)
    total = torch.zeros(len(src), device=device)  # (B,)
    found: dict[int, Hypothesis] = {}
    while len(found) < len(src):
        log_probs = scorer(prefix)  # (B, V)
        best, token = log_probs.max(-1)  # (B,), (B,)
        forced = limits < prefix.size(1)  # (B,) no room for another word
        token = torch.where(forced, EOS, token)  # (B,)
        total = total + torch.where(forced, log_probs[:, EOS], best)  # (B,)
        prefix = torch.cat([prefix, token[:, None]], dim=1)  # (B, t + 1)
        for row in (token == EOS).nonzero()[:, 0].tolist():
            hypothesis = _hypothesis(prefix[row, 1:-1], float(total[row]), alpha)
            found.setdefault(int(active[row]), hypothesis)  # the first <eos> counts
        going = [r for r, i in enumerate(active.tolist()) if i not in found]
        # Moving the caches costs about as much as decoding a few finished rows.
        if 0 < len(going) <= 0.75 * len(active):
            rows = torch.tensor(going, device=device)
            active, limits = active[rows], limits[rows]
            prefix, total = prefix[rows], total[rows]
            scorer.select(rows)
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
    """Keeps the K = ``beam_size`` most likely prefixes at each step.

    A sentence is done when no open prefix can still beat the worst of its K finished
    translations. Each gets up to K hypotheses, best first. All candidates of the first
    sentence are appended to ``trace``. For other arguments see ``greedy_search``.
    """
    K, device = beam_size, src.device
    scorer = Scorer(model, src, use_cache)
    sentences = torch.arange(len(src), device=device)  # (B,)
    scorer.select(sentences.repeat_interleave(K))  # K rows for each sentence
    limits = length_limits(src, max_extra_tokens).tolist()
    active = list(range(len(src)))
    prefix = torch.full((len(src) * K, 1), SOS, device=device)  # (B·K, 1)
    total = torch.full((len(src), K), -torch.inf, device=device)  # (B, K)
    total[:, 0] = 0.0  # all K prefixes are equal at first: only one counts
    found: list[list[Hypothesis]] = [[] for _ in active]
    while active:
        step = prefix.size(1)  # tokens of a translation that ends now, with <eos>
        log_probs = scorer(prefix).view(len(active), K, -1)  # (B, K, V)
        V = log_probs.size(-1)
        forced = torch.tensor([limits[i] < step for i in active], device=device)  # (B,)
        if forced.any():  # these may only end
            words = torch.arange(V, device=device) != EOS  # (V,)
            banned = forced[:, None, None] & words  # (B, 1, V)
            log_probs = log_probs.masked_fill(banned, -torch.inf)  # (B, K, V)
        candidates = (total[:, :, None] + log_probs).flatten(1)  # (B, K·V)
        n_best = min(2 * K, candidates.size(1))  # enough for K that don't end
        top, index = candidates.topk(n_best, dim=1)  # (B, 2K)
        beam, token = index // V, index % V  # (B, 2K)
        ends = (token == EOS) & top.isfinite()  # (B, 2K)
        for b, c in ends.nonzero().tolist():
            ids = prefix[b * K + int(beam[b, c]), 1:]  # (t,)
            found[active[b]].append(_hypothesis(ids, float(top[b, c]), alpha))
        open_scores = top.masked_fill(token == EOS, -torch.inf)  # (B, 2K)
        total, chosen = open_scores.topk(K, dim=1)  # (B, K)
        if trace is not None and active[0] == 0:
            kept = set(chosen[0].tolist())
            trace += _candidates(prefix[:K, 1:], beam[0], token[0], top[0], kept)
        first = torch.arange(len(active), device=device)[:, None] * K  # (B, 1)
        rows = (first + beam.gather(1, chosen)).flatten()  # (B·K,)
        new = token.gather(1, chosen).view(-1, 1)  # (B·K, 1)
        prefix = torch.cat([prefix[rows], new], dim=1)  # (B·K, t + 1)
        scorer.select(rows, sources=False)

        going = []
        for b, i in enumerate(active):
            if not _is_done(found[i], K, float(total[b, 0]), limits[i], alpha):
                going.append(b)
        if len(going) < len(active):
            active = [active[b] for b in going]
            left = torch.tensor(going, dtype=torch.long, device=device)  # (B,)
            rows = (left[:, None] * K + torch.arange(K, device=device)).flatten()
            total, prefix = total[left], prefix[rows]  # (B, K), (B·K, t + 1)
            scorer.select(rows)
    return [sorted(hypotheses, key=lambda h: -h.score)[:K] for hypotheses in found]


def length_limits(src: Tensor, max_extra_tokens: int) -> Tensor:
    """How many tokens each translation may have, ``(B,)``; ``src`` is ``(B, S)``."""
    return (src != PAD).sum(1) + max_extra_tokens  # (B,)


def _hypothesis(ids: Tensor, log_prob: float, alpha: float) -> Hypothesis:
    check_number(log_prob)
    score = log_prob / length_penalty(len(ids) + 1, alpha)
    return Hypothesis(tuple(ids.tolist()), log_prob, score)


def _is_done(
    found: list[Hypothesis], K: int, best_open: float, limit: int, alpha: float
) -> bool:
    """Whether no open prefix can still reach the K best.

    Log-probabilities only fall, and the penalty is largest at the length limit.
    """
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
            "the scores are not numbers, since the model's weights are not finite: "
            "train it again"
        )


def _candidates(
    prefixes: Tensor, beam: Tensor, token: Tensor, top: Tensor, chosen: set[int]
) -> list[Candidate]:
    candidates = []
    for c, (b, t, score) in enumerate(
        zip(beam.tolist(), token.tolist(), top.tolist(), strict=True)
    ):
        fate = "finished" if t == EOS else "kept" if c in chosen else "dropped"
        if score > -torch.inf:
            prefix = tuple(prefixes[b].tolist())
            candidates.append(Candidate(len(prefix) + 1, prefix, t, score, fate))
    return candidates
