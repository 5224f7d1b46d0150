"""Gaussian noise on real numbers, the continuous counterpart of flips (Cohen et al. 2019)."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import shape_words, short_repr
from flipproof.base.values import FloatArray, IntArray, as_array, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role, Sampler, Stream, register_sampler, sample_bounds
from flipproof.noise.spaces.space import PartCounts, value_counts
from flipproof.theory.base_law import Law, Noise, register_law

LARGEST = 1e30
"""The largest size of values and deviations: noisy values must fit into float32."""


@register_law("gaussian")
@dataclass(frozen=True, slots=True)
class GaussianNoise(Law):
    """Adds an independent normal number with mean 0 and standard deviation `sigma` to every entry.

    `flipproof.baselines.gaussian` computes certificates for this law.

    Example:
        >>> GaussianNoise(0.25)
        GaussianNoise(sigma=0.25)
    """

    sigma: float

    def __post_init__(self) -> None:
        sigma = self.sigma
        if isinstance(sigma, bool) or not isinstance(sigma, numbers.Real) or not 0.0 < sigma <= LARGEST:
            raise InvalidInputError(f"expected sigma to be a positive number of at most {LARGEST:g}, got {sigma!r}")
        object.__setattr__(self, "sigma", float(sigma))

    def record(self) -> dict[str, Any]:
        """The fields of the law as JSON values."""
        return {"gaussian": {"sigma": self.sigma}}

    def without_noise(self) -> GaussianNoise:
        """Noise too small to show in float32 numbers."""
        return GaussianNoise(1e-300)

    def space_of(self, inputs: Any) -> RealRows:
        """The space of the unchanged real numbers."""
        return RealRows(inputs)


@dataclass(frozen=True, slots=True, eq=False)
class RealRows:
    """A batch of vectors or images of real numbers; each row (first axis) is an input.

    Example:
        >>> RealRows([[0.5, 1.0], [0.0, 0.25]]).values.shape
        (2, 2)
    """

    values: NDArray[Any]

    def __post_init__(self) -> None:
        values = as_array(self.values, "values").astype(np.float64)
        if values.ndim < 2:
            raise InvalidInputError(f"expected values of shape [inputs, entries, ...], got shape {values.shape}")
        if not (np.abs(values) <= LARGEST).all():
            raise InvalidInputError(f"expected values from {-LARGEST:g} to {LARGEST:g}, got others")
        object.__setattr__(self, "values", read_only(values))

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.values))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("values",)

    def sampler(self, noise: Noise, seed: int) -> Sampler:
        """Raises an error: flip noise does not apply to real numbers."""
        raise InvalidInputError(f"expected a GaussianNoise for real numbers, got {noise!r}")

    def counts(self) -> PartCounts:
        """The number of entries in all rows together, and the number of nonzero ones."""
        return {"values": value_counts(self.values)}


@dataclass(frozen=True, slots=True, eq=False)
class GaussianSampler:
    """Noisy copies of real rows, as one array [samples * rows, ...] of float32 numbers.

    The noise is the rounded normal quantile of a number with 53 random bits. It is as close to the law as float64
    numbers are to real numbers; unlike flip noise, it is not exact.
    """

    values: FloatArray
    noise: GaussianNoise
    stream: Stream

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    @property
    def distance(self) -> Fraction:
        """Zero: rounding is not counted, since the certificates concern real numbers."""
        return Fraction(0)

    @property
    def bytes_per_row(self) -> int:
        """Random numbers, their quantiles, and two copies of the noisy values."""
        return int(self.values[:1].size) * 32 + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[np.float32]:
        """One noisy row per (sample, row), ordered by sample."""
        from scipy.special import ndtri  # only this noise needs it

        from flipproof.noise.sampling.value_kernels import draw_fractions  # loads numba

        fractions = np.empty((len(samples) * rows.size, self.values[:1].size))
        draw_fractions(fractions, self.stream.words(role), sample_bounds(samples), rows)
        noise = self.noise.sigma * ndtri(fractions)
        clean = np.tile(self.values[rows].reshape(rows.size, -1), (len(samples), 1))
        return np.asarray((clean + noise).astype(np.float32)).reshape(len(fractions), *self.values.shape[1:])


def _refuse(space: object, noise: GaussianNoise, seed: int) -> NoReturn:
    raise InvalidInputError(f"expected RealRows for Gaussian noise, got {type(space).__name__}")


register_sampler(GaussianNoise, RealRows, lambda space, noise, seed: GaussianSampler(space.values, noise, Stream(seed)))
register_sampler(GaussianNoise, object, _refuse)
