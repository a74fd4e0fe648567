"""Model files: weights, config and tokenizers in one ``model.safetensors``.

A digest covers all three, so damage is noticed. A file is written beside its place and
then renamed, which means that a crash leaves either the old file or the new one.
safetensors stores plain arrays, so loading a file never runs code in it; no size that
the file states is trusted.
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as save_tensors
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ..config import Config, validate_section
from ..data.tokenizers import Tokenizers, load_tokenizer
from ..errors import CheckpointError, ConfigError, one_line
from ..model.transformer import Transformer
from .atomic_write import write_file
from .device import default_device

FORMAT = "1"  # of the files that are written, and the only one that is read


class ModelFile(NamedTuple):
    """The content of a model file."""

    config: Config
    tokenizers: Tokenizers
    tensors: dict[str, Tensor]  # "model.…"; in a checkpoint "optimizer.…", "random.…"
    state: dict[str, Any]  # of a run: its ``Progress``; else empty

    @property
    def weights(self) -> dict[str, Tensor]:
        """The model's weights by name; a matrix that is used twice is listed once."""
        return under_prefix(self.tensors, "model.")

    def build_model(self, device: str | torch.device | None = None) -> Transformer:
        """The model with these weights, in evaluation mode.

        ``device`` is where to put it; default: ``default_device()``.
        """
        with NoDraws():
            model = Transformer(self.config.model, *map(len, self.tokenizers)).eval()
        load_weights(model, self.weights)
        device = device or default_device()
        try:
            return model.to(device)
        except (RuntimeError, AssertionError) as error:  # it says which devices exist
            reason = str(error).splitlines()[0]
            raise ConfigError(f"cannot use device={device!r}: {reason}") from None


class NoDraws(TorchFunctionMode):
    """Skips the random initialisation of weights that a file will replace.

    Only this thread is affected, and no random numbers are used up.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        if func.__name__.endswith(("uniform_", "normal_")):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def save(path: Path, saved: ModelFile) -> None:
    """Writes a model file."""
    src, tgt = (tokenizer.dumps() for tokenizer in saved.tokenizers)
    metadata = {"format": FORMAT, "config": saved.config.model_dump_json()}
    metadata |= {"src_tokenizer": src, "state": json.dumps(saved.state)}
    if tgt != src:
        metadata["tgt_tokenizer"] = tgt
    tensors = {  # safetensors wants them in one piece
        name: tensor.detach().cpu().contiguous().clone()
        for name, tensor in saved.tensors.items()
    }
    metadata["digest"] = file_digest(tensors, metadata)
    write_file(path, save_tensors(tensors, metadata))


def load(path: Path) -> ModelFile:
    """Reads a model file.

    Raises:
        CheckpointError: it is missing, damaged, or made by another version.
    """
    tensors, metadata = _read(path)
    try:
        config = validate_section(Config, json.loads(metadata["config"]), "its config")
        src = load_tokenizer(metadata["src_tokenizer"])
        tgt = load_tokenizer(metadata.get("tgt_tokenizer", metadata["src_tokenizer"]))
        state = dict(json.loads(metadata["state"]))
        _check_size(config, max(len(src), len(tgt)), under_prefix(tensors, "model."))
    except (LookupError, TypeError, ValueError, RuntimeError, zlib.error) as error:
        raise CheckpointError(
            f"{path} was made by another version of nmt_lib ({one_line(error)}): "
            "update nmt_lib, or use the version that made it"
        ) from None
    src.sos = config.data.src_specials
    return ModelFile(config, (src, tgt), tensors, state)


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and metadata of an undamaged file of this format."""
    if not path.is_file():
        raise CheckpointError(
            f"no model file {path}: train first, or give the folder of a run"
        )
    try:
        with safe_open(path, "pt") as file:
            metadata, names = file.metadata() or {}, file.keys()
            if (version := metadata.get("format", "")) != FORMAT:
                raise CheckpointError(f"{path} {_of_another(version)}")
            # Copies: what has been checked stays, whatever happens to the file.
            tensors = {name: file.get_tensor(name).clone() for name in names}
        if metadata.pop("digest", "") != file_digest(tensors, metadata):
            raise ValueError("its digest does not fit")
    except OSError as error:
        raise CheckpointError(f"cannot read {path} ({error})") from None
    except (ValueError, SafetensorError) as error:
        raise CheckpointError(
            f"{path} is damaged, or not a model file of nmt_lib ({error}): restore it, "
            "or move it away and train again"
        ) from None
    return tensors, metadata


