"""Exported models in TransformerLens, where it is installed: ``nox -s lens``."""

from __future__ import annotations

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
    """The bundled German model: ours, and the bridge of the exported one.

    The page on TransformerLens, which ``nox -s lens`` runs as well, prints how far
    their logits and maps are apart, and which hooks can be written.
    """
    ours = nmt.Translator.load("multi30k-en-de", device="cpu")
    folder = nmt.export_hugging_face(ours, tmp_path_factory.mktemp("out") / "model")
    return ours, lens.TransformerBridge.boot_transformers(str(folder))


@torch.no_grad()
def test_a_head_closed_at_hook_z_is_closed_as_in_chapter_09(german: Any) -> None:
    ours, bridge = german
    out = ours("The cook is cutting vegetables in a small kitchen.")
    src = torch.tensor([ours.encode(out.source)])
    tgt = torch.tensor([[nmt.SOS, *ours.tgt_tokenizer.ids(out.text)]])

    def close(x: Tensor, hook: Any) -> Tensor:
        x = x.clone()  # (B, T, H, d_k)
        x[:, :, 2] = 0.0
        return x

    site = "decoder_blocks.3.cross_attn.hook_z"
    theirs = bridge.run_with_hooks(src, decoder_input=tgt, fwd_hooks=[(site, close)])
    before = ours.model(src, tgt)
    W_o = ours.model.decoder.layers[3].cross_attention.W_o
    W_o.weight[:, 64:96] = 0.0  # reads (B, T, H · d_k)
    torch.testing.assert_close(theirs, ours.model(src, tgt), rtol=0, atol=5e-5)
    assert (theirs - before).abs().max() > 1


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
        "tiny", hf_model=marian.eval(), tokenizer=german[1].tokenizer
    )
    src = torch.tensor([ours.encode("The chair is new.")] * 2)
    tgt = torch.tensor([[nmt.SOS, 7, 9], [nmt.SOS, 8, 10]])
    logits, cache = bridge.run_with_cache(src, decoder_input=tgt)
    torch.testing.assert_close(logits, ours.model(src, tgt), rtol=0, atol=2e-5)
    for layer, mine in enumerate(ours.model.attention(src, tgt).cross):
        found = cache[f"decoder_blocks.{layer}.cross_attn.hook_pattern"]
        torch.testing.assert_close(found, mine, rtol=0, atol=2e-6)
