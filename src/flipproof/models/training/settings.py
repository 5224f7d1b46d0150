"""How a model is trained, and what happened then: values around `train`."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from flipproof.base.arguments import checked_count, chosen
from flipproof.errors import FlipproofError, InvalidInputError

_MOST = 1e30


class TrainingError(FlipproofError):
    """Training went astray."""


class Average(StrEnum):
    """What is averaged over the noisy samples of a step."""

    LOG_SOFTMAX = "log-softmax"
    SOFTMAX = "softmax"

    @classmethod
    def named(cls, name: str) -> Average:
        """The average with this name."""
        return chosen(cls, name, "average")


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a model is trained; the defaults are those of the paper (appendix, "Hyperparameters").

    Attributes:
        noisy_samples: noisy copies of every input per step, the paper's m; 0 trains on the clean inputs.
        average: "log-softmax" averages the cross-entropies of the samples; "softmax" takes the cross-entropy of the
            averaged probabilities, which trains the smoothed classifier itself (Salman et al., 2019). For one
            sample they are the same.
        learning_rate: of Adam.
        weight_decay: of Adam.
        epochs: at most so often all inputs are seen; for the nodes of a graph that is one step.
        patience: stop after so many epochs without a lower validation loss.
        batch_size: rows or small graphs per step; the nodes of a graph are all seen at once.
        balanced: whether every class counts the same, however many inputs it has.
    """

    noisy_samples: int = 1
    average: str = Average.LOG_SOFTMAX
    learning_rate: float = 1e-3
    weight_decay: float = 1e-3
    epochs: int = 3000
    patience: int = 50
    batch_size: int = 128
    balanced: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "average", Average.named(self.average))
        checked_count(self.noisy_samples, "noisy_samples")
        for name in ("epochs", "patience", "batch_size"):
            if checked_count(getattr(self, name), name) < 1:
                raise InvalidInputError(f"expected {name} to be at least 1, got {getattr(self, name)}")
        for name in ("learning_rate", "weight_decay"):
            number = getattr(self, name)
            real = isinstance(number, numbers.Real) and not isinstance(number, bool)
            if not real or not 0.0 <= float(number) <= _MOST:
                raise InvalidInputError(f"expected {name} to be a number from 0 to {_MOST:g}, got {number!r}")
            object.__setattr__(self, name, float(number))
        if not isinstance(self.balanced, bool):
            raise InvalidInputError(f"expected balanced to be True or False, got {self.balanced!r}")


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
