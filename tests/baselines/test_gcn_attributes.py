"""The attribute certificate of a GCN against all flips of small graphs, an LP solver, and networks without bends."""

import functools
import itertools
import os

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.optimize import linprog

import flipproof as fp
from flipproof.baselines.gcn.attribute_bounds import BitThreat, Weights, hidden_bounds
from flipproof.baselines.gcn.attribute_margins import lowest, paths_to, relaxed, rivals_of, rounding
from flipproof.baselines.gcn.attributes import certify, scene_of
from flipproof.models.networks.node_modules import GCN
from flipproof.noise.spaces.graph import Graph
from flipproof.theory.certificate import Subject

BUDGETS = (1, 2, 3)
ALLOWED = {"both": (0, 1), "add": (0,), "delete": (1,)}


def network(seed, features, classes, hidden=4, bias=0.0):
    torch.manual_seed(seed)
    module = GCN(features, classes, hidden)
    with torch.no_grad():
        module.first_bias.copy_(0.3 * torch.randn(hidden) + bias)
        module.second_bias.copy_(0.5 * torch.randn(classes))
    return module


def instance(seed, **options):
    """A graph of 4 or 5 nodes with 3 or 4 attributes, and a network for 2 or 3 classes."""
    rng = np.random.default_rng(seed)
    nodes, features, classes = rng.integers(4, 6), rng.integers(3, 5), int(rng.integers(2, 4))
    upper = np.triu(rng.random((nodes, nodes)) < 0.4, 1)
    edges = np.stack((upper | upper.T).nonzero())
    attributes = (rng.random((nodes, features)) < 0.4).astype(int)
    graph = Graph.from_edge_index(edges, attributes=sp.csr_array(attributes), noisy="attributes")
    return network(seed, int(features), classes, **options), graph


@functools.cache
def patterns(nodes, features, local, total):
    """Every set of cells [sets, nodes, features] with at most so many in a row and altogether, small ones first."""
    cells = list(np.ndindex(nodes, features))
    found = []
    for count in range(total + 1):
        for chosen in itertools.combinations(range(len(cells)), count):
            pattern = np.zeros(len(cells), dtype=bool)
            pattern[list(chosen)] = True
            found.append(pattern.reshape(nodes, features))
    found = np.array(found)
    return found[found.sum(axis=2).max(axis=1) <= local]


def all_flips(attributes, local, total, flips):
    """Every matrix of attributes that the budgets allow, the clean one first."""
    sets = patterns(*attributes.shape, local, total)
    allowed = np.isin(attributes, ALLOWED[flips])
    return attributes ^ sets[~(sets & ~allowed).any(axis=(1, 2))]


def dense_parts(module, graph):
    """Adjacency and weights as plain float64 arrays, and the clean attributes as integers."""
    index = np.array(graph.clean().edge_index)
    matrix = np.eye(graph.nodes)
    matrix[index[0], index[1]] = 1
    scale = (1 / np.sqrt(matrix.sum(axis=1).astype(np.float32))).astype(np.float32)
    adjacency = (matrix * (scale[:, None] * scale)).astype(np.float64)
    weights = (module.first.weight, module.first_bias, module.second.weight, module.second_bias)
    arrays = [weight.detach().numpy().astype(np.float64) for weight in weights]
    return adjacency, arrays, graph.clean().attributes.toarray().astype(int)


def hidden_units(adjacency, arrays, attributes):
    return adjacency @ (attributes @ arrays[0]) + arrays[1]


def logits_of(adjacency, arrays, attributes):
    return adjacency @ (np.maximum(hidden_units(adjacency, arrays, attributes), 0) @ arrays[2]) + arrays[3]


def smallest_margins(module, graph, local, total, flips):
    """The smallest margin of each node over each class [nodes, classes] that any flips reach; 0 over itself."""
    adjacency, arrays, attributes = dense_parts(module, graph)
    logits = logits_of(adjacency, arrays, all_flips(attributes, local, total, flips))
    labels = logits[0].argmax(axis=1)
    own = np.take_along_axis(logits, np.broadcast_to(labels[None, :, None], (len(logits), len(labels), 1)), 2)
    return labels, (own - logits).min(axis=0)


def robust(labels, margins):
    others = margins[np.arange(margins.shape[1]) != labels[:, None]].reshape(len(labels), -1)
    return (others > 0).all(axis=1)


def bounds_of(module, graph, threat, budget, nodes, labels, slopes=None):
    """The lower bounds of margins [nodes, rivals] that a certificate is made of."""
    scene, weights = scene_of(module, graph), Weights.of(module)
    with torch.no_grad():
        hidden = hidden_bounds(weights, scene, threat, np.arange(graph.nodes))
        paths = paths_to(nodes, scene.adjacency)
        line = relaxed(weights, hidden, budget, paths, torch.tensor(labels), slopes)
        return lowest(line, weights, scene, threat, budget, paths).numpy()


