"""The Marian model that is written for ``transformers`` computes what ours computes."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from tests.lib.small import small_config, small_model, small_translator
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.config import Config, DataConfig, DecodeConfig
from nmt_lib.runs import hugging_face

PAIRS = nmt.load_corpus(nmt.load_config("tiny").data).train[:60]
TEXTS = [pair.src for pair in PAIRS[:40]] + ['Zebra 中 , "quoted" text', "a"]
VARIANTS: dict[str, dict[str, Any]] = {
    "one matrix": {"tying": "three-way"},
    "output = target embedding": {"tying": "target"},
    "three matrices": {},
    "no bias": {"bias": False},
    "no bias in the norms": {"norm_bias": False},
    "embeddings not scaled": {"scale_embeddings": False, "tying": "three-way"},
    "a deeper decoder": {"n_decoder_layers": 3},
}


def translator(
    joint: bool = True, sos: bool = True, seed: int = 0, **model: Any
) -> nmt.Translator:
    """Random weights between real pieces."""
    data = DataConfig(
        corpus="tiny", tokenizer="bpe", joint=joint, vocab_size=120, src_specials=sos
    )
    pieces = nmt.build_tokenizers(data, PAIRS)
    config = Config(
        name="small",
        data=data,
        model=small_config(**model),
        decode=DecodeConfig(max_extra_tokens=20),
    )
    src, tgt = pieces
    return nmt.Translator(
        small_model(seed, len(src), len(tgt), 3.0, **model), src, tgt, config
    )


class Marian:
    """What ``transformers`` computes with these files, written out: one sentence, no padding, no dropout."""

    def __init__(self, folder: Path) -> None:
        self.weights = load_file(folder / "model.safetensors")
        self.config = json.loads((folder / "config.json").read_text())

    def logits(self, src: list[int], tgt: list[int]) -> Tensor:
        """(T, V)"""
        memory, y = self.embed("encoder", src), self.embed("decoder", tgt)
        for i in range(self.config["encoder_layers"]):
            memory = self.feed_forward(
                self.attend(memory, memory, f"model.encoder.layers.{i}.self_attn"),
                "encoder",
                i,
            )
        for i in range(self.config["decoder_layers"]):
            y = self.attend(y, y, f"model.decoder.layers.{i}.self_attn", causal=True)
            y = self.feed_forward(
                self.attend(y, memory, f"model.decoder.layers.{i}.encoder_attn"),
                "decoder",
                i,
            )
        tied = self.config["tie_word_embeddings"]
        table = self.table("decoder") if tied else self.weights["lm_head.weight"]
        return y @ table.T + self.weights["final_logits_bias"]

    def table(self, side: str) -> Tensor:
        shared = self.config["share_encoder_decoder_embeddings"]
        return self.weights[
            "model.shared.weight" if shared else f"model.{side}.embed_tokens.weight"
        ]

    def embed(self, side: str, ids: list[int]) -> Tensor:
        D = self.config["d_model"]
        angles = torch.arange(len(ids))[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
        scale = D**0.5 if self.config["scale_embedding"] else 1.0
        return self.table(side)[ids] * scale + torch.cat(
            [angles.sin(), angles.cos()], dim=1
        )

    def linear(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x: Tensor, name: str) -> Tensor:
        return F.layer_norm(
            x,
            x.shape[-1:],
            self.weights[f"{name}.weight"],
            self.weights[f"{name}.bias"],
        )

    def attend(
        self, x: Tensor, memory: Tensor, name: str, causal: bool = False
    ) -> Tensor:
        heads = self.config["encoder_attention_heads"]
        q, k, v = (
            self.linear(read, f"{name}.{part}_proj")
            .unflatten(-1, (heads, -1))
            .transpose(0, 1)
            for part, read in (("q", x), ("k", memory), ("v", memory))
        )
        found = (
            F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            .transpose(0, 1)
            .flatten(1)
        )
        return self.norm(
            x + self.linear(found, f"{name}.out_proj"), f"{name}_layer_norm"
        )

    def feed_forward(self, x: Tensor, side: str, i: int) -> Tensor:
        layer = f"model.{side}.layers.{i}"
        return self.norm(
            x + self.linear(self.linear(x, f"{layer}.fc1").relu(), f"{layer}.fc2"),
            f"{layer}.final_layer_norm",
        )


def largest_difference(ours: nmt.Translator, folder: Path) -> float:
    other, worst = Marian(folder), 0.0
    for pair in PAIRS[:8]:
        src, tgt = ours.encode(pair.src), ours.tgt_tokenizer.encode(pair.tgt, eos=False)
        with torch.inference_mode():
            logits = ours.model(torch.tensor([src]), torch.tensor([tgt]))[0]
        worst = max(
            worst,
            float((logits - other.logits(src, tgt)).abs().max() / logits.abs().max()),
        )
    return worst


# ------------------------------------------------------------------------------------------- without transformers
@pytest.mark.parametrize(
    ("variant", "joint"),
    [
        (name, joint)
        for joint in (True, False)
        for name in VARIANTS
        if joint or "three-way" not in VARIANTS[name].values()
    ],
)
def test_the_files_hold_a_marian_that_computes_the_same(
    variant: str, joint: bool, tmp_path: Path
) -> None:
    ours = translator(joint, **VARIANTS[variant])
    before = {name: value.clone() for name, value in ours.model.state_dict().items()}
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    assert largest_difference(ours, folder) < 1e-5
    assert all(
        torch.equal(value, before[name])
        for name, value in ours.model.state_dict().items()
    )


def test_the_comparison_would_catch_positions_in_another_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hugging_face, "sines_then_cosines", torch.arange)
    assert (
        largest_difference(
            translator(), nmt.export_hugging_face(translator(), tmp_path / "model")
        )
        > 1e-2
    )


def test_the_other_files_say_what_the_model_needs(tmp_path: Path) -> None:
    ours = translator(joint=False, sos=False)
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    settings = {
        path.name: json.loads(path.read_text()) for path in folder.glob("*.json")
    }
    assert settings["tokenizer_config.json"]["sp_model_kwargs"] == {"add_bos": False}
    assert settings["generation_config.json"]["suppress_tokens"] == [nmt.PAD, nmt.SOS]
    assert settings["config.json"]["decoder_start_token_id"] == nmt.SOS
    for name, tokenizer in (
        ("vocab", ours.src_tokenizer),
        ("target_vocab", ours.tgt_tokenizer),
    ):
        assert list(settings[f"{name}.json"]) == tokenizer.lookup_tokens(
            range(len(tokenizer))
        )
    assert "from transformers import" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"norm": "pre"}, "pre-LN"),
        ({"final_norm": True}, "final norm"),
        ({"d_value": 6}, "model.d_value=6"),
    ],
)
def test_what_marian_does_not_have_is_refused(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(nmt.ConfigError, match=f"cannot export to Marian.*{reason}"):
        nmt.export_hugging_face(translator(**options), tmp_path / "model")
    with pytest.raises(nmt.ConfigError, match=r"words \(data.tokenizer=whitespace\)"):
        nmt.export_hugging_face(small_translator(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    for folder in (tmp_path, tmp_path / "kept"):
        with pytest.raises(nmt.CheckpointError, match="is not an empty folder"):
            nmt.export_hugging_face(translator(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


# ---------------------------------------------------------------------------------------------- with transformers
@pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="the extra `bench` is not installed",
)
@pytest.mark.parametrize(
    ("joint", "sos", "model"),
    [
        (True, True, {"tying": "three-way"}),
        (True, False, {"tying": "target"}),
        (False, True, {"n_decoder_layers": 3}),
    ],
)
def test_transformers_says_the_same_token_for_token(
    joint: bool, sos: bool, model: dict[str, Any], tmp_path: Path
) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    ours = translator(joint, sos, **model)
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    theirs, tokenizer = (
        AutoModelForSeq2SeqLM.from_pretrained(folder).eval(),
        AutoTokenizer.from_pretrained(folder),
    )
    for text, found in zip(TEXTS, ours.translate(TEXTS, beam_size=1), strict=True):
        ids = tokenizer(text)["input_ids"]
        assert ids == ours.encode(text)
        row = theirs.generate(
            torch.tensor([ids]), num_beams=1, max_length=len(ids) + 21
        )[0].tolist()
        said = ours.tgt_tokenizer.lookup_tokens(row[1:])
        assert said == [*found.tokens, "<eos>"][: len(said)] and len(said) >= len(
            found.tokens
        )
        assert tokenizer.decode(row, skip_special_tokens=True) == found.text.replace(
            " ⁇ ", ""
        )
