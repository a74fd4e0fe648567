import itertools
from typing import Any

import pytest
import torch
from tests.lib.small import random_rows, small_model

import nmt_lib as nmt
from nmt_lib.decoding import (
    Candidate,
    Hypothesis,
    beam_search,
    greedy_search,
    length_penalty,
)

V_SRC, V_TGT = 11, 13
LENGTHS = [3, 7, 5, 3, 9]
SRC = nmt.pad_batch(random_rows(LENGTHS, V_SRC))
STYLES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"tying": "target", "bias": False, "d_value": 3},
]


def flat(rows: list[list[Hypothesis]]) -> list[Hypothesis]:
    return [hypothesis for row in rows for hypothesis in row]


def log_prob(model: Any, src: torch.Tensor, ids: tuple[int, ...]) -> float:
    """Of ids and <eos>, from one teacher-forced pass over the sentence alone."""
    src = src[src != 0][None]
    with torch.no_grad():
        table = model(src, torch.tensor([[nmt.SOS, *ids]]))[0].log_softmax(-1)
    return float(sum(table[t, token] for t, token in enumerate((*ids, nmt.EOS))))


# ---------------------------------------------------------------------------------------- beam = exhaustive search
def exhaustive(
    model: Any, src: torch.Tensor, limit: int, alpha: float, usable: list[int]
) -> list[Hypothesis]:
    """Every translation of at most ``limit`` tokens, best first; nothing here is shared with the beam search."""
    found = []
    for length in range(limit + 1):
        all_ids = torch.tensor(
            list(itertools.product(usable, repeat=length)), dtype=torch.long
        ).view(len(usable) ** length, length)
        tgt_in = torch.cat([torch.full((len(all_ids), 1), nmt.SOS), all_ids], dim=1)
        tgt_out = torch.cat([all_ids, torch.full((len(all_ids), 1), nmt.EOS)], dim=1)
        with torch.no_grad():
            table = model(src.expand(len(all_ids), -1), tgt_in).double().log_softmax(-1)
        scores = table.gather(-1, tgt_out[..., None]).sum((1, 2))
        penalty = ((5 + length + 1) / 6) ** alpha
        found += [
            Hypothesis(tuple(ids), score, score / penalty)
            for ids, score in zip(all_ids.tolist(), scores.tolist(), strict=True)
        ]
    return sorted(found, key=lambda h: -h.score)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(
    ("seed", "limit", "use_cache"),
    [(0, 3, True), (1, 3, False), (2, 4, True), (3, 4, True)],
)
def test_a_wide_beam_equals_exhaustive_search(
    alpha: float, seed: int, limit: int, use_cache: bool
) -> None:
    model = small_model(seed, V_SRC, 7, sharpen=2.0, norm="pre" if seed % 2 else "post")
    usable = [1, 4, 5, 6]
    src = nmt.pad_batch(random_rows([3, 3], V_SRC, seed))
    found = beam_search(model, src, 4**limit, alpha, limit - 3, use_cache)
    for row in range(2):
        expected = exhaustive(model, src[row : row + 1], limit, alpha, usable)[:20]
        assert [h.ids for h in found[row][:20]] == [h.ids for h in expected]
        assert [h.score for h in found[row][:20]] == pytest.approx(
            [h.score for h in expected], abs=1e-4
        )
        assert [h.log_prob for h in found[row][:20]] == pytest.approx(
            [h.log_prob for h in expected], abs=1e-4
        )


def plain_beam(
    model: Any, src: torch.Tensor, K: int, alpha: float, limit: int
) -> list[Hypothesis]:
    """A beam in a plain loop that never stops early, one sentence and one prefix at a time."""
    beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    found: list[Hypothesis] = []
    for length in range(limit + 1):
        candidates = []
        for total, ids in beams:
            with torch.no_grad():
                row = (
                    model(src, torch.tensor([[nmt.SOS, *ids]]))[0, -1]
                    .log_softmax(-1)
                    .tolist()
                )
            tokens = (
                [nmt.EOS]
                if length == limit
                else [t for t in range(len(row)) if t not in (nmt.PAD, nmt.SOS)]
            )
            candidates += [(total + row[token], (*ids, token)) for token in tokens]
        best = sorted(candidates, reverse=True)[: 2 * K]
        for total, ids in best:
            if ids[-1] == nmt.EOS:
                found.append(
                    Hypothesis(ids[:-1], total, total / length_penalty(len(ids), alpha))
                )
        beams = [(total, ids) for total, ids in best if ids[-1] != nmt.EOS][:K]
    return sorted(found, key=lambda h: -h.score)[:K]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 2.0])
