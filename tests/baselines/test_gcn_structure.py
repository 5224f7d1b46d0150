"""Certificates of a GCN under deleted edges: against all deletions of small graphs, and on Cora-ML."""

import itertools
import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.baselines.gcn.structure import bounds, certify
from flipproof.theory.certificate import Subject

INSTANCES, MOST = 200, 3

ROUNDING = 1e-9
"""What plain float64 may lose in the margin of such a network: some hundred operations on numbers below 1000."""


@dataclass(frozen=True)
class Instance:
    """A small graph, a GCN, local budgets and a target."""

    nodes: int
    edges: np.ndarray
    x: np.ndarray
    module: fp.GCN
    target: int
    local: Any

    @classmethod
    def random(cls, seed):
        rng = np.random.default_rng([8, seed])
        nodes = int(rng.integers(4, 7))
        joined = np.triu(rng.random((nodes, nodes)) < rng.choice([0.3, 0.5, 0.8]), 1)
        joined |= np.eye(nodes, k=1, dtype=bool) & (seed % 3 == 0)  # a path, whose ends are far from each other
        x = (rng.random((nodes, 5)) < 0.5).astype(np.float32)
        local = [None, int(rng.integers(1, 4)), rng.integers(0, 4, nodes)][seed % 4 % 3]
        torch.manual_seed(seed)
        module = fp.GCN(5, 3, hidden=6)
        with torch.no_grad():
            for weights in module.parameters():
                weights.copy_(torch.randn_like(weights) * (1.0 if weights.ndim == 2 else 0.3))
        return cls(nodes, np.argwhere(joined), x, module, int(rng.integers(nodes)), local)

    @property
    def graph(self):
        both = np.concatenate([self.edges, self.edges[:, ::-1]]).T
        return fp.Graph.from_edge_index(both, self.nodes, self.x, noisy="structure")

    def logits(self, kept):
        """Those of the target in float64, from the formula, for many choices of edges [choices, edges]."""
        adjacency = np.zeros((len(kept), self.nodes, self.nodes))
        adjacency[:, *self.edges.T] = kept
        adjacency += adjacency.transpose(0, 2, 1) + np.eye(self.nodes)
        scale = 1.0 / np.sqrt(adjacency.sum(axis=2))
        adjacency *= scale[:, :, None] * scale[:, None]
        names = ("first.weight", "second.weight", "first_bias", "second_bias")
        first, second, b, c = (self.module.state_dict()[name].double().numpy() for name in names)
        return (adjacency @ np.maximum(adjacency @ (self.x @ first) + b, 0.0) @ second + c)[:, self.target]

    def worst_margins(self):
        """The label of the target, and its smallest margin under all deletions of at most 1, 2, ... edges."""
        count = len(self.edges)
        choices = [c for size in range(MOST + 1) for c in itertools.combinations(range(count), size)]
        deleted = np.zeros((len(choices), count), dtype=int)
        for row, chosen in zip(deleted, choices, strict=True):
            row[list(chosen)] = 1
        at_nodes = deleted @ (self.edges[:, :, None] == np.arange(self.nodes)).sum(axis=1)
        deleted = deleted if self.local is None else deleted[(at_nodes <= self.local).all(axis=1)]
        logits = self.logits(1 - deleted)
        label = int(logits[0].argmax())
        margins = logits[:, label] - np.delete(logits, label, axis=1).max(axis=1)
        return label, np.array([margins[deleted.sum(axis=1) <= budget].min() for budget in range(1, MOST + 1)])

    def bounds(self, node_limit):
        return bounds(
            self.module, self.graph, [self.target], local=self.local, budgets=range(1, MOST + 1), node_limit=node_limit
        )


@pytest.mark.parametrize("part", range(4))
def test_all_deletions_of_small_graphs(part):
    """With enough programs exactly what all deletions say; without any never more."""
    radii, without_programs = [], []
    for seed in range(part, INSTANCES, 4):
        instance = Instance.random(seed)
        label, worst = instance.worst_margins()
        exact, none = instance.bounds(1000), instance.bounds(0)
        assert exact.label.tolist() == [label]
        assert exact.radius[0] == (worst > 0.0).sum(), seed
        for margins in (exact, none):
            assert (margins.lower[0] <= worst + ROUNDING).all(), seed
            assert (margins.upper[0] >= worst - ROUNDING).all(), seed
        radii.append(int(exact.radius[0]))
        without_programs.append(int(none.radius[0]))
    assert np.mean(np.array(radii) == MOST) > 0.4
    assert np.mean(np.array(radii) < MOST) > 0.1
    assert 0.6 * sum(radii) < sum(without_programs) < sum(radii)


def test_a_budget_far_away_counts():
    """Three nodes at two steps from the target are joined to one node, whose budget says how many of them lose that."""
    edges = np.array([[0, 1], [1, 2], [1, 3], [1, 4], [2, 5], [3, 5], [4, 5]])
    differed = 0
    for seed in range(25):
        x = np.random.default_rng(seed).integers(0, 2, (6, 5)).astype(np.float32)
        star = replace(Instance.random(seed), nodes=6, edges=edges, x=x, target=0)
        radii = []
        for budget in (0, 1, 3):
            instance = replace(star, local=np.array([0, 0, 1, 1, 1, budget]))
            radii.append(int(instance.bounds(1000).radius[0]))
            assert radii[-1] == (instance.worst_margins()[1] > 0.0).sum()
        differed += len(set(radii)) > 1
    assert differed


