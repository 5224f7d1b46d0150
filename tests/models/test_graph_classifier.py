"""Graph neural networks on whole graphs: the labels are those of each graph by itself."""

import functools
import itertools
from dataclasses import replace

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch_geometric.nn as pyg

import flipproof as fp
from flipproof.datasets import GraphDataset
from flipproof.models.adapters.graph_classifier import GraphClassifier
from flipproof.noise.spaces.graphs import GraphUnion
from flipproof.theory.radii import axes_of, radii_at

KINDS, CLASSES = 4, 2


class Isomorphism(torch.nn.Module):
    """A graph isomorphism network with sum pooling."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.gnn, self.last = pyg.GIN(KINDS, 8, 2, dropout=0.5, norm="BatchNorm"), torch.nn.Linear(8, CLASSES)

    def forward(self, x, edge_index, batch):
        return self.last(pyg.global_add_pool(self.gnn(x, edge_index), batch))


def parts(count):
    rng = np.random.default_rng(0)
    for _ in range(count):
        nodes = int(rng.integers(1, 9))
        upper = np.triu(rng.random((nodes, nodes)) < 0.4, 1)
        yield np.stack((upper | upper.T).nonzero()), np.eye(KINDS, dtype=np.uint8)[rng.integers(0, KINDS, nodes)]


def union(graphs):
    sizes = [len(attributes) for _, attributes in graphs]
    offsets = np.cumsum([0, *sizes[:-1]])
    edges = np.concatenate([edges + offset for (edges, _), offset in zip(graphs, offsets, strict=True)], axis=1)
    attributes = np.concatenate([attributes for _, attributes in graphs])
    return GraphUnion(sum(sizes), edges, attributes, np.repeat(np.arange(len(graphs)), sizes), len(graphs))


def test_labels_are_those_of_each_graph():
    module, graphs = Isomorphism(), list(parts(30))
    labels = GraphClassifier(module, classes=CLASSES)(union(graphs))
    assert module.training
    module.eval()
    with torch.no_grad():
        alone = [
            module(torch.tensor(x).float(), torch.tensor(edges), torch.zeros(len(x), dtype=torch.int64))
            for edges, x in graphs
        ]
    assert labels.dtype == np.int64
    assert set(labels.tolist()) == {0, 1}
    assert labels.tolist() == [int(logits.argmax()) for logits in alone]


@pytest.mark.parametrize(
    "form", [sp.csr_array, lambda array: array.astype(np.float64), lambda array: array.astype(bool)]
)
def test_attributes_in_any_form(form):
    classifier, batch = GraphClassifier(Isomorphism(), classes=CLASSES), union(list(parts(10)))
    assert (classifier(replace(batch, attributes=form(batch.attributes))) == classifier(batch)).all()


@pytest.mark.parametrize("graphs_at_once", [1, 7, 29, 30, 1000])
def test_labels_do_not_depend_on_how_many_graphs_are_taken_at_once(graphs_at_once):
    module, batch = Isomorphism(), union(list(parts(30)))
    found = GraphClassifier(module, classes=CLASSES, graphs_at_once=graphs_at_once)(batch)
    assert found.tolist() == GraphClassifier(module, classes=CLASSES)(batch).tolist()


def test_logits_have_gradients_and_leave_the_mode_alone():
    module, batch = Isomorphism(), union(list(parts(30)))
    classifier = GraphClassifier(module, classes=CLASSES)
    logits = classifier.logits(batch)
    assert (tuple(logits.shape), logits.requires_grad, module.training) == ((30, CLASSES), True, True)
    module.eval()
    assert classifier.logits(batch).argmax(dim=1).tolist() == classifier(batch).tolist()


def test_kinds_become_columns():
    module, batch = Isomorphism(), union(list(parts(30)))
    kinds = replace(batch, attributes=batch.attributes.argmax(axis=1)[:, None].astype(np.uint8))
    plain, hot = GraphClassifier(module, classes=CLASSES), GraphClassifier(module, classes=CLASSES, one_hot=KINDS)
    assert hot(kinds).tolist() == plain(batch).tolist()
    assert hot.fingerprint != plain.fingerprint
    with pytest.raises(fp.InvalidInputError, match="expected kinds of nodes from 0 to 2, got 3"):
        GraphClassifier(module, classes=CLASSES, one_hot=3)(kinds)
    with pytest.raises(fp.InvalidInputError, match="expected one kind for every node, got 4 columns"):
        hot(batch)


def test_it_travels_and_keeps_its_fingerprint():
    classifier, batch = GraphClassifier(Isomorphism(), classes=CLASSES), union(list(parts(10)))
    copy = cloudpickle.loads(cloudpickle.dumps(classifier))
    assert (copy(batch) == classifier(batch)).all()
    assert copy.fingerprint == classifier.fingerprint == GraphClassifier(Isomorphism(), classes=CLASSES).fingerprint
    other = Isomorphism()
    other.last.bias.data += 1
    assert GraphClassifier(other, classes=CLASSES).fingerprint != classifier.fingerprint


def test_bad_batches_and_modules_are_refused():
    classifier, batch = GraphClassifier(Isomorphism(), classes=CLASSES), union(list(parts(5)))
    with pytest.raises(fp.InvalidInputError, match="expected a graph with attributes, got None"):
        classifier(replace(batch, attributes=None))
    with pytest.raises(fp.InvalidInputError, match=r"expected logits of shape \(6, 2\), got \(5, 2\)"):
        classifier(replace(batch, graphs=6))
    with pytest.raises(fp.InvalidInputError, match=r"expected a torch.nn.Module, got str"):
        GraphClassifier("GIN", classes=CLASSES)
    for option in ("one_hot", "graphs_at_once"):
        with pytest.raises(fp.InvalidInputError, match=f"expected {option} to be at least 1, got 0"):
            GraphClassifier(Isomorphism(), classes=CLASSES, **{option: 0})
    with pytest.raises(fp.InvalidInputError, match="build it with cached=False"):
        GraphClassifier(pyg.GCNConv(3, 2, cached=True), classes=CLASSES)


# All graphs of three nodes of three kinds: three pairs and three kinds


PAIRS, HUES = np.array([(0, 1), (0, 2), (1, 2)]), 3
NOISE = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.3), attributes=fp.FlipNoise(0.1, 0.25, HUES))
POINTS = np.array(list(itertools.product(*[range(2)] * 3, *[range(HUES)] * 3)))


class Lookup(torch.nn.Module):
    """A label of its own for every graph, found in a table [points]."""

    def __init__(self, labels):
        super().__init__()
        self.register_buffer("answers", torch.eye(CLASSES)[torch.tensor(labels).reshape(2, 2, 2, HUES, HUES, HUES)])

    def forward(self, x, edge_index, batch):
        assert x.shape[1] == HUES
        assert (x.sum(dim=1) == 1).all()
        graphs = len(x) // 3
        assert batch.tolist() == np.repeat(np.arange(graphs), 3).tolist()
        adjacency = torch.zeros(graphs, 3, 3, dtype=torch.int64)
        adjacency[batch[edge_index[0]], edge_index[0] % 3, edge_index[1] % 3] += 1
        bits = [adjacency[:, u, v] for u, v in PAIRS]
        return self.answers[(*bits, *x.argmax(dim=1).view(graphs, 3).T)]


def exact_law():
    """Probabilities [clean point, noisy point]."""
    bit, kind = (
        np.array([[0.9, 0.1], [0.3, 0.7]]),
        np.array([[0.9, 0.05, 0.05], [0.125, 0.75, 0.125], [0.125, 0.125, 0.75]]),
    )
    return functools.reduce(np.kron, [bit] * 3 + [kind] * 3)


def changes(clean):
    """How many changes of each kind lead from one point to every other, [points, axes]."""
    before, after = np.broadcast_to(clean, POINTS.shape), POINTS
    kinds = {"add": (before == 0) & (after > 0), "delete": (before > 0) & (after == 0)}
    kinds["change"] = (before > 0) & (after > 0) & (before != after)
    places = {"structure": slice(0, 3), "attributes": slice(3, 6)}
    return np.stack([kinds[kind][:, places[part]].sum(axis=1) for part, kind in axes_of(NOISE)], axis=1)


def points_as_graphs(points):
    edges = [np.concatenate([pairs := PAIRS[point[:3] == 1].T, pairs[::-1]], axis=1) for point in points]
    data = GraphDataset("all", edges, [point[3:] for point in points], np.zeros(len(points), int), ["a", "b"], "rgb")
    return data.graphs("both", kinds="category")


def test_no_certificate_of_graphs_with_kinds_is_violated_anywhere(rng):
    certified_pairs = differing_pairs = 0
    for bias in (0.4, 0.8):
        weights = rng.normal(size=(6, CLASSES))
        labels = (POINTS @ weights + rng.normal(size=(len(POINTS), CLASSES)) + [bias * 3, 0]).argmax(axis=1)
        exact = exact_law() @ np.eye(CLASSES)[labels]
        chosen = rng.permutation(len(POINTS))[:20]
        classifier = GraphClassifier(Lookup(labels), CLASSES, one_hot=HUES, graphs_at_once=100)
        votes = fp.vote(classifier, points_as_graphs(POINTS[chosen]), NOISE, 200, 4000)
        certificates = fp.certify(votes, alpha=0.001, simultaneous=True)
        for place, point in enumerate(chosen):
            distinct, which = np.unique(changes(POINTS[point]), axis=0, return_inverse=True)
            held = [certificates.certified(radii_at(NOISE, tuple(row)))[place] for row in distinct.tolist()]
            certified, answer = np.array(held)[which.ravel()], certificates.label[place]
            same = exact[:, answer] > 0.5
            assert same[certified].all(), POINTS[point]
            certified_pairs += int(certified.sum()) - int(certified[point])
            differing_pairs += int((~same).sum())
    assert certified_pairs > 100
    assert differing_pairs > 100