@pytest.mark.parametrize("K", [1, 2, 4])
def test_a_narrow_beam_equals_a_plain_loop(alpha: float, K: int) -> None:
    for seed in range(4):
        model = small_model(seed, sharpen=1.5)
        model.output.bias.data[nmt.EOS] += seed  # some end early, some late
        for row, found in enumerate(beam_search(model, SRC, K, alpha, 3)):
            expected = plain_beam(
                model, SRC[row : row + 1, : LENGTHS[row]], K, alpha, LENGTHS[row] + 3
            )
            assert [h.ids for h in found] == [h.ids for h in expected]
            assert [h.score for h in found] == pytest.approx(
                [h.score for h in expected], abs=1e-4
            )


def test_a_beam_that_holds_everything_finds_every_translation_once() -> None:
    model, src = small_model(0, V_SRC, 6), SRC[:1, :3]
    found = beam_search(model, src, 60, 0.6, 0)[0]
    assert len(found) == len({h.ids for h in found}) == 1 + 3 + 9 + 27


def test_the_best_of_a_beam_may_be_longer_with_a_penalty() -> None:
    for seed in range(20):
        model = small_model(seed, sharpen=1.0)
        lengths = [
            len(beam_search(model, SRC[:1], 8, alpha, 5)[0][0].ids)
            for alpha in (0.0, 5.0)
        ]
        assert lengths[0] <= lengths[1]


# ------------------------------------------------------------------------------------ cache, batch, padding: no effect
@pytest.mark.parametrize("options", STYLES)
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_cache_on_equals_cache_off(options: dict[str, Any], seed: int) -> None:
    model = small_model(seed, sharpen=2.0, **options)
    on, off = (
        greedy_search(model, SRC, 8, 0.6, use_cache) for use_cache in (True, False)
    )
    assert [h.ids for h in on] == [h.ids for h in off]
    assert [h.score for h in on] == pytest.approx([h.score for h in off], abs=1e-4)
    on, off = (
        beam_search(model, SRC, 4, 0.6, 8, use_cache) for use_cache in (True, False)
    )
    assert [[h.ids for h in row] for row in on] == [[h.ids for h in row] for row in off]
    assert [h.score for h in flat(on)] == pytest.approx(
        [h.score for h in flat(off)], abs=1e-4
    )


@pytest.mark.parametrize("options", STYLES)
@pytest.mark.parametrize("use_cache", [True, False])
def test_neighbours_and_padding_have_no_effect(
    options: dict[str, Any], use_cache: bool
) -> None:
    model = small_model(5, sharpen=2.0, **options)
    padded = torch.nn.functional.pad(SRC, (0, 6))
    order = [4, 2, 0, 3, 1]
    for search in (
        lambda src: [[h] for h in greedy_search(model, src, 8, 0.6, use_cache)],
        lambda src: beam_search(model, src, 3, 0.6, 8, use_cache),
    ):
        alone = [search(SRC[i : i + 1, :n])[0] for i, n in enumerate(LENGTHS)]
        for batch in (search(SRC), search(padded)):
            assert [[h.ids for h in row] for row in batch] == [
                [h.ids for h in row] for row in alone
            ]
            assert [h.score for h in flat(batch)] == pytest.approx(
                [h.score for h in flat(alone)], abs=1e-4
            )
        assert [[h.ids for h in row] for row in search(SRC[order])] == [
            [h.ids for h in alone[i]] for i in order
        ]


# --------------------------------------------------------------------------------------------------- limits, scores
@pytest.mark.parametrize("extra", [0, 1, 4])
def test_the_limit_ends_a_search_that_never_would(extra: int) -> None:
    model = small_model(0)
    model.output.bias.data[nmt.EOS] = -50.0
    limits = [n + extra for n in LENGTHS]
    for use_cache in (True, False):
        assert [
            len(h.ids) for h in greedy_search(model, SRC, extra, 0.0, use_cache)
        ] == limits
        for row, limit in zip(
            beam_search(model, SRC, 3, 0.6, extra, use_cache), limits, strict=True
        ):
            assert 1 <= len(row) <= 3 and max(len(h.ids) for h in row) == limit


def test_a_model_that_ends_at_once_gives_empty_translations() -> None:
    model = small_model(0)
    model.output.bias.data[nmt.EOS] = 50.0
    assert [h.ids for h in greedy_search(model, SRC)] == [()] * len(SRC)
    assert [row[0].ids for row in beam_search(model, SRC)] == [()] * len(SRC)


@pytest.mark.parametrize("special", [nmt.PAD, nmt.SOS])
def test_pad_and_sos_are_never_written(special: int) -> None:
    model = small_model(0)
    model.output.bias.data[special] = 50.0
    written = [h.ids for h in greedy_search(model, SRC, 6)]
    written += [h.ids for row in beam_search(model, SRC, 4, 0.6, 6) for h in row]
    assert not {nmt.PAD, nmt.SOS, nmt.EOS} & {index for ids in written for index in ids}


