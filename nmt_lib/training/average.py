"""The weights that a run ends with: the best, or the mean of its last checkpoints
(paper, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor

from ..errors import CheckpointError
from .run_folder import Progress, RunFolder


def final_weights(folder: RunFolder, progress: Progress) -> dict[str, Tensor]:
    """The weights that ``train.select`` asks for, unless these are the last ones.

    Raises:
        CheckpointError: a file that this needs is missing, damaged or of another run.
    """
    train, names = folder.config.train, ["best"]
    if train.select == "average":
        names = progress.checkpoints[-train.keep_checkpoints :]
    paths = [folder.path / f"{name}.safetensors" for name in names]
    for path in paths:
        if not path.exists():
            raise CheckpointError(
                f"train.select={train.select} needs {path}, which is missing: "
                "restore it, or choose other weights with train.select or "
                "train.keep_checkpoints"
            )
    return mean_weights(folder.read(path).weights for path in paths)


def mean_weights(weights: Iterable[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of the weights of several checkpoints."""
    sums: dict[str, Tensor] = {}
    count = 0
    for checkpoint in weights:
        count += 1
        for name, weight in checkpoint.items():
            sums[name] = sums.get(name, 0) + weight.double()
    return {name: (value / count).float() for name, value in sums.items()}
