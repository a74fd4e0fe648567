import copy
import pickle
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.lib.small import ENGLISH, GERMAN, small_translator

import nmt_lib as nmt
from nmt_lib.config import DataConfig, DecodeConfig
from nmt_lib.tokenizers import WordTokenizer
from nmt_lib.vocab import Vocab

TEXTS = [
    "ich sehe ein haus",
    "du",
    "wir mochte der hund und das bier",
    "ich mochte ein bier cola haus hund der ein du wir",
]
NOTHING = [
    "",
    "   ",
    "\t\n",
    "\x00",
    "\u200b",
    "\u00ad\ufeff",
    "\x07\x1b",
    "\ufe0f",
    "\u0301",
    "\u2800\u3164",
]
STRANGE = [
    *NOTHING,
    "gibberish qwertz",
    "🙂 👩‍👩‍👧 ich",
    "ich\x00sehe",
    "ich\tsehe\nein  haus",
    "<pad>",
    "<sos> ich <eos> hund <pad>",
    "ﷺ" * 50,
    "é" * 3000,
]


@pytest.fixture(scope="module")
def translator() -> nmt.Translator:
    return small_translator()


# ------------------------------------------------------------------------------------------------- what comes out
def like(*translations: nmt.Translation) -> list[Any]:
    """All but the last digits of the scores, which may differ between batches."""
    return [
        (
            t.source,
            t.text,
            t.tokens,
            t.src_labels,
            round(t.score, 3),
            [text for text, _ in t.n_best],
        )
        for t in translations
    ]


def test_one_text_gives_one_translation_and_a_list_gives_a_list(
    translator: nmt.Translator,
) -> None:
    one, many = translator("ich sehe ein haus"), translator(TEXTS)
    assert isinstance(one, nmt.Translation) and isinstance(many, list)
    assert [t.source for t in many] == TEXTS and like(many[0]) == like(one)
    assert translator([]) == [] and translator(iter(TEXTS)) == many


def test_a_translation_prints_as_its_text_and_compares_by_value(
    translator: nmt.Translator,
) -> None:
    one, other = translator(TEXTS[0]), translator(TEXTS[1])
    assert str(one) == one.text == " ".join(one.tokens) and f"{one}" == one.text
    assert (
        one == translator(TEXTS[0])
        and one != other
        and len({one, translator(TEXTS[0])}) == 1
    )
    assert "_attend" not in repr(one) and TEXTS[0] in repr(one)


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, copy.copy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_translation_is_copied_and_pickled_with_its_attention(
    translator: nmt.Translator, clone: Any
) -> None:
    one = translator(TEXTS[0])
    other = clone(one)
    assert other == one
    assert all(
        torch.equal(a, b)
        for a, b in zip(one.attention.cross, other.attention.cross, strict=True)
    )
    assert clone(translator("")) == translator("")


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "pre"}, {"src_specials": False}, {"attention_dropout": 0.1}],
)
def test_neighbours_and_batch_size_have_no_effect(
    beam_size: int, options: dict[str, Any]
) -> None:
    translator = small_translator(4, **options)
    alone = [translator.translate(text, beam_size) for text in TEXTS]
    for budget in (1, 12, 40, 4096):
        for order in ([0, 1, 2, 3], [3, 0, 2, 1]):
            found = translator.translate(
                [TEXTS[i] for i in order], beam_size, batch_tokens=budget
            )
            assert [t.text for t in found] == [alone[i].text for i in order]
            assert [t.score for t in found] == pytest.approx(
                [alone[i].score for i in order], abs=1e-4
            )
            assert [[text for text, _ in t.n_best] for t in found] == [
                [text for text, _ in alone[i].n_best] for i in order
            ]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_cache_has_no_effect(translator: nmt.Translator, beam_size: int) -> None:
    found = [
        translator.translate(TEXTS, beam_size, use_cache=use_cache)
        for use_cache in (True, False)
    ]
    assert [t.tokens for t in found[0]] == [t.tokens for t in found[1]]


def test_n_best_is_sorted_and_starts_with_the_translation(
    translator: nmt.Translator,
) -> None:
    one = translator.translate(TEXTS[0], beam_size=5)
    assert len(one.n_best) == 5 and one.n_best[0] == (one.text, one.score)
    scores = [score for _, score in one.n_best]
    assert scores == sorted(scores, reverse=True)
    assert translator.translate(TEXTS[0], beam_size=1).n_best == (
        (translator(TEXTS[0]).text, translator(TEXTS[0]).score),
    )


