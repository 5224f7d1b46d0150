"""Small graphs on a page: kinds of nodes, and the noisy copy that was voted on, edge by edge."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.pictures.graph_pictures import small_graphs
from page_data import PICTURES_OF_A_PAGE, unpacked

SIZES = (5, 1, 8, 3)


def certified(graphs, noise):
    classifier = fp.FunctionClassifier(lambda union: np.zeros(union.graphs, dtype=int), classes=2)
    return fp.certify(fp.vote(classifier, graphs, noise, n_select=3, n_estimate=5, seed=4))


def ring(size, attributes=None, noisy="structure", directed=False):
    nodes = np.arange(size)
    heads, tails = nodes[: size - 1], nodes[1:]
    index = np.stack([np.r_[heads, tails, 0], np.r_[tails, heads, 0]])
    index = index[:, index[0] <= index[1]] if directed else index
    return fp.Graph.from_edge_index(index, size, attributes, noisy=noisy, directed=directed)


def edges_of(copy, graph, offset):
    """The edges of one graph in a union, as pairs."""
    heads, tails = copy.edge_index - offset
    own = (heads >= 0) & (heads < graph.nodes) & (graph.edges.directed | (heads <= tails))
    return set(zip(heads[own].tolist(), tails[own].tolist(), strict=True))


@pytest.mark.parametrize("directed", [False, True])
def test_the_noisy_copy_is_the_one_voted_on(directed):
    graphs = fp.Graphs(tuple(ring(size, directed=directed) for size in SIZES))
    noise = fp.FlipNoise(0.2, 0.4)
    shown = small_graphs(CertifiedInputs(certified(graphs, noise)), graphs)
    copy = graphs.sampler(noise, 4).draw(Role.ESTIMATE, range(1), np.arange(len(SIZES)))
    starts, edges = unpacked(shown["starts"]), unpacked(shown["edges"])
    kept = unpacked(shown["copy"]["kept"])
    added_starts, added = unpacked(shown["copy"]["starts"]), unpacked(shown["copy"]["added"])
    assert (shown["copy"]["number"], shown["kinds"], shown["copy"]["kinds"]) == (0, None, None)
    for i, graph in enumerate(graphs.graphs):
        own = slice(starts[i], starts[i + 1])
        clean = list(zip(*edges[:, own].tolist(), strict=True))
        left = {pair for pair, is_kept in zip(clean, kept[own], strict=True) if is_kept}
        new = set(zip(*added[:, added_starts[i] : added_starts[i + 1]].tolist(), strict=True))
        assert not new & set(clean)
        assert left | new == edges_of(copy, graph, graphs.offsets[i])
    assert 0 < kept.sum() < kept.size
    assert added.size


@pytest.mark.parametrize("kinds", ["one-hot", "category", "one-hot without noise"])
def test_kinds_of_nodes(kinds, rng):
    numbers = [rng.integers(0, 4, size) for size in SIZES]
    noisy = "structure" if "without" in kinds else "attributes"
    attributes = [fp.DenseRows(each[:, None]) if kinds == "category" else np.eye(4)[each] for each in numbers]
    graphs = fp.Graphs(tuple(ring(size, each, noisy) for size, each in zip(SIZES, attributes, strict=True)))
    noise = fp.FlipNoise(0.2, 0.5, categories=4 if kinds == "category" else 2)
    shown = small_graphs(CertifiedInputs(certified(graphs, noise)), graphs, ("C", "N", "O", "F"))
    assert (shown["names"], shown["noisy"]) == (["C", "N", "O", "F"], noisy)
    assert np.array_equal(unpacked(shown["kinds"]), np.concatenate(numbers))
    copy = graphs.sampler(noise, 4).draw(Role.ESTIMATE, range(1), np.arange(len(SIZES)))
    if kinds == "category":
        expected = copy.attributes[:, 0]
    else:
        rows = copy.attributes.toarray() if sp.issparse(copy.attributes) else np.asarray(copy.attributes)
        expected = np.where(rows.sum(axis=1) == 1, rows.argmax(axis=1), -1)
    assert np.array_equal(unpacked(shown["copy"]["kinds"]), expected)
    if noisy == "attributes":
        assert unpacked(shown["copy"]["kept"]).all()


def test_attributes_that_are_no_kinds(rng):
    graphs = fp.Graphs(tuple(ring(size, rng.random((size, 3))) for size in SIZES))
    shown = small_graphs(CertifiedInputs(certified(graphs, fp.FlipNoise(0.1, 0.4))), graphs)
    assert shown["kinds"] is None


def test_a_copy_with_too_many_edges_is_no_picture():
    graphs = fp.Graphs((ring(4), ring(150), ring(3)))
    shown = small_graphs(CertifiedInputs(certified(graphs, fp.FlipNoise(0.3, 0.3))), graphs)
    assert unpacked(shown["copy"]["drawn"]).tolist() == [1, 0, 1]
    assert unpacked(shown["nodes"]).tolist() == [4, 150, 3]


def test_many_graphs_fit_a_page():
    graphs = fp.Graphs((ring(60),) * 2_000)
    votes = [[9, 1]] * 2_000
    noise = fp.FlipNoise(0.2, 0.4)
    shown = small_graphs(CertifiedInputs(certified(graphs, noise)), graphs)
    assert 1_500 < len(unpacked(shown["nodes"])) < 2_000
    assert 0 < unpacked(shown["copy"]["drawn"]).sum() < 1_500
    assert len(json.dumps(shown)) < PICTURES_OF_A_PAGE
    counted = fp.certify(fp.Votes.from_counts(selection=votes, estimation=votes, noise=noise))
    assert small_graphs(CertifiedInputs(counted), graphs)["copy"] is None
