"""What things to touch compute is what the library computes, in twenty states each."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from sacrebleu.metrics import BLEU
from torch import Tensor

import nmt_lib as nmt
from nmt_book.chapter01.check import my_cut
from nmt_book.chapter12 import costs
from nmt_book.deeper_12 import check as deeper_12
from nmt_book.web.play import Thing
from nmt_book.web.things import beam, depth, mask, merges, prefix, rotary
from nmt_book.web.things.calculator import Calculator
from nmt_lib.model.transformer import count_parameters
from nmt_lib.translate.search import Candidate
from tests.site.node import Case, agree, in_node, needs_node, same

pytestmark = needs_node
STATES = 20


def test_clock() -> None:
    draw = random.Random(1)
    cases = []
    for i in range(STATES):
        # A base of 10000^(1/n) has the rates of a clock n times as wide.
        base, wide = draw.choice([(10, 4), (100, 2), (10000, 1)])
        position, distance, d_model = (
            draw.randrange(301),
            draw.randrange(21),
            2 + i % 4 * 2,
        )
        state = {"position": position, "distance": distance}
        state |= {"base": base, "d_model": d_model}
        table = nmt.sinusoids(position + distance + 1, wide * d_model)[:, :d_model]
        first, second = table[position], table[position + distance]  # (D,), (D,)
        cases += [(["encoding", state], first), (["product", state], first @ second)]
    agree("things/clock", cases, 1e-6)


def test_mask() -> None:
    """Random masks; some sentences say a word twice, some queries see nothing."""
    draw = random.Random(2)
    cases: list[Case] = [(["causal", 5], nmt.causal_mask(5)[0, 0])]
    for i in range(STATES):
        words = ["<sos>", *draw.choices("abcde", k=1 + i % 9)]
        seen = [[draw.random() < 0.6 for _ in words] for _ in words]
        wanted = mask.attend(words, torch.tensor(seen))
        names = ("weights", "probabilities")
        cases.append((["attend", words, seen], dict(zip(names, wanted, strict=True))))
    agree("things/mask", cases, 1e-6)


def test_the_answer_is_a_guess_until_the_future_is_let_in() -> None:
    words = ["<sos>", *mask.Mask().words]
    causal = nmt.causal_mask(len(words))[0, 0]
    assert mask.attend(words, causal)[1].max() < 0.2
    assert mask.attend(words, causal | True)[1][:-1].min() > 0.9


def test_scores() -> None:
    generator = torch.Generator().manual_seed(3)
    cases = []
    for i in range(STATES):
        T, d_v, factor = 1 + i % 6, 1 + i % 3, (0.0, 0.5, 2**-0.5, 10.0)[i % 4]
        query, key = torch.randn(2, T, 2, generator=generator)  # (T, d_k) each
        value = torch.randn(T, d_v, generator=generator)  # (T, d_v)
        call = ["attend", query.tolist(), key.tolist(), value.tolist(), factor]
        q = factor * 2**0.5 * query  # the library divides by √d_k
        output, weights = nmt.scaled_dot_product_attention(q, key, value)
        cases.append((call, {"output": output, "weights": weights}))
    agree("things/scores", cases, 1e-6)


def test_merges() -> None:
    """Each number of merges cuts as SentencePiece does that has learnt so many."""
    corpus = nmt.load_corpus(nmt.load_config("tiny", **{"data.tgt_lang": "de"}).data)
    lines = [pair.tgt for pair in corpus.train]
    size = 4 + len({*"".join(lines)})
    all_merges = merges.pairs(merges.learnt())
    calls, expected = [], []
    for i in range(STATES):
        n = 16 * i if i < STATES - 1 else 300
        tokenizer = nmt.SentencePieceTokenizer.train("bpe", lines, size + n, 1.0, False)
        words = [*corpus.test[i].tgt.split(), "Kaffeetasse"]
        calls += [["cut", word, all_merges[:n]] for word in words]
        by_chapter = [list(my_cut.right(word, all_merges[:n])) for word in words]
        found = [subword for one in by_chapter for subword in one]
        assert found == tokenizer.tokenize(" ".join(words))
        expected += by_chapter
    assert in_node("things/merges", calls) == expected


def drawn(kind: type[Thing], seed: int) -> Any:
    """A random state of a thing whose fields are all choices."""
    draw, choices = random.Random(seed), kind().given()["choices"]
    return kind(**{name: draw.choice(some) for name, some in choices.items()})


def test_the_calculator_counts_as_the_library() -> None:
    peaks = {  # and MFU at width 512 and 128: chapter 12, section 8
        ("gpu", "fp32"): (19.5e12, 0.29, 0.175),
        ("gpu", "bf16"): (312e12, 0.29, 0.025),
        ("core", "fp32"): (0.165e12, 0.73, 0.44),
        ("core", "bf16"): (1.29e12, 0.19, 0.05),
    }
    counts: list[Case] = []
    hours: list[Case] = []
    for seed in range(STATES):
        state = drawn(Calculator, seed)
        model, n, asked = state.model(), state.B * state.T, state.model_dump()
        learnt = {
            "encoder": count_parameters(model.encoder),
            "decoder": count_parameters(model.decoder),
        }
        learnt["words"] = count_parameters(model) - sum(learnt.values())
        work = costs.flops_by_part(model, state.B, state.T, state.T, n)
        counts += [(["parameters", asked], learnt), (["operations", asked], work)]
        peak, wide, narrow = peaks[state.machine, state.precision]
        if state.d_model == 128 or state.d_model >= 512:
            mfu = narrow if state.d_model == 128 else wide
            wanted = sum(work.values()) / n * state.tokens / (3600 * mfu * peak)
            hours.append((["hours", asked], wanted))
    agree("things/calculator", counts, 0, 0)
    agree("things/calculator", hours, 0, 0.02)


def test_the_calculator_knows_what_an_update_keeps() -> None:
    small = {"d_model": (64, 128, 256), "n_layers": (1, 2, 4), "B": (1, 4)}
    small |= {"T": (8, 16, 25, 50), "V": (250, 1000, 4000)}
    cases = []
    for seed in range(STATES):
        draw, half = random.Random(seed), seed % 2 == 1
        sizes = {name: draw.choice(some) for name, some in small.items()}
        state = Calculator.model_validate(
            sizes | {"precision": "bf16" if half else "fp32"}
        )
        kept = costs.kept_mb(state.config(), state.B, state.T, half, vocab_size=state.V)
        wanted = {
            "kept for backward": 1e6 * kept,
            "weights and Adam": 16 * count_parameters(state.model()),
        }
        cases.append((["memory", state.model_dump()], wanted))
    agree("things/calculator", cases, 0, 0.01)


@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("short", 999, "999"),
        ("short", 25_000, "25,000"),
        ("short", 4_500_000, "4.5 million"),
        ("short", 2e12, "2 trillion"),
        ("bytes", 999, "999.0 B"),
        ("bytes", 16_000_000, "16.0 MB"),
        ("power", 312e12, "3.1·10¹⁴"),
        ("time", 1.5, "90 minutes"),
        ("time", 49, "2 days"),
        ("time", 20_000, "2.3 years"),
    ],
)
def test_the_calculator_writes_numbers(name: str, number: float, text: str) -> None:
    assert in_node("things/calculator", [[name, number]]) == [text]


LINES = [
    "The small cat drank the milk in the kitchen.",
    "The cat drank the the milk in the kitchen.",
    "the the the the the the the",
    "Two old men, well-known, waited at the station (yesterday)!",
    "Yesterday two men waited: at 10.30, for £2,500 or 9-16 hours...",
    "Les élèves n'ont pas peur; l'école est fermée.",
    "&quot;Ein &amp; zwei&quot; <skipped>kosten 3,50 € [etwa $4]",
    "a b c d e f g h",
    "a x c d e f g h",
    "h g f e d c b a",
    "a  b\tc d.",
    "a b c",
    "a",
    "...,,,",
    "x.y z,1 2.3 4.",
    "😀 a,b 😀.",
    "a-b 1-2 -3 4--5",
    "The",
    "",
    "A man isn't reading a book.",
]


def test_bleu_is_that_of_sacrebleu() -> None:
    metric = BLEU()
    lines = [*LINES, *(f"{line} and more" for line in LINES)]
    cuts = in_node("things/bleu", [["cut", line] for line in lines])
    for line, words in zip(lines, cuts, strict=True):
        assert " ".join(words) == metric.tokenizer(line)
    pairs = [(i, j) for i in range(STATES) for j in range(2 * STATES) if cuts[j]]
    cases = []
    for i, j in pairs:  # sacrebleu warns of an empty reference
        score = metric.corpus_score([lines[i]], [[lines[j]]])
        counts = [[*pair] for pair in zip(score.counts, score.totals, strict=True)]
        wanted = {"score": score.score, "penalty": score.bp, "counts": counts}
        cases.append((["bleu", cuts[i], cuts[j]], wanted))
    agree("things/bleu", cases, 1e-9)


def test_pairs_turn_as_on_the_page() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(STATES, 2, 8)  # a query and a key each
    places = torch.randint(100, (STATES, 2)).tolist()
    turned = deeper_12.my_rotate.right(vectors[:, :, None].expand(-1, -1, 100, -1))
    cases = []
    for pair, x, (t, s) in zip(vectors.tolist(), turned, places, strict=True):
        wanted = (x[0, t] * x[1, s]).view(4, 2).sum(1)  # x is (2, 100, 8)
        cases.append((["products", *pair, t, s], wanted))
    agree("things/rotary", cases, 1e-5)
    query, key = rotary.QUERY, rotary.KEY
    score = sum(in_node("things/rotary", [["products", query, key, 3, 1]])[0])
    assert f"their score is {score:.2f};" in rotary.Rotary().picture()


@cache
def given_beam(text: str) -> dict[str, Any]:
    return beam.lattice("multi30k-en-de", text)


def layer_by_layer(state: depth.Depth, seed: int, n_layers: int) -> Tensor:
    """The words after layers of the library's own, or of the parts of a layer."""
    options: dict[str, Any] = {
        "n_layers": 24,
        "n_decoder_layers": 1,
        "init": state.init,
    }
    if state.connection == "pre":
        options["norm"] = "pre"  # a model of the library, with the same weights
    config = nmt.load_config("tiny").model.model_copy(update=options)
    encoder, x = depth.drawn(config, seed)
    x = x[None]  # (1, S, D)
    with torch.no_grad():
        layers: list[Any] = [*encoder.layers]
        for layer in layers[:n_layers]:
            if state.connection in ("post", "pre"):
                x = layer(x, None)
                continue
            kept = float(state.connection == "sum")
            x = layer.self_attention(x, x) + kept * x
            x = layer.feed_forward(x) + kept * x
    return x[0]


