"""Branch and bound over the deleted edges around one node."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

import numpy as np

from flipproof.base.values import FloatArray
from flipproof.baselines.gcn.structure_bounds import Hidden, Layers, Surroundings
from flipproof.baselines.gcn.structure_program import Relaxation


class Reached(NamedTuple):
    """Bounds on the margin of a prediction under the worst deletions.

    Attributes:
        lower: the proved lower bound.
        upper: the margin under the worst deletions that were found or already known.
        programs: the number of linear programs solved.
    """

    lower: float
    upper: float
    programs: int


def search(around: Surroundings, layers: Layers, label: int, known: float, node_limit: int) -> Reached:
    """Bounds the margin of a label over all others until its sign is known or the limit on programs is reached.

    One tree holds all other classes. The search always continues with the part that has the lowest bound. The program
    improves this bound; if that is not enough, the part is split by the edge that the program deletes most, into "it is
    deleted" and "it is kept". A part in which nothing more can be deleted is a single graph, with a point as interval.

    Args:
        around: the target and the edges that may be deleted.
        layers: the layers of the GCN, at these nodes.
        label: the label of the target.
        known: the margin under already known deletions.
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
    """The target's logits if nothing more is deleted, in plain float64."""
    hidden = np.stack([row.product(layers.inputs) for row in around.rows]) + layers.hidden_bias
    return around.rows[0].product(np.maximum(hidden, 0.0) @ layers.outputs) + layers.output_bias


def margin(around: Surroundings, layers: Layers, label: int) -> float:
    """The margin of the label over the best other class if nothing more is deleted."""
    of_classes = logits(around, layers)
    return float(of_classes[label] - np.delete(of_classes, label).max(initial=-np.inf))


def _deleted(around: Surroundings, amounts: FloatArray) -> Surroundings:
    """The surroundings after deleting the edges with the largest amounts, as many as the budgets allow."""
    for edge in np.argsort(-amounts, kind="stable"):
        for _ in range(int(min(np.ceil(amounts[edge]), around.deletable[edge]))):
            around = around.delete(int(edge))
        if around.budget == 0:
            break
    return around
