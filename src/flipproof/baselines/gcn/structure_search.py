"""Branch and bound on which edges around one node are deleted."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.baselines.gcn.structure_bounds import Hidden, Layers, Surroundings
from flipproof.baselines.gcn.structure_program import Relaxation


class Reached(NamedTuple):
    """The margin of a prediction under the worst deletions is between two numbers.

    Attributes:
        lower: what is proved.
        upper: the margin under the worst deletions that were found, or those that were known before.
        programs: how many linear programs that took.
    """

    lower: float
    upper: float
    programs: int


def search(around: Surroundings, layers: Layers, label: int, known: float, node_limit: int) -> Reached:
    """Bounds the margin of a label over all others until its sign is known or there have been enough programs.

    All other classes are in one tree. The part with the lowest bound is next: its bound is improved by the program,
    and if that is not enough it is split by the edge that the program deletes most, into "it is deleted" and "it is
    kept". A part where nothing can be deleted any more is a single graph, and its interval is a point.

    Args:
        around: the target and what may be deleted.
        layers: of the GCN, at these nodes.
        label: of the target.
        known: the margin under deletions that are known.
        node_limit: how many programs may be solved.
    """
    ticks, programs, upper = count(), 0, min(known, margin(around, layers, label))
    parts: list[tuple[float, int, tuple[int, int], Relaxation]] = []

    def put(part: Surroundings, classes: list[tuple[int, int]], least: float) -> None:
        hidden = Hidden.of(part, layers)
        for pair in classes:
            relaxation = Relaxation.between(part, layers, hidden, pair)
            heappush(parts, (max(least, relaxation.interval), next(ticks), pair, relaxation))

    put(around, [(label, other) for other in range(layers.output_bias.size) if other != label], -np.inf)
    while parts and parts[0][0] <= 0.0 < upper and programs < node_limit:
        if not parts[0][3].around.most.any():
            upper = min(upper, margin(parts[0][3].around, layers, label))
            break
        bound, tick, pair, relaxation = heappop(parts)
        solution, programs = relaxation.solved(), programs + 1
        bound = max(bound, solution.bound)
        if bound > 0.0:
            heappush(parts, (bound, tick, pair, relaxation))
            continue
        upper = min(upper, margin(_deleted(relaxation.around, solution.deleted), layers, label))
        edge = int(np.where(relaxation.around.deletable > 0, solution.deleted, -1.0).argmax())
        put(relaxation.around.delete(edge), [pair], bound)
        put(relaxation.around.keep(edge), [pair], bound)
    return Reached(parts[0][0] if parts else np.inf, upper, programs)


def logits(around: Surroundings, layers: Layers) -> FloatArray:
    """Those of the target if nothing more is deleted, in plain float64."""
    hidden = np.stack([row.product(layers.inputs) for row in around.rows]) + layers.hidden_bias
    return around.rows[0].product(np.maximum(hidden, 0.0) @ layers.outputs) + layers.output_bias


def margin(around: Surroundings, layers: Layers, label: int) -> float:
    """The margin of the label over the best of the others there."""
    of_classes = logits(around, layers)
    return float(of_classes[label] - np.delete(of_classes, label).max(initial=-np.inf))


def _deleted(around: Surroundings, amounts: FloatArray) -> Surroundings:
    """The graph after deleting the edges with the largest amounts, as many as the budgets allow."""
    for edge in np.argsort(-amounts, kind="stable"):
        for _ in range(int(min(np.ceil(amounts[edge]), around.deletable[edge]))):
            around = around.delete(int(edge))
        if around.budget == 0:
            break
    return around