def test_depth_has_the_numbers_of_the_library() -> None:
    draw = random.Random(1)
    given = depth.Depth().given()
    S = len(given["words"])
    states = [
        depth.Depth(depth=draw.randrange(25), connection=connection, init=init)
        for connection in ("none", "sum", "post", "pre")
        for init in ("xavier", "torch")
    ]
    jobs = [
        [name, given["stacks"], state.model_dump(), S]
        for state in states
        for name in ("shares", "cosines")
    ]
    found = iter(in_node("things/depth", jobs))
    for state, shares, cosines in zip(states, found, found, strict=True):
        assert len(shares) >= 5  # seeds
        for seed in (0, 4):
            x = layer_by_layer(state, seed, state.depth)
            wanted = ((x - x.mean(0)).norm() / x.norm()).item()
            mine = shares[seed][state.depth]
            assert mine == pytest.approx(max(wanted, depth.LEAST), rel=0.02)
        x = torch.nn.functional.normalize(layer_by_layer(state, 0, state.depth), dim=-1)
        same(cosines, (x @ x.T).clamp(min=0), 0.0051, 0)


@pytest.mark.parametrize("text", ["Two dogs.", "Qzx 😀 vw!"])
def test_the_beam_searches_as_the_library(text: str) -> None:
    translator, lattice = beam.loaded("multi30k-en-de"), given_beam(text)
    decode = translator.tgt_tokenizer.decode
    src = torch.tensor([translator.encode(text)])
    ids = {token: i for i, token in enumerate(lattice["tokens"])}
    states = [(K, alpha) for K in (1, 2, 3, 5) for alpha in (0, 0.6, 1.4)]
    asked = [["search", lattice, {"K": K, "alpha": alpha}] for K, alpha in states]
    said, wanted = [], []
    for (K, alpha), found in zip(states, in_node("things/beam", asked), strict=True):
        trace: list[Candidate] = []
        best = nmt.beam_search(translator.model, src, K, alpha, trace=trace)[0]
        mine = [
            (one["fate"], one["path"], one["total"])
            for step in found["steps"]
            for one in step
        ]
        assert len(found["steps"]) == trace[-1].step, (K, alpha)
        for one, (fate, path, total) in zip(trace, mine, strict=True):
            tokens = translator.tgt_tokenizer.lookup_tokens([*one.prefix, one.token])
            assert (fate, path) == (one.fate, [ids[token] for token in tokens])
            assert total == pytest.approx(one.log_prob, abs=0.003)
        for one, hypothesis in zip(found["found"], best, strict=False):
            assert one["score"] == pytest.approx(hypothesis.score, abs=0.003)
            said.append(["written", lattice, one["path"]])
            wanted.append(decode(hypothesis.ids))
    assert in_node("things/beam", said) == wanted


