"""The model that CTranslate2 reads gives the log-probabilities and the translations of ours."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.lib.small import ENGLISH, GERMAN, small_config, small_model, small_translator

import nmt_lib as nmt
from nmt_lib.config import Config, DataConfig, DecodeConfig
from nmt_lib.runs import export
from nmt_lib.tokenizers import SentencePieceTokenizer

TEXTS = [
    "ich sehe ein haus",
    "du",
    "wir mochte der hund",
    "ich mochte ein bier cola haus hund der ein du wir",
    "qwertz",
]
TARGETS = [
    "i see a house .",
    "you",
    "we want the dog",
    "i want a beer coke house dog",
    "qwertz the .",
]
PAIRS = [
    nmt.Pair(source, target) for source, target in zip(TEXTS, TARGETS, strict=True)
]
VARIANTS: dict[str, dict[str, Any]] = {
    "post-LN": {},
    "pre-LN": {"norm": "pre"},
    "post-LN with a final norm": {"final_norm": True},
    "pre-LN without a final norm": {"norm": "pre", "final_norm": False},
    "no bias": {"bias": False},
    "no bias in the norms": {"norm_bias": False},
    "output = target embedding": {"tying": "target"},
    "embeddings not scaled": {"scale_embeddings": False},
    "a deeper decoder": {"n_decoder_layers": 3},
    "d_value said": {"d_value": 4},
    "a table of positions that must grow": {"max_positions": 4},
    "source without <sos>": {"src_specials": False},
}


class Engine:
    """An exported model in CTranslate2 itself, used as the docstring of the export says."""

    def __init__(self, translator: nmt.Translator, folder: Path) -> None:
        import ctranslate2

        self.engine = ctranslate2.Translator(str(folder), intra_threads=1)
        self.translator, self.source, self.target = (
            translator,
            translator.src_tokenizer,
            translator.tgt_tokenizer,
        )
        self.ids = {
            token: index
            for index, token in enumerate(
                self.target.lookup_tokens(range(len(self.target)))
            )
        }

    def __call__(self, texts: list[str], **options: Any) -> list[str]:
        limits = [
            len(self.translator.encode(text))
            + self.translator.config.decode.max_extra_tokens
            for text in texts
        ]
        sources = [self.source.tokenize(text) for text in texts]
        silent = {
            "suppress_sequences": [["<pad>"], ["<sos>"]],
            "min_decoding_length": 0,
        }
        found = self.engine.translate_batch(
            sources, **silent, **options, max_decoding_length=max(limits)
        )
        said = [
            result.hypotheses[0][:limit]
            for result, limit in zip(found, limits, strict=True)
        ]
        return [
            self.target.decode(self.ids[token] for token in tokens) for tokens in said
        ]


def exported(
    translator: nmt.Translator, folder: Path, quantization: str | None = None
) -> Engine:
    return Engine(translator, nmt.export_ctranslate2(translator, folder, quantization))


def tokens(
    translator: nmt.Translator, pairs: list[nmt.Pair]
) -> tuple[list[list[str]], list[list[str]]]:
    """Sources and targets without special tokens, as any program with CTranslate2 would give them."""
    src, tgt = translator.src_tokenizer, translator.tgt_tokenizer
    sources = [
        src.lookup_tokens(src.encode(pair.src, sos=False, eos=False)) for pair in pairs
    ]
    return sources, [
        tgt.lookup_tokens(tgt.encode(pair.tgt, sos=False, eos=False)) for pair in pairs
    ]


def largest_difference(
    translator: nmt.Translator, other: Engine, pairs: list[nmt.Pair]
) -> float:
    """Between the log-probabilities that the two give to the targets."""
    theirs = [
        sum(result.log_probs)
        for result in other.engine.score_batch(*tokens(translator, pairs))
    ]
    ours = nmt.sentence_log_probs(translator, pairs)
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def joint_translator(tying: str) -> nmt.Translator:
    """One SentencePiece model for both sides, so that all three matrices may be one."""
    pieces = SentencePieceTokenizer.train(
        "bpe", TEXTS[:4] + TARGETS[:4], 60, 1.0, False
    )
    data = DataConfig(
        corpus="toy", src_lang="de", tgt_lang="en", tokenizer="bpe", joint=True
    )
    decode = DecodeConfig(max_extra_tokens=6)
    config = Config(
        name="small", data=data, model=small_config(tying=tying), decode=decode
    )
    model = small_model(0, len(pieces), len(pieces), 3.0, tying=tying)
    return nmt.Translator(model, pieces, pieces, config)


# --------------------------------------------------------------------------------------------- random small models
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_gives_the_same_log_probabilities_and_greedy_texts(
    variant: str, tmp_path: Path
) -> None:
    for seed in range(3):
        translator = small_translator(seed, **VARIANTS[variant])
        other = exported(translator, tmp_path / str(seed))
        assert largest_difference(translator, other, PAIRS) < 1e-4
        assert other(TEXTS, beam_size=1) == [
            t.text for t in translator.translate(TEXTS, beam_size=1)
        ]


@pytest.mark.parametrize("tying", ["none", "target", "three-way"])
def test_sentencepiece_and_one_vocabulary(tying: str, tmp_path: Path) -> None:
    translator = joint_translator(tying)
    other = exported(translator, tmp_path / "model")
    assert (tmp_path / "model" / "shared_vocabulary.json").is_file()
    assert largest_difference(translator, other, PAIRS) < 1e-4
    assert other(TEXTS, beam_size=1) == [t.text for t in translator(TEXTS)]


def test_matrices_that_are_one_are_stored_once(tmp_path: Path) -> None:
    sizes = {}
    for tying in ("none", "three-way"):
        folder = nmt.export_ctranslate2(joint_translator(tying), tmp_path / tying)
        sizes[tying] = (folder / "model.bin").stat().st_size
    matrix = 4 * joint_translator("none").model.output.weight.numel()
    assert sizes["none"] - sizes["three-way"] == pytest.approx(2 * matrix, abs=200)


MISTAKES: dict[str, Callable[[Any], None]] = {
    "no embedding scale": lambda spec: setattr(spec.decoder, "scale_embeddings", False),
    "the other norm": lambda spec: setattr(spec.encoder, "pre_norm", True),
    "another epsilon": lambda spec: setattr(spec.config, "layer_norm_epsilon", 0.1),
    "source without <sos>": lambda spec: setattr(spec.config, "add_source_bos", False),
    "source without <eos>": lambda spec: setattr(spec.config, "add_source_eos", False),
    "positions shifted": lambda spec: setattr(
        spec.decoder.position_encodings,
        "encodings",
        spec.decoder.position_encodings.encodings[1:],
    ),
    "sines before cosines": lambda spec: setattr(
        spec.encoder.position_encodings,
        "encodings",
        spec.encoder.position_encodings.encodings.reshape(-1, 8, 2)
        .swapaxes(1, 2)
        .reshape(-1, 16)
        .copy(),
    ),
    "keys and queries swapped": lambda spec: setattr(
        spec.encoder.layer[0].self_attention.linear[0],
        "weight",
        spec.encoder.layer[0]
        .self_attention.linear[0]
        .weight.reshape(3, 16, 16)[[1, 0, 2]]
        .reshape(48, 16),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_comparison_would_catch(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = export._make_spec

    def wrong(*arguments: Any) -> Any:
        spec = right(*arguments)
        MISTAKES[mistake](spec)
        return spec

    monkeypatch.setattr(export, "_make_spec", wrong)
    translator = small_translator(1)
    other = exported(translator, tmp_path / "model")
    assert largest_difference(translator, other, PAIRS) > 1e-2


@pytest.mark.parametrize(
    "quantization", [None, "int8", "int16", "float16", "bfloat16", "float32"]
)
def test_exporting_leaves_the_model_as_it_was(
    quantization: str | None, tmp_path: Path
) -> None:
    translator = small_translator(tying="target")
    before = {
        name: value.clone() for name, value in translator.model.state_dict().items()
    }
    nmt.export_ctranslate2(translator, tmp_path / "model", quantization)
    assert all(
        torch.equal(value, before[name])
        for name, value in translator.model.state_dict().items()
    )


# ------------------------------------------------------------------------------------------------ the tiny model
@pytest.fixture(scope="module")
def tiny() -> tuple[nmt.Translator, list[nmt.Pair]]:
    """The model of the chapters; trained first (under a minute) where it is not there yet."""
    translator = nmt.load_or_train("tiny")
    translator.model.cpu()
    return translator, nmt.load_corpus(translator.config.data).test


def test_tiny_gives_the_same_for_every_test_sentence(tiny: Any, tmp_path: Path) -> None:
    translator, pairs = tiny
    texts = [pair.src for pair in pairs]
    other = exported(translator, tmp_path / "model")
    assert largest_difference(translator, other, pairs) < 1e-4
    for K in (1, 5):
        ours = translator.translate(texts, beam_size=K, length_penalty=0.0)
        assert other(texts, beam_size=K, length_penalty=0.0) == [t.text for t in ours]
        settings = {
            "beam_size": K,
            "length_penalty": 0.0,
            "min_decoding_length": 0,
            "return_scores": True,
        }
        theirs = other.engine.translate_batch(tokens(translator, pairs)[0], **settings)
        assert [tuple(result.hypotheses[0]) for result in theirs] == [
            t.tokens for t in ours
        ]
        assert [result.scores[0] for result in theirs] == pytest.approx(
            [t.score for t in ours], abs=1e-4
        )


def test_tiny_in_int8_is_smaller_and_nearly_as_good(tiny: Any, tmp_path: Path) -> None:
    translator, pairs = tiny
    texts = [pair.src for pair in pairs[:100]]
    other = exported(translator, tmp_path / "int8", "int8")
    nmt.export_ctranslate2(translator, tmp_path / "fp32")
    sizes = [
        (tmp_path / name / "model.bin").stat().st_size for name in ("int8", "fp32")
    ]
    assert sizes[0] < 0.5 * sizes[1]
    same = sum(
        a == b.text
        for a, b in zip(other(texts, beam_size=1), translator(texts), strict=True)
    )
    assert same >= 90  # which ones differ depends on the processor


# ------------------------------------------------------------------------------------------------ what is refused
def test_values_of_another_width_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.ConfigError,
        match=r"cannot hold model\.d_value=6 beside d_model / n_heads = 4",
    ):
        nmt.export_ctranslate2(small_translator(d_value=6), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_unknown_quantization_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        nmt.ConfigError, match=r"quantization='int7'.*Accepted types are: int8"
    ):
        nmt.export_ctranslate2(small_translator(), tmp_path / "model", "int7")
    assert not (tmp_path / "model").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    for folder in (tmp_path, tmp_path / "kept"):
        with pytest.raises(nmt.CheckpointError, match="is not an empty folder"):
            nmt.export_ctranslate2(small_translator(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_a_missing_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(nmt.MissingPackageError, match="pip install ctranslate2"):
        nmt.export_ctranslate2(small_translator(), tmp_path / "m")


def test_the_words_of_both_languages_are_the_vocabularies(tmp_path: Path) -> None:
    folder = nmt.export_ctranslate2(small_translator(), tmp_path / "model")
    for name, words in (("source", GERMAN), ("target", ENGLISH)):
        text = (folder / f"{name}_vocabulary.json").read_text()
        assert all(f'"{word}"' in text for word in words) and text.index(
            "<pad>"
        ) < text.index("<unk>")
