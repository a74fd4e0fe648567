"""The translator: what comes out, strange and wrong texts, saving and loading."""

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.config import DataConfig, DecodeConfig
from nmt_lib.training import model_file
from tests.lib.small import ENGLISH, GERMAN, small_translator

TEXTS = [
    "ich sehe ein haus",
    "du",
    "wir mochte der hund und das bier",
    "ich mochte ein bier cola haus hund der ein du wir",
]
STRANGE = [
    "🙂 👩‍👩‍👧 ich",
    "ich\tsehe\nein  haus",
    "<eos> ich <pad>",
    "é" * 3000,
    "\x00",
    "\u0301",
]


@pytest.fixture(scope="module")
def translator() -> nmt.Translator:
    return small_translator()


def test_one_text_gives_one_translation_and_a_list_gives_a_list(
    translator: nmt.Translator,
) -> None:
    one, many = translator(TEXTS[0]), translator(TEXTS)
    assert isinstance(one, nmt.Translation) and isinstance(many, list)
    assert [t.source for t in many] == TEXTS and many[0].text == one.text
    texts: Any = iter(TEXTS)
    assert translator([]) == [] and translator(texts) == many
    assert str(one) == one.text == " ".join(one.tokens) and one == translator(TEXTS[0])
    assert "_attend" not in repr(one) and TEXTS[0] in repr(one)


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_keeps_the_attention(translator: nmt.Translator, clone: Any) -> None:
    one = translator(TEXTS[0])
    other = clone(one)
    assert other == one and vars(other)["_attend"] is nmt.Attention
    torch.testing.assert_close(vars(other.attention), vars(one.attention))


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("options", [{}, {"norm": "pre", "src_specials": False}])
def test_neighbours_batches_and_the_cache_have_no_effect(
    beam_size: int, options: dict[str, Any]
) -> None:
    translator = small_translator(4, **options)
    alone = [translator.translate(text, beam_size) for text in TEXTS]
    for setting in ({"batch_tokens": 1}, {"batch_tokens": 12}, {"use_cache": False}):
        found: Any = translator.translate(TEXTS[::-1], beam_size, **setting)
        for a, b in zip(found[::-1], alone, strict=True):
            assert [text for text, _ in a.n_best] == [text for text, _ in b.n_best]
            assert a.score == pytest.approx(b.score, abs=1e-4)


def test_dropout_is_off_whatever_mode_the_model_is_in() -> None:
    translator = small_translator(dropout=0.5)
    expected, pairs = translator(TEXTS), [nmt.Pair(text, "we see") for text in TEXTS]
    log_probs = nmt.sentence_log_probs(translator, pairs)
    translator.model.encoder.train()  # a part of it
    modes = [module.training for module in translator.model.modules()]
    again: Any = translator(TEXTS)
    assert again == expected and nmt.sentence_log_probs(translator, pairs) == log_probs
    torch.testing.assert_close(vars(again[0].attention), vars(expected[0].attention))
    translator.model.output.weight.data.fill_(torch.nan)
    for broken in (
        lambda: translator("ich"),
        lambda: nmt.perplexity(translator, pairs),
    ):
        with pytest.raises(nmt.TrainingError, match="are not numbers"):
            broken()
    assert [module.training for module in translator.model.modules()] == modes


def test_n_best_is_sorted_and_settings_come_from_the_config_unless_given() -> None:
    plain = small_translator()
    wide = small_translator(decode={"beam_size": 4, "length_penalty": 0.0})
    one = wide(TEXTS[0])
    assert one == plain.translate(TEXTS[0], beam_size=4, length_penalty=0.0)
    assert one.n_best[0] == (one.text, one.score) and len(one.n_best) == 4
    scores = [score for _, score in one.n_best]
    assert scores == sorted(scores, reverse=True)
    assert len(wide.translate(TEXTS[0], beam_size=2).n_best) == 2