@pytest.mark.parametrize(("flips", "instances"), [("both", 210), ("add", 60), ("delete", 60)])
def test_no_flips_of_small_graphs_change_a_certified_label(flips, instances):
    certified = truly_robust = 0
    for seed in range(instances):
        module, graph = instance(seed)
        local = 1 + seed % 2
        proofs = certify(module, graph, local=local, budgets=BUDGETS, flips=flips)
        for total in BUDGETS:
            labels, margins = smallest_margins(module, graph, local, total, flips)
            truth, claimed = robust(labels, margins), proofs.certified(total)
            assert (proofs.label == labels)[claimed].all()
            assert not (claimed & ~truth).any(), (seed, total)
            certified, truly_robust = certified + claimed.sum(), truly_robust + truth.sum()
    assert truly_robust > 4 * instances
    assert certified > 0.6 * truly_robust


def test_the_module_itself_keeps_certified_labels_under_all_flips():
    """In float32, as it is evaluated everywhere else."""
    for seed in range(6):
        module, graph = instance(seed)
        proofs = certify(module, graph, local=1, budgets=[2])
        classifier = fp.NodeClassifier(module, classes=module.second_bias.numel())
        for attributes in all_flips(graph.clean().attributes.toarray().astype(int), 1, 2, "both"):
            flipped = Graph.from_edge_index(
                graph.clean().edge_index, attributes=sp.csr_array(attributes), noisy="attributes"
            )
            assert (classifier([flipped.clean()])[0] == proofs.label)[proofs.certified(2)].all()


@pytest.mark.parametrize("flips", ALLOWED)
def test_bounds_of_hidden_units_are_those_that_flips_reach(flips):
    for seed in range(30):
        module, graph = instance(seed)
        adjacency, arrays, attributes = dense_parts(module, graph)
        nodes = np.array([0, 2, 3])
        threat = BitThreat(1 + seed % 2, BUDGETS, flips)
        with torch.no_grad():
            bounds = hidden_bounds(Weights.of(module), scene_of(module, graph), threat, nodes)
        for place, total in enumerate(BUDGETS):
            reached = hidden_units(adjacency, arrays, all_flips(attributes, threat.local, total, flips))[:, nodes]
            for bound, extreme, outwards in ((bounds.lower, reached.min(0), -1), (bounds.upper, reached.max(0), 1)):
                difference = outwards * (bound[place].numpy() - extreme)
                assert (difference >= 0).all()
                assert (difference < 1e-12).all()
        assert (np.abs(reached).max(0) <= bounds.size.numpy()).all()


def test_without_bends_the_certificate_is_exact():
    """All units are always on: the network is linear, and no line is lower than it."""
    radii = []
    for seed in range(30):
        module, graph = instance(seed, bias=20.0)
        threat = BitThreat(1, BUDGETS)
        for place, total in enumerate(BUDGETS):
            labels, margins = smallest_margins(module, graph, 1, total, "both")
            expected = np.take_along_axis(margins, rivals_of(torch.tensor(labels), margins.shape[1]).numpy(), 1)
            bounds = bounds_of(module, graph, threat, place, np.arange(graph.nodes), labels)
            assert np.allclose(bounds, expected, rtol=0, atol=1e-12)
        proofs = certify(module, graph, local=1, budgets=BUDGETS)
        truth = [robust(*smallest_margins(module, graph, 1, total, "both")) for total in BUDGETS]
        assert (proofs.radius == np.sum(truth, axis=0)).all()
        radii.extend(proofs.radius)
    assert np.unique(radii).size > 2


