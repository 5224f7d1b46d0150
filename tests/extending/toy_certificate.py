"""A certificate of one's own, computed from votes: what follows from the triangle inequality alone.

One changed bit moves the law of the noise by a total variation distance of d = |1 - p_plus - p_minus|, so r changes
move every probability by at most r d. It is weaker than `fp.certify`, and takes three lines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import flipproof as fp
from flipproof.theory.certificate import Promise, Subject
from flipproof.theory.claims import Budget, Claim
from flipproof.theory.radii import Axis


@dataclass(frozen=True)
class TriangleCertificate:
    """What r changes of any kind leave of the margin between two probabilities."""

    tight: fp.Certificates

    @property
    def label(self):
        return self.tight.label

    @property
    def abstained(self):
        return self.tight.abstained

    @property
    def axes(self):
        return (Axis(None, "any"),)

    @property
    def promise(self):
        return Promise(
            "nobody", Subject.SMOOTHED, "at most r bits are flipped", "triangle inequality", self.tight.alpha
        )

    def __len__(self):
        return len(self.tight)

    @property
    def distance(self):
        noise = self.tight.noise
        return np.nextafter(abs(1.0 - noise.p_plus - noise.p_minus), 2.0) + 1e-15  # on the safe side

    def certified(self, radii):
        return (self.max_radius("any") >= radii) & ~self.abstained

    def max_radius(self, along="any"):
        margin = (self.tight.p_lower - self.tight.p_upper) * (1.0 - 1e-12)
        radius = np.ceil(margin / (2.0 * self.distance)) - 1  # strictly less: a tie is no proof
        return np.where(self.abstained, 0, np.maximum(radius, 0)).astype(np.int64)

    def claim(self, index):
        radius = int(self.max_radius()[index])
        label = None if self.abstained[index] else int(self.label[index])
        budgets, promise = (Budget(self.axes, radius),), self.promise
        return Claim(index, label, budgets, None, promise.alpha, False, threat=promise.threat_of(radius))