def test_settings_come_from_the_config_unless_given() -> None:
    plain, wide = (
        small_translator(),
        small_translator(decode={"beam_size": 4, "length_penalty": 0.0}),
    )
    assert wide(TEXTS[0]) == plain.translate(TEXTS[0], beam_size=4, length_penalty=0.0)
    assert len(wide.translate(TEXTS[0], beam_size=2).n_best) == 2


@pytest.mark.parametrize("src_specials", [True, False])
def test_attention_fits_its_labels(src_specials: bool) -> None:
    translator = small_translator(src_specials=src_specials)
    for one in translator(["ich sehe qwertz und bier", "du"]):
        words = one.source.split()
        assert one.src_labels == (
            *(["<sos>"] if src_specials else []),
            *words,
            "<eos>",
        )  # unknown words as written
        assert one.tgt_labels == (*one.tokens, "<eos>")
        S, T = len(one.src_labels), len(one.tgt_labels)
        assert [tuple(w.shape) for w in one.attention.encoder] == [(1, 4, S, S)] * 2
        assert [tuple(w.shape) for w in one.attention.decoder] == [(1, 4, T, T)] * 2
        assert [tuple(w.shape) for w in one.attention.cross] == [(1, 4, T, S)] * 2
        assert one.attention is one.attention
        one.attention.cross[0].mul_(1.0)  # a reader may calculate with it


def test_attention_has_no_effect_on_the_next_translation(
    translator: nmt.Translator,
) -> None:
    first = translator(TEXTS[2])
    assert first.attention.cross and translator(TEXTS[2]) == first


# --------------------------------------------------------------------------------------------------- strange texts
@pytest.mark.parametrize("beam_size", [1, 2])
def test_strange_texts_get_translations_and_leave_the_others_alone(
    translator: nmt.Translator, beam_size: int
) -> None:
    found = translator.translate([*STRANGE, TEXTS[0]], beam_size)
    assert [t.source for t in found] == [*STRANGE, TEXTS[0]]
    assert found[-1].text == translator.translate(TEXTS[0], beam_size).text
    n = len(NOTHING)
    assert [t.text for t in found[:n]] == [""] * n
    assert all(len(t.tgt_labels) == t.attention.cross[0].size(2) for t in found[n:])
    assert all(len(t.src_labels) == t.attention.cross[0].size(3) for t in found[n:])
    assert (
        found[n + 3].text == translator.translate("ich sehe ein haus", beam_size).text
    )


def test_an_empty_text_gives_an_empty_translation(translator: nmt.Translator) -> None:
    assert translator("") == nmt.Translation("", "", (), 0.0, (("", 0.0),))
    assert (
        translator("").attention.cross == [] and translator(["", " "])[1].source == " "
    )


@pytest.mark.parametrize("beam_size", [1, 2])
def test_five_thousand_words_are_cut_with_a_warning(beam_size: int) -> None:
    translator, limit = small_translator(max_positions=16), 1024
    start = time.perf_counter()
    with pytest.warns(UserWarning, match=f"5002 tokens is cut to {limit} ") as warned:
        found = translator.translate(
            [TEXTS[0], "ich sehe " * 2500, TEXTS[2]], beam_size
        )
    assert time.perf_counter() - start < 20 and len(warned) == 1
    assert warned[0].filename == __file__
    assert like(found[0], found[2]) == like(
        *(translator.translate(TEXTS[i], beam_size) for i in (0, 2))
    )
    assert len(found[1].src_labels) == limit and found[1].src_labels[-1] == "<eos>"
    assert len(found[1].tokens) <= limit + 6


def test_what_is_far_too_long_does_not_reach_the_tokenizer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    translator, seen = small_translator(decode={"max_source_tokens": 10}), []
    for name in ("encode", "tokenize"):
        method = getattr(translator.src_tokenizer, name)
        monkeypatch.setattr(
            translator.src_tokenizer,
            name,
            lambda text, m=method: seen.append(len(text)) or m(text),
        )
    with pytest.warns(
        UserWarning,
        match=r"100000 characters is cut to 10 \(decode.max_source_tokens\)",
    ):
        found = translator("(" * 100_000)
    assert set(seen) == {320} and found.src_labels == ("<sos>", "(" * 320, "<eos>")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(translator.encode("x" * 320)) == 3, "no longer than allowed"


def test_special_tokens_in_a_text_are_words_and_end_nothing(
    translator: nmt.Translator,
) -> None:
    for text in ("<eos>", "ich <eos> hund", "<pad> <sos> <eos>"):
        ids = translator.encode(text)
        assert (
            ids == [nmt.SOS, *ids[1:-1], nmt.EOS] and len(ids) == len(text.split()) + 2
        )
        assert not {nmt.PAD, nmt.SOS, nmt.EOS} & set(ids[1:-1]) and translator(
            text
        ).src_labels[1:-1] == tuple(text.split())


