"""A space that flipproof does not have, in one file outside of it: rings of beads, which have no beginning.

A ring is written down as a row of bits, and every rotation of the row is the same ring. Noise flips the beads, and the
classifier gets every noisy ring in one spelling, so that nothing tells it where the row of the observed ring began.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import flipproof as fp
from flipproof.noise.sampling.samplers import Sampler
from flipproof.noise.spaces.space import noise_of_parts
from flipproof.noise.spaces.words import ANY, ChangeWords
from flipproof.theory.scope import Scope


def spelled(rows: Any) -> Any:
    """Every ring as that of its rotations that is the smallest binary number."""
    rows = np.asarray(rows)
    rotations = np.stack([np.roll(rows, step, axis=1) for step in range(rows.shape[1])])
    numbers = rotations @ (1 << np.arange(rows.shape[1])[::-1])
    return rotations[numbers.argmin(axis=0), np.arange(len(rows))]


@dataclass(frozen=True, slots=True, eq=False)
class RingSampler:
    """Noisy rings: rows of bits as flipproof draws them, then spelled."""

    bits: Sampler
    length: int

    @property
    def rows(self) -> int:
        """How many rings there are."""
        return self.bits.rows

    @property
    def distance(self) -> Fraction:
        """Spelling is a function of the noisy row, and so brings no two laws further apart."""
        return self.bits.distance

    @property
    def bytes_per_row(self) -> int:
        """The bits, and all rotations of them as they are spelled."""
        return self.length * self.bits.bytes_per_row

    def draw(self, role: Any, samples: range, rows: Any) -> Any:
        """Every (sample, ring), samples first."""
        return spelled(self.bits.draw(role, samples, rows))


@dataclass(frozen=True, slots=True, eq=False)
class Rings:
    """Rings of black (0) and white (1) beads, one ring per row."""

    values: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", spelled(fp.DenseRows(self.values).values))

    @property
    def parts(self) -> tuple[str, ...]:
        """There is one part."""
        return ("beads",)

    def sampler(self, noise: Any, seed: int) -> RingSampler:
        """Flips every bead."""
        flips = noise_of_parts(noise, self.parts)["beads"]
        return RingSampler(fp.DenseRows(self.values).sampler(flips, seed), self.values.shape[1])

    def scope(self, noise: Any) -> Scope:
        """Noise touches every bead."""
        return fp.DenseRows(self.values).scope(noise)

    def words(self, noise: Any, entries: str | None) -> dict[str, Any]:
        """Beads are painted, not added or deleted."""
        beads = entries or "beads"
        return {
            "entries": {"": beads},
            "where": f"the {beads} of the observed ring",
            "caution": "Turning the ring is no change.",
            "changes": {
                "add": ChangeWords("paints {} white", f"{beads} painted white"),
                "delete": ChangeWords("paints {} black", f"{beads} painted black"),
                ANY: ChangeWords("repaints {}", f"{beads} repainted"),
            },
        }
