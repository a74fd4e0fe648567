"""The library's weights under the names of ``torch.nn.Transformer``."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

UNDER_TORCH = {  # our names of layers, and those of torch.nn.Transformer
    "around_self_attention.norm": "norm1",
    "around_cross_attention.norm": "norm2",
    "around_attention.norm": "norm1",
    "around_feed_forward.norm": "norm3",
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "feed_forward.W_": "linear",
    "W_o": "out_proj",
    "W_q.": "in_proj_",
    "W_k.": "in_proj_",
    "W_v.": "in_proj_",
}


def under_torch_names(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Encoder and decoder as ``torch.nn.Transformer`` names and keeps them.

    ``W_q``, ``W_k`` and ``W_v`` become one tensor.
    """
    parts: dict[str, list[Tensor]] = {}
    for name, tensor in tensors.items():
        for part, torch_part in UNDER_TORCH.items():
            name = name.replace(part, torch_part)
        if name.startswith("encoder"):
            name = name.replace("norm3", "norm2")
        if name.startswith(("encoder", "decoder")):
            parts.setdefault(name, []).append(tensor)
    return {name: torch.cat(tensors) for name, tensors in parts.items()}
