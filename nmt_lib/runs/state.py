"""What a checkpoint says beside its tensors: how far the run has come."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from ..errors import CheckpointError

if TYPE_CHECKING:
    from ..config import TrainConfig
    from .checkpoints import Checkpoint


class Progress(BaseModel):
    """How far a run has come; saved with each checkpoint."""

    step: int = 0  # updates done
    epoch: int = 0
    position: int = 0  # updates done in this epoch
    loss_sum: float = 0.0  # since the last validation, over loss_tokens tokens
    loss_tokens: int = 0
    best_loss: float = math.inf
    best_step: int = 0
    checkpoints: list[int] = []  # the steps of those that are kept

    def is_done(self, train: TrainConfig) -> bool:
        """Whether all updates are done."""
        return self.step >= train.max_steps


class RunState(BaseModel):
    """What a run's checkpoint says beside its tensors; older versions wrote more, but no ``config``."""

    vocabulary: str
    progress: Progress
    history: list[dict[str, int | float]]
    select: str
    config: dict[str, Any] = {}

    @classmethod
    def read(cls, path: Path, saved: Checkpoint) -> RunState:
        """Raises CheckpointError where a checkpoint says something else."""
        try:
            return cls.model_validate(saved.state, strict=True)
        except ValidationError as error:
            what = ".".join(map(str, error.errors()[0]["loc"]))
            raise CheckpointError(f"{path} is no checkpoint of a run ({what}): restore or delete it") from None
