"""Experiments that compare flipproof with certificates of networks themselves (appendix of the paper)."""

from __future__ import annotations

from collections.abc import Callable

from flipproof.comparison.compare import compare
from flipproof.comparison.setting import Terms
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import ATTRIBUTES, STRUCTURE, Row, Trial, node_task
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.theory.law import FlipNoise

_Pairs = tuple[tuple[float, float], ...]

_DELETIONS = ((0.0, 0.4), (0.0, 0.6), (0.0, 0.8), (0.0, 0.9))
_OF_ATTRIBUTES = ((0.01, 0.6), (0.01, 0.8), (0.0, 0.8))
_MORE_NODES = 10
"""This many times more nodes are compared where proofs need no linear programs."""


def _trials(noises: _Pairs, noisy: str, model: str) -> Callable[[Scale, tuple[int, ...]], list[Trial]]:
    """The trials with these noises; the first is the one that is compared."""
    return lambda scale, seeds: [
        Trial(node_task(scale, FlipNoise(*pair), noisy, model, seeds[0]), scale.samples) for pair in noises
    ]


def _attribute_rows(scaled: ScaledStudy) -> list[Row]:
    terms = Terms(nodes=_MORE_NODES * scaled.scale.nodes, largest_radius=20, also=_OF_ATTRIBUTES[1:])
    return _compared(scaled, ["flipproof", "gcn_attributes"], terms)


def _edge_rows(scaled: ScaledStudy) -> list[Row]:
    """Rows for deleted edges, with further noises for our certificate, as in the paper."""
    terms = Terms(nodes=scaled.scale.nodes, largest_radius=scaled.scale.farthest, also=_DELETIONS[1:])
    return _compared(scaled, ["flipproof", "page_rank"], terms)


def _compared(scaled: ScaledStudy, systems: list[str], terms: Terms) -> list[Row]:
    task = scaled.trials()[0].task
    comparison = compare(
        scaled.path / scaled.study.name, task, systems, terms, scaled.scale.samples, scaled.machine,
        runs=scaled.runs(scaled.scale.samples),
    )  # fmt: skip
    samples = scaled.scale.samples.n_estimate
    facts = {"dataset": task.dataset, "noisy": task.noisy, "seed": task.seed, "samples": samples}
    rows = []
    for row in comparison.rows([0, *terms.radii]):
        share = row.pop("certified_ratio")
        rows.append({**facts, **row, "measure": "certified ratio", "value": share})
    return rows


COMPARE_GCN = Study(
    "compare-gcn", "A GCN and its smoothed version, attributes", _trials(_OF_ATTRIBUTES, ATTRIBUTES, "gcn"),
    _attribute_rows, effort=lambda scale: 0.5 * _MORE_NODES * scale.nodes,
)  # fmt: skip
COMPARE_PPNP = Study(
    "compare-ppnp", "PPNP and its smoothed version, deleted edges", _trials(_DELETIONS, STRUCTURE, "appnp"), _edge_rows,
    effort=lambda scale: 1.5 * scale.nodes * scale.farthest,
)  # fmt: skip
