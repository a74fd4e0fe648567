"""``transformers`` computes with what is written for it what ours computes."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch

import nmt_lib as nmt
from nmt_lib.config import Config, DataConfig, DecodeConfig
from tests.lib.small import small_config, small_model, small_translator

PAIRS = nmt.load_corpus(nmt.load_config("tiny").data).train[:60]
TEXTS = [pair.src for pair in PAIRS[:8]] + ['Zebra 中 , "quoted" text', "a"]


def translator(joint: bool = True, sos: bool = True, **model: Any) -> nmt.Translator:
    """Random weights between real subwords."""
    data = DataConfig(tokenizer="bpe", joint=joint, vocab_size=120, src_specials=sos)
    src, tgt = nmt.build_tokenizers(data, PAIRS)
    decode = DecodeConfig(max_extra_tokens=20)
    config = Config(data=data, model=small_config(**model), decode=decode)
    network = small_model(0, len(src), len(tgt), 3.0, **model)
    if config.model.bias:
        network.output.bias.data[[nmt.PAD, nmt.SOS]] = 40.0  # they are never written
    return nmt.Translator(network, src, tgt, config)


@pytest.mark.parametrize(
    ("joint", "sos", "model"),
    [
        (True, True, {"tying": "three-way"}),
        (True, False, {"tying": "target", "bias": False}),
        (False, True, {"norm_bias": False, "n_decoder_layers": 3}),
        (True, True, {"scale_embeddings": False, "tying": "three-way", "norm": "pre"}),
    ],
)
def test_transformers_gives_the_same_logits_and_tokens(
    joint: bool, sos: bool, model: dict[str, Any], tmp_path: Path
) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    ours = translator(joint, sos, **model)
    before = {name: value.clone() for name, value in ours.model.state_dict().items()}
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    torch.testing.assert_close(ours.model.state_dict(), before, rtol=0, atol=0)
    theirs = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for text, found in zip(TEXTS, ours.translate(TEXTS, beam_size=1), strict=True):
        ids = ours.encode(text)
        assert tokenizer(text)["input_ids"] == ids
        src = torch.tensor([ids])
        tgt = torch.tensor([[nmt.SOS, *ours.tgt_tokenizer.ids(found.text)]])
        with torch.inference_mode():
            logits = ours.model(src, tgt)
            other = theirs(src, decoder_input_ids=tgt).logits
        atol = 1e-5 * float(logits.abs().max())
        torch.testing.assert_close(logits, other, rtol=0, atol=atol)
        row = theirs.generate(src, num_beams=1, max_length=len(ids) + 21)[0]
        said = ours.tgt_tokenizer.lookup_tokens(row[1:].tolist())
        assert said == [*found.tokens, "<eos>"][: len(said)]
        assert len(said) >= len(found.tokens)
    ours.model = torch.compile(ours.model, backend="eager")  # type: ignore[assignment]
    for file in nmt.export_hugging_face(ours, tmp_path / "compiled").iterdir():
        assert file.read_bytes() == (folder / file.name).read_bytes()


def test_no_name_of_hers_is_markup_in_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    ours = translator()
    data = ours.config.data.model_copy(update={"corpus": f"{tmp_path}/`<b>`"})
    changes = {"name": "x`\n---\n# <img src=x>", "data": data}
    ours.config = ours.config.model_copy(update=changes)
    card = (nmt.export_hugging_face(ours, "~/model") / "README.md").read_text()
    _, _, text = card.split("---\n")
    assert text.startswith("# `x' --- # <img src=x>`: en to fr\n")
    assert "trained on `~/'<b>'`\n" in text and text.count("`") == 20


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"norm": "pre"}, "without three-way tying"),
        ({"final_norm": True}, "model.final_norm"),
        ({"d_value": 6}, "model.d_value"),
        (None, r"words as tokens .set data\.tokenizer"),
    ],
)
def test_what_transformers_does_not_have_is_refused(
    options: dict[str, Any] | None, reason: str, tmp_path: Path
) -> None:
    ours = small_translator() if options is None else translator(**options)
    with pytest.raises(nmt.ConfigError, match=rf"cannot export.*{reason}"):
        nmt.export_hugging_face(ours, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    for folder in (tmp_path, tmp_path / "kept"):
        with pytest.raises(nmt.CheckpointError, match="is not an empty folder"):
            nmt.export_hugging_face(translator(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")  # nor can a volume be removed
    assert nmt.export_hugging_face(translator(), tmp_path / "link").is_symlink()


@pytest.mark.parametrize("sos", [True, False])
def test_what_the_card_says_about_fine_tuning_gives_our_loss(
    sos: bool, tmp_path: Path
) -> None:
    ours, targets = translator(sos=sos, tying="three-way"), TEXTS[::-1]
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    _, *codes = (folder / "README.md").read_text().split("```python\n")
    names: dict[str, Any] = {"sources": TEXTS, "targets": targets}
    for code in codes:
        exec(code.partition("```")[0].replace('"."', f'"{folder}"'), names)
    pairs = list(map(nmt.Pair, TEXTS, targets))
    loss = math.log(nmt.evaluate(ours, pairs).perplexity)
    assert names["loss"].item() == pytest.approx(loss, rel=1e-4)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_engine_writes_the_same(norm: str, tmp_path: Path) -> None:
    import ctranslate2
    from sentencepiece import SentencePieceProcessor

    ours = translator(norm=norm, tying="three-way")
    folder = nmt.export_ctranslate2(ours, tmp_path / "engine", "float32")
    engine = ctranslate2.Translator(str(folder), compute_type="float32")
    subwords = SentencePieceProcessor(str(folder / "source.spm"))
    never = {"suppress_sequences": [["<pad>"], ["<sos>"]]}
    for translation in ours.translate(TEXTS, beam_size=1):
        words = subwords.encode(translation.source, out_type=str)
        most = {"max_decoding_length": len(words) + 22}
        [result] = engine.translate_batch(
            [["<sos>", *words, "<eos>"]], beam_size=1, **most, **never
        )
        assert result.hypotheses == [list(translation.tokens)]
    with pytest.raises(nmt.CheckpointError, match="not an empty folder"):
        nmt.export_ctranslate2(ours, folder)
