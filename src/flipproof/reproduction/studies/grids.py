"""Experiments shown as planes: certified ratios over two radii, and accuracies over two probabilities."""

from __future__ import annotations

import itertools

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.lines import JOINT
from flipproof.reproduction.studies.trial import ATTRIBUTES, STRUCTURE, Outcome, Row, Trial, node_task
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.statistics.bounds import Rule
from flipproof.theory.law import FlipNoise, as_flip_noise
from flipproof.theory.radii import Radii, axes_of

_USUAL = FlipNoise(0.01, 0.6)
_ADDS, _DELETES = range(9), range(26)
_JOINT_COUNTS = {"add": range(4), "delete": range(21)}
_PROBABILITIES = {
    ATTRIBUTES: ((0.0, 0.001, 0.01), (0.0, 0.2, 0.4, 0.6, 0.8)),
    STRUCTURE: ((0.0, 0.0001, 0.001), (0.0, 0.2, 0.4, 0.6)),
}


def _heatmap_rows(scaled: ScaledStudy) -> list[Row]:
    (trial,) = scaled.trials()
    outcome = scaled.outcome(trial)
    ratio = outcome.certificates().certified_ratio(add=_ADDS, delete=_DELETES)
    return [
        outcome.row("certified ratio", float(ratio[a, d]), add=a, delete=d, among="all")
        for a, d in itertools.product(_ADDS, _DELETES)
    ]


def _every_seed(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    return [Trial(node_task(scale, _USUAL, seed=seed), scale.samples) for seed in seeds]


def _rule_rows(scaled: ScaledStudy) -> list[Row]:
    """How much more the multi-class rule certifies than the two-class rule, cell by cell and on average."""
    rows = []
    for trial in scaled.trials():
        outcome = scaled.outcome(trial)
        multi, two = (_test_ratios(outcome, rule) for rule in (Rule.MULTI_CLASS, Rule.TWO_CLASS))
        difference = multi - two
        counted = np.maximum(multi, two) > 0.0  # nothing to compare where neither certifies anything
        mean = outcome.row("mean difference of certified ratios", float(difference[counted].mean()), among="test")
        rows += [{**mean, "published": 0.012}]
        rows += [
            outcome.row("difference of certified ratios", float(difference[a, d]), add=a, delete=d, among="test")
            for a, d in itertools.product(_ADDS, _DELETES)
        ]
    return rows


def _test_ratios(outcome: Outcome, rule: Rule) -> FloatArray:
    """The certified ratio of test inputs, by numbers of additions and deletions."""
    certificates, test = outcome.certificates(rule), outcome.inputs.split.test
    return np.array([[certificates.certified(Radii(add=a, delete=d))[test].mean() for d in _DELETES] for a in _ADDS])


def _joint_rows(scaled: ScaledStudy) -> list[Row]:
    """One plane for every pair of the four radii, with the other two at 0."""
    (trial,) = scaled.trials()
    outcome = scaled.outcome(trial)
    certificates = outcome.certificates()
    rows = []
    for pair in itertools.combinations(axes_of(JOINT), 2):
        counts = {axis: _JOINT_COUNTS[axis.kind] for axis in pair}
        parts: dict[str, dict[str, range]] = {}
        for axis, wanted in counts.items():
            parts.setdefault(str(axis.part), {})[axis.kind] = wanted
        ratio = np.squeeze(certificates.certified_ratio(parts))
        for place in itertools.product(*counts.values()):
            radii = {str(axis): count for axis, count in zip(counts, place, strict=True)}
            rows.append(outcome.row("certified ratio", float(ratio[place]), among="all", **radii))
    return rows


def _accuracy_trials(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    return [
        Trial(node_task(scale, FlipNoise(p_plus, p_minus), noisy, seed=seed), scale.few)
        for noisy, grid in _PROBABILITIES.items()
        for p_plus, p_minus in itertools.product(*grid)
        for seed in seeds[: scale.slow_seeds]
    ]


def _accuracy_rows(scaled: ScaledStudy) -> list[Row]:
    rows: list[Row] = []
    for trial in scaled.trials():
        outcome = scaled.outcome(trial)
        noise = as_flip_noise(outcome.votes.noise)
        if noise is not None:
            where = {"p_plus": noise.p_plus, "p_minus": noise.p_minus}
            label = (outcome.votes.selection + outcome.votes.estimation).argmax(axis=1)
            right = outcome.inputs.accuracy(np.equal(label, outcome.inputs.labels))
            rows.append(outcome.row("accuracy of the majority", right, among="test", **where))
    return rows


HEATMAP = Study(
    "heatmap", "Certified ratio over additions and deletions, GCN, attributes",
    lambda scale, seeds: _every_seed(scale, seeds[:1]), _heatmap_rows,
)  # fmt: skip
RULES = Study("rules", "Multi-class against two-class rule over the radii", _every_seed, _rule_rows)
JOINT_PAIRS = Study(
    "joint-pairs", "Joint noise: every pair of radii",
    lambda scale, seeds: [Trial(node_task(scale, JOINT, "both", seed=seeds[0]), scale.samples)], _joint_rows,
)  # fmt: skip
CLEAN_ACCURACY = Study("clean-accuracy", "Accuracy over flip probabilities", _accuracy_trials, _accuracy_rows)