def test_sentencepiece_takes_strange_texts() -> None:
    from nmt_lib.tokenizers import build_tokenizers

    data = DataConfig(
        corpus="toy",
        src_lang="de",
        tgt_lang="en",
        tokenizer="bpe",
        joint=True,
        vocab_size=40,
    )
    pieces = build_tokenizers(data, [nmt.Pair(" ".join(GERMAN), " ".join(ENGLISH))] * 4)
    config = small_translator().config.model_copy(update={"data": data})
    model = nmt.build_model(config.model, len(pieces[0]), len(pieces[1]))
    translator = nmt.Translator(model, *pieces, config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = translator([*STRANGE, TEXTS[0]])
    assert found[-1].text == translator(TEXTS[0]).text
    for one in found[len(NOTHING) :]:
        assert len(one.src_labels) == one.attention.cross[0].size(3)


# ------------------------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize("bad", [None, 3, b"ich", ["ich"], 1.5])
def test_an_item_that_is_no_text_is_named(translator: nmt.Translator, bad: Any) -> None:
    with pytest.raises(
        TypeError, match=f"text number 1 must be a str, not {type(bad).__name__}"
    ):
        translator(["ich", bad, "du"])


@pytest.mark.parametrize("bad", [None, 3, b"ich"])
def test_texts_that_are_no_list_are_named(translator: nmt.Translator, bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^text.* must be a str"):
        translator(bad)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("beam_size", 0),
        ("beam_size", -3),
        ("beam_size", 2.5),
        ("beam_size", "5"),
        ("length_penalty", -1.0),
        ("length_penalty", float("nan")),
        ("batch_tokens", 0),
    ],
)
def test_settings_that_make_no_sense_are_named(
    translator: nmt.Translator, setting: str, value: Any
) -> None:
    with pytest.raises(nmt.ConfigError) as caught:
        translator.translate("ich", **{setting: value})
    message = str(caught.value)
    assert (
        f"{setting}={value!r}" in message
        and "\n" not in message
        and "[type=" not in message
    )


# --------------------------------------------------------------------------------------------------- save and load
@pytest.mark.parametrize(
    "options", [{}, {"tying": "target", "norm": "pre"}, {"bias": False, "d_value": 3}]
)
def test_saved_and_loaded_translates_the_same(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    translator = small_translator(3, **options)
    translator.save(tmp_path / "a" / "b")
    state = torch.get_rng_state()
    loaded = nmt.Translator.load(tmp_path / "a" / "b", device="cpu")
    assert torch.equal(torch.get_rng_state(), state)
    assert loaded.translate(TEXTS, beam_size=3) == translator.translate(
        TEXTS, beam_size=3
    )
    assert loaded.config == translator.config and not loaded.model.training
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / "model.safetensors").read_bytes() == (
        tmp_path / "a" / "b" / "model.safetensors"
    ).read_bytes()


def test_weights_saved_in_half_take_half_the_space_and_give_nearly_the_same(
    tmp_path: Path,
) -> None:
    translator = small_translator(d_ff=400)
    translator.save(tmp_path / "full")
    translator.save(tmp_path / "half", half=True)
    size = {
        name: (tmp_path / name / "model.safetensors").stat().st_size
        for name in ("full", "half")
    }
    assert size["half"] < 0.6 * size["full"]
    loaded = nmt.Translator.load(tmp_path / "half", device="cpu")
    for ours, theirs in zip(
        loaded.model.parameters(), translator.model.parameters(), strict=True
    ):
        assert ours.dtype == torch.float32 and torch.equal(ours, theirs.half().float())


