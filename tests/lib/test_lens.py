"""Exported models in TransformerLens, where it is installed: ``nox -s lens``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import nmt_lib as nmt

lens = pytest.importorskip("transformer_lens.model_bridge")


@torch.no_grad()
def test_a_head_closed_at_hook_z_is_closed_as_in_chapter_09(tmp_path: Path) -> None:
    """In the bundled German model.

    The page on TransformerLens, which ``nox -s lens`` runs as well, prints how far
    their logits and maps are apart and which hooks can be written. It also opens a
    model of words, and its stored outputs hold what that one computes.
    """
    ours: Any = nmt.Translator.load("multi30k-en-de", device="cpu")
    folder = nmt.export_hugging_face(ours, tmp_path / "model")
    bridge = lens.TransformerBridge.boot_transformers(str(folder))
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
