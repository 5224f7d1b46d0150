"""What happened in training, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from flipproof.errors import FlipproofError


class TrainingError(FlipproofError):
    """Training went astray."""


@dataclass(slots=True, eq=False)
class History:
    """What happened in training, one entry per epoch."""

    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def epochs(self) -> int:
        """How many epochs there were."""
        return len(self.loss)

    @property
    def best_epoch(self) -> int:
        """The epoch, from 0, after which the validation loss was lowest: its weights are kept."""
        return int(np.argmin(self.validation_loss))
