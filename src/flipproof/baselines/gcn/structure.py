"""Certificates of a GCN under deleted edges (Zügner and Günnemann, KDD 2020).

The paper is "Certifiable robustness of graph convolutional networks under structure perturbations". The network is Kipf
and Welling's GCN with two layers. An attacker deletes at most Q edges of an undirected graph, and at most a given
number at each node. A node's label is proved if its margin over every other class is positive under all such deletions.

As in the paper, the margin is a bilinear program: the target's row of the normalised adjacency times a hidden layer
that depends on the other rows, with ReLUs replaced by their convex hull, McCormick envelopes, and branching. The
relaxation differs. The paper bounds the entries of the matrix one by one, and sums of their changes. Here a variable
says how much of each edge is deleted, entries lie between planes in these variables, and both directions of an edge
share one variable. One deletion then changes all affected entries at once, and branching on edges ends at single
graphs, so with enough programs the answer is exact. Most nodes need no program, because an interval bound is enough.

The proof is about the network in exact arithmetic with the given weights and attributes, and it accounts for its own
rounding errors. A forward pass in float32 has rounding errors of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from flipproof.base.progress import one_by_one
from flipproof.base.values import BoolArray, FloatArray, IntArray, as_array, checked_count, read_only
from flipproof.baselines.checked_arguments import (
    check_width,
    checked_gcn,
    checked_local,
    checked_nodes,
    checked_radii,
    graph_of,
    local_of_each,
)
from flipproof.baselines.gcn.structure_bounds import Hidden, Layers, Surroundings, slack_of
from flipproof.baselines.gcn.structure_program import Relaxation
from flipproof.baselines.proofs import Proofs
from flipproof.datasets import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.noise.spaces.graph import Graph, plain_attributes
from flipproof.theory.certificate import Promise, Subject


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """Bounds on the margins of predictions under the worst deletions.

    Attributes:
        label: the prediction, one per node.
        budgets: total numbers of deleted edges, from 1.
        lower: proved lower bounds [nodes, budgets]; the label is proved where they are positive. After the first budget
            that is not proved, no larger one is tried, and the bound is -inf.
        upper: margins under the worst deletions found; the label is refuted where they are not positive.
        programs: the number of linear programs solved for each node.
        abstained: True where rounding errors leave the label of the unchanged graph open, or where the network itself,
            in float32, gives another label.
    """

    label: IntArray
    budgets: IntArray
    lower: FloatArray
    upper: FloatArray
    programs: IntArray
    abstained: BoolArray

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, read_only(as_array(getattr(self, name), name)))

    @property
    def radius(self) -> IntArray:
        """The largest proved budget of each node, or 0."""
        radius: IntArray = np.where(self.lower > 0.0, self.budgets, 0).max(axis=1, initial=0)
        return radius


def certify(
    model: Any,
    graph: Graph | NodeDataset,
    nodes: Any = None,
    *,
    local: Any = None,
    budgets: Iterable[int] = range(1, 6),
    node_limit: int = 50,
    progress: bool = False,
) -> Proofs:
    """The largest number of deleted edges at which each node's label from the GCN itself is proved.

    Args:
        model: a `GCN`, or a `NodeClassifier` of one.
        graph: an undirected graph with attributes, or a dataset that contains it.
        nodes: the nodes to certify; all by default.
        local: how many edges may be deleted at a node, one number for all or one per node; by default as many as in
            total.
        budgets: how many edges may be deleted in total; tried in order until one is not proved. The label without
            deletions is always checked: a node abstains where rounding errors leave it open.
        node_limit: how many linear programs branch and bound may solve per node and budget.
        progress: whether to show progress in a terminal.

    Example:
        >>> import torch
        >>> from flipproof import GCN
        >>> _ = torch.manual_seed(1)
        >>> ring = [[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]]
        >>> graph = Graph.from_edge_index(ring, attributes=np.eye(4, 5), noisy="structure")
        >>> certify(GCN(features=5, classes=2), graph, budgets=[1, 2]).radius
        array([1, 1, 2, 2])
    """
    margins = bounds(model, graph, nodes, local=local, budgets=budgets, node_limit=node_limit, progress=progress)
    at_node = "at each node at most its budget" if np.ndim(local) else f"at most {local} at a node"
    threat = "r edges are deleted" + ("" if local is None else f", {at_node}")
    rule = f"linear programs, at most {node_limit} for a node and a radius, and branching"
    promise = Promise("Zügner and Günnemann 2020", Subject.BASE, threat, rule)
    return Proofs(promise, margins.label, margins.radius, margins.abstained)


def bounds(
    model: Any,
    graph: Graph | NodeDataset,
    nodes: Any = None,
    *,
    local: Any = None,
    budgets: Iterable[int] = range(1, 6),
    node_limit: int = 50,
    progress: bool = False,
) -> Margins:
    """The bounds on which `certify` bases its radii; it takes the arguments of `certify`."""
    module, graph = checked_gcn(model), graph_of(graph, "structure")
    if graph.edges.directed:
        raise InvalidInputError("expected an undirected graph, got a directed one; see NodeDataset.standardised")
    radii, limit = checked_radii(budgets, "budgets"), checked_count(node_limit, "node_limit")
    targets, at_nodes = checked_nodes(nodes, graph.nodes), local_of_each(checked_local(local), graph.nodes)
    adjacency = _adjacency(graph)
    most = min(radii[-1], int(adjacency.nnz))  # more than all edges are no threat
    layers = _layers(module, graph, adjacency, most)
    label = np.zeros(targets.size, dtype=np.int64)
    found = np.zeros((targets.size, len(radii), len(Reached._fields)))
    for i, target in one_by_one(list(enumerate(targets)), "nodes", progress):
        around, near = _surroundings(adjacency, target, at_nodes, most)
        here = layers.of_nodes(near)
        label[i] = logits(around, here).argmax()
        found[i] = _searches(around, here, int(label[i]), radii, limit)
    lower, upper, programs = np.moveaxis(found, 2, 0)
    programs = programs.sum(axis=1).astype(np.int64)
    in_single = NodeClassifier(module, classes=module.second_bias.numel())([graph.clean()])[0]
    abstained = (lower[:, 0] <= 0.0) | (label != in_single[targets])
    return Margins(label, np.array(radii[1:], dtype=np.int64), lower[:, 1:], upper[:, 1:], programs, abstained)


def _searches(around: Surroundings, layers: Layers, label: int, budgets: Iterable[int], limit: int) -> list[Reached]:
    """Searches one budget after another until the label is not proved."""
    found = [Reached(np.inf, np.inf, 0)]
    for budget in budgets:
        if found[-1].lower > 0.0:
            allowed = min(budget, int(around.free.sum()))  # more than all edges are no threat
            found.append(search(replace(around, budget=allowed), layers, label, found[-1].upper, limit))
        else:
            found.append(Reached(-np.inf, found[-1].upper, 0))
    return found[1:]


def _surroundings(adjacency: Any, target: int, local: IntArray, most: int) -> tuple[Surroundings, IntArray]:
    """The surroundings of a target, and the numbers of its nodes in the graph (the last number is made up)."""

    def next_to(nodes: IntArray, known: IntArray) -> IntArray:
        return np.setdiff1d(adjacency[nodes].indices, known).astype(np.int64)

    inner = np.concatenate([[target], next_to(np.array([target]), np.array([target]))])
    near = np.concatenate([inner, next_to(inner, inner)])
    # Deleting an edge further away uses the local budget of its far end, which matters only if that is small.
    beyond = next_to(near, near)
    joined = adjacency[beyond][:, near].indptr
    near_and_tight = np.concatenate([near, beyond[local[beyond] < np.minimum(np.diff(joined), most)]])
    place = np.full(adjacency.shape[0], near_and_tight.size, dtype=np.int64)
    place[near_and_tight] = np.arange(near_and_tight.size)
    rows = adjacency[near].tocoo()
    heads, tails = rows.coords[0].astype(np.int64), place[rows.coords[1]]
    pairs, free = np.unique(np.stack([heads, tails], axis=1)[heads < tails], axis=0, return_counts=True)
    degrees = np.append(np.diff(adjacency.indptr)[near_and_tight] + 1, 1)
    there = np.ones(free.size, dtype=bool)
    budgets = np.append(np.minimum(local[near_and_tight], most), free.sum() + most)
    around = Surroundings(inner.size, pairs, there, free, degrees, budgets, most)
    return around, np.append(near_and_tight, target)


def _layers(module: Any, graph: Graph, adjacency: Any, most: int) -> Layers:
    attributes = plain_attributes(graph.attributes)
    check_width(attributes, module.first.weight)
    first, second, *biases = (
        parameter.detach().cpu().double().numpy()
        for parameter in (module.first.weight, module.second.weight, module.first_bias, module.second_bias)
    )
    x = sp.csr_array(attributes).astype(np.float32).astype(np.float64)  # the network's actual input
    if not all(np.isfinite(numbers).all() for numbers in (x.data, first, second, *biases)):
        raise InvalidInputError("expected finite weights and attributes, got others")
    terms = int(np.diff(x.indptr).max(initial=0))
    largest = int(np.diff(adjacency.indptr).max(initial=0))
    slack = slack_of(terms, first.shape[1], 2 * largest, 4 * most)
    return Layers(x @ first, abs(x) @ np.abs(first), biases[0], second, biases[1], slack)


def _adjacency(graph: Graph) -> Any:
    """The adjacency without loops: the network gives every node one, whether it has one or not."""
    heads, tails = graph.edges.index()
    proper = heads != tails
    ones = np.ones(int(proper.sum()), dtype=np.int8)
    return sp.csr_array((ones, (heads[proper], tails[proper])), shape=(graph.nodes, graph.nodes))


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