def test_load_takes_other_search_settings(tmp_path: Path) -> None:
    small_translator().save(tmp_path)
    loaded = nmt.Translator.load(
        tmp_path, decode=DecodeConfig(beam_size=3, max_extra_tokens=2)
    )
    assert len(loaded(TEXTS[0]).n_best) == 3
    changed = nmt.Translator.load(tmp_path, decode={"beam_size": 2})
    assert len(changed(TEXTS[0]).n_best) == 2
    assert (
        changed.config.decode.max_extra_tokens
        == small_translator().config.decode.max_extra_tokens
    )


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"decode": {"beam_size": 0}}, "beam_size=0"),
        ({"decode": {"beams": 1}}, "beams"),
        ({"device": "abacus"}, "abacus"),
    ],
)
def test_load_with_options_that_make_no_sense(
    tmp_path: Path, options: dict[str, Any], part: str
) -> None:
    small_translator().save(tmp_path)
    with pytest.raises(nmt.ConfigError, match=part) as caught:
        nmt.Translator.load(tmp_path, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_named(tmp_path: Path) -> None:
    small_translator().save(tmp_path)
    with pytest.raises(nmt.ConfigError, match="device='cuda'"):
        nmt.Translator.load(tmp_path, device="cuda")


FILES = ["model.safetensors", "config.yaml", "src_tokenizer.json", "tgt_tokenizer.json"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "garbage"])
def test_a_damaged_folder_is_named(tmp_path: Path, name: str, damage: str) -> None:
    small_translator().save(tmp_path)
    path, content = tmp_path / name, (tmp_path / name).read_bytes()
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "truncated": content[: len(content) // 2],
                "garbage": b"\xff\x00\xfe" * 40,
            }[damage]
        )
    try:
        loaded = nmt.Translator.load(tmp_path)
    except nmt.CheckpointError as error:
        assert str(tmp_path) in str(error)
    else:
        pytest.fail(f"loaded from a folder with {name} {damage}: {loaded}")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.CheckpointError,
        match=r"no trained model in .*nowhere.*comes with the library",
    ):
        nmt.Translator.load(tmp_path / "nowhere")


def test_a_run_that_is_not_finished_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(nmt.CheckpointError, match="not finished: train it again"):
        nmt.Translator.load(tmp_path)
    with pytest.raises(nmt.CheckpointError, match="folder of a run"):
        small_translator().save(tmp_path)


def test_half_a_character_is_named(translator: nmt.Translator) -> None:
    with pytest.raises(
        nmt.CorpusError, match="text number 1 has no valid character at place 2"
    ):
        translator(["ich", "a \ud83d b"])


def test_another_vocabulary_is_refused_even_of_the_same_size(tmp_path: Path) -> None:
    translator = small_translator()
    translator.save(tmp_path)
    words = translator.tgt_tokenizer.vocab.get_itos()  # type: ignore[attr-defined]
    for other in ([*words[:4], *reversed(words[4:])], [*words, "more"]):
        text = WordTokenizer("whitespace", "en", Vocab(other)).dumps()
        (tmp_path / "tgt_tokenizer.json").write_text(text, encoding="utf-8")
        with pytest.raises(nmt.CheckpointError, match="vocabulary"):
            nmt.Translator.load(tmp_path)


def test_weights_of_another_config_are_refused(tmp_path: Path) -> None:
    small_translator().save(tmp_path)
    small_translator(d_ff=32).save(tmp_path / "other")
    (tmp_path / "config.yaml").write_bytes(
        (tmp_path / "other" / "config.yaml").read_bytes()
    )
    with pytest.raises(nmt.CheckpointError, match=r"W_1.*\(24, 16\).*\(32, 16\)"):
        nmt.Translator.load(tmp_path)


def test_saving_where_a_file_stands_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    with pytest.raises(nmt.CheckpointError, match="cannot write"):
        small_translator().save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "kept"


def test_translating_needs_no_evaluation_mode_and_leaves_random_numbers_alone() -> None:
    translator = small_translator(dropout=0.5)
    state = torch.get_rng_state()
    assert like(*translator(TEXTS)) == like(*small_translator(dropout=0.0)(TEXTS))
    torch.set_rng_state(state)
    translator(TEXTS)
    assert torch.equal(torch.get_rng_state(), state)


def test_encode_keeps_the_specials_of_the_training(translator: nmt.Translator) -> None:
    ids = translator.encode("ich sehe")
    assert ids[0] == nmt.SOS and ids[-1] == nmt.EOS and len(ids) == 4
    assert small_translator(src_specials=False).encode("ich sehe") == ids[1:]
    assert translator.encode("") == [] and translator.encode("qwertz") == [
        nmt.SOS,
        nmt.UNK,
        nmt.EOS,
    ]


def test_a_model_that_is_not_finite_is_not_saved_over_a_good_one(
    translator: nmt.Translator, tmp_path: Path
) -> None:
    translator.save(tmp_path)
    broken = small_translator()
    torch.nn.init.constant_(broken.model.output.weight, float("inf"))
    with pytest.raises(nmt.CheckpointError, match="nothing was saved"):
        broken.save(tmp_path)
    assert nmt.Translator.load(tmp_path)(TEXTS[0]).text == translator(TEXTS[0]).text


def test_a_copy_does_not_know_where_it_was_trained(tmp_path: Path) -> None:
    translator = small_translator()
    translator.config = translator.config.model_copy(
        update={"run_dir": "/somewhere/else"}
    )
    translator.save(tmp_path)
    assert "somewhere" not in (tmp_path / "config.yaml").read_text(encoding="utf-8")