def test_a_temperature_divides_the_logits() -> None:
    lattice, taus = given_beam("Two dogs."), beam.TEMPERATURES
    translator, tokens = beam.loaded("multi30k-en-de"), lattice["tokens"]
    src = torch.tensor([translator.encode(lattice["text"])])
    with torch.no_grad():
        logits = translator.model(src, torch.tensor([[nmt.SOS]]))[0, -1]  # (V,)
    logits[[nmt.PAD, nmt.SOS]] = -torch.inf
    names = translator.tgt_tokenizer.lookup_tokens(range(len(logits)))
    node = lattice["nodes"][0]  # the empty prefix
    for tau, found in zip(
        taus,
        in_node("things/beam", [["heated", node, tau, taus] for tau in taus]),
        strict=True,
    ):
        p = (logits / tau).softmax(-1)
        for token, mine in found:
            index = names.index(tokens[token])
            assert mine == pytest.approx(float(p[index]), rel=2e-3)


def test_the_prefix_staircase_is_that_of_the_model() -> None:
    given = prefix.Prefix().given()
    columns = given["columns"]
    translator = beam.loaded("multi30k-en-de")
    src = torch.tensor([translator.encode(prefix.Prefix().text)])
    (said,) = translator.translate([prefix.Prefix().text], beam_size=1)
    tgt_in = torch.tensor([translator.tgt_tokenizer.encode(said.text)[:-1]])
    size = translator.model.output.out_features
    names = translator.tgt_tokenizer.lookup_tokens(range(size))
    for number, causal in product(range(3), (True, False)):
        make = nmt.target_mask if causal else nmt.padding_mask
        tried = [None if j == number else number for j in range(len(columns))]
        (found,) = in_node("things/prefix", [["staircase", given, tried, causal]])
        for j, column in enumerate(zip(*found, strict=True)):
            if j == number:
                assert {*column} == {None}
                continue
            other = columns[j]["others"][number]
            begins = names[tgt_in[0, j + 1]].startswith("▁")  # a word
            changed = tgt_in.clone()
            changed[0, j + 1] = names.index(f"▁{other}" if begins else other)
            with torch.no_grad():
                one, two = (
                    translator.model(src, ids, tgt_mask=make(ids))[0]
                    for ids in (tgt_in, changed)
                )
            same(column, (one - two).abs().amax(-1), 0.01)  # (T,)
            assert (max(column[: j + 1]) < 0.01) == causal
