"""GIN: its formula written out with dense matrices, its symmetries, and that it learns what only edges tell."""

import numpy as np
import pytest
import torch

import flipproof as fp
from flipproof.models.networks.graph_modules import GIN

KINDS, CLASSES = 4, 3


def some_graphs(count, seed=0):
    """Attributes, adjacency matrices with a few self-loops, as float64."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        nodes = int(rng.integers(1, 9))
        adjacency = np.triu(rng.random((nodes, nodes)) < 0.4)
        yield rng.normal(size=(nodes, KINDS)), (adjacency | adjacency.T).astype(float)


def union(graphs):
    sizes = [len(x) for x, _ in graphs]
    firsts = np.cumsum([0, *sizes[:-1]])
    edges = [np.stack(adjacency.nonzero()) + first for (_, adjacency), first in zip(graphs, firsts, strict=True)]
    x = torch.tensor(np.concatenate([x for x, _ in graphs]), dtype=torch.float32)
    batch = torch.tensor(np.repeat(np.arange(len(graphs)), sizes))
    return x, torch.tensor(np.concatenate(edges, axis=1)), batch


@pytest.fixture
def module():
    """With weights, running statistics and eps that are all different."""
    torch.manual_seed(0)
    gin = GIN(KINDS, CLASSES, hidden=6, layers=3)
    with torch.no_grad():
        for name, tensor in gin.state_dict().items():
            if tensor.is_floating_point():
                tensor.copy_(torch.rand_like(tensor) + 0.5 if "var" in name else 0.5 * torch.randn_like(tensor))
    return gin.eval()


def written_out(module, x, adjacency):
    weights = {name: tensor.double().numpy() for name, tensor in module.state_dict().items()}
    sums = [x.sum(axis=0)]
    for layer in range(3):
        x = (1 + weights[f"layers.{layer}.eps"]) * x + adjacency @ x
        for linear, norm in ((0, 1), (3, 4)):
            own = {name: weights[f"layers.{layer}.mlp.{norm}.{name}"] for name in ("weight", "bias")}
            mean, var = (weights[f"layers.{layer}.mlp.{norm}.running_{name}"] for name in ("mean", "var"))
            x = x @ weights[f"layers.{layer}.mlp.{linear}.weight"].T + weights[f"layers.{layer}.mlp.{linear}.bias"]
            x = np.maximum((x - mean) / np.sqrt(var + 1e-5) * own["weight"] + own["bias"], 0)
        sums.append(x.sum(axis=0))
    return np.concatenate(sums) @ weights["last.weight"].T + weights["last.bias"]


def test_the_logits_are_those_of_the_formula(module):
    graphs = list(some_graphs(20))
    expected = np.array([written_out(module, *graph) for graph in graphs])
    found = module(*union(graphs)).detach().numpy()
    assert np.ptp(expected, axis=0).min() > 1
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)  # float32 against float64


def test_neither_the_order_of_nodes_nor_of_edges_matters(module, rng):
    x, edges, batch = union(list(some_graphs(20)))
    order, shuffled = torch.tensor(rng.permutation(len(x))), torch.tensor(rng.permutation(edges.shape[1]))
    renamed = module(x[order], torch.argsort(order)[edges[:, shuffled]], batch[order])
    assert torch.allclose(renamed, module(x, edges, batch), rtol=1e-4, atol=1e-4)


def test_the_same_call_gives_the_same_bits(module):
    batch = union(list(some_graphs(50)))
    assert torch.equal(module(*batch), module(*batch))


def test_gradients_reach_all_weights():
    torch.manual_seed(0)
    module = GIN(KINDS, CLASSES)
    module(*union(list(some_graphs(20)))).square().sum().backward()
    for name, weights in module.named_parameters():
        before_norm = name.endswith((".mlp.0.bias", ".mlp.3.bias"))  # batch normalisation takes constants away
        assert before_norm or weights.grad.abs().max() > 0, name


def test_the_edges_of_directed_graphs_lead_to_their_second_node(module):
    x, batch = torch.eye(2, KINDS), torch.zeros(2, dtype=torch.int64)
    there = module(x, torch.tensor([[0], [1]]), batch)[0].detach()
    expected = written_out(module, np.eye(2, KINDS), np.array([[0, 0], [1.0, 0]]))
    assert np.allclose(there, expected, rtol=1e-4, atol=1e-4)


def test_without_layers_only_attributes_count():
    module = GIN(2, 2, layers=0)
    x, batch = torch.eye(2), torch.zeros(2, dtype=torch.int64)
    none = torch.zeros((2, 0), dtype=torch.int64)
    assert torch.equal(module.eval()(x, none, batch), module(x, torch.tensor([[0, 1], [1, 0]]), batch))
    assert module(x[:0], none, batch[:0]).shape == (0, 2)


def test_what_is_refused(module):
    with pytest.raises(fp.InvalidInputError, match="expected attributes with 4 columns, got 3"):
        module(torch.eye(3), torch.zeros((2, 0), dtype=torch.int64), torch.zeros(3, dtype=torch.int64))
    with pytest.raises(fp.InvalidInputError, match="expected layers to be"):
        GIN(KINDS, CLASSES, layers=-1)


def graph_of(adjacency):
    return fp.Graph.from_edge_index(
        np.stack(adjacency.nonzero()), attributes=np.ones((len(adjacency), 1)), noisy="structure"
    )


def test_it_learns_the_density_of_edges_under_noise():
    """Rings and complete graphs of 5 to 12 nodes, all nodes alike."""
    identities = [np.eye(nodes) for nodes in range(5, 13)]
    rings = [np.roll(identity, 1, axis=0) + np.roll(identity, -1, axis=0) for identity in identities]
    graphs = fp.Graphs([graph_of(ring) for ring in rings] + [graph_of(1 - identity) for identity in identities])
    labels, noise = np.repeat([0, 1], 8), fp.FlipNoise(0.1, 0.2)
    torch.manual_seed(0)
    classifier = fp.GraphClassifier(GIN(1, 2, hidden=8, layers=1, dropout=0.0), classes=2)
    split = fp.Split(train=range(0, 16, 2), validation=range(1, 16, 4), test=range(3, 16, 4))
    settings = fp.TrainingSettings(learning_rate=0.01, epochs=60, batch_size=8, noisy_samples=4)
    fp.train(classifier, graphs, labels, split, noise, settings, progress=False)
    assert (fp.certify(fp.vote(classifier, graphs, noise, 100, 500)).label == labels).mean() >= 0.9
