"""Graph neural networks on nodes: the labels are the module's, graph by graph."""

from dataclasses import replace

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch_geometric.nn as pyg

import flipproof as fp
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.noisy_graphs import NoisyGraph

NODES, WORDS, CLASSES = 12, 20, 3


def graph(seed, nodes=NODES):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < 0.25, 1)
    edges = np.stack((upper | upper.T).nonzero())
    edges.setflags(write=False)
    return NoisyGraph(nodes, edges, sp.csr_array((rng.random((nodes, WORDS)) < 0.2).astype(np.float32)))


def backwards(matrix):
    turned = matrix.copy()
    for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        turned.indices[start:end] = matrix.indices[start:end][::-1]
    turned.has_sorted_indices = False
    return turned


class Propagated(torch.nn.Module):
    """An MLP whose logits are passed along edges, as in PPNP."""

    def __init__(self, **options):
        super().__init__()
        self.first, self.second = torch.nn.Linear(WORDS, 8), torch.nn.Linear(8, CLASSES)
        self.spread = pyg.APPNP(K=4, alpha=0.1, **options)

    def forward(self, x, edge_index):
        hidden = torch.nn.functional.dropout(self.first(x).relu(), training=self.training)
        return self.spread(self.second(hidden), edge_index)


def make(name):
    torch.manual_seed(0)
    return {
        "GCN": lambda: pyg.GCN(WORDS, 8, 2, CLASSES, dropout=0.5),
        "GCNConv": lambda: pyg.GCNConv(WORDS, CLASSES),
        "GAT": lambda: pyg.GAT(WORDS, 8, 2, CLASSES, heads=2, dropout=0.5),
        "GATv2Conv": lambda: pyg.GATv2Conv(WORDS, CLASSES),
        "TransformerConv": lambda: pyg.TransformerConv(WORDS, CLASSES),
        "SuperGATConv": lambda: pyg.SuperGATConv(WORDS, CLASSES),
        "FiLMConv": lambda: pyg.FiLMConv(WORDS, CLASSES),
        "ResGatedGraphConv": lambda: pyg.ResGatedGraphConv(WORDS, CLASSES),
        "LEConv": lambda: pyg.LEConv(WORDS, CLASSES),
        "SAGEConv with project": lambda: pyg.SAGEConv(WORDS, CLASSES, project=True),
        "MLP and APPNP": Propagated,
        "SAGE": lambda: pyg.GraphSAGE(WORDS, 8, 2, CLASSES),
        "GIN": lambda: pyg.GIN(WORDS, 8, 2, CLASSES),
        "SGConv": lambda: pyg.SGConv(WORDS, CLASSES, K=2),
        "GraphConv": lambda: pyg.GraphConv(WORDS, CLASSES),
        "SSGConv": lambda: pyg.SSGConv(WORDS, CLASSES, alpha=0.1),
        "TAGConv": lambda: pyg.TAGConv(WORDS, CLASSES),
        "ChebConv": lambda: pyg.ChebConv(WORDS, CLASSES, K=2),
        "ARMAConv": lambda: pyg.ARMAConv(WORDS, CLASSES),
    }[name]()


LINEAR_FIRST = [
    "GCN", "GCNConv", "GAT", "GATv2Conv", "TransformerConv", "SuperGATConv", "FiLMConv", "ResGatedGraphConv", "LEConv",
    "SAGEConv with project", "MLP and APPNP",
]  # fmt: skip


def expected(module, graphs):
    module.eval()
    with torch.no_grad():
        answers = [module(torch.tensor(g.attributes.toarray()), torch.tensor(g.edge_index)) for g in graphs]
    module.train()
    return np.stack([answer.argmax(1).numpy() for answer in answers])


@pytest.mark.parametrize("name", [*LINEAR_FIRST, "SAGE", "GIN", "SGConv"])
def test_labels_are_the_modules(name):
    module, graphs = make(name), [graph(seed) for seed in range(4)]
    labels = NodeClassifier(module, classes=CLASSES)(graphs)
    assert labels.dtype == np.int64
    assert labels.shape == (4, NODES)
    assert (labels == expected(module, graphs)).all()


