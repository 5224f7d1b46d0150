"""Pairs of nodes as numbered entries, exactly, also for graphs with a billion nodes."""

import itertools

import numpy as np
import pytest

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.edge_kernels import pairs_of_ranks
from flipproof.noise.spaces.edges import MOST_NODES, Edges, _ranks

PATH = [[0, 1, 1, 2, 2, 3, 3, 4], [1, 0, 2, 1, 3, 2, 4, 3]]


def edges_of(index, nodes, directed=False, merge_duplicates=False):
    return Edges.from_index(index, nodes, directed=directed, merge_duplicates=merge_duplicates)


def pairs_of(ranks, nodes, directed):
    ranks = np.array(ranks, np.int64)
    heads, tails = np.empty_like(ranks), np.empty_like(ranks)
    pairs_of_ranks(ranks, nodes, directed, heads, tails)
    return list(zip(heads.tolist(), tails.tolist(), strict=True))


def exact_rank(u, v, nodes, directed):
    """The place of a pair, in integers of any size."""
    if directed:
        return u * (nodes - 1) + v - (v > u)
    return u * (2 * nodes - u - 1) // 2 + v - u - 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("nodes", [2, 3, 4, 7, 30])
def test_all_pairs_in_order(nodes, directed):
    pairs = list((itertools.permutations if directed else itertools.combinations)(range(nodes), 2))
    assert pairs_of(range(len(pairs)), nodes, directed) == pairs
    heads, tails = np.array(pairs).T
    assert _ranks(heads, tails, nodes, directed).tolist() == list(range(len(pairs)))
    assert [exact_rank(u, v, nodes, directed) for u, v in pairs] == list(range(len(pairs)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("nodes", [20_001, 10**6, 2**30 - 1, 2**30])
def test_pairs_of_huge_graphs(nodes, directed, rng):
    """First, last and random pairs, and both sides of the places where a row of pairs begins."""
    total = edges_of([], nodes, directed).pairs
    assert total == nodes * (nodes - 1) // (1 if directed else 2)
    rows = [
        0,
        1,
        2,
        nodes // 3,
        nodes // 2,
        nodes - 4,
        nodes - 3,
        nodes - 2,
        *rng.integers(0, nodes - 1, 2000).tolist(),
    ]
    begins = [exact_rank(u, u + 1 if not directed else 0 if u else 1, nodes, directed) for u in rows]
    around = [rank + step for rank in begins for step in (-1, 0, 1) if 0 <= rank + step < total]
    ranks = sorted({0, 1, total - 2, total - 1, *around, *rng.integers(0, total, 5000).tolist()})
    pairs = pairs_of(ranks, nodes, directed)
    assert [exact_rank(u, v, nodes, directed) for u, v in pairs] == ranks
    assert all(min(u, v) >= 0 and max(u, v) < nodes and (u != v if directed else u < v) for u, v in pairs)
    heads, tails = np.array(pairs).T
    assert _ranks(heads, tails, nodes, directed).tolist() == ranks


def test_both_directions_and_loops_in_the_index():
    edges = edges_of([[2, 0, 1, 1, 0], [1, 0, 2, 0, 1]], 4)
    assert (edges.count, edges.pairs, edges.loops.tolist()) == (2, 6, [0])
    assert edges.index().tolist() == [[0, 1, 1, 2, 0], [1, 2, 0, 1, 0]]
    assert edges.index(np.array([5])).tolist() == [[2, 3, 0], [3, 2, 0]]
    assert edges.index(np.zeros(0, np.int64)).tolist() == [[0], [0]]


def test_directed_edges_are_ordered_pairs():
    edges = edges_of([[2, 0, 1], [1, 0, 2]], 3, directed=True)
    assert (edges.count, edges.pairs) == (2, 6)
    assert edges.index().tolist() == [[1, 2, 0], [2, 1, 0]]


@pytest.mark.parametrize("nodes", [0, 1, 5])
@pytest.mark.parametrize("empty", [[], [[], []], np.zeros((2, 0), np.int64), np.zeros((2, 0))])
def test_graphs_without_edges(nodes, empty):
    edges = edges_of(empty, nodes)
    assert (edges.count, edges.pairs) == (0, nodes * (nodes - 1) // 2)
    assert edges.index().shape == (2, 0)


def test_arrays_cannot_be_written_to():
    edges = edges_of(PATH, 5)
    assert not edges.ranks.flags.writeable
    assert not edges.loops.flags.writeable


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_any_integers_will_do(dtype):
    assert edges_of(np.array(PATH, dtype), 5).index().tolist() == edges_of(PATH, 5).index().tolist()


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ([[0, 1]], r"expected edge_index to be integers of shape \[2, edges\], got int64 of shape \(1, 2\)"),
        ([0, 1], r"expected edge_index to be integers of shape \[2, edges\], got int64 of shape \(2,\)"),
        ([[0.0], [1.0]], r"expected edge_index to be integers of shape \[2, edges\], got float64 of shape \(2, 1\)"),
        ([[True], [False]], r"expected edge_index to be integers of shape \[2, edges\], got bool"),
        ([["a"], ["b"]], "expected edge_index to be numbers, got <U1"),
        ([[0], [0, 1]], "expected edge_index to be rows of one length, got row"),
        ([[0, 3], [3, 0]], "expected edges between nodes 0 to 2, got node 3"),
        ([[0, -1], [-1, 0]], "expected edges between nodes 0 to 2, got node -1"),
        (np.array([[2**64 - 1], [0]], np.uint64), f"expected edges between nodes 0 to 2, got node {2**64 - 1}"),
        ([[0, 0], [1, 2]], "to have every edge in both directions, got 2 without the reverse; give directed=True"),
        ([[0, 1, 0, 1], [1, 0, 1, 0]], "expected every edge once, got 2 duplicates; give duplicates='merge'"),
        ([[0, 0], [0, 0]], "expected every edge once, got 1 duplicates"),
    ],
)
def test_what_is_refused(index, message):
    with pytest.raises(InvalidInputError, match=message):
        edges_of(index, 3)


def test_duplicates_can_be_merged():
    merged = edges_of([[0, 1, 0, 1, 2, 2], [1, 0, 1, 0, 2, 2]], 3, merge_duplicates=True)
    assert merged.index().tolist() == [[0, 1, 2], [1, 0, 2]]
    with pytest.raises(InvalidInputError, match="in both directions, got 1 without"):
        edges_of([[0, 0], [1, 1]], 3, merge_duplicates=True)


def test_too_many_nodes_are_refused():
    assert edges_of([], MOST_NODES).pairs == 2**29 * (2**30 - 1)
    with pytest.raises(TooLargeError, match=f"expected at most {2**30} nodes, got {2**30 + 1}"):
        edges_of([], MOST_NODES + 1)


@pytest.mark.parametrize(
    ("centres", "hops", "ball"),
    [([0], 0, [0]), ([0], 1, [0, 1]), ([0], 2, [0, 1, 2]), ([0, 4], 1, [0, 1, 3, 4]), ([2], 9, [0, 1, 2, 3, 4])],
)
def test_a_ball_has_all_nodes_within_so_many_steps(centres, hops, ball):
    assert edges_of(PATH, 6).ball(np.array(centres), hops).tolist() == ball


@pytest.mark.parametrize("directed", [False, True])
def test_balls_of_random_graphs(directed, rng):
    matrix = np.triu(rng.random((40, 40)) < 0.04, k=1)
    matrix = matrix if directed else matrix | matrix.T
    edges = edges_of(np.argwhere(matrix).T, 40, directed)
    reach = np.eye(40, dtype=bool)
    for hops in range(5):
        for centre in (0, 17):
            assert edges.ball(np.array([centre]), hops).tolist() == np.flatnonzero(reach[centre]).tolist()
        reach = reach | (reach @ (matrix | matrix.T))


@pytest.mark.parametrize("directed", [False, True])
def test_edges_among_some_nodes(directed, rng):
    matrix = rng.random((20, 20)) < 0.3
    matrix = matrix if directed else matrix | matrix.T
    edges = edges_of(np.argwhere(matrix).T, 20, directed)
    nodes = np.sort(rng.choice(20, 9, replace=False))
    some, numbers = edges.within(nodes)
    expected = edges_of(np.argwhere(matrix[np.ix_(nodes, nodes)]).T, 9, directed)
    assert some.ranks.tolist() == expected.ranks.tolist()
    assert some.loops.tolist() == expected.loops.tolist()
    # The numbers say which of the edges of the whole graph they are.
    assert nodes[some.index()[:, : some.count]].tolist() == edges.index()[:, numbers].tolist()