def relaxed_program(module, graph, node, label, rival, local, total):
    """The smallest margin with every ReLU replaced by its triangle and every bit by a number from 0 to 1 (HiGHS)."""
    adjacency, arrays, attributes = dense_parts(module, graph)
    (nodes, features), width = attributes.shape, arrays[0].shape[1]
    reached = hidden_units(adjacency, arrays, all_flips(attributes, local, total, "both"))
    lower, upper = reached.min(0), reached.max(0)
    flips, units = nodes * features, nodes * width
    moves = np.einsum("mn,nd,dh->mhnd", adjacency, 1 - 2 * attributes, arrays[0]).reshape(units, flips)
    clean = hidden_units(adjacency, arrays, attributes).ravel()
    lo, up, on = lower.ravel(), upper.ravel(), np.eye(units)
    rows = [np.kron(np.eye(nodes), np.ones(features)), np.ones((1, flips))]
    limits = [np.full(nodes, local), [total]]
    left, right = [np.hstack([np.vstack(rows), np.zeros((nodes + 1, units))])], [np.concatenate(limits)]
    left.append(np.hstack([moves, -on]))  # unit >= H
    right.append(-clean)
    slope = np.where(lo >= 0, 1.0, np.where(up <= 0, 0.0, up / np.where(up > lo, up - lo, 1.0)))
    height = np.where((lo < 0) & (up > 0), -slope * lo, 0.0)
    left.append(np.hstack([-slope[:, None] * moves, on]))  # unit <= slope * H + height
    right.append(slope * clean + height)
    gap = arrays[2][:, label] - arrays[2][:, rival]
    target = np.concatenate([np.zeros(flips), (adjacency[node][:, None] * gap).ravel()])
    box = [(0, 1)] * flips + [(0, None)] * units
    answer = linprog(target, A_ub=np.vstack(left), b_ub=np.concatenate(right), bounds=box, method="highs")
    return answer.fun + arrays[3][label] - arrays[3][rival]


def test_the_bound_is_dual_to_the_relaxed_program():
    """Never above its optimum, and with the best of some random slopes it often is that optimum."""
    gaps = []
    rng = np.random.default_rng(0)
    for seed in range(12):
        module, graph = instance(seed)
        label, rival, threat = 0, 1, BitThreat(1, (2,))
        optimum = relaxed_program(module, graph, 0, label, rival, 1, 2)
        near = scene_of(module, graph).adjacency[[0]].nnz
        shape = (near, module.second_bias.numel() - 1, 4)
        tried = [None, *(torch.from_numpy(rng.random(shape).round()) for _ in range(30))]
        found = [bounds_of(module, graph, threat, 0, np.array([0]), [label], slopes)[0, 0] for slopes in tried]
        assert max(found) <= optimum + 1e-8
        gaps.append((optimum - found[0], optimum - max(found)))
    default, best = np.array(gaps).T
    assert (best < 1e-6).sum() >= 4
    assert default.max() > 1e-3


def test_better_slopes_prove_more_and_nothing_false():
    plain = improved = 0
    for seed in range(10):
        module, graph = instance(seed)
        before = certify(module, graph, local=2, budgets=BUDGETS)
        after = certify(module, graph, local=2, budgets=BUDGETS, steps=15)
        truth = [robust(*smallest_margins(module, graph, 2, total, "both")) for total in BUDGETS]
        assert (after.radius <= np.sum(truth, axis=0)).all()
        plain, improved = plain + before.radius.sum(), improved + after.radius.sum()
    assert improved > plain


def test_a_margin_within_rounding_is_not_proved():
    """No attribute matters; the labels differ by the bias alone, by one float32 step or by more than its rounding."""
    module, graph = instance(0)
    with torch.no_grad():
        module.second.weight.zero_()
        module.second_bias.zero_()
        module.second_bias[:2] = torch.tensor([1.0 + 2.0**-23, 1.0])
    assert certify(module, graph, budgets=[1]).radius.tolist() == [0] * graph.nodes
    with torch.no_grad():
        module.second_bias[0] = 1.001
    assert certify(module, graph, budgets=[1, 9]).radius.tolist() == [9] * graph.nodes


def sparse_graph(nodes, features, seed):
    rng = np.random.default_rng(seed)
    index = rng.integers(0, nodes, (2, 2 * nodes))
    index = index[:, index[0] != index[1]]
    attributes = (rng.random((nodes, features)) < 0.1).astype(int)
    return Graph.from_edge_index(
        np.concatenate([index, index[::-1]], axis=1), attributes=sp.csr_array(attributes), noisy="attributes",
        duplicates="merge",
    )  # fmt: skip


def test_float32_logits_are_off_by_less_than_what_bounds_must_exceed():
    """With attributes flipped at random, where no budget is exceeded."""
    graph, module, threat = sparse_graph(300, 60, seed=1), network(1, 60, 4, hidden=48), BitThreat(2, (600,))
    adjacency, arrays, attributes = dense_parts(module, graph)
    rng, edges = np.random.default_rng(0), torch.tensor(graph.clean().edge_index)
    with torch.no_grad():
        scene, weights, labels = scene_of(module, graph), Weights.of(module), torch.zeros(300, dtype=torch.int64)
        hidden = hidden_bounds(weights, scene, threat, np.arange(300))
        needed = rounding(weights, scene, threat, hidden, paths_to(np.arange(300), scene.adjacency), labels).numpy()
        for _ in range(20):
            flipped = attributes.copy()
            flipped[np.arange(300)[:, None], rng.integers(0, 60, (300, 2))] ^= 1
            single = module.eval()(torch.tensor(flipped, dtype=torch.float32), edges).numpy().astype(np.float64)
            off = single - logits_of(adjacency, arrays, flipped)
            assert (np.abs(off[:, :1] - off[:, 1:]) < needed).all()
    assert needed.max() < 1e-3


