"""A law that flipproof does not have, in one file outside of it: entries are redrawn, uniformly over all values.

docs/extending.md walks through it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from flipproof.noise.laws import register_law, register_sampler
from flipproof.noise.spaces.rows import DenseRows
from flipproof.theory.base_law import Axis, Noise
from flipproof.theory.radii import Radii
from flipproof.theory.regions import Regions
from flipproof.verification.other_laws import register_masses


@register_law("redraw")
@dataclass(frozen=True, slots=True)
class RedrawNoise(Noise):
    """Redraws every entry with a probability, each of its `values` being equally likely, the old one included."""

    probability: float
    values: int

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Only the number of changed entries counts."""
        return (Axis(None, "change"),)

    @property
    def changes_entries(self) -> bool:
        """One change is one entry, so an input of 9 entries can suffer no more than 9."""
        return True

    @property
    def words(self) -> str:
        """For a terminal."""
        return f"redraws entries with probability {self.probability:g}, {self.values} values"

    def record(self) -> dict[str, Any]:
        """The fields under the name of the law."""
        return {"redraw": {"probability": self.probability, "values": self.values}}

    def without_noise(self) -> "RedrawNoise":
        """Nothing is redrawn."""
        return RedrawNoise(0.0, self.values)

    def regions(self, radii: Radii) -> Regions:
        """From the exact masses, rounded to the safe side."""
        return Regions.exact(masses(self.record()["redraw"], {"change": radii.change}))


def masses(law: Mapping[str, Any], changes: Mapping[str, int]) -> list[tuple[Fraction, Fraction]]:
    """The mass of every region under the clean and under the changed input.

    Of the changed entries, some are seen with the clean value and some with the changed one; the difference of these
    two numbers decides the likelihood ratio.
    """
    r, redrawn = changes["change"], Fraction(law["probability"])
    one = redrawn / law["values"]
    keep, rest = 1 - redrawn + one, redrawn - 2 * one
    found: dict[int, tuple[Fraction, Fraction]] = {}
    for clean in range(r + 1):
        for changed in range(r - clean + 1):
            ways = comb(r, clean) * comb(r - clean, changed) * rest ** (r - clean - changed)
            before, after = found.get(clean - changed, (Fraction(0), Fraction(0)))
            seen = ways * keep**clean * one**changed, ways * keep**changed * one**clean
            found[clean - changed] = before + seen[0], after + seen[1]
    return list(found.values())


@dataclass(frozen=True, slots=True, eq=False)
class RedrawSampler:
    """Sample i is a function of the seed, the role and i alone."""

    clean: Any
    law: RedrawNoise
    seed: int

    @property
    def rows(self) -> int:
        """How many inputs there are."""
        return len(self.clean)

    @property
    def distance(self) -> Fraction:
        """Nothing is rounded, if the probability has at most 53 binary digits."""
        return Fraction(0)

    @property
    def bytes_per_row(self) -> int:
        """Random numbers and values."""
        return 32 * self.clean.shape[1]

    def draw(self, role: int, samples: range, rows: Any) -> Any:
        """Every (sample, row), samples first."""
        return np.concatenate([self._sample(role, sample)[rows] for sample in samples])

    def _sample(self, role: int, sample: int) -> Any:
        rng = np.random.default_rng([self.seed, role, sample])
        redrawn = rng.random(self.clean.shape) < self.law.probability
        return np.where(redrawn, rng.integers(self.law.values, size=self.clean.shape), self.clean)


register_sampler(RedrawNoise, DenseRows, lambda space, law, seed: RedrawSampler(space.values, law, seed))
register_masses("redraw", ("change",), masses, changes_entries=True)
