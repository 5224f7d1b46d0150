"""Experiments that compare flipproof with certificates of networks themselves (appendix of the paper)."""

from __future__ import annotations

from flipproof.comparison.compare import compare
from flipproof.comparison.setting import Terms
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import STRUCTURE, Row, Trial, node_task
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.run_folder.task import Task
from flipproof.theory.law import FlipNoise

_DELETIONS = (0.4, 0.6, 0.8, 0.9)
_ALSO = ((0.01, 0.8), (0.0, 0.8))
_MORE_NODES = 10
"""This many times more nodes are compared where proofs need no linear programs."""


def _attributes(scale: Scale, seed: int) -> Task:
    return node_task(scale, FlipNoise(0.01, 0.6), seed=seed)


def _edges(scale: Scale, seed: int, p_minus: float = _DELETIONS[0]) -> Task:
    return node_task(scale, FlipNoise(0.0, p_minus), STRUCTURE, "appnp", seed)


def _attribute_trials(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    noises = [FlipNoise(0.01, 0.6), *(FlipNoise(*pair) for pair in _ALSO)]
    return [Trial(node_task(scale, noise, seed=seeds[0]), scale.samples) for noise in noises]


def _edge_trials(scale: Scale, seeds: tuple[int, ...]) -> list[Trial]:
    return [Trial(_edges(scale, seeds[0], p_minus), scale.samples) for p_minus in _DELETIONS]


def _attribute_rows(scaled: ScaledStudy) -> list[Row]:
    terms = Terms(nodes=_MORE_NODES * scaled.scale.nodes, largest_radius=20, also=_ALSO)
    return _compared(scaled, _attributes(scaled.scale, scaled.seeds[0]), ["flipproof", "gcn_attributes"], terms)


def _edge_rows(scaled: ScaledStudy) -> list[Row]:
    """Rows for deleted edges, with further noises for our certificate, as in the paper."""
    terms = Terms(
        nodes=scaled.scale.nodes,
        largest_radius=scaled.scale.farthest,
        also=tuple((0.0, p_minus) for p_minus in _DELETIONS[1:]),
    )
    systems = ["flipproof", "page_rank"]
    return _compared(scaled, _edges(scaled.scale, scaled.seeds[0]), systems, terms)


def _compared(scaled: ScaledStudy, task: Task, systems: list[str], terms: Terms) -> list[Row]:
    comparison = compare(
        scaled.path / scaled.study.name, task, systems, terms, scaled.scale.samples, scaled.machine,
        runs=scaled.runs(scaled.scale.samples),
    )  # fmt: skip
    facts = {
        "dataset": task.dataset,
        "noisy": task.noisy,
        "seed": task.seed,
        "samples": scaled.scale.samples.n_estimate,
    }
    rows = []
    for row in comparison.rows([0, *terms.radii]):
        share = row.pop("certified_ratio")
        rows.append({**facts, **row, "measure": "certified ratio", "value": share})
    return rows


COMPARE_GCN = Study(
    "compare-gcn", "A GCN and its smoothed version, attributes", _attribute_trials, _attribute_rows,
    effort=lambda scale: 0.5 * _MORE_NODES * scale.nodes,
)  # fmt: skip
COMPARE_PPNP = Study(
    "compare-ppnp", "PPNP and its smoothed version, deleted edges", _edge_trials, _edge_rows,
    effort=lambda scale: 1.5 * scale.nodes * scale.farthest,
)  # fmt: skip
