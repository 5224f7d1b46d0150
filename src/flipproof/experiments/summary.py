"""What a run came to, in a few numbers: accuracies, certified shares, radii, abstentions, time."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from flipproof.experiments.inputs_file import Inputs
from flipproof.smoothing.certificates import Certificates
from flipproof.smoothing.run_folder import RunFolder
from flipproof.theory.arrays import IntArray
from flipproof.theory.law import FlipNoise, JointNoise
from flipproof.theory.radii import UNBOUNDED, Radii, axes_of

_FEW = 6


@dataclass(frozen=True, slots=True)
class AxisSummary:
    """Certificates against one kind of change.

    Attributes:
        mean: of the largest certified number of changes, over all inputs; None if some are unbounded.
        mean_test: the same over test inputs.
        largest: over all inputs.
        radii: some numbers of changes, and for each
        ratio: the share of all inputs that are certified,
        accuracy: the share of test inputs that are certified and right.
    """

    mean: float | None
    mean_test: float | None
    largest: int
    radii: list[int]
    ratio: list[float]
    accuracy: list[float]


@dataclass(frozen=True, slots=True)
class Summary:
    """What a run came to. Accuracies are shares of test inputs; the smoothed classifier is wrong where it abstains."""

    inputs: int
    test_inputs: int
    base_accuracy: float
    smoothed_accuracy: float
    abstained: int
    axes: dict[str, AxisSummary]
    training_epochs: int
    training_seconds: float
    voting_seconds: float
    samples_per_second: float

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def summary_of(path: str | os.PathLike[str], certificates: Certificates) -> Summary:
    """Sums up a run folder and the certificates made of its votes."""
    folder = RunFolder.open(path)
    record = folder.record()
    known = folder.section("training", "flipproof train").get("inputs_sha256")
    folder.check(folder.inputs_file, known, "flipproof train --force")
    inputs = Inputs.load(folder.inputs_file)
    right = np.equal(certificates.label, inputs.labels) & ~certificates.abstained
    votes, training = record.get("votes", {}), record.get("training", {})
    seconds = float(votes.get("seconds", 0.0))
    return Summary(
        inputs=len(certificates),
        test_inputs=int(inputs.split.test.size),
        base_accuracy=inputs.accuracy(np.equal(inputs.base_label, inputs.labels)),
        smoothed_accuracy=inputs.accuracy(right),
        abstained=int(certificates.abstained.sum()),
        axes={str(axis): _along(certificates, str(axis), inputs, right) for axis in axes_of(certificates.noise)},
        training_epochs=int(training.get("epochs", 0)),
        training_seconds=float(training.get("seconds", 0.0)),
        voting_seconds=seconds,
        samples_per_second=votes.get("drawn", 0) / seconds if seconds else 0.0,
    )


def _along(certificates: Certificates, axis: str, inputs: Inputs, right: Any) -> AxisSummary:
    largest = certificates.max_radius(axis)
    radii = _few(int(largest.max(initial=0)))
    certified = [certificates.certified(_radii(certificates, axis, radius)) for radius in radii]
    return AxisSummary(
        mean=_mean(largest),
        mean_test=_mean(largest[inputs.split.test]),
        largest=int(largest.max(initial=0)),
        radii=radii,
        ratio=[float(share.mean()) for share in certified],
        accuracy=[inputs.accuracy(share & right) for share in certified],
    )


def _mean(radii: IntArray) -> float | None:
    return float(radii.mean()) if radii.size and radii.max() < UNBOUNDED else None


def _few(largest: int) -> list[int]:
    """A few radii from 0 to the largest, or to a small one if that is far away."""
    return np.unique(np.linspace(0, min(largest, 1000), _FEW + 1).round().astype(int)).tolist()  # type: ignore[no-any-return]


def _radii(certificates: Certificates, axis: str, count: int) -> Any:
    part, _, kind = axis.rpartition(".")
    if isinstance(certificates.noise, FlipNoise | JointNoise) and part:
        return {part: Radii(**{kind: count})}
    return Radii(**{kind: count})