@pytest.mark.parametrize("sos", [True, False])
def test_attention_has_a_label_for_each_row_and_column(sos: bool) -> None:
    translator = small_translator(src_specials=sos)
    for one in translator(["ich sehe qwertz und bier", "du"]):
        # Unknown words keep their letters.
        assert one.src_labels == (*["<sos>"] * sos, *one.source.split(), "<eos>")
        assert one.tgt_labels == (*one.tokens, "<eos>")
        shape = 1, 4, len(one.tgt_labels), len(one.src_labels)
        assert [weights.shape for weights in one.attention.cross] == [shape] * 2
        ids = translator.tgt_tokenizer.encode(one.text, eos=False)
        src = torch.tensor([translator.encode(one.source)])
        maps = translator.model.attention(src, torch.tensor([ids]))
        torch.testing.assert_close(vars(maps), vars(one.attention))


def test_empty_texts_give_empty_translations(translator: nmt.Translator) -> None:
    assert translator("") == nmt.Translation("", "", (), 0.0, (("", 0.0),))
    found = translator(["", TEXTS[0], " \t\n"])
    assert [t.text for t in found] == ["", translator(TEXTS[0]).text, ""]
    assert found[2].source == " \t\n" and found[0].attention.cross == []


@pytest.mark.parametrize("kind", ["whitespace", "bpe"])
def test_strange_texts_leave_the_others_alone(
    translator: nmt.Translator, kind: str
) -> None:
    if kind == "bpe":
        data = DataConfig(tokenizer="bpe", joint=True, vocab_size=40)
        both = nmt.build_tokenizers(data, [nmt.Pair(GERMAN, ENGLISH)] * 4)
        model = nmt.Transformer(translator.config.model, *map(len, both))
        translator = nmt.Translator(model, *both, translator.config)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = translator([*STRANGE, TEXTS[0]])
        assert found[1].text == found[-1].text == translator(TEXTS[0]).text
    for one in found:
        for weights in one.attention.cross:
            assert len(one.src_labels) == weights.size(3)
    for text in ("<eos>", "ich <eos> hund"):  # words like any other
        assert not {nmt.PAD, nmt.SOS, nmt.EOS} & set(translator.encode(text)[1:-1])


def test_long_texts_are_cut_with_a_warning() -> None:
    translator = small_translator(max_positions=16, decode={"max_source_tokens": 20})
    with pytest.warns(UserWarning, match="cut to 20 tokens") as warned:
        found = translator([TEXTS[0], "ich sehe " * 2500, TEXTS[1]])
    assert len(warned) == 1 and warned[0].filename == __file__
    assert found[0].text == translator(TEXTS[0]).text
    assert len(found[1].src_labels) == 20 and found[1].src_labels[-1] == "<eos>"
    assert len(found[1].tokens) <= 20 + 6


@pytest.mark.parametrize("bad", [None, 3, ["ich"]])
def test_what_is_no_text_is_named(translator: nmt.Translator, bad: Any) -> None:
    with pytest.raises(TypeError, match="text number 1 must be a str, not"):
        translator(["ich", bad, "du"])


@pytest.mark.parametrize("texts", [b"ich", {"ich": "I"}, {"ich", "du"}])
def test_keys_and_texts_without_an_order_are_not_translated(
    translator: nmt.Translator, texts: Any
) -> None:
    with pytest.raises(TypeError, match="text number 0 must be a str, not"):
        translator(texts)


