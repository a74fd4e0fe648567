"""How far a run has come."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

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

    @classmethod
    def read(cls, path: Path, saved: Checkpoint) -> Progress:
        """From a checkpoint; older versions wrote more. A CheckpointError where it is none of a run."""
        try:
            return cls.model_validate(saved.state["progress"], strict=True)
        except (KeyError, ValidationError):
            raise CheckpointError(f"{path} is no checkpoint of a run: restore or delete it") from None

    def is_done(self, train: TrainConfig) -> bool:
        """Whether all updates are done."""
        return self.step >= train.max_steps