@pytest.mark.parametrize("name", LINEAR_FIRST)
def test_sparse_attributes_where_a_linear_map_comes_first(name):
    module, graphs = make(name), [graph(seed) for seed in range(4)]
    classifier = NodeClassifier(module, classes=CLASSES, attributes="sparse")
    assert (classifier(graphs) == expected(module, graphs)).all()
    untidy = [replace(g, attributes=backwards(g.attributes)) for g in graphs]
    assert (classifier(untidy) == expected(module, graphs)).all()
    dense = [replace(g, attributes=g.attributes.toarray()) for g in graphs]
    assert (classifier(dense) == expected(module, graphs)).all()


@pytest.mark.parametrize("name", ["SAGE", "GIN", "SGConv", "GraphConv", "SSGConv", "TAGConv", "ChebConv", "ARMAConv"])
def test_dense_attributes_are_recommended_where_sparse_ones_fail(name):
    classifier = NodeClassifier(make(name), classes=CLASSES, attributes="sparse")
    with pytest.raises(fp.InvalidInputError, match=r"expected a linear map first, got: .*; use attributes='dense'$"):
        classifier([graph(0)])


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("noisy", ["structure", "attributes", "both"])
def test_noisy_copies_of_a_graph(noisy, form):
    module, clean, part = make("GCN"), graph(0), fp.FlipNoise(0.05, 0.3)
    noise = fp.JointNoise(structure=part, attributes=part) if noisy == "both" else part
    space = Graph.from_edge_index(clean.edge_index, attributes=clean.attributes, noisy=noisy)
    copies = space.sampler(noise, seed=0).draw(Role.SELECT, range(6), np.zeros(1, np.int64))
    labels = NodeClassifier(module, classes=CLASSES, attributes=form)(copies)
    assert (labels == expected(module, copies)).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64, bool])
def test_attributes_may_be_an_array_of_any_numbers(dtype):
    module, graphs = make("GCN"), [graph(seed) for seed in range(2)]
    arrays = [replace(g, attributes=g.attributes.toarray().astype(dtype)) for g in graphs]
    assert (NodeClassifier(module, classes=CLASSES)(arrays) == expected(module, graphs)).all()


