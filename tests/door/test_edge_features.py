"""Features of edges: noisy copies carry the right ones, no certificate is wrong, and what would be wrong is refused."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.noisy_graphs import NoisyGraph
from flipproof.smoothing.classifier import ModelOptions, classifier_of
from flipproof.theory import exact

NODES = 4
PAIRS = list(itertools.combinations(range(NODES), 2))


def undirected(pairs):
    one_way = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.concatenate([one_way, one_way[::-1]], axis=1)


def smoothed(laws, labels, classes):
    """The probabilities [points, classes] of labels, for points in lexicographic order; exact for sixteenths."""
    votes = np.eye(classes)[labels].reshape(*(len(law) for law in laws), classes)
    for axis, law in enumerate(laws):
        votes = np.moveaxis(np.tensordot(law, votes, axes=(1, axis)), 0, axis)
    return votes.reshape(-1, classes)


def binary(noise):
    return np.array([[1 - noise.p_plus, noise.p_plus], [noise.p_minus, 1 - noise.p_minus]])


def check_balls(noise, probabilities, changes):
    """No point changes its label within a certified radius; returns how many other points are certified.

    `changes` gives the radii [points, points] as numbers of changes, or None where something else changes.
    """
    best, second = np.sort(probabilities, axis=1)[:, ::-1][:, :2].T
    labels, tied = probabilities.argmax(axis=1), best == second
    certified = 0
    for radii in {each for row in changes for each in row if each is not None}:
        holds = (fp.mu(noise, to_radii(noise, radii), best, second) > 0) & ~tied
        for here in np.flatnonzero(holds):
            for there, each in enumerate(changes[here]):
                if each == radii:
                    assert labels[there] == labels[here], (here, there, radii)
                    assert not tied[there]
                    certified += here != there
    return certified


def to_radii(noise, counts):
    if isinstance(noise, fp.FlipNoise):
        return fp.Radii(add=counts[0], delete=counts[1])
    names = list(noise.parts)
    return {name: fp.Radii(add=counts[2 * i], delete=counts[2 * i + 1]) for i, name in enumerate(names)}


# Stored features, and noise that deletes edges

STATES = list(itertools.product(range(3), repeat=len(PAIRS)))
"""Every pair is absent, or an edge of kind 1 or 2."""


@functools.cache
def graph_of(state):
    pairs = [pair for pair, kind in zip(PAIRS, state, strict=True) if kind]
    kinds = np.array([kind for kind in state if kind], dtype=float)
    return fp.Graph.from_edge_index(undirected(pairs), NODES, edge_features={"edge_attr": np.tile(kinds, 2)})


def state_of(edge_index, kinds):
    found = {}
    for edge, kind in zip(edge_index.T.tolist(), kinds, strict=True):
        assert found.setdefault(tuple(sorted(edge)), kind) == kind  # both directions carry the same
    return tuple(int(found.get(pair, 0)) for pair in PAIRS)


def test_a_noisy_copy_carries_what_its_remaining_edges_carried():
    """The noisy copies of a graph are those of the law that the next test is about, with their probabilities."""
    noise = fp.FlipNoise(0.0, 0.5)
    for state in [(1, 2, 0, 0, 1, 2), (2, 2, 2, 1, 1, 1), (0,) * 6]:
        drawn = graph_of(state).sampler(noise, 0).draw(Role.ESTIMATE, range(4000), np.arange(1))
        counts = {}
        for copy in drawn:
            found = state_of(copy.edge_index, copy.edge_features)
            assert all(after in (0, before) for before, after in zip(state, found, strict=True))
            counts[found] = counts.get(found, 0) + 1
        expected = 4000 / 2 ** sum(kind > 0 for kind in state)
        assert len(counts) == 4000 / expected
        assert max(abs(count - expected) for count in counts.values()) < 6 * expected**0.5


def changes_of(state, other):
    """How many edges are added and deleted, or None if an edge of both has other features."""
    both = list(zip(state, other, strict=True))
    if any(before and after and before != after for before, after in both):
        return None
    return sum(not before and after > 0 for before, after in both), sum(
        before > 0 and not after for before, after in both
    )


@functools.cache
def all_changes():
    return [[changes_of(state, other) for other in STATES] for state in STATES]


@pytest.mark.parametrize("deleted", [4, 9, 14])
def test_no_graph_in_a_ball_changes_its_label_if_edges_are_only_deleted(deleted, rng):
    """With p_plus = 0 an added edge may carry anything: noise only ever deletes it."""
    noise = fp.FlipNoise(0.0, deleted / 16)
    keeps = 1 - deleted / 16
    law = np.array([[1, 0, 0], [1 - keeps, keeps, 0], [1 - keeps, 0, keeps]])
    points = np.array(STATES)
    for bias in (0.3, 1.0, 2.0):
        weights = rng.normal(size=(len(PAIRS), 3, 3))
        scores = weights[np.arange(len(PAIRS)), points].sum(axis=1) + bias * rng.normal(size=(len(points), 3))
        probabilities = smoothed([law] * len(PAIRS), scores.argmax(axis=1), 3)
        assert check_balls(noise, probabilities, all_changes()) > 100


def test_the_claim_says_that_observed_features_stay():
    votes = fp.vote(lambda graph: np.full(graph.nodes, 0), graph_of((1,) * 6), fp.FlipNoise(0.0, 0.5), 9, 90, classes=2)
    claim = fp.certify(votes).claim(0)
    assert claim.fixed == ("self-loops", "the features of observed edges")
    assert "leaves self-loops and the features of observed edges alone" in fp.in_words(fp.certify(votes), 0)
    fixed = graph_of((1,) * 6)
    assert fp.Graph(fixed.edges, np.eye(NODES), "attributes", fixed.edge_features).scope(
        fp.FlipNoise(0.1, 0.2)
    ).fixed == ("the edges", "their features")


# Noise that leaves the edges alone, and features that are computed

torch = pytest.importorskip("torch")


class Weighing(torch.nn.Module):
    """A small network whose messages depend on features of edges."""

    def __init__(self, features, kinds, seed):
        super().__init__()
        torch.manual_seed(seed)
        self.own, self.along = torch.nn.Linear(features, 2), torch.nn.Linear(features + kinds, 2)

    def forward(self, x, edge_index, edge_attr):
        sent = torch.cat([x[edge_index[0]], edge_attr], dim=1)
        pooled = torch.relu(self.own(x)).index_add(0, edge_index[1], torch.relu(self.along(sent)))
        return pooled - pooled.mean(dim=0).roll(1) / 2


def labels_of_node(module, space, noise, copies, node=0):
    classifier = classifier_of(module, space, noise, ModelOptions())
    return classifier(copies)[:, node]


def counts_between(points, parts):
    """The additions and deletions of each part from any point to any other."""
    return [
        [
            tuple(
                int(count)
                for part in parts
                for count in (
                    ((one[part] == 0) & (other[part] == 1)).sum(),
                    ((one[part] == 1) & (other[part] == 0)).sum(),
                )
            )
            for other in points
        ]
        for one in points
    ]


@pytest.mark.parametrize("seed", range(3))
def test_no_attributes_in_a_ball_change_a_label_if_edges_are_left_alone(seed):
    noise, points = fp.FlipNoise(2 / 16, 5 / 16), np.array(list(itertools.product((0, 1), repeat=6)))
    edge_index = undirected([(0, 1), (1, 2)])
    space = fp.Graph.from_edge_index(
        edge_index,
        3,
        points[5].reshape(3, 2),
        noisy="attributes",
        edge_features=np.array([[1.0], [-2.0], [3.0], [0.5]]),
    )
    clean = space.clean()
    copies = [
        NoisyGraph(3, clean.edge_index, sp.csr_array(x.reshape(3, 2).astype(np.float32)), clean.edge_features)
        for x in points
    ]
    labels = labels_of_node(Weighing(2, 1, seed), space, noise, copies)
    probabilities = smoothed([binary(noise)] * 6, labels, 2)
    assert check_balls(noise, probabilities, counts_between(points, [slice(6)])) > 10


def test_no_graph_in_a_ball_changes_a_label_if_features_are_computed():
    """Edges and attributes of three nodes get noise, and features are a function of the noisy attributes."""
    noise = fp.JointNoise(structure=fp.FlipNoise(1 / 16, 5 / 16), attributes=fp.FlipNoise(1 / 16, 3 / 16))
    pairs, points = PAIRS[:2] + PAIRS[3:4], np.array(list(itertools.product((0, 1), repeat=6)))
    spaces = [
        fp.Graph.from_edge_index(
            undirected([pair for pair, there in zip(pairs, point[:3], strict=True) if there]),
            3,
            point[3:, None],
            edge_features=lambda x_source, x_target: np.stack(
                [x_source[:, 0] * 2.0, x_source[:, 0] != x_target[:, 0]], 1
            ),
        )
        for point in points
    ]
    copies = [space.clean() for space in spaces]
    seen = {}
    for space in spaces[::9]:  # what a model sees of a noisy copy does not depend on the graph that it is a copy of
        for copy in space.sampler(noise, 0).draw(Role.ESTIMATE, range(200), np.arange(1)):
            edges = np.zeros((3, 3), int)
            edges[tuple(copy.edge_index)] = 1
            number = int(
                "".join(map(str, [*edges[np.triu_indices(3, 1)], *copy.attributes.toarray()[:, 0].astype(int)])), 2
            )
            assert np.array_equal(copy.edge_features, copies[number].edge_features)
            seen[number] = True
    assert len(seen) > 50
    certified = 0
    for seed in range(3):
        labels = labels_of_node(Weighing(1, 2, seed), spaces[0], noise, copies)
        laws = [binary(noise.parts["structure"])] * 3 + [binary(noise.parts["attributes"])] * 3
        changes = counts_between(points, [slice(3), slice(3, 6)])
        certified += check_balls(noise, smoothed(laws, labels, 2), changes)
    assert certified > 10


# What is refused, and why


def test_features_of_observed_edges_would_be_false_where_noise_adds_edges():
    """One edge, noise (.1, .4), and a fair coin: the label is 0 with the edge as observed, 1 with a new edge."""
    noise = fp.JointNoise(edge=fp.FlipNoise(0.1, 0.4), coin=fp.FlipNoise(0.5, 0.5))
    p_plus, p_minus, half = Fraction(0.1), Fraction(0.4), Fraction(1, 2)
    observed = (1 - p_minus) + p_minus * half  # the observed edge is label 0; without an edge, the coin decides
    claimed = exact.rho(noise, {"edge": fp.Radii(delete=1)}, observed)
    true = p_plus * 0 + (1 - p_plus) * half  # after the deletion, an edge that noise adds has other features: label 1
    assert (round(float(observed), 2), round(float(claimed), 2), round(float(true), 2)) == (0.8, 0.55, 0.45)
    assert claimed > Fraction(1, 2) > true  # certified, and the label changes

    pair = fp.Graph.from_edge_index([[0, 1], [1, 0]], 2, np.eye(2), edge_features={"edge_attr": [[7.0], [7.0]]})
    refused = r"p_plus = 0\) to edges that carry edge_attr.*tells the model.*edge_features=False.*edge_features=lambda"
    adding = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.4), attributes=fp.FlipNoise(0.5, 0.5))
    with pytest.raises(fp.InvalidInputError, match=refused):
        fp.vote(Weighing(2, 1, 0), pair, adding, 1, 1)
    for space in (pair, fp.Graphs([pair, pair])):
        with pytest.raises(fp.InvalidInputError, match=refused):
            space.sampler(fp.JointNoise(structure=fp.FlipNoise(1e-300, 0.4)), 0)
    computed = fp.Graph(
        pair.edges, pair.attributes, "both", fp_features(lambda x_source, x_target: np.full((len(x_source), 1), 7))
    )
    assert fp.vote(Weighing(2, 1, 0), computed, adding, 5, 5).n_estimate == 5


def fp_features(function):
    return fp.Graph.from_edge_index([[0], [1]], 2, directed=True, edge_features=function).edge_features


# Order and bookkeeping


def random_graph(rng, directed, nodes=7, loops=True):
    dense = rng.random((nodes, nodes)) < 0.4
    if not directed:
        dense |= dense.T
    if not loops:
        np.fill_diagonal(dense, False)
    index = np.stack(dense.nonzero())
    index = index[:, rng.permutation(index.shape[1])]
    features = np.stack([index[0] * 10.0 + index[1], np.ones(index.shape[1])], axis=1)  # they name their edge
    return fp.Graph.from_edge_index(index, nodes, np.eye(nodes), directed=directed, edge_features=features)


def check_named(edge_index, features, offset=0):
    local = edge_index - offset
    assert np.array_equal(features[:, 0], local[0] * 10 + local[1])


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("structure", [fp.FlipNoise(0.0, 0.3), None])
def test_every_column_of_the_edge_index_has_its_own_features(directed, structure, rng):
    parts = {"attributes": fp.FlipNoise(0.1, 0.1)} | ({} if structure is None else {"structure": structure})
    noise, graphs = fp.JointNoise(**parts), [random_graph(rng, directed) for _ in range(3)]
    for graph in graphs:
        check_named(graph.clean().edge_index, graph.clean().edge_features)
        for copy in graph.sampler(noise, 1).draw(Role.SELECT, range(20), np.arange(1)):
            check_named(copy.edge_index, copy.edge_features)
        near = graph.sampler(noise, 1).restricted(np.array([2]), 0)
        for copy in near.draw(Role.SELECT, range(20), np.arange(1)):
            check_named(near.around.nodes[copy.edge_index], copy.edge_features)
    union = fp.Graphs(graphs).sampler(noise, 1).draw(Role.SELECT, range(9), np.array([2, 0]))
    for part in [union, *union.cut(4), fp.Graphs(graphs).clean()]:
        check_named(part.edge_index, part.edge_features, 7 * part.graph_of_node[part.edge_index[0]])


def test_functions_get_attributes_and_numbers_of_both_ends(rng):
    def of_numbers(x_source, x_target, source, target):
        assert np.array_equal(x_source.argmax(axis=1), source)
        assert np.array_equal(x_target.argmax(axis=1), target)
        return np.stack([source * 10.0 + target, source], axis=1)

    plain = random_graph(rng, directed=False)
    graph = fp.Graph(plain.edges, plain.attributes.matrix.toarray(), "structure", fp_features(of_numbers))
    noise = fp.FlipNoise(0.2, 0.3)
    for copy in graph.sampler(noise, 0).draw(Role.SELECT, range(20), np.arange(1)):
        check_named(copy.edge_index, copy.edge_features)
    near = graph.sampler(fp.FlipNoise(0.0, 0.3), 0).restricted(np.array([2]), 0)
    for copy in near.draw(Role.SELECT, range(20), np.arange(1)):
        check_named(near.around.nodes[copy.edge_index], copy.edge_features)
    union = fp.Graphs([graph, graph]).sampler(noise, 0).draw(Role.SELECT, range(5), np.arange(2))
    check_named(union.edge_index, union.edge_features, 7 * union.graph_of_node[union.edge_index[0]])


@pytest.mark.parametrize("name", ["shares", "remembers"])
def test_functions_that_look_at_other_edges_are_refused(name):
    """What is drawn around some nodes, or together with other graphs, would then show in the features."""
    calls = itertools.count()
    functions = {
        "shares": lambda x_source, x_target: (weights := 1.0 + (x_source + x_target).sum(axis=1)) / weights.sum(),
        "remembers": lambda x_source, x_target: np.full(len(x_source), next(calls)),
    }
    refused = r"expected a function that computes what an edge carries from its own two ends, got .* for the edge \("
    index = [[0, 1, 1, 2], [1, 0, 2, 1]]
    with pytest.raises(fp.InvalidInputError, match=refused):
        fp.Graph.from_edge_index(index, 3, np.eye(3), edge_features=functions[name])
    own = fp.Graph.from_edge_index(index, 3, np.eye(3), edge_features=lambda x_source, x_target: x_source + x_target)
    assert own.clean().edge_features.shape == (4, 3)
