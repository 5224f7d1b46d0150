"""Pictures carry the observed data and the very noisy copies that were voted on."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.pictures.graph_pictures import neighbourhoods, small_graphs
from flipproof.report.pictures.pictures import images, pictures
from page_data import PICTURES_OF_A_PAGE, unpacked

NOISE = fp.FlipNoise(0.05, 0.3)


def certified(space, noise=NOISE, classes=2, **options):
    classifier = fp.FunctionClassifier(lambda batch: np.zeros(batch.shape[0], dtype=int), classes=classes)
    return fp.certify(fp.vote(classifier, space, noise, n_select=3, n_estimate=5, seed=4, **options))


def certified_nodes(graph, noise=NOISE):
    classifier = fp.FunctionClassifier(lambda graphs: np.zeros((len(graphs), graph.nodes), dtype=int), classes=2)
    return fp.certify(fp.vote(classifier, graph, noise, n_select=3, n_estimate=5, seed=4))


def certified_graphs(graphs, noise=NOISE):
    classifier = fp.FunctionClassifier(lambda union: np.zeros(union.graphs, dtype=int), classes=2)
    return fp.certify(fp.vote(classifier, graphs, noise, n_select=3, n_estimate=5, seed=4))


def path_graph(attributes=None, noisy=None, directed=False):
    index = [[0, 1, 2, 2], [1, 2, 2, 3]] if directed else [[0, 1, 1, 2, 2, 3, 2], [1, 0, 2, 1, 3, 2, 2]]
    return fp.Graph.from_edge_index(index, 4, attributes, noisy=noisy, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
def test_neighbours_are_who_is_joined_whichever_way(directed):
    shown = neighbourhoods(path_graph(directed=directed))
    starts, neighbours = unpacked(shown["starts"]), unpacked(shown["neighbours"])
    found = [neighbours[starts[i] : starts[i + 1]].tolist() for i in range(4)]
    assert found == [[1], [0, 2], [1, 3], [2]]


@pytest.mark.parametrize(("shape", "levels"), [((4, 5), 2), ((4, 5, 3), 256)])
def test_images_of_rows(shape, levels, rng):
    noise = NOISE if levels == 2 else fp.FlipNoise(0.2, 0.4, categories=levels)
    space = fp.DenseRows(rng.integers(0, levels, (7, *shape)))
    certificates = certified(space, noise)
    shown = images(CertifiedInputs(certificates), space, shape)
    assert (shown["levels"], shown["count"], shown["copies"]) == (levels, 7, [0, 1, 2])
    assert np.array_equal(unpacked(shown["clean"]).reshape(space.values.shape), space.values)
    drawn = space.sampler(noise, 4).draw(Role.ESTIMATE, range(3), np.arange(7))
    assert np.array_equal(unpacked(shown["noisy"]).reshape(drawn.shape), drawn)


def test_images_that_cannot_be_compressed_fit_a_page(rng):
    space = fp.DenseRows(rng.integers(0, 256, (400, 50, 50)))
    shown = images(CertifiedInputs(certified(space, fp.FlipNoise(0.9, 0.9, categories=256))), space, (50, 50))
    assert shown["count"] == 300
    assert len(json.dumps(shown)) < PICTURES_OF_A_PAGE


def test_images_of_sparse_rows(rng):
    matrix = sp.csr_array(rng.random((6, 20)) < 0.3, dtype=np.float32)
    shown = images(CertifiedInputs(certified(fp.SparseRows(matrix))), fp.SparseRows(matrix), (4, 5))
    assert np.array_equal(unpacked(shown["clean"]).reshape(6, 20), matrix.toarray())


@pytest.mark.parametrize("noisy", ["attributes", "structure"])
def test_images_of_nodes(noisy, rng):
    pixels = (rng.random((4, 6)) < 0.5).astype(float)
    graph = path_graph(pixels, noisy)
    certificates = certified_nodes(graph)
    shown = images(CertifiedInputs(certificates), graph, (2, 3))
    assert np.array_equal(unpacked(shown["clean"]).reshape(4, 6), pixels)
    assert shown["touched"] == (noisy == "attributes")
    if noisy == "structure":
        assert shown["copies"] == []
        return
    drawn = graph.sampler(NOISE, 4).draw(Role.ESTIMATE, range(3), np.zeros(1, dtype=np.int64))
    expected = [copy.attributes.toarray() for copy in drawn]
    assert np.array_equal(unpacked(shown["noisy"]).reshape(3, 4, 6), expected)


def test_data_that_are_no_such_images(rng):
    space = fp.DenseRows(rng.integers(0, 2, (3, 10)))
    with pytest.raises(fp.InvalidInputError, match=r"expected images of 20 pixels .* got 10 entries per input"):
        images(CertifiedInputs(certified(space)), space, (4, 5))
    loud = fp.DenseRows(np.full((3, 20), 299))
    with pytest.raises(fp.InvalidInputError, match="expected images of 20 pixels with levels 0 to 255"):
        images(CertifiedInputs(certified(loud, fp.FlipNoise(0.1, 0.1, categories=300))), loud, (4, 5))


def test_data_without_pixels(rng):
    tokens = fp.Tokens(rng.integers(0, 4, (3, 20)))
    with pytest.raises(fp.InvalidInputError, match="expected rows of pixels for image_shape, got Tokens"):
        images(CertifiedInputs(certified(tokens, fp.FlipNoise(0.1, 0.1, categories=4))), tokens, (4, 5))


def test_small_graphs_have_every_edge_once():
    graphs = fp.Graphs((path_graph(), path_graph()))
    shown = small_graphs(CertifiedInputs(certified_graphs(graphs)), graphs)
    assert unpacked(shown["starts"]).tolist() == [0, 4, 8]
    assert unpacked(shown["nodes"]).tolist() == [4, 4]
    assert sorted(zip(*unpacked(shown["edges"])[:, :4].tolist(), strict=True)) == [(0, 1), (1, 2), (2, 2), (2, 3)]


def test_nothing_to_draw(rng):
    space = fp.DenseRows(rng.integers(0, 2, (3, 10)))
    assert pictures(CertifiedInputs(certified(space), DescribedInputs(space=space))) is None
    assert pictures(CertifiedInputs(certified(space), DescribedInputs())) is None


def test_texts_stop_where_a_page_is_full():
    space = fp.DenseRows([[0, 1]] * 3)
    described = DescribedInputs(texts=("a" * 1_000_000, "ж" * 80_000, "c" * 50_000))
    found = pictures(CertifiedInputs(certified(space), described))
    assert [len(text) for text in found["texts"]] == [1_000_000, 80_000]
