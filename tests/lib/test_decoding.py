"""Searches against plain loops that score one sentence and one prefix at a time."""

import itertools
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.translate.search import Candidate, Hypothesis, beam_search, greedy_search
from nmt_lib.translate.search import length_penalty as penalty
from tests.lib.small import random_rows, small_model

LENGTHS = [3, 7, 5, 4, 9]
SRC = nmt.pad_batch(random_rows(LENGTHS, 11))
ALONE = [SRC[i : i + 1, :n] for i, n in enumerate(LENGTHS)]  # without padding
OPTIONS: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"tying": "target", "d_value": 3},
]


@torch.no_grad()
def log_probs(model: nmt.Transformer, src: torch.Tensor, *ids: int) -> torch.Tensor:
    """Of each next token after ``<sos>`` and after each of ``ids``: ``(t + 1, V)``."""
    return model(src, torch.tensor([[nmt.SOS, *ids]]))[0].log_softmax(-1)


def assert_same(found: list[Hypothesis], expected: list[Hypothesis]) -> None:
    ids, wanted = ([h.ids for h in each] for each in (found, expected))
    assert ids == wanted, f"found {ids}, expected {wanted}"  # pytest cuts long tuples
    for key in ("score", "log_prob"):
        numbers = [getattr(h, key) for h in expected]
        assert [getattr(h, key) for h in found] == pytest.approx(numbers, abs=1e-4)


def plain_hypothesis(ids: tuple[int, ...], total: float, alpha: float) -> Hypothesis:
    return Hypothesis(ids, total, total / penalty(len(ids) + 1, alpha))


def best_first(found: list[Hypothesis]) -> list[Hypothesis]:
    return sorted(found, key=lambda h: -h.score)


def test_length_penalty_is_the_formula_of_wu_et_al() -> None:
    assert penalty(7, 0.0) == penalty(1, 0.9) == 1.0
    assert penalty(7, 0.6) == pytest.approx(2**0.6)


@pytest.mark.parametrize(
    ("alpha", "limit", "use_cache"), [(0.0, 3, True), (0.6, 3, False), (1.0, 4, True)]
)
def test_a_beam_that_holds_everything_equals_exhaustive_search(
    alpha: float, limit: int, use_cache: bool
) -> None:
    model = small_model(0, 11, 7, sharpen=2.0)
    src = nmt.pad_batch(random_rows([3, 3], 11))
    found = beam_search(model, src, 4**limit, alpha, limit - 3, use_cache)
    for row in range(2):
        expected = []
        words = (nmt.UNK, 4, 5, 6)
        for n in range(limit + 1):
            for ids in itertools.product(words, repeat=n):
                table = log_probs(model, src[row : row + 1], *ids)
                total = table[range(n + 1), [*ids, nmt.EOS]].sum().item()
                expected.append(plain_hypothesis(ids, total, alpha))
        assert_same(found[row][:20], best_first(expected)[:20])
        assert len({h.ids for h in found[row]}) == len(found[row]) >= 4**limit


def plain_beam(
    model: nmt.Transformer, src: torch.Tensor, K: int, alpha: float, limit: int
) -> list[Hypothesis]:
    """It never stops early."""
    beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    found: list[Hypothesis] = []
    for length in range(limit + 1):
        candidates = []
        for total, ids in beams:
            row = log_probs(model, src, *ids)[-1].tolist()
            tokens = {nmt.EOS} if length == limit else {1, *range(3, len(row))}
            candidates += [(total + row[token], (*ids, token)) for token in tokens]
        best = sorted(candidates, reverse=True)[: 2 * K]
        found += [
            plain_hypothesis(ids[:-1], total, alpha)
            for total, ids in best
            if ids[-1] == nmt.EOS
        ]
        beams = [(total, ids) for total, ids in best if ids[-1] != nmt.EOS][:K]
    return best_first(found)[:K]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("K", "alpha"), [(1, 0.6), (2, 2.0), (4, 0.0)])
