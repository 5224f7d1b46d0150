"""Graph neural networks on whole graphs: the labels are those of each graph by itself."""

from dataclasses import replace

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch_geometric.nn as pyg

import flipproof as fp
from flipproof.models.graph_classifier import GraphClassifier
from flipproof.noise.graphs import GraphUnion

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
    with pytest.raises(fp.InvalidInputError, match="build it with cached=False"):
        GraphClassifier(pyg.GCNConv(3, 2, cached=True), classes=CLASSES)
