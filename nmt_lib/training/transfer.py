"""Transfer learning: a run that starts from the weights of another model, which may be
for other languages (Zoph et al., 2016, https://arxiv.org/abs/1604.02201)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from ..config import Config
from ..data.pairs import Pair
from ..data.tokenizers import Tokenizer, Tokenizers, build_tokenizers
from ..data.tokens import UNK
from ..errors import CheckpointError, ConfigError
from .model_file import ModelFile, load
from .run_folder import find_model

FREE_MODEL_KEYS = {"dropout", "embedding_dropout", "ffn_dropout", "attention_dropout"}
FREE_MODEL_KEYS |= {"init", "max_positions"}  # of ``model``: they may differ
FREE_DATA_KEYS = {"corpus", "bpe_dropout", "max_length", "limit", "seed"}


def start_from_model(
    config: Config, train: Sequence[Pair]
) -> tuple[Tokenizers, dict[str, Tensor]]:
    """The tokenizers and the first weights of a run that starts from another model.

    The tokenizers of ``train.init_from`` are kept if ``config.data`` asks for the same
    kind, size and languages. If not, new ones are built.

    Raises:
        ConfigError: ``train.init_from`` cannot be read, or has another shape.
        CorpusError: as in ``build_tokenizers``.
    """
    parent = _load_parent(config, str(config.train.init_from))
    data, old = config.data.model_dump(), parent.config.data.model_dump()
    if all(data[key] == old[key] for key in data.keys() - FREE_DATA_KEYS):
        return parent.tokenizers, parent.weights
    tokenizers = build_tokenizers(config.data, train)
    return tokenizers, transfer_weights(parent.weights, parent.tokenizers, tokenizers)


def _load_parent(config: Config, name: str) -> ModelFile:
    try:
        parent = load(find_model(name))
    except CheckpointError as error:
        raise ConfigError(f"train.init_from: {error}") from None
    keys = [key for key, _ in config.model if key not in FREE_MODEL_KEYS]
    shape, parent_shape = _shape(config), _shape(parent.config)
    if mismatches := [key for key in keys if shape[key] != parent_shape[key]]:
        overrides = " ".join(f"model.{key}={parent_shape[key]}" for key in mismatches)
        raise ConfigError(
            f"train.init_from={name} is of another shape: set {overrides} as well"
        )
    return parent


def _shape(config: Config) -> dict[str, object]:
    """``config.model`` with defaults in place of its nulls."""
    model = config.model.model_dump()
    defaults = {
        "n_decoder_layers": config.model.n_layers,
        "d_value": config.model.d_model // config.model.n_heads,
        "final_norm": config.model.norm == "pre",
    }
    return model | {k: v for k, v in defaults.items() if model[k] is None}


@torch.no_grad()
def transfer_weights(
    weights: Mapping[str, Tensor], old: Tokenizers, new: Tokenizers
) -> dict[str, Tensor]:
    """The weights of a model, transferred to other tokenizers.

    A subword that is in both vocabularies keeps its vector. Any other gets the mean of
    the vectors of the subwords into which the old tokenizer splits it, or the vector of
    ``<unk>`` if there are none. All other weights stay the same.
    """
    src, tgt = map(_rows, old, new)
    result = dict(weights)
    for name, values in weights.items():
        if "lookup" in name or name.startswith("output"):  # (V, D), or (V,)
            rows = src if name.startswith("src") else tgt
            result[name] = torch.stack([values[ids].mean(0) for ids in rows])
    return result


def _rows(old: Tokenizer, new: Tokenizer) -> list[list[int]]:
    """The old ids of each new subword, which gets the mean of their vectors."""
    ids = {token: [i] for i, token in enumerate(old.lookup_tokens(range(len(old))))}
    tokens = new.lookup_tokens(range(len(new)))
    return [ids.get(token) or old.ids(token.strip("▁")) or [UNK] for token in tokens]
