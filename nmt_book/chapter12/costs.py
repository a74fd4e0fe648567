"""What an update costs: its operations, and the memory that it keeps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint

from nmt_lib.config import ModelConfig
from nmt_lib.data.batches import Batch, make_batch
from nmt_lib.data.tokens import SOS
from nmt_lib.model.attention import MultiHeadAttention, collect_weights
from nmt_lib.model.transformer import Transformer
from nmt_lib.training.loss import Objective


def flops_by_part(
    model: Transformer, B: int, S: int, T: int, n_tokens: int
) -> dict[str, int]:
    """Operations of the encoder, decoder and output layer, forward and backward.

    Args:
        B, S, T: sentences, and the widths to which source and target are padded.
        n_tokens: real target tokens; the output layer computes no others.
    """

    def weights(module: nn.Module) -> int:
        layers = [m for m in module.modules() if isinstance(m, nn.Linear)]
        return sum(layer.weight.numel() for layer in layers)

    N, M = len(model.encoder.layers), len(model.decoder.layers)
    layer: Any = model.decoder.layers[0]
    D, values = layer.cross_attention.W_o.weight.shape
    width = D + values  # of keys and values
    cross = M * D * width  # W_k and W_v of the cross-attentions read the memory
    encoder = 6 * weights(model.encoder) * B * S + 6 * N * B * S * S * width
    decoder = 6 * ((weights(model.decoder) - cross) * B * T + cross * B * S)
    decoder += 6 * M * B * T * (T + S) * width  # T × T for the target itself
    output = 6 * weights(model.output) * n_tokens
    return {"encoder": encoder, "decoder": decoder, "output layer": output}


def kept_bytes(call: Callable[[], Any], module: nn.Module) -> int:
    """Bytes that a call keeps for the backward pass, without the module's weights."""
    addresses, storages = {weight.data_ptr() for weight in module.parameters()}, {}

    def note(tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()  # several views may lie in one memory
        if memory.data_ptr() not in addresses:
            storages[memory.data_ptr()] = (memory.nbytes(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        call()
    return sum(n for n, _ in storages.values())


class NoProducts(TorchDispatchMode):
    """Leaves matrix products undone: what a pass keeps does not depend on numbers."""

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if operation in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
            return args[-2].new_empty(len(args[-2]), args[-1].size(1))
        return operation(*args, **(kwargs or {}))


def random_batch(n_sentences: int, length: int, vocab_size: int = 200) -> Batch:
    """Pairs of random ids, all ``(B, length)``."""
    rows = torch.randint(4, vocab_size, (n_sentences, length)).tolist()
    return make_batch([(row, [SOS, *row]) for row in rows])


def kept_mb(
    shape: ModelConfig,
    n_sentences: int,
    length: int,
    bf16: bool = False,
    written: bool = False,
    checkpointed: bool = False,
    vocab_size: int = 200,
) -> float:
    """MB that an update of a new model keeps for its backward pass.

    ``written``: attention is written out. ``checkpointed``: of each layer only the
    input is kept.
    """
    model = Transformer(shape, vocab_size, vocab_size)
    if written:
        model, _ = collect_weights(model)
    if checkpointed:
        keep_inputs_only(model)
    objective, batch = Objective(model), random_batch(n_sentences, length, vocab_size)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16), NoProducts():
        return kept_bytes(lambda: objective(batch), objective) / 1e6


def keep_inputs_only(model: Transformer) -> None:
    """The backward pass computes each layer again, from its input."""
    for layer in [*model.encoder.layers, *model.decoder.layers]:
        layer.forward = partial(checkpoint, layer.forward, use_reentrant=True)


def kept_by_attention(B: int, T: int, d_model: int, n_heads: int) -> int:
    """Bytes that one self-attention keeps, with its weights written out, in fp32."""
    layer, _ = collect_weights(MultiHeadAttention(d_model, n_heads))
    x = torch.randn(B, T, d_model, requires_grad=True)
    return kept_bytes(lambda: layer(x, x), layer)
