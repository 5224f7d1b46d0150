"""What every space says an attacker can change, counted entry by entry."""

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.laws import scope_of

BITS, THREE = fp.FlipNoise(0.1, 0.2), fp.FlipNoise(0.1, 0.2, 3)
JOINT = fp.JointNoise(structure=BITS, attributes=THREE)
EDGES = [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]  # a path of three nodes, and a self-loop
KINDS = np.array([[0], [2], [1]])


def graph(noisy, attributes=None):
    return fp.Graph.from_edge_index(EDGES, 3, attributes, noisy=noisy)


CASES = {
    "dense": (fp.DenseRows([[0, 1, 1], [0, 0, 0]]), BITS, [[1], [3]], [[2], [0]], ()),
    "images": (fp.DenseRows(np.eye(4, dtype=int).reshape(2, 2, 4)), BITS, [[6], [6]], [[2], [2]], ()),
    "sparse": (fp.SparseRows(sp.csr_array([[0, 1, 1], [0, 0, 0]])), BITS, [[1], [3]], [[2], [0]], ()),
    "tokens": (fp.Tokens([[0, 2, 1, 9]], padding=9), THREE, [[1]], [[2]], ("the padding",)),
    "tokens without padding": (fp.Tokens([[0, 2, 1]]), THREE, [[1]], [[2]], ()),
    "masked tokens": (fp.Tokens([[5, 9, 9, 7]], mask=9), fp.FlipNoise(0.0, 0.5), [[2]], [[2]], ()),
    "table": (
        fp.Table([[0, 2, 1], [1, 0, 0]], [2, 3, 2]),
        fp.JointNoise(k3=THREE, k2=BITS),
        [[0, 1], [1, 1]],
        [[1, 1], [0, 1]],
        (),
    ),
    "table, some columns": (
        fp.Table([[0, 2, 1], [1, 0, 0]], [2, 3, 2]),
        fp.JointNoise(k3=THREE),
        [[0], [1]],
        [[1], [0]],
        ("the columns with 2 values",),
    ),
    "structure": (graph("structure"), BITS, [[1]], [[2]], ("self-loops",)),
    "structure beside attributes": (graph("structure", KINDS), BITS, [[1]], [[2]], ("the attributes", "self-loops")),
    "attributes": (graph("attributes", KINDS), THREE, [[1]], [[2]], ("the edges",)),
    "both": (graph("both", KINDS), JOINT, [[1, 1]], [[2, 2]], ("self-loops",)),
    "both, noise on one": (
        graph("both", KINDS),
        fp.JointNoise(structure=BITS),
        [[1]],
        [[2]],
        ("the attributes", "self-loops"),
    ),
    "graphs": (
        fp.Graphs([graph("both", KINDS), fp.Graph.from_edge_index([[], []], 2, [[1], [2]], noisy="both")]),
        JOINT,
        [[1, 1], [1, 0]],
        [[2, 2], [0, 2]],
        ("self-loops",),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_entries_are_counted(name):
    space, noise, zeros, nonzeros, fixed = CASES[name]
    scope = scope_of(space, noise)
    assert (scope.zeros.tolist(), scope.nonzeros.tolist(), scope.fixed) == (zeros, nonzeros, fixed)
    assert scope.makes_room == (name == "masked tokens")
    assert scope.fits(noise, len(zeros))


def test_nodes_share_their_graph():
    classifier = fp.FunctionClassifier(lambda graphs: np.zeros((len(graphs), 3), dtype=int), classes=2)
    votes = fp.vote(classifier, graph("structure"), BITS, 10, 10, progress=False)
    assert votes.scope.zeros.tolist() == [[1]] * 3
    assert fp.vote(classifier, graph("structure"), BITS, 10, 10, targets=[2], progress=False).scope.zeros.tolist() == [
        [1]
    ]


def test_targets_keep_their_own_entries():
    classifier = fp.FunctionClassifier(lambda rows: np.zeros(len(rows), dtype=int), classes=2)
    rows = [[0, 1, 1], [0, 0, 0], [1, 1, 1]]
    votes = fp.vote(classifier, rows, BITS, 10, 10, targets=[2, 0], progress=False)
    assert votes.scope.nonzeros.tolist() == [[3], [2]]


def test_scopes_are_kept_with_the_votes(tmp_path):
    tokens = fp.Tokens([[5, 9, 9, 7]], mask=9)
    classifier = fp.FunctionClassifier(lambda rows: np.zeros(len(rows), dtype=int), classes=2)
    votes = fp.vote(classifier, tokens, fp.FlipNoise(0.0, 0.5), 10, 10, progress=False)
    votes.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").scope == votes.scope


def test_a_space_of_the_users_own_may_say_nothing():
    class Own:
        parts = ("values",)

        def sampler(self, noise, seed):
            return fp.DenseRows([[0, 1]]).sampler(noise, seed)

    classifier = fp.FunctionClassifier(lambda rows: np.zeros(len(rows), dtype=int), classes=2)
    votes = fp.vote(classifier, Own(), BITS, 10, 2_000, progress=False)
    assert votes.scope is None
    assert "leaves alone what gets no noise" in fp.in_words(fp.certify(votes), 0)
