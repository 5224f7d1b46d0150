"""Attacks that training defends against: they raise a loss inside a ball of changed inputs by following its gradient.

`smooth_adversarial` gives them the gradient of the smoothed classifier's loss. Attacks know no model and no noise.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, FloatArray, IntArray, checked_count
from flipproof.errors import InvalidInputError

Gradient = Callable[[NDArray[Any]], NDArray[Any]]
"""A function from changed inputs to the derivatives of their losses, of the same shape [inputs, ...]."""


@dataclass(frozen=True, slots=True)
class FlipAttack:
    """Turns at most `add` zeros of an input into ones, and at most `delete` ones into zeros.

    Every step spends an equal share of the budget. A step flips those unflipped bits whose flip raises the loss most,
    by the gradient at the current input, and no bit whose flip would lower it by this gradient.

    Attributes:
        add: the number of zeros that may become one in every input.
        delete: the number of ones that may become zero in every input.
        steps: the largest number of gradients to compute.
        warmup: the number of epochs in which the budget grows to its full size; 1 gives the full budget at once.

    Example:
        >>> attack = FlipAttack(add=1, delete=1)
        >>> attack.climb(np.array([[0, 0, 1, 1]]), lambda bits: np.array([[2.0, 1.0, -1.0, 3.0]]))
        array([[1, 0, 0, 1]])
    """

    add: int = 0
    delete: int = 0
    steps: int = 4
    warmup: int = 1

    def __post_init__(self) -> None:
        for name in ("add", "delete"):
            object.__setattr__(self, name, checked_count(getattr(self, name), name))
        _check_steps(self)

    @property
    def is_empty(self) -> bool:
        """Whether the attack may change nothing."""
        return self.add == self.delete == 0

    def in_epoch(self, epoch: int) -> FlipAttack:
        """The attack with the budget of this epoch, rounded down."""
        done, all_ = min(epoch + 1, self.warmup), self.warmup
        return replace(self, add=self.add * done // all_, delete=self.delete * done // all_)

    def of_many(self, inputs: int) -> FlipAttack:
        """The attack on one object that holds several inputs, with the sum of their budgets."""
        return replace(self, add=self.add * inputs, delete=self.delete * inputs)

    def climb(self, clean: NDArray[Any], gradient: Gradient) -> NDArray[Any]:
        """Changed copies of inputs [inputs, ...] of zeros and ones."""
        untouched = np.ones((len(clean), clean[:1].size), dtype=bool)
        changed = clean.copy()
        for step in range(self.steps):
            add, delete = (self._share(budget, step) for budget in (self.add, self.delete))
            if not (add or delete):
                continue
            slopes = gradient(changed).reshape(untouched.shape)
            for bits, free, slope in zip(changed.reshape(untouched.shape), untouched, slopes, strict=True):
                places = np.concatenate(
                    [_steepest(slope, free & (bits == 0), add), _steepest(-slope, free & (bits == 1), delete)]
                )
                bits[places] = 1 - bits[places]
                free[places] = False
        return changed

    def _share(self, budget: int, step: int) -> int:
        return budget * (step + 1) // self.steps - budget * step // self.steps


def _steepest(gain: FloatArray, allowed: BoolArray, most: int) -> IntArray:
    """The places of the largest gains above zero, at most `most` of them."""
    places = np.flatnonzero(allowed & (gain > 0.0))
    if places.size <= most:
        return places
    return places[np.argpartition(-gain[places], most)[:most]]


@dataclass(frozen=True, slots=True)
class BallAttack:
    """Changes an input by a vector whose Euclidean norm is at most `radius`.

    Projected gradient ascent: every step moves by 2 * radius / steps along the normalised gradient, and then projects
    back into the ball (Salman et al. 2019). Values are not clipped to a range such as [0, 1]: real numbers have none.

    Attributes:
        radius: the radius of the ball around every input.
        steps: the number of gradients to compute.
        warmup: the number of epochs in which the radius grows to its full size; 1 gives the full radius at once.

    Example:
        >>> BallAttack(radius=1.0).climb(np.zeros((1, 2)), lambda values: np.array([[3.0, 4.0]]))
        array([[0.6, 0.8]])
    """

    radius: float
    steps: int = 4
    warmup: int = 1

    def __post_init__(self) -> None:
        radius = self.radius
        real = isinstance(radius, numbers.Real) and not isinstance(radius, bool)
        if not real or not 0.0 <= float(radius) < math.inf:
            raise InvalidInputError(f"expected radius to be a number from 0, got {radius!r}")
        object.__setattr__(self, "radius", float(radius))
        _check_steps(self)

    @property
    def is_empty(self) -> bool:
        """Whether the attack may change nothing."""
        return self.radius == 0.0

    def in_epoch(self, epoch: int) -> BallAttack:
        """The attack with the radius of this epoch."""
        return replace(self, radius=self.radius * min(epoch + 1, self.warmup) / self.warmup)

    def climb(self, clean: NDArray[Any], gradient: Gradient) -> NDArray[Any]:
        """Changed copies of inputs [inputs, ...] of real numbers."""
        change = np.zeros((len(clean), clean[:1].size))
        for _ in range(self.steps):
            slopes = gradient(clean + change.reshape(clean.shape)).reshape(change.shape).astype(np.float64)
            slopes[~np.isfinite(slopes).all(axis=1)] = 0.0  # the model diverged, which training reports
            change += 2.0 * self.radius / self.steps * _shortened(slopes, 1.0, np.inf)
            change = _shortened(change, self.radius, 1.0)
        return np.asarray(clean + change.reshape(clean.shape))


def _shortened(rows: FloatArray, length: float, most: float) -> FloatArray:
    """Scales each row to norm `length`, by a factor of at most `most`; rows of zeros stay unchanged."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(np.divide(length, norms, out=np.zeros_like(norms), where=norms > 0.0), most))


Attack = FlipAttack | BallAttack


def _check_steps(attack: Attack) -> None:
    for name in ("steps", "warmup"):
        if checked_count(getattr(attack, name), name) < 1:
            raise InvalidInputError(f"expected {name} to be at least 1, got {getattr(attack, name)}")