def test_a_narrow_beam_equals_a_plain_loop(
    options: dict[str, Any], K: int, alpha: float
) -> None:
    """In a batch with padding, with and without a cache."""
    for seed in range(3):
        model = small_model(seed, sharpen=1.5, **options)
        model.output.bias.data[nmt.EOS] += seed  # some end early, some late
        cached, again = (beam_search(model, SRC, K, alpha, 3, c) for c in (True, False))
        for i, n in enumerate(LENGTHS):
            expected = plain_beam(model, ALONE[i], K, alpha, n + 3)
            assert_same(cached[i], expected)
            assert_same(again[i], expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_greedy_takes_the_most_likely_token_at_each_step(
    options: dict[str, Any],
) -> None:
    for seed in range(5):
        model = small_model(seed, sharpen=2.0, **options)
        model.output.bias.data[nmt.EOS] += seed  # some end early, some late
        found = (greedy_search(model, SRC, 5, 0.6, cached) for cached in (True, False))
        for src, n, *both in zip(ALONE, LENGTHS, *found, strict=True):
            ids: list[int] = []
            total = 0.0
            while nmt.EOS not in ids:
                row = log_probs(model, src, *ids)[-1]
                row[[nmt.PAD, nmt.SOS]] = -torch.inf
                ids.append(int(row.argmax()) if len(ids) < n + 5 else nmt.EOS)
                total += row[ids[-1]].item()
            expected = plain_hypothesis(tuple(ids[:-1]), total, 0.6)
            assert_same(both, [expected, expected])


@pytest.mark.parametrize("bias", [-50.0, 50.0])
def test_a_model_that_never_ends_and_one_that_ends_at_once(bias: float) -> None:
    model = small_model()
    model.output.bias.data[nmt.EOS] = bias
    model.output.bias.data[[nmt.PAD, nmt.SOS]] = 40.0  # they are never written
    wanted = [n + 4 if bias < 0 else 0 for n in LENGTHS]
    greedy = greedy_search(model, SRC, 4)
    assert [len(h.ids) for h in greedy] == wanted
    beam = beam_search(model, SRC, 3, 0.0, 4)
    assert [len(row[0].ids) for row in beam] == wanted
    written = {i for h in [*greedy, *itertools.chain(*beam)] for i in h.ids}
    assert not written & {nmt.PAD, nmt.SOS, nmt.EOS}


@pytest.mark.parametrize("search", [greedy_search, beam_search])
def test_weights_that_are_not_finite_are_named(search: Any) -> None:
    model = small_model()
    torch.nn.init.constant_(model.output.weight, torch.nan)
    with pytest.raises(nmt.TrainingError, match="not finite"):
        search(model, SRC)


def test_the_trace_tells_the_search_of_the_first_sentence() -> None:
    model, trace, K = small_model(2, sharpen=2.0), list[Candidate](), 3
    model.output.bias.data[nmt.EOS] += 2  # some end among the best
    found = beam_search(model, SRC[1:], K, 0.6, 4, trace=trace)
    kept: set[tuple[int, ...]] = {()}
    for step, group in itertools.groupby(trace, key=lambda c: c.step):
        candidates = list(group)
        assert all(c.prefix in kept and len(c.prefix) == step - 1 for c in candidates)
        assert all((c.fate == "finished") == (c.token == nmt.EOS) for c in candidates)
        scores = [c.log_prob for c in candidates]
        assert scores == sorted(scores, reverse=True) and len(scores) <= 2 * K
        kept = {(*c.prefix, c.token) for c in candidates if c.fate == "kept"}
        fates = [c.fate for c in candidates if c.fate != "finished"]
        assert fates == ["kept"] * len(kept) + ["dropped"] * (len(fates) - len(kept))
        assert len(kept) <= K
    finished = {c.prefix: c.log_prob for c in trace if c.fate == "finished"}
    assert {h.ids: h.log_prob for h in found[0]}.items() <= finished.items()
