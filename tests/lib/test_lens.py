"""Exported models in TransformerLens, where it is installed: ``nox -s lens``."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import nmt_lib as nmt
from nmt_lib.translate import export as hub

lens = pytest.importorskip("transformer_lens.model_bridge")


@pytest.fixture(scope="module")
def german(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The bundled German model: ours, the exported one, and its bridge."""
    from transformers import AutoModelForSeq2SeqLM

    ours = nmt.Translator.load("multi30k-en-de", device="cpu")
    folder = nmt.export_hugging_face(ours, tmp_path_factory.mktemp("out") / "model")
    eager = {"attn_implementation": "eager"}
    exported = AutoModelForSeq2SeqLM.from_pretrained(folder, **eager).eval()
    return ours, exported, lens.TransformerBridge.boot_transformers(str(folder))


def ids(translator: nmt.Translator) -> tuple[Tensor, Tensor, nmt.Translation]:
    out = translator("The cook is cutting vegetables in a small kitchen.")
    tgt = [nmt.SOS, *translator.tgt_tokenizer.ids(out.text)]
    return torch.tensor([translator.encode(out.source)]), torch.tensor([tgt]), out


@torch.no_grad()
def test_logits_and_maps_are_the_same(german: Any) -> None:
    ours, exported, bridge = german
    src, tgt, out = ids(ours)
    logits, cache = bridge.run_with_cache(src, decoder_input=tgt)
    theirs = exported(src, decoder_input_ids=tgt).logits
    torch.testing.assert_close(logits, theirs, rtol=0, atol=2e-6)
    torch.testing.assert_close(logits, ours.model(src, tgt), rtol=0, atol=2e-5)
    for kind, place in (
        ("cross", "decoder_blocks.{}.cross_attn"),
        ("encoder", "encoder_blocks.{}.attn"),
        ("decoder", "decoder_blocks.{}.self_attn"),
    ):
        for layer, weights in enumerate(getattr(out.attention, kind)):
            found = cache[f"{place.format(layer)}.hook_pattern"]
            torch.testing.assert_close(found, weights, rtol=0, atol=2e-6)


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "acts"),
    [("z", True), ("v", True), ("q", True), ("pattern", False), ("attn_scores", False)],
)
def test_which_hooks_can_be_written(german: Any, name: str, acts: bool) -> None:
    """Edits at the weights are discarded; all that says so is a warning."""
    ours, _, bridge = german
    src, tgt, _ = ids(ours)
    called: list[Tensor] = []

    def zero(x: Tensor, hook: Any) -> Tensor:
        called.append(x)
        return torch.zeros_like(x)

    site = f"decoder_blocks.3.cross_attn.hook_{name}"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        hooks = [(site, zero)]
        changed = bridge.run_with_hooks(src, decoder_input=tgt, fwd_hooks=hooks)
    gap = float((changed - bridge(src, decoder_input=tgt)).abs().max())
    assert called and (gap > 0.1 if acts else gap == 0.0)
    discarded = any("discarded" in str(one.message) for one in said)
    assert discarded != acts


@torch.no_grad()
def test_a_head_closed_at_hook_z_is_closed_as_in_chapter_09(german: Any) -> None:
    ours, _, bridge = german
    src, tgt, _ = ids(ours)

    def close(x: Tensor, hook: Any) -> Tensor:
        x = x.clone()  # (B, T, H, d_k)
        x[:, :, 2] = 0.0
        return x

    def close_ours(module: Any, args: Any) -> Any:
        heads = args[0].clone()  # (B, T, H · d_k)
        heads[..., 64:96] = 0.0
        return (heads,)

    site = "decoder_blocks.3.cross_attn.hook_z"
    theirs = bridge.run_with_hooks(src, decoder_input=tgt, fwd_hooks=[(site, close)])
    attention = ours.model.decoder.layers[3].cross_attention
    handle = attention.W_o.register_forward_pre_hook(close_ours)
    found = ours.model(src, tgt)
    handle.remove()
    torch.testing.assert_close(theirs, found, rtol=0, atol=5e-5)
    assert (found - ours.model(src, tgt)).abs().max() > 1


@torch.no_grad()
def test_a_model_of_words_opens_as_well(german: Any, tmp_path: Path) -> None:
    from transformers import MarianConfig, MarianMTModel

    config = nmt.load_config("tiny", run_dir=str(tmp_path), **{"train.max_steps": 20})
    ours = nmt.load_or_train(config)
    marian = MarianMTModel(MarianConfig(**hub.model_config(ours)))
    weights = hub.renamed_weights(ours.model, hub.longest(ours))
    left = marian.load_state_dict(weights, strict=False)
    assert left.missing_keys == ["lm_head.weight"] and not left.unexpected_keys
    bridge = lens.TransformerBridge.boot_transformers(
        "tiny", hf_model=marian.eval(), tokenizer=german[2].tokenizer
    )
    src = torch.tensor([ours.encode("The chair is new.")] * 2)
    tgt = torch.tensor([[nmt.SOS, 7, 9], [nmt.SOS, 8, 10]])
    logits, cache = bridge.run_with_cache(src, decoder_input=tgt)
    torch.testing.assert_close(logits, ours.model(src, tgt), rtol=0, atol=2e-5)
    for layer, mine in enumerate(ours.model.attention(src, tgt).cross):
        found = cache[f"decoder_blocks.{layer}.cross_attn.hook_pattern"]
        torch.testing.assert_close(found, mine, rtol=0, atol=2e-6)