def test_result_in_the_common_shape():
    instance = Instance.random(3)
    proofs = certify(fp.NodeClassifier(instance.module, classes=3), instance.graph, local=2, budgets=[2, 1])
    assert len(proofs) == instance.nodes
    assert proofs.promise.subject is Subject.BASE
    assert proofs.promise.alpha == 0.0
    assert proofs.promise.threat == "r edges are deleted, at most 2 at a node"
    own = fp.NodeClassifier(instance.module, classes=3)([instance.graph.clean()])[0]
    assert proofs.label.tolist() == own.tolist()
    assert proofs.radius.max() <= 2
    nodes = [3, 0]
    assert certify(instance.module, instance.graph, nodes, local=2, budgets=[1, 2]).radius.tolist() == [
        proofs.radius[node] for node in nodes
    ]


def test_dataset_loops_and_a_node_alone():
    """A dataset does as well as a graph, a loop of its own changes nothing, and a node alone has nothing to lose."""
    adjacency = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32)
    x = np.eye(4, 5)
    torch.manual_seed(0)
    module = fp.GCN(5, 3, hidden=4)
    radii = []
    for loops in (np.zeros((4, 4)), np.diag([1, 1, 0, 1])):
        data = fp.datasets.from_scipy(sp.csr_array(adjacency + loops.astype(np.float32)), x, [0, 1, 2, 0])
        radii.append(certify(module, data, budgets=[1, 2]).radius.tolist())
    assert radii[0] == radii[1]
    assert radii[0][3] == 2


@pytest.mark.parametrize(("lead", "known"), [(0.0, False), (1e-20, False), (1e-3, True)])
def test_a_lead_within_rounding_errors_is_no_prediction(lead, known):
    """Hidden units are the same, so that whatever is deleted the classes differ by their bias alone."""
    module = fp.GCN(2, 2, hidden=2)
    with torch.no_grad():
        module.first.weight.copy_(torch.tensor([[0.1, 0.1], [0.7, 0.7]]))
        module.second.weight.copy_(torch.tensor([[0.3, 0.6], [0.6, 0.3]]))
        module.second_bias.copy_(torch.tensor([lead, 0.0]))
    graph = fp.Graph.from_edge_index([[0, 1], [1, 0]], attributes=np.eye(2), noisy="structure")
    proofs = certify(module, graph, budgets=[1])
    assert proofs.certified(0).tolist() == proofs.certified(1).tolist() == [known, known]
    assert proofs.abstained.tolist() == [not known, not known]


def test_bounds_stop_after_the_first_budget_without_a_proof():
    margins = [Instance.random(seed).bounds(20) for seed in range(20)]
    tried = np.concatenate([each.lower for each in margins])
    failed = np.cumsum(tried <= 0.0, axis=1) > 1
    assert failed.any()
    assert (tried[failed] == -np.inf).all()
    assert all((np.diff(each.upper, axis=1) <= 0.0).all() for each in margins)


def test_refusals():
    instance = Instance.random(1)
    graph, module = instance.graph, instance.module
    with pytest.raises(fp.InvalidInputError, match=r"expected a flipproof\.GCN, .* got APPNP"):
        certify(fp.APPNP(5, 3), graph)
    with pytest.raises(fp.InvalidInputError, match="expected a NodeDataset or a Graph, got list"):
        certify(module, [])
    one_way = fp.Graph.from_edge_index([[0], [1]], attributes=np.eye(2, 5), noisy="structure", directed=True)
    with pytest.raises(fp.InvalidInputError, match="expected an undirected graph"):
        certify(module, one_way)
    with pytest.raises(fp.InvalidInputError, match="expected a graph with attributes"):
        certify(module, fp.Graph.from_edge_index([[0, 1], [1, 0]], nodes=2))
    with pytest.raises(fp.InvalidInputError, match="expected 4 attributes of a node, got 5"):
        certify(fp.GCN(4, 3), graph)
    with pytest.raises(fp.InvalidInputError, match="expected nodes from 0"):
        certify(module, graph, [99])
    with pytest.raises(fp.InvalidInputError, match="expected nodes to be a list of integers"):
        certify(module, graph, [0.5])
    with pytest.raises(fp.InvalidInputError, match="expected local to be one non-negative integer"):
        certify(module, graph, local=-1)
    with pytest.raises(fp.InvalidInputError, match="expected each of the budgets to be a non-negative integer"):
        certify(module, graph, budgets=[-1])
    with torch.no_grad():
        module.first_bias[0] = np.nan
    with pytest.raises(fp.InvalidInputError, match="expected finite weights"):
        certify(module, graph)


@pytest.mark.skipif("FLIPPROOF_DATA" not in os.environ, reason="needs the datasets: set FLIPPROOF_DATA")
def test_on_cora_ml_no_random_deletion_changes_a_proved_label(cora_ml, rng):
    """Random weights leave small margins, so that labels do change where nothing is proved."""
    data = cora_ml.standardised()
    torch.manual_seed(0)
    module = fp.GCN(data.features, data.classes)
    nodes = rng.choice(data.nodes, 12, replace=False)
    proofs = certify(module, data, nodes, budgets=[1, 3], node_limit=3)
    assert proofs.certified_ratio([1])[0] > 0.2
    classifier = fp.NodeClassifier(module, classes=data.classes)
    graph = data.graph("structure")
    for i, node in enumerate(nodes):
        near = graph.edges.ball(np.array([node]), 2)
        numbers = np.flatnonzero(np.isin(graph.edges.index()[:, : graph.edges.count], near).any(axis=0))
        for _ in range(3):
            gone = rng.choice(numbers, min(int(proofs.radius[i]), numbers.size), replace=False)
            index = graph.edges.index(np.delete(graph.edges.ranks, gone))
            left = fp.Graph.from_edge_index(index, data.nodes, data.attributes, noisy="structure")
            assert classifier([left.clean()])[0, node] == proofs.label[i]
