"""Drawn samples written down: saved votes and resumed runs rely on the streams never changing."""

import hashlib
import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.graphs import Graphs
from flipproof.noise.spaces.rows import DenseRows, SparseRows
from flipproof.noise.spaces.table import Table
from flipproof.noise.spaces.tokens import Tokens
from flipproof.theory.law import FlipNoise, JointNoise

SEED, SAMPLES = 2**40 + 2020, range(2**33 + 5, 2**33 + 7)
ONES = [[0, 3, 4, 9, 17, 39], [], [5, 6, 7, 8]]
BITS = SparseRows(sp.csr_array([[float(j in ones) for j in range(40)] for ones in ONES]))
WIDE = SparseRows(sp.csr_array((np.ones(3), [0, 70_000, 99_999], [0, 3]), shape=(1, 100_000)))
RING = [[0, 1, 1, 2, 2, 3, 3, 0, 1], [1, 0, 2, 1, 3, 2, 0, 3, 1]]
GRAPH = Graph.from_edge_index(RING, 6, np.eye(6, 5))


def drawn(space, noise, role=Role.ESTIMATE):
    sampler = space.sampler(noise, SEED)
    return sampler.draw(role, SAMPLES, np.arange(sampler.rows))


def sparse_rows(matrix):
    return [matrix.indices[a:b].tolist() for a, b in itertools.pairwise(matrix.indptr)]


def pairs(edge_index):
    return [f"{u}{v}" for u, v in edge_index.T.tolist()]


@pytest.mark.parametrize(
    ("noise", "rows"),
    [
        (FlipNoise(0.0, 0.5), [[0, 3, 17, 39], [], [6, 7, 8], [0, 9], [], [5, 7]]),
        (
            FlipNoise(0.05, 0.5),
            [[0, 3, 17, 29, 33, 39], [2, 25, 37], [6, 7, 8, 9], [0, 5, 9, 26], [1, 10], [5, 7, 17, 30, 37]],
        ),
        (
            FlipNoise(0.3, 0.5),
            [
                [4, 19, 25, 27, 33, 35, 37, 39],
                [0, 1, 11, 15, 19, 23, 27, 36, 37],
                [6, 18, 21, 28, 30, 36],
                [4, 6, 9, 10, 18, 20, 31, 36],
                [0, 3, 4, 8, 11, 13, 21, 22, 29, 32, 35, 37],
                [3, 4, 5, 7, 8, 10, 12, 16, 17, 19, 23, 33, 36],
            ],
        ),
    ],
)
def test_bits(noise, rows):
    assert sparse_rows(drawn(BITS, noise)) == rows


def test_other_roles():
    noise = FlipNoise(0.05, 0.5)
    selection, training = (sparse_rows(drawn(BITS, noise, role)) for role in (Role.SELECT, Role.TRAIN))
    assert selection == [
        [0, 1, 3, 21, 27, 39],
        [29, 32],
        [5],
        [3, 4, 7, 12, 17, 39],
        [14, 35, 36],
        [5, 6, 8, 18, 22, 37],
    ]
    assert training == [[9, 13, 16, 21, 28, 35, 39], [], [4, 6, 7, 16, 19], [4, 8, 17, 22, 29], [5, 25], [6, 7]]


def test_a_wide_row():
    rows = [[0, 17899, 23517, 36863, 45825, 70000, 83414], [0, 8092, 14679, 59239, 80040, 84350]]
    assert sparse_rows(drawn(WIDE, FlipNoise(5e-5, 0.5))) == rows


def test_a_row_of_many_blocks():
    text = str(sparse_rows(drawn(WIDE, FlipNoise(0.1, 0.5))))
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "f3a3e5ceece53caf329d6d78f926096156033a75be90603fde448fd3d64ea893"
    )


def test_values():
    bits = drawn(DenseRows([[0, 1, 0, 1, 1, 0, 0, 1]] * 2), FlipNoise(0.3, 0.6))
    assert bits[:2].tolist() == [[1, 1, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 1]]
    assert bits[2:].tolist() == [[1, 1, 0, 0, 1, 0, 1, 1], [1, 1, 0, 0, 0, 0, 0, 1]]
    levels = drawn(DenseRows([[0, 1, 0, 999, 1, 0, 0, 1]]), FlipNoise(0.5, 0.6, 1000))
    assert levels.tolist() == [[550, 1, 0, 451, 321, 0, 0, 1], [78, 1, 216, 227, 1, 418, 166, 1]]


def test_tokens():
    tokens = drawn(Tokens([[4, 1, 7, 9, 9], [2, 9, 9, 9, 9]], padding=9), FlipNoise(0.5, 0.8, 9))
    assert tokens.tolist() == [[5, 4, 7, 9, 9], [4, 9, 9, 9, 9], [0, 2, 1, 9, 9], [4, 9, 9, 9, 9]]


def test_table():
    noise = JointNoise(k2=FlipNoise(0.4, 0.4), k5=FlipNoise(0.4, 0.8, 5))
    table = drawn(Table([[0, 2, 1, 4], [1, 0, 1, 0]], [2, 3, 2, 5]), noise)
    assert table.tolist() == [[1, 2, 1, 2], [0, 0, 1, 0], [1, 2, 1, 0], [0, 0, 1, 2]]


def test_graph():
    noise = JointNoise(structure=FlipNoise(0.1, 0.4), attributes=FlipNoise(0.1, 0.4))
    first, second = drawn(GRAPH, noise)
    assert pairs(first.edge_index) == ["01", "03", "24", "34", "10", "30", "42", "43", "11"]
    assert pairs(second.edge_index) == ["01", "23", "10", "32", "11"]
    assert sparse_rows(first.attributes) == [[0, 1, 4], [1], [], [3], [], []]
    assert sparse_rows(second.attributes) == [[0], [1], [2], [2], [4], []]


def test_graphs():
    noise = JointNoise(structure=FlipNoise(0.0, 0.4), attributes=FlipNoise(0.0, 0.4))
    union = drawn(Graphs([GRAPH, GRAPH]), noise)
    heads = [0, 0, 1, 3, 1, 6, 6, 7, 8, 7, 9, 8, 9, 7, 12, 14, 13, 15, 13, 18, 20, 19, 21, 19]
    tails = [1, 3, 0, 0, 1, 7, 9, 8, 9, 6, 6, 7, 8, 7, 13, 15, 12, 14, 13, 19, 21, 18, 20, 19]
    assert union.edge_index.tolist() == [heads, tails]
    first, second = (
        [[0], [1], [], [3], [], [], [], [], [], [3], [4], []],
        [[0], [1], [2], [], [4], [], [], [1], [2], [3], [], []],
    )
    assert sparse_rows(union.attributes) == first + second