class Watching(torch.nn.Module):
    """Notes which tensors it was called with."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x, edge_index):
        self.seen.append((x, edge_index))
        return torch.zeros(x.shape[0], CLASSES)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_parts_without_noise_become_tensors_once(form):
    module = Watching()
    classifier = NodeClassifier(module, classes=CLASSES, attributes=form)
    first, second = graph(0), graph(1)
    same_attributes = replace(second, attributes=first.attributes)
    classifier([first, same_attributes, same_attributes, second])
    x, edges = zip(*module.seen, strict=True)
    assert x[0] is x[1] is x[2] is not x[3]
    assert edges[0] is not edges[1] is edges[2] is edges[3]
    classifier([first])
    assert torch.equal(module.seen[-1][1], edges[0])


@pytest.mark.parametrize("which", [0, 1])
def test_modules_that_write_into_their_input_are_refused(which):
    class Writing(torch.nn.Module):
        def forward(self, *given):
            given[which].mul_(0)
            return torch.zeros(NODES, CLASSES)

    original = graph(0)
    edges = original.edge_index.copy()
    with pytest.raises(fp.InvalidInputError, match="expected a module that leaves its input as it is"):
        NodeClassifier(Writing(), classes=CLASSES)([original])
    assert (original.edge_index == edges).all()


def test_it_travels_without_what_it_remembers():
    module, graphs = make("GAT"), [graph(seed) for seed in range(3)]
    classifier = NodeClassifier(module, classes=CLASSES, hops=2)
    size = len(cloudpickle.dumps(classifier))
    labels = classifier([replace(graph(0), attributes=np.ones((NODES, WORDS)))])
    labels = classifier(graphs)
    assert len(cloudpickle.dumps(classifier)) == size
    copy = cloudpickle.loads(cloudpickle.dumps(classifier))
    assert (copy(graphs) == labels).all()
    assert copy.fingerprint == classifier.fingerprint == NodeClassifier(make("GAT"), CLASSES, hops=2).fingerprint
    others = [
        NodeClassifier(make("GAT"), classes=CLASSES, hops=3),
        NodeClassifier(make("GAT"), classes=CLASSES, hops=2, attributes="sparse"),
        NodeClassifier(make("GCN"), classes=CLASSES, hops=2),
    ]
    assert len({each.fingerprint for each in [classifier, *others]}) == 4


@pytest.mark.parametrize(
    "module",
    [
        pyg.GCNConv(WORDS, CLASSES, cached=True),
        pyg.SGConv(WORDS, CLASSES, cached=True),
        torch.nn.Sequential(pyg.SSGConv(WORDS, CLASSES, alpha=0.1, cached=True)),
        Propagated(cached=True),
    ],
    ids=lambda module: type(module).__name__,
)
def test_modules_that_keep_the_first_graph_are_refused(module):
    with pytest.raises(fp.InvalidInputError, match="build it with cached=False and load the weights"):
        NodeClassifier(module, classes=CLASSES)


def test_a_graph_that_was_kept_earlier_is_still_in_the_way():
    conv = pyg.GCNConv(WORDS, CLASSES, cached=True)
    conv(torch.ones(NODES, WORDS), torch.tensor(graph(0).edge_index))
    conv.cached = False
    with pytest.raises(fp.InvalidInputError, match="got GCNConv '' that keeps the first one"):
        NodeClassifier(conv, classes=CLASSES)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"attributes": None}, "expected a graph with attributes, got None"),
        ({"attributes": np.ones(NODES)}, r"expected attributes of shape \[12, ...\], got \(12,\)"),
        ({"attributes": np.ones((3, WORDS))}, r"expected attributes of shape \[12, ...\], got \(3, 20\)"),
        (
            {"edge_index": np.zeros((3, 2), int)},
            r"expected an integer edge_index \[2, edges\], got int64 of shape \(3, 2\)",
        ),
        ({"edge_index": np.zeros((2, 2))}, r"expected an integer edge_index \[2, edges\], got float64"),
    ],
)
def test_strange_graphs_are_refused(change, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        NodeClassifier(make("GCN"), classes=CLASSES)([replace(graph(0), **change)])


def test_graphs_of_a_batch_have_one_size():
    classifier = NodeClassifier(make("GCN"), classes=CLASSES)
    with pytest.raises(fp.InvalidInputError, match=r"expected graphs of one size, got \[7, 12\]"):
        classifier([graph(0), graph(0, nodes=7)])
    with pytest.raises(fp.InvalidInputError, match="expected graphs of one size, got no graph"):
        classifier([])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"attributes": "csr"}, "expected attributes to be one of dense, sparse, got 'csr'"),
        ({"hops": -1}, "expected hops to be a non-negative integer or None, got -1"),
        ({"hops": True}, "expected hops to be a non-negative integer or None, got True"),
        ({"hops": 1.5}, "expected hops to be a non-negative integer or None, got 1.5"),
        ({"classes": -2}, "expected classes to be a positive integer, got -2"),
        ({"module": print}, "expected a torch.nn.Module, got builtin_function_or_method"),
        ({"module": pyg.GCNConv(-1, CLASSES)}, "expected initialized weights"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        NodeClassifier(**({"module": make("GCN"), "classes": CLASSES} | options))


class Contrary(fp.GCN):
    """Does something else than the steps of the model it is made of."""

    def forward(self, x, edge_index):
        return -super().forward(x, edge_index)


def test_a_model_made_of_ours_is_asked_itself():
    torch.manual_seed(0)
    module, graphs = Contrary(20, CLASSES).eval(), [graph(seed) for seed in range(3)]
    classifier = NodeClassifier(module, classes=CLASSES)
    assert classifier.hops is None  # an overridden forward may reach anywhere
    labels = classifier(graphs)
    assert (labels == expected(module, graphs)).all()
    plain = fp.GCN(20, CLASSES).eval()
    plain.load_state_dict(module.state_dict())
    assert (NodeClassifier(plain, classes=CLASSES)(graphs) != labels).any()
    plain.register_forward_hook(lambda module, given, logits: -logits)
    assert (NodeClassifier(plain, classes=CLASSES)(graphs) == labels).all()