def _of_another(version: str) -> str:
    if version.isdecimal():
        return f"was made by a newer nmt_lib (format {version[:9]}): update nmt_lib"
    return "is not a model file of nmt_lib, or from before its release: move it away"


def file_digest(tensors: dict[str, Tensor], metadata: dict[str, str]) -> str:
    """The CRC-32 of a file's content; ``nmt_book/web/model_file.js`` computes it too.

    It covers JSON without spaces (the metadata, then the name, dtype and shape of each
    tensor), followed by the tensors' bytes. All are sorted by name.
    """
    names = sorted(tensors)
    kinds = [[n, str(tensors[n].dtype)[6:], list(tensors[n].shape)] for n in names]
    head = [sorted(metadata.items()), kinds]
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":"))
    crc = zlib.crc32(text.encode())
    for name in names:
        crc = zlib.crc32(tensors[name].flatten().view(torch.uint8).numpy().data, crc)
    return f"{crc:08x}"


def _check_size(config: Config, V: int, weights: dict[str, Tensor]) -> None:
    """Rejects a config whose model would be larger than these weights."""
    model, D = config.model, config.model.d_model
    attention = 2 * D * (D + model.n_heads * (model.d_value or D // model.n_heads))
    layer = attention + 2 * D * model.d_ff
    decoder_layers = model.n_decoder_layers or model.n_layers
    n_needed = model.n_layers * layer + decoder_layers * (layer + attention) + V * D
    n_weights = sum(weight.numel() for weight in weights.values())
    if (
        max(n_needed, model.max_positions * D - 2**22) > n_weights
    ):  # the table isn't saved
        raise ValueError("its weights are fewer than those of its config")


def pack(
    model: nn.Module, optimizer: torch.optim.Optimizer | None = None
) -> dict[str, Tensor]:
    """The tensors of a model file, named as in ``ModelFile.tensors``.

    With an optimizer, these are all that a run needs to resume: weights, optimizer
    state and random state.
    """
    tensors: dict[str, Tensor] = {
        f"model.{name}": weight for name, weight in named_weights(model).items()
    }
    if optimizer is None:
        return tensors
    for index, values in optimizer.state_dict()["state"].items():
        for name, value in values.items():
            if torch.is_tensor(value):  # SGD without momentum has None
                tensors[f"optimizer.{index}.{name}"] = value
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


def unpack(
    tensors: dict[str, Tensor], model: nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Restores what ``pack`` collected.

    An optimizer's kernels trust the sizes of its state, so all tensors are compared
    with those that ``pack`` would write before any is used.

    Raises:
        CheckpointError: a tensor is missing, superfluous, or not one of this run.
    """
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()  # the weights stay as they are; the state gets all its tensors
    optimizer.zero_grad()
    expected, given = pack(model, optimizer), dict(tensors)
    expected.pop("random.cuda", None)
    of_gpu = given.pop("random.cuda", None)
    try:
        torch.testing.assert_close(
            given, expected, rtol=0, atol=math.inf, check_device=False
        )  # any numbers, if they are finite
        torch.set_rng_state(given["random.cpu"])
        if torch.cuda.is_available() and of_gpu is not None:
            torch.cuda.set_rng_state(of_gpu)
    except (AssertionError, RuntimeError, TypeError) as error:
        raise CheckpointError(
            f"the last checkpoint is not one of this run ({one_line(error)}): move "
            "the newest file in checkpoints/ away to resume from the one before"
        ) from None
    load_weights(model, under_prefix(tensors, "model."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in under_prefix(tensors, "optimizer.").items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def under_prefix(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The entries whose names begin with a prefix; the prefix is removed."""
    return {
        k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)
    }


def named_weights(model: nn.Module) -> dict[str, nn.Parameter]:
    """The weights of a model by name; ``torch.compile`` does not change the names."""
    weights = model.named_parameters()
    return {name.replace("_orig_mod.", ""): weight for name, weight in weights}


@torch.no_grad()
def load_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Copies weights into a model; names and shapes must be the same.

    Raises:
        CheckpointError: a weight is missing, superfluous, or has another shape.
    """
    parameters = named_weights(model)
    for name, parameter in parameters.items():
        if name not in weights or weights[name].shape != parameter.shape:
            shape = tuple(parameter.shape)
            raise CheckpointError(f"no weights {name} of shape {shape} in the file")
        parameter.copy_(weights[name])
    for name in weights.keys() - parameters.keys():
        raise CheckpointError(f"weights {name} in the file, but none in its config")