def test_some_nodes_get_what_they_get_among_all():
    """Many portions of targets and of hidden units; the order and the number of nodes asked for are the caller's."""
    graph = sparse_graph(700, 60, seed=0)
    module = network(0, 60, 4, hidden=48)
    everything = certify(module, graph, local=2, budgets=(1, 2, 4))
    some = np.array([611, 3, 77, 3])
    part = certify(fp.NodeClassifier(module, classes=4), graph, nodes=some, local=2, budgets=(1, 2, 4))
    assert part.radius.tolist() == everything.radius[some].tolist()
    assert part.label.tolist() == everything.label[some].tolist()
    assert np.unique(everything.radius).size > 2
    alone = certify(module, graph, local=2, budgets=[2])
    assert (alone.radius == 2)[everything.radius == 2].all()
    assert len(certify(module, graph, nodes=[], budgets=[1])) == 0


def test_directed_edges_carry_messages_one_way():
    edges, attributes = [[0, 1], [1, 2]], sp.csr_array(np.array([[1, 0], [0, 1], [0, 0]]))
    graph = Graph.from_edge_index(edges, attributes=attributes, noisy="attributes", directed=True)
    scene = scene_of(network(0, 2, 2), graph)
    assert [scene.adjacency[[row]].indices.tolist() for row in range(3)] == [[0], [0, 1], [1, 2]]
    for seed in range(20):
        module = network(seed, 2, 2)
        proofs = certify(module, graph, local=1, budgets=[1])
        classifier = fp.NodeClassifier(module, classes=2)
        for flipped in all_flips(attributes.toarray(), 1, 1, "both"):
            other = Graph.from_edge_index(edges, attributes=sp.csr_array(flipped), noisy="attributes", directed=True)
            assert (classifier([other.clean()])[0] == proofs.label)[proofs.certified(1)].all()


def test_the_promise_says_what_is_proved():
    module, graph = instance(0)
    promise = certify(module, graph, local=2, flips="add").promise
    assert (promise.subject, promise.alpha) == (Subject.BASE, 0.0)
    assert promise.threat == "r attribute bits are added, at most 2 of a node"


def hooked():
    module = network(0, 3, 2)
    module.register_forward_hook(lambda *_: None)
    return module


def test_what_cannot_be_certified_is_refused():
    graph = sparse_graph(6, 3, seed=0)
    module, wide = network(0, 3, 2), network(0, 3, 2, hidden=9000)
    bare = Graph.from_edge_index([[0, 1], [1, 0]], nodes=2)
    shades = Graph.from_edge_index([[0, 1], [1, 0]], attributes=[[0.5, 1, 0], [1, 0, 0]], noisy="structure")
    for arguments, options, message in (
        ((fp.GAT(3, 2), graph), {}, r"expected a flipproof\.GCN.* got GAT"),
        ((hooked(), graph), {}, r"expected a flipproof\.GCN.* got GCN"),
        ((network(0, 3, 2).double(), graph), {}, "expected finite weights of float32, got others in first"),
        ((network(0, 5, 2), graph), {}, "expected 5 attributes of a node, got 3"),
        ((module, "cora_ml"), {}, "expected a NodeDataset or a Graph, got str"),
        ((module, bare), {}, "expected a graph with attributes, got none"),
        ((module, shades), {}, "expected attributes to hold zeros and ones, got 0.5"),
        ((module, graph), {"nodes": [6]}, "expected nodes from 0 to 5"),
        ((module, graph), {"flips": "all"}, "expected flips to be one of both, add, delete, got 'all'"),
        ((module, graph), {"steps": -1}, "expected steps to be a non-negative integer, got -1"),
        ((wide, sparse_graph(600, 3, seed=0)), {"budgets": range(1, 600)}, "expected bounds that fit into 2 GB"),
    ):
        with pytest.raises(fp.InvalidInputError, match=message):
            certify(*arguments, **options)


@pytest.mark.skipif("FLIPPROOF_DATA" not in os.environ, reason="needs the datasets: set FLIPPROOF_DATA")
def test_one_line_for_a_dataset(cora_ml):
    data = cora_ml.standardised()
    torch.manual_seed(0)
    proofs = certify(fp.GCN(data.features, data.classes), data, nodes=range(5), budgets=[1])
    assert proofs.promise.threat == "r attribute bits are flipped, at most 28 of a node"
    assert len(proofs) == 5
