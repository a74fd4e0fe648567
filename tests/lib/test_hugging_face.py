"""What is written for ``transformers`` computes what ours computes."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.config import Config, DataConfig, DecodeConfig
from tests.lib.small import small_config, small_model, small_translator

PAIRS = nmt.load_corpus(nmt.load_config("tiny").data).train[:60]
TEXTS = [pair.src for pair in PAIRS[:20]] + ['Zebra 中 , "quoted" text', "a"]
VARIANTS: list[dict[str, Any]] = [
    {"tying": "three-way"},
    {"tying": "target", "bias": False},
    {"norm_bias": False, "n_decoder_layers": 3},
    {"scale_embeddings": False, "tying": "three-way", "norm": "pre"},
]


def translator(joint: bool = True, sos: bool = True, **model: Any) -> nmt.Translator:
    """Random weights between real subwords."""
    data = DataConfig(tokenizer="bpe", joint=joint, vocab_size=120, src_specials=sos)
    src, tgt = nmt.build_tokenizers(data, PAIRS)
    decode = DecodeConfig(max_extra_tokens=20)
    config = Config(data=data, model=small_config(**model), decode=decode)
    network = small_model(0, len(src), len(tgt), 3.0, **model)
    return nmt.Translator(network, src, tgt, config)


class Written:
    """What ``transformers`` computes with these files: one sentence, no dropout."""

    def __init__(self, folder: Path) -> None:
        self.weights = load_file(folder / "model.safetensors")
        self.config = json.loads((folder / "config.json").read_text())
        self.pre = self.config["model_type"] == "pegasus"

    def logits(self, src: list[int], tgt: list[int]) -> Tensor:  # (T, V)
        memory, y = self.embed("encoder", src), self.embed("decoder", tgt)
        for i in range(self.config["encoder_layers"]):
            layer = f"model.encoder.layers.{i}."
            memory = self.attend(memory, None, layer + "self_attn")
            memory = self.feed_forward(memory, layer)
        if self.pre:
            memory = self.norm(memory, "model.encoder.layer_norm")
        for i in range(self.config["decoder_layers"]):
            layer = f"model.decoder.layers.{i}."
            y = self.attend(y, None, layer + "self_attn", causal=True)
            y = self.attend(y, memory, layer + "encoder_attn")
            y = self.feed_forward(y, layer)
        y = self.norm(y, "model.decoder.layer_norm") if self.pre else y
        tied = self.config["tie_word_embeddings"]
        table = self.table("decoder") if tied else self.weights["lm_head.weight"]
        return y @ table.T + self.weights["final_logits_bias"]

    def table(self, side: str) -> Tensor:
        shared = self.config["share_encoder_decoder_embeddings"]
        name = "shared" if shared else f"{side}.embed_tokens"
        return self.weights[f"model.{name}.weight"]

    def embed(self, side: str, ids: list[int]) -> Tensor:
        D, n = self.config["d_model"], len(ids)
        angles = torch.arange(n)[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
        positions = torch.cat([angles.sin(), angles.cos()], dim=1)
        stored = self.weights[f"model.{side}.embed_positions.weight"][:n]
        torch.testing.assert_close(stored, positions)
        scale = D**0.5 if self.config["scale_embedding"] else 1.0
        return self.table(side)[ids] * scale + positions

    def linear(self, x: Tensor, name: str) -> Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias)

    def around(self, x: Tensor, sublayer: Any, norm: str) -> Tensor:
        if self.pre:
            return x + sublayer(self.norm(x, norm))
        return self.norm(x + sublayer(x), norm)

    def attend(
        self, x: Tensor, memory: Tensor | None, name: str, causal: bool = False
    ) -> Tensor:
        heads = self.config["encoder_attention_heads"]

        def sublayer(h: Tensor) -> Tensor:
            source = h if memory is None else memory
            q, k, v = (
                self.linear(read, f"{name}.{part}_proj")
                .unflatten(-1, (heads, -1))
                .transpose(0, 1)
                for part, read in (("q", h), ("k", source), ("v", source))
            )
            found = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            return self.linear(found.transpose(0, 1).flatten(1), f"{name}.out_proj")

        return self.around(x, sublayer, f"{name}_layer_norm")

    def feed_forward(self, x: Tensor, layer: str) -> Tensor:
        def sublayer(h: Tensor) -> Tensor:
            return self.linear(self.linear(h, layer + "fc1").relu(), layer + "fc2")

        return self.around(x, sublayer, layer + "final_layer_norm")


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_files_hold_a_model_that_computes_the_same(
    variant: dict[str, Any], joint: bool, tmp_path: Path
) -> None:
    joint = joint or variant.get("tying") == "three-way"
    ours = translator(joint, **variant)
    before = {name: value.clone() for name, value in ours.model.state_dict().items()}
    other = Written(nmt.export_hugging_face(ours, tmp_path / "model"))
    for pair in PAIRS[:8]:
        src, tgt = ours.encode(pair.src), ours.tgt_tokenizer.encode(pair.tgt, eos=False)
        with torch.inference_mode():
            logits = ours.model(torch.tensor([src]), torch.tensor([tgt]))[0]
        atol = 1e-5 * float(logits.abs().max())
        torch.testing.assert_close(logits, other.logits(src, tgt), rtol=0, atol=atol)
    torch.testing.assert_close(ours.model.state_dict(), before, rtol=0, atol=0)


def test_the_other_files_say_what_the_model_needs(tmp_path: Path) -> None:
    ours = translator(joint=False, sos=False)
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    assert found["tokenizer_config"]["sp_model_kwargs"] == {"add_bos": False}
    assert found["generation_config"]["suppress_tokens"] == [nmt.PAD, nmt.SOS]
    assert found["config"]["decoder_start_token_id"] == nmt.SOS
    tokenizers = {"vocab": ours.src_tokenizer, "target_vocab": ours.tgt_tokenizer}
    for name, tokenizer in tokenizers.items():
        tokens = tokenizer.lookup_tokens(range(len(tokenizer)))
        assert list(found[name]) == tokens
    assert "from transformers import" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"norm": "pre"}, "without three-way tying"),
        ({"final_norm": True}, "model.final_norm"),
        ({"d_value": 6}, "model.d_value"),
    ],
)
def test_what_transformers_does_not_have_is_refused(
    options: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(nmt.ConfigError, match=rf"cannot export.*{reason}"):
        nmt.export_hugging_face(translator(**options), tmp_path / "model")
    with pytest.raises(nmt.ConfigError, match=r"words: set data\.tokenizer"):
        nmt.export_hugging_face(small_translator(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_folder_in_use_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("kept")
    for folder in (tmp_path, tmp_path / "kept"):
        with pytest.raises(nmt.CheckpointError, match="is not an empty folder"):
            nmt.export_hugging_face(translator(), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="the extra `bench` is not installed",
)
@pytest.mark.parametrize(
    ("joint", "sos", "model"),
    [
        (True, True, {"tying": "three-way", "norm": "pre"}),
        (True, False, {"tying": "target"}),
        (False, True, {"n_decoder_layers": 3}),
    ],
)
def test_transformers_gives_the_same_tokens(
    joint: bool, sos: bool, model: dict[str, Any], tmp_path: Path
) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    ours = translator(joint, sos, **model)
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    theirs = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for text, found in zip(TEXTS, ours.translate(TEXTS, beam_size=1), strict=True):
        ids = tokenizer(text)["input_ids"]
        assert ids == ours.encode(text)
        most = len(ids) + 21
        row = theirs.generate(torch.tensor([ids]), num_beams=1, max_length=most)[0]
        said = ours.tgt_tokenizer.lookup_tokens(row[1:].tolist())
        assert said == [*found.tokens, "<eos>"][: len(said)]
        assert len(said) >= len(found.tokens)