@pytest.mark.parametrize("words", [True, False])
def test_half_a_character_is_one_that_is_unknown(words: bool) -> None:
    bundled = "multi30k-en-de"
    translator = small_translator() if words else nmt.Translator.load(bundled)
    whole, half = translator.translate(["ich \ufffd", "ich \ud83d"], beam_size=1)
    assert half == whole and translator.translate("🙂", 1).source == "🙂"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("beam_size", 0),
        ("beam_size", "5"),
        ("length_penalty", -1.0),
        ("batch_tokens", 0),
    ],
)
def test_settings_that_make_no_sense_are_named(
    translator: nmt.Translator, key: str, value: Any, tmp_path: Path
) -> None:
    translator.save(tmp_path)
    with pytest.raises(nmt.ConfigError, match=f"{key}.*got {value!r}$"):
        translator.translate("ich", **{key: value})
    with pytest.raises(nmt.ConfigError, match=f"{key}.*got {value!r}$"):
        nmt.Translator.load(tmp_path, decode={key: value})


@pytest.mark.parametrize(
    "options", [{}, {"tying": "target", "norm": "pre", "d_value": 3}]
)
def test_saved_and_loaded_it_translates_the_same(
    tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def watched(*arguments: Any) -> nmt.Transformer:
        model = nmt.Transformer(*arguments)
        assert torch.equal(torch.get_rng_state(), state), "other threads see it"
        return model

    translator, state = small_translator(3, **options), torch.get_rng_state()
    there = {"run_dir": "where it was trained"}
    translator.config = translator.config.model_copy(update=there)
    monkeypatch.setattr(model_file, "Transformer", watched)
    for name in ("a/b", "c.safetensors"):
        translator.save(path := tmp_path / name)
        loaded = nmt.Translator.load(path, device="cpu")
        assert loaded(TEXTS) == translator(TEXTS) and not loaded.model.training
        assert loaded.config == translator.config.model_copy(update={"run_dir": ""})
    assert torch.equal(torch.get_rng_state(), state), "loading draws no random numbers"
    for decode in (DecodeConfig(beam_size=3, max_extra_tokens=6), {"beam_size": 3}):
        wide = nmt.Translator.load(path, decode=decode)
        assert len(wide(TEXTS[0]).n_best) == 3
        assert wide.config.decode.max_extra_tokens == 6


@pytest.mark.parametrize("part", ["model", "model.encoder.layers.1", "in place"])
def test_a_compiled_model_is_saved_as_the_plain_one(tmp_path: Path, part: str) -> None:
    translator: Any = small_translator()
    translator.save(tmp_path / "plain.safetensors")
    encoder = translator.model.encoder
    if part == "model":
        translator.model = torch.compile(translator.model, backend="eager")
    elif part == "in place":
        encoder.compile(backend="eager")
    else:
        encoder.layers[1] = torch.compile(encoder.layers[1], backend="eager")
    translator.save(tmp_path / "compiled.safetensors")
    plain, compiled = (model_file.load(file).weights for file in tmp_path.iterdir())
    torch.testing.assert_close(plain, compiled, rtol=0, atol=0)


def test_what_could_not_be_loaded_again_is_not_saved(tmp_path: Path) -> None:
    translator: Any = small_translator()
    layers = translator.model.encoder.layers
    layers[1].extra = torch.nn.Linear(2, 2)
    with pytest.raises(nmt.CheckpointError, match=r"weights encoder\.layers\.1\.extra"):
        translator.save(tmp_path)
    layers[1] = torch.nn.Sequential(layers[1])
    with pytest.raises(nmt.CheckpointError, match=r"no weights encoder\.layers\.1\."):
        translator.save(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_a_device_that_is_not_there_is_named(tmp_path: Path) -> None:
    small_translator().save(tmp_path)
    with pytest.raises(nmt.ConfigError, match="cannot use device='abacus'"):
        nmt.Translator.load(tmp_path, device="abacus")
    renamed = (tmp_path / "model.safetensors").rename(tmp_path / "sent.txt")
    nmt.Translator.load(renamed)


def test_the_tokenizers_of_another_model_are_refused(
    translator: nmt.Translator,
) -> None:
    sides = translator.tgt_tokenizer, translator.src_tokenizer
    with pytest.raises(nmt.ShapeError, match="are they in this order"):
        nmt.Translator(translator.model, *sides, translator.config)
