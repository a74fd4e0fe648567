"""Model files.

One ``model.safetensors`` holds weights, config and tokenizers. A digest covers every
byte, so damage is noticed. A file is written beside its place and then renamed: a crash
at any moment leaves the old or the new one. safetensors stores plain arrays: loading a
file never runs code in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from .config import Config
from .embeddings import sinusoids
from .errors import CheckpointError, ConfigError
from .schedules import default_device
from .tokenizers import Tokenizers, load_tokenizer
from .transformer import Transformer, build_model

DIGEST = b'"digest":"'  # in the file's header; 32 hexadecimal digits follow


class ModelFile(NamedTuple):
    """What one file holds."""

    config: Config
    tokenizers: Tokenizers
    tensors: dict[str, Tensor]  # "model.…"; in a checkpoint "optimizer.…", "random.…"
    state: dict[str, Any]  # of a run: its ``Progress``; else empty

    @property
    def weights(self) -> dict[str, Tensor]:
        """The model's weights by name; a matrix that is used twice is listed once."""
        return part(self.tensors, "model.")

    def build_model(self, device: str | torch.device | None = None) -> Transformer:
        """The model with these weights, in evaluation mode.

        ``device`` is where it is; default: ``default_device()``.
        """
        device = device or default_device()
        with torch.device("meta"):  # shapes without numbers: nothing is drawn
            model = build_model(self.config.model, *map(len, self.tokenizers))
        positions = model.src_embedding.positions
        table = sinusoids(*positions.table.shape)
        try:
            positions.table = table.to(device)
            for name, parameter in model.named_parameters():
                weight = self.weights[name].to(device, parameter.dtype)
                # In place, so that a matrix that is used twice stays one.
                torch.utils.swap_tensors(parameter, nn.Parameter(weight))
        except (RuntimeError, AssertionError) as error:  # it says which devices exist
            reason = str(error).splitlines()[0]
            raise ConfigError(f"cannot use device={device!r}: {reason}") from None
        return model.eval()


def save(path: Path, saved: ModelFile) -> None:
    """Writes a file."""
    src, tgt = (tokenizer.dumps() for tokenizer in saved.tokenizers)
    metadata = {"config": saved.config.model_dump_json(), "src_tokenizer": src}
    if tgt != src:
        metadata["tgt_tokenizer"] = tgt
    metadata |= {"state": json.dumps(saved.state), "digest": "0" * 32}
    tensors = {}
    for name, tensor in saved.tensors.items():  # safetensors wants them in one piece
        tensors[name] = tensor.detach().cpu().contiguous().clone()
    data = bytearray(save_tensors(tensors, metadata))
    start = data.index(DIGEST) + len(DIGEST)
    data[start : start + 32] = _digest(data, start)
    write_file(path, data)


def load(path: Path) -> ModelFile:
    """Reads a file.

    Raises:
        CheckpointError: it is missing or damaged.
    """
    if not path.is_file():
        raise CheckpointError(
            f"no model file {path}: train first, or give the folder of a run"
        )
    try:
        data = path.read_bytes()
        start = data.index(DIGEST) + len(DIGEST)
        if data[start : start + 32] != _digest(data, start):
            raise ValueError("its digest does not fit")
        length = int.from_bytes(data[:8], "little")  # of the header, which is JSON
        metadata = json.loads(data[8 : 8 + length])["__metadata__"]
        found = Config.model_validate_json(metadata["config"])
        src = load_tokenizer(metadata["src_tokenizer"])
        tgt = load_tokenizer(metadata.get("tgt_tokenizer", metadata["src_tokenizer"]))
        state = json.loads(metadata["state"])
        tensors = load_tensors(data)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise CheckpointError(
            f"{path} is damaged, or not a model file of this library ({error}): "
            "restore it, or delete it and train again"
        ) from None
    src.sos = found.data.src_specials
    return ModelFile(found, (src, tgt), tensors, state)


def _digest(data: bytes | bytearray, start: int) -> bytes:
    """Of all bytes but the 32 from ``start``, where the digest itself is."""
    digest = hashlib.blake2b(data[:start], digest_size=16)
    digest.update(memoryview(data)[start + 32 :])
    return digest.hexdigest().encode()


def write_file(path: Path, data: bytes | bytearray) -> None:
    """Writes beside the place, forces it to the disk, then moves it there."""
    writer = f"{os.getpid()}-{threading.get_ident()}"  # each has a file of its own
    beside = path.with_name(f".{path.name}-{writer}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise CheckpointError(
            f"cannot write {path} ({error.strerror}); files written before are kept, "
            "and a run resumes from its last checkpoint"
        ) from None


def model_tensors(model: nn.Module) -> dict[str, Tensor]:
    """The weights as ``ModelFile.tensors`` names them."""
    return {f"model.{name}": weight for name, weight in model.named_parameters()}


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries under a prefix, without it."""
    return {
        k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)
    }


@torch.no_grad()
def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies weights of the same names and shapes into a model."""
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])
