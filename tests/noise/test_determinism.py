"""Sample i is the same alone, in a range, for some rows, in any order and around a few nodes."""

import numpy as np
import pytest
import scipy.sparse as sp

from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.theory.law import FlipNoise, JointNoise

RANDOM = np.random.default_rng(7)
BITS = RANDOM.random((9, 40)) < 0.2
SPACES = {
    "deletions": (SparseRows(sp.csr_array(BITS)), FlipNoise(0.0, 0.5)),
    "additions": (SparseRows(sp.csr_array(BITS)), FlipNoise(0.05, 0.5)),
    "dense bits": (SparseRows(sp.csr_array(BITS)), FlipNoise(0.4, 0.5)),
    "values": (DenseRows(RANDOM.integers(0, 4, (9, 40))), FlipNoise(0.3, 0.6, 4)),
    "tokens": (Tokens(RANDOM.integers(-1, 50, (9, 40)), padding=-1), FlipNoise(0.3, 0.6, 50)),
    "masked tokens": (Tokens(RANDOM.integers(-1, 50, (9, 40)), padding=-1, mask=50), FlipNoise(0.0, 0.6)),
    "table": (
        Table(RANDOM.integers(0, 2, (9, 40)), [2, 3] * 20),
        JointNoise(k2=FlipNoise(0.3, 0.6), k3=FlipNoise(0.3, 0.6, 3)),
    ),
}


def rows_of(sampler, role, samples, rows):
    """Every (sample, row) as a list of values."""
    drawn = sampler.draw(role, samples, np.asarray(rows, np.int64))
    return (drawn.toarray() if sp.issparse(drawn) else drawn).tolist()


@pytest.mark.parametrize("name", SPACES)
def test_a_sample_is_the_same_in_every_draw(name):
    space, noise = SPACES[name]
    sampler = space.sampler(noise, 5)
    whole = rows_of(sampler, Role.ESTIMATE, range(12), range(9))
    again = space.sampler(noise, 5)
    for samples, rows in (
        (range(3, 4), range(9)),
        (range(4, 11), [2]),
        (range(12), [8, 0, 4]),
        (range(7, 9), [3, 3]),
        (range(5, 5), range(9)),
        (range(12), []),
    ):
        expected = [whole[9 * sample + row] for sample in samples for row in rows]
        assert rows_of(again, Role.ESTIMATE, samples, rows) == expected


@pytest.mark.parametrize("name", SPACES)
def test_other_samples_rows_roles_and_seeds_are_others(name):
    space, noise = SPACES[name]
    draws = [
        rows_of(space.sampler(noise, seed), role, range(sample, sample + 1), range(9))
        for seed in (0, 1, 2**32, 2**63)
        for role in Role
        for sample in (0, 1, 2**32, 2**39)
    ]
    assert len({str(drawn) for drawn in draws}) == len(draws)
    one_row = DenseRows([[0] * 60] * 5).sampler(FlipNoise(0.5, 0.5), 0)
    assert len({str(row) for row in rows_of(one_row, Role.SELECT, range(4), range(5))}) == 20


def random_graph(noisy, directed=False, categories=2):
    matrix = RANDOM.random((60, 60)) < 0.03
    attributes = RANDOM.integers(0, categories, (60, 12))
    adjacency = sp.csr_array(matrix if directed else matrix | matrix.T)
    return Graph.from_scipy(adjacency, attributes, noisy=noisy, directed=directed)


DELETE, FLIP = FlipNoise(0.0, 0.4), FlipNoise(0.1, 0.4)
AROUND = {
    "structure": (random_graph("structure"), DELETE),
    "directed structure": (random_graph("structure", directed=True), DELETE),
    "attributes": (random_graph("attributes"), FLIP),
    "categories": (random_graph("attributes", categories=4), FlipNoise(0.3, 0.3, 4)),
    "both": (random_graph("both"), JointNoise(structure=DELETE, attributes=FLIP)),
    "one of both": (random_graph("both"), JointNoise(structure=DELETE)),
}


def plain(attributes):
    return attributes.toarray() if sp.issparse(attributes) else attributes


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize("hops", [0, 1, 2])
def test_a_neighbourhood_is_drawn_as_in_the_whole_graph(name, hops):
    graph, noise = AROUND[name]
    sampler, targets = graph.sampler(noise, 6), np.array([41, 7, 7])
    around = sampler.restricted(targets, hops)
    nodes = around.nodes
    assert nodes.tolist() == graph.edges.ball(targets, hops + 1).tolist()
    assert 3 <= nodes.size < 60
    assert nodes[around.places].tolist() == targets.tolist()
    args = (Role.ESTIMATE, range(3, 9), np.zeros(1, np.int64))
    new = np.full(60, -1)
    new[nodes] = np.arange(nodes.size)
    for part, whole in zip(around.draw(*args), sampler.draw(*args), strict=True):
        index = new[whole.edge_index]
        # The same edges in the same order, since models add up in that order.
        assert part.edge_index.tolist() == index[:, (index >= 0).all(axis=0)].tolist()
        assert plain(part.attributes).tolist() == plain(whole.attributes)[nodes].tolist()
        assert part.nodes == nodes.size


@pytest.mark.parametrize("name", ["structure", "directed structure", "both"])
def test_nodes_within_reach_keep_all_their_neighbours(name):
    graph, noise = AROUND[name]
    around = graph.sampler(noise, 6).restricted(np.array([41]), 2)
    degrees, whole = (
        np.bincount(index[0], minlength=60) for index in (around.around.edges.index(), graph.edges.index())
    )
    inner = graph.edges.ball(np.array([41]), 2)
    assert degrees[np.searchsorted(around.nodes, inner)].tolist() == whole[inner].tolist()


def test_additions_come_from_anywhere():
    graph = random_graph("both")
    targets = np.array([3])
    assert graph.sampler(JointNoise(structure=FLIP, attributes=DELETE), 0).restricted(targets, 1) is None
    assert graph.sampler(JointNoise(attributes=FLIP), 0).restricted(targets, 1) is not None


def test_a_whole_graph_has_no_places():
    assert random_graph("structure").sampler(DELETE, 0).places is None