@pytest.mark.parametrize("options", STYLES)
def test_scores_are_those_of_a_teacher_forced_pass(options: dict[str, Any]) -> None:
    model = small_model(3, sharpen=2.0, **options)
    greedy = [[h] for h in greedy_search(model, SRC, 4, 0.6)]
    for row, hypotheses in enumerate(
        zip(greedy, beam_search(model, SRC, 4, 0.6, 4), strict=True)
    ):
        for h in flat(list(hypotheses)):
            assert h.log_prob == pytest.approx(
                log_prob(model, SRC[row], h.ids), abs=1e-3
            )
            assert h.score == pytest.approx(
                h.log_prob / length_penalty(len(h.ids) + 1, 0.6)
            )


def test_greedy_takes_the_likeliest_token_at_each_step() -> None:
    model = small_model(1, sharpen=2.0)
    for row, hypothesis in enumerate(greedy_search(model, SRC, 5)):
        src = SRC[row, : LENGTHS[row]][None]
        logits = model(src, torch.tensor([[nmt.SOS, *hypothesis.ids]]))[0]
        logits[:, [nmt.PAD, nmt.SOS]] = -torch.inf
        best = logits.argmax(-1).tolist()
        limit = LENGTHS[row] + 5
        assert best[: len(hypothesis.ids)] == list(hypothesis.ids)
        assert best[-1] == nmt.EOS or len(hypothesis.ids) == limit


def test_a_beam_of_one_is_greedy() -> None:
    for seed in range(4):
        model = small_model(seed, sharpen=2.0)
        beam = beam_search(model, SRC, 1, 0.0, 6)
        assert [row[0].ids for row in beam] == [
            h.ids for h in greedy_search(model, SRC, 6)
        ]


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_a_wide_beam_is_never_worse_than_greedy(alpha: float) -> None:
    for seed in range(5):
        model = small_model(seed, sharpen=2.0)
        wide = beam_search(model, SRC, 40, alpha, 4)
        for row, greedy in zip(wide, greedy_search(model, SRC, 4, alpha), strict=True):
            assert row[0].score >= greedy.score - 1e-5


def test_a_beam_is_sorted_and_holds_no_translation_twice() -> None:
    for row in beam_search(
        small_model(2), SRC, 6, 2.0, 6
    ):  # so large a penalty lets late ones overtake
        assert 1 <= len(row) <= 6 and len({h.ids for h in row}) == len(row)
        assert [h.score for h in row] == sorted((h.score for h in row), reverse=True)


def test_a_beam_wider_than_the_vocabulary() -> None:
    assert len(beam_search(small_model(0), SRC, 50, 0.6, 3)[0]) == 50


def test_length_penalty_is_the_formula_of_wu_et_al() -> None:
    assert length_penalty(7, 0.0) == 1.0
    assert length_penalty(1, 0.9) == 1.0
    assert length_penalty(7, 0.6) == pytest.approx(2**0.6)


def test_searching_leaves_the_model_and_the_random_numbers_alone() -> None:
    model, state = small_model(0), torch.get_rng_state()
    before = [p.clone() for p in model.parameters()]
    beam_search(model, SRC, 3)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(
        torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True)
    )


# ------------------------------------------------------------------------------------------------------------ trace
def test_the_trace_tells_the_search_of_the_first_sentence() -> None:
    model, trace, K = small_model(4, sharpen=2.0), list[Candidate](), 3
    found = beam_search(model, SRC[1:], K, 0.6, 4, trace=trace)
    alone: list[Candidate] = []
    beam_search(model, SRC[1:2, : LENGTHS[1]], K, 0.6, 4, trace=alone)
    assert [(c.step, c.prefix, c.token, c.fate) for c in trace] == [
        (c.step, c.prefix, c.token, c.fate) for c in alone
    ]
    kept: set[tuple[int, ...]] = {()}
    for step, group in itertools.groupby(trace, key=lambda c: c.step):
        candidates = list(group)
        assert all(c.prefix in kept and len(c.prefix) == step - 1 for c in candidates)
        assert all((c.fate == "finished") == (c.token == nmt.EOS) for c in candidates)
        scores = [c.log_prob for c in candidates]
        assert scores == sorted(scores, reverse=True) and len(candidates) <= 2 * K
        kept = {(*c.prefix, c.token) for c in candidates if c.fate == "kept"}
        assert len(kept) <= K
        open_ones = [c for c in candidates if c.token != nmt.EOS]
        assert [c.fate for c in open_ones] == ["kept"] * len(kept) + ["dropped"] * (
            len(open_ones) - len(kept)
        )
    finished = {c.prefix: c.log_prob for c in trace if c.fate == "finished"}
    assert {h.ids: h.log_prob for h in found[0]}.items() <= finished.items()
