"""Communities: labels of known graphs, exhaustive attacks on small ones, votes on a real one."""

import itertools

import networkx as nx
import numpy as np
import pytest

import flipproof as fp
from flipproof.baselines import communities
from flipproof.baselines.from_votes.communities import Together, label_propagation, louvain
from flipproof.noise.spaces.noisy_graphs import NoisyGraph

NODES, INSTANCES = 4, 200
PAIRS = list(itertools.combinations(range(NODES), 2))
GRAPHS = np.array(list(itertools.product((0, 1), repeat=len(PAIRS))))
added_to = ((GRAPHS[:, None] == 0) & (GRAPHS[None] == 1)).sum(axis=2)
deleted_from = ((GRAPHS[:, None] == 1) & (GRAPHS[None] == 0)).sum(axis=2)


def noisy_graph(bits):
    pairs = np.array([pair for pair, bit in zip(PAIRS, bits, strict=True) if bit], dtype=np.int64).reshape(-1, 2).T
    return NoisyGraph(NODES, np.concatenate([pairs, pairs[::-1]], axis=1), None)


def components(graph):
    return nx.connected_components(graph)


@pytest.mark.parametrize("detector", [components, louvain, label_propagation])
def test_no_graph_in_a_certified_ball_has_another_label(detector, rng):
    victims = [(0, 1), (1, 2, 3), (0, 3)]
    labels = Together(detector, victims)([noisy_graph(bits) for bits in GRAPHS])
    certified = 0
    for _ in range(INSTANCES):
        noise = fp.FlipNoise(*(float(p) for p in rng.uniform([0.0, 0.05], [0.3, 0.7])))
        stay = np.array([[1 - noise.p_plus, noise.p_plus], [noise.p_minus, 1 - noise.p_minus]])
        law = stay[GRAPHS[:, None, :], GRAPHS[None, :, :]].prod(axis=2)
        together = law @ labels[:, rng.integers(len(victims))]
        label, p_lower = together > 0.5, np.maximum(together, 1 - together) - 1e-9
        sure = p_lower > 0.5
        for add, delete in ((1, 0), (0, 1), (1, 1), (0, 2)):
            proved = sure & (fp.rho(noise, fp.Radii(add, delete), np.clip(p_lower, 0, 1)) > 0.5)
            inside = proved[:, None] & (added_to <= add) & (deleted_from <= delete)
            assert not (inside & (label[:, None] != label[None])).any()
            certified += int(proved.sum())
    assert certified > INSTANCES


def cliques(*sizes):
    return fp.Graph.from_networkx(nx.disjoint_union_all([nx.complete_graph(n) for n in sizes]))


@pytest.mark.parametrize("detector", [louvain, label_propagation])
def test_cliques_are_communities(detector):
    labels = Together(detector, [(0, 4), (0, 5), (5, 6, 10), (0, 1, 2, 9)])([cliques(5, 6).clean()])
    assert labels.tolist() == [[1, 0, 1, 0]]


@pytest.mark.parametrize("detector", [louvain, label_propagation])
def test_votes_on_a_real_network(detector):
    """Zachary's karate club: its two leaders are apart, a leader and his closest friends together."""
    graph = fp.Graph.from_networkx(nx.karate_club_graph(), edge_features=False)
    votes = fp.vote(Together(detector, [(0, 33), (32, 33)]), graph, fp.FlipNoise(0.001, 0.2), 20, 150)
    proofs = communities.certify(votes)
    assert proofs.label.tolist() == [0, 1]
    assert not proofs.abstained.any()
    deleted = communities.certify(votes, along="delete")
    assert (deleted.radius >= proofs.radius).all()
    assert deleted.radius.max() >= 1
    assert deleted.promise.threat == "r edges are deleted"


def test_published_flips_are_an_ordinary_noise():
    votes = fp.vote(Together(louvain, [(0, 1), (0, 7)]), cliques(7, 7), fp.FlipNoise(0.1, 0.1), 50, 500)
    proofs = communities.certify(votes)
    assert proofs.label.tolist() == [1, 0]
    assert proofs.radius.tolist() == fp.certify(votes).max_l0_radius().tolist()
    assert proofs.radius.min() >= 1


def test_refusals():
    with pytest.raises(fp.InvalidInputError, match="expected sets of two node numbers or more"):
        Together(louvain, [(0,)])
    with pytest.raises(fp.InvalidInputError, match="expected victims from 0 to 4, got 9"):
        Together(louvain, [(0, 9)])([cliques(5).clean()])
    with pytest.raises(fp.InvalidInputError, match="expected a detector that puts every node into one community"):
        Together(lambda _: [{0, 1}], [(0, 1)])([cliques(5).clean()])
    three = fp.Votes.from_counts(selection=[[1, 0, 0]], estimation=[[9, 0, 0]], noise=fp.FlipNoise(0.1, 0.1))
    with pytest.raises(fp.InvalidInputError, match="expected votes with two labels, apart and together, got 3"):
        communities.certify(three)
    joint = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.1), attributes=fp.FlipNoise(0.1, 0.1))
    both = fp.Votes.from_counts(selection=[[1, 0]], estimation=[[9, 0]], noise=joint)
    with pytest.raises(fp.InvalidInputError, match="expected votes under a FlipNoise on edges"):
        communities.certify(both)


@pytest.mark.parametrize("victims", [[], [(0.7, 1.2)], ["ab"], [3, 4], [(-1, 2)], [(2, 2)]])
def test_what_is_no_set_of_nodes(victims):
    with pytest.raises(fp.InvalidInputError, match="expected sets of two node numbers or more"):
        Together(louvain, victims)


def test_a_detector_with_overlapping_communities():
    with pytest.raises(fp.InvalidInputError, match="expected a detector that puts every node into one community"):
        Together(lambda _: [{0, 1, 2}, {2, 3, 4}], [(0, 1)])([cliques(5).clean()])
