"""Datasets of many graphs, of images and of text: what they accept; the catalogue; the folders."""

import re

import numpy as np
import pytest

import flipproof as fp
from flipproof.datasets import GraphDataset, ImageDataset, TextDataset
from flipproof.datasets.fetching.data_file import find, folder_to_write, folders
from flipproof.datasets.loading import load_card
from flipproof.noise.sampling.samplers import Role

PAIR = [[0, 1], [1, 0]]


def test_graphs():
    data = GraphDataset("two", (PAIR, [[], []]), ([0, 2], [1]), [1, 0], ("a", "b"))
    assert (len(data), data.nodes, data.edges, data.features, data.classes) == (2, 3, 1, 3, 2)
    assert data.graph(0).attributes.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    graphs = data.graphs("both")
    assert (len(graphs), graphs.nodes, graphs.parts) == (2, 3, ("structure", "attributes"))
    assert not data.edge_indices[0].flags.writeable


def test_graphs_with_kinds_as_categories():
    data = GraphDataset("two", (PAIR, [[], []]), ([0, 2], [1]), [1, 0])
    for noisy in ("structure", "attributes", "both"):
        graphs = data.graphs(noisy, which=[1, 0], kinds="category")
        assert graphs.attributes.values.tolist() == [[1], [0], [2]]
    noise = fp.FlipNoise(1.0, 1.0, categories=3)
    with pytest.raises(fp.InvalidInputError, match=re.escape("in [0, 2) as the noise has 2 categories, got 2")):
        data.graphs("attributes", kinds="category").sampler(fp.FlipNoise(0.1, 0.1), 0)
    sampler = data.graphs("attributes", kinds="category").sampler(noise, 0)
    drawn = sampler.draw(Role.SELECT, range(20), np.arange(2)).attributes
    assert (drawn != np.tile([[0], [2], [1]], (20, 1))).all()
    assert set(drawn[0::3, 0].tolist()) == {1, 2}
    with pytest.raises(fp.InvalidInputError, match="expected kinds to be one of one-hot, category, got 'bits'"):
        data.graphs(kinds="bits")


@pytest.mark.parametrize(
    ("edges", "kinds", "labels", "reason"),
    [
        ((PAIR,), ([0, 0], [0]), [0], "expected edges and node labels of equally many graphs, got 1 and 2"),
        ((PAIR,), ([0],), [0], "expected edges between nodes 0 to 0, got node 1"),
        ((PAIR, PAIR), ([0, 0], [0]), [0, 0], "graph 1: expected edges between nodes 0 to 0, got node 1"),
        ((PAIR, "ab"), ([0, 0], [0]), [0, 0], "graph 1: expected edge_index to be"),
        ((PAIR, [], []), ([0, 0], [], []), [0, 0, 0], "expected graphs with nodes, got graph 1 with none"),
        ((PAIR, PAIR), ([0, 0], [0, 0.5]), [0, 0], "graph 1: expected a label from 0 for every node, got the label"),
        (([[0], [1]],), ([0, 0],), [0], "every edge in both directions"),
        ((PAIR,), ([0, -1],), [0], "expected a label from 0 for every node, got the label -1"),
        ((PAIR,), ([0, 0],), None, "expected a label from 0 for every graph, got none"),
        ((PAIR,), ([0, 0],), [0, 1], "expected a label from 0 for every graph, got labels of shape [2] for 1 graphs"),
    ],
)
def test_wrong_graphs_are_refused(edges, kinds, labels, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        GraphDataset("two", edges, kinds, labels)


def test_images():
    data = ImageDataset("few", np.arange(8).reshape(2, 2, 2), [0, 1], np.full((1, 2, 2), 9), [1], levels=10)
    assert (len(data), data.features, data.classes, data.train_images.dtype) == (3, 4, 2, np.uint8)
    black = data.binarised(3)
    assert (black.levels, black.train_images.tolist()) == (2, [[[0, 0], [0, 0]], [[1, 1], [1, 1]]])
    assert not black.train_images.flags.writeable
    colour = ImageDataset("few", np.zeros((1, 2, 2, 3), int), [0], np.zeros((0, 2, 2, 3), int), [])
    assert (colour.features, len(colour)) == (12, 1)


def pixels(shape, *wrong):
    """Images of zeros with some other pixels: pairs of a place and a value."""
    images = np.zeros(shape, dtype=float if any(value % 1 for _, value in wrong) else int)
    for place, value in wrong:
        images[place] = value
    return images


WHITE = pixels((1, 4, 6))


@pytest.mark.parametrize(
    ("train", "test", "levels", "reason"),
    [
        (np.zeros((1, 4), int), WHITE, 2, "expected train images of shape [n, height, width] or [n, height, width, 3]"),
        (WHITE, pixels((1, 4, 6, 4)), 2, "expected test images of shape [n, height, width] or [n, height, width, 3]"),
        (pixels((1, 4, 6, 4)), WHITE, 2, "got int64 of shape [1, 4, 6, 4]"),
        (WHITE.astype(float), WHITE, 2, "expected train pixels of an integer type, got float64"),
        (WHITE.astype(str), WHITE, 2, "expected train pixels of an integer type, got <U21"),
        (WHITE, pixels((0, 4, 0)), 2, "expected test images with at least one pixel, got shape [0, 4, 0]"),
        (pixels((1, 0, 6, 3)), WHITE, 2, "expected train images with at least one pixel, got shape [1, 0, 6, 3]"),
        (
            pixels((4, 4, 6), ((3, 2, 5), 300), ((3, 3, 0), -1)),
            WHITE,
            256,
            "expected train pixels from 0 to 255, got 300 in image 3, row 2, column 5",
        ),
        (
            WHITE,
            pixels((2, 4, 6, 3), ((1, 0, 4, 2), -1), ((1, 0, 5, 0), 2)),
            2,
            "expected test pixels from 0 to 1, got -1 in image 1, row 0, column 4, colour 2",
        ),
        (
            pixels((2, 4, 6), ((0, 3, 1), 1), ((1, 2, 0), 0.5), ((1, 2, 1), np.nan)),
            WHITE,
            2,
            "expected train pixels to be whole numbers, got 0.5 in image 1, row 2, column 0",
        ),
        (pixels((1, 4, 6), ((0, 1, 1), np.nan)), WHITE, 2, "whole numbers, got nan in image 0, row 1, column 1"),
        (pixels((1, 4, 6), ((0, 0, 0), np.inf)), WHITE, 2, "whole numbers, got inf in image 0, row 0, column 0"),
        (pixels((1, 2, 2)), pixels((1, 2, 3)), 2, "images of one shape, got (2, 2) and (2, 3)"),
        (WHITE, WHITE, 257, "expected levels from 2 to 256, got 257"),
        (pixels((2, 2, 2)), WHITE, 2, "for every image, got labels of shape [1] for 2 images"),
    ],
)
def test_wrong_images_are_refused(train, test, levels, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        ImageDataset("few", train, [0], test, [0], levels=levels)


def test_messages():
    data = TextDataset("few", ["a" * 1000, "b"], [0, 1])
    assert data.messages == ("a" * 1000, "b")
    assert len(repr(data)) < 100
    with pytest.raises(fp.InvalidInputError, match="expected messages to be a list of texts, got one with 3"):
        TextDataset("few", ("a", 3), [0, 1])
    with pytest.raises(fp.InvalidInputError, match="expected messages to be a list of texts, got 'ab'"):
        TextDataset("few", "ab", [0, 1])
    with pytest.raises(fp.InvalidInputError, match="expected a label from 0 for every message, got none"):
        TextDataset("few", ("a",), None)


def test_the_catalogue():
    graphs = "cora_ml citeseer pubmed mutag proteins"
    expected = f"{graphs} mnist cifar10 sms_spam digits digits-grey digits-graph breast-cancer"
    assert fp.datasets.names() == tuple(expected.split())
    assert tuple(card.name for card in fp.datasets.cards()) == fp.datasets.names()
    assert f"{fp.datasets.card('cora_ml').density:.4%}" == "1.7588%"
    assert fp.datasets.card("sms_spam").density is None
    for card in fp.datasets.cards():
        files = [file for form in card.forms for file in form.files]
        assert card.built_in == (not files)
        assert any(form.downloadable for form in card.forms)
        for file in files:
            assert all(url.startswith("https://") for url in file.urls)
            sums = [file.sha256] if file.sha256 else [member.sha256 for member in file.members]
            assert sums
            assert all(re.fullmatch("[0-9a-f]{64}", sum_) for sum_ in sums)


@pytest.mark.parametrize(
    ("name", "near"),
    [("coraml", "cora_ml"), ("Cora-ML", "cora_ml"), ("PubMed", "pubmed"), ("digits_graph", "digits-graph")],
)
def test_unknown_names_get_the_nearest(name, near):
    with pytest.raises(
        fp.InvalidInputError, match=rf"^expected one of cora_ml, .*, got '{name}'; did you mean {near}\?$"
    ):
        fp.datasets.load(name)


@pytest.mark.parametrize("name", ["imagenet", "", 3, None])
def test_unknown_names_without_a_near_one(name):
    with pytest.raises(fp.InvalidInputError, match=rf"breast-cancer, got {name!r}$"):
        fp.datasets.load(name)


@pytest.fixture
def two_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data", tmp_path / "cache" / "flipproof"


def test_folders(two_folders, tmp_path, monkeypatch):
    data, cache = two_folders
    assert folders() == two_folders
    cache.mkdir(parents=True)
    (cache / "a").write_bytes(b"")
    assert find("a") == cache / "a"
    assert folder_to_write() == data
    (data / "a").write_bytes(b"")
    assert find("a") == data / "a"
    monkeypatch.delenv("FLIPPROOF_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folders() == (tmp_path / ".cache" / "flipproof",)


def test_no_folder_to_write(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        fp.datasets.MissingDataError, match=r"expected a folder to write data to, got .*FLIPPROOF_DATA$"
    ):
        folder_to_write()


def test_what_may_not_be_fetched(two_folders):
    line = r"^expected train-images-idx3-ubyte.gz for the dataset mnist, .* there, or allow the download$"
    with pytest.raises(fp.datasets.MissingDataError, match=line):
        fp.datasets.load("mnist", download=False)


def test_grey_digits_are_the_digits():
    grey, black = fp.datasets.load("digits-grey"), fp.datasets.load("digits")
    assert (grey.name, grey.levels, black.name, black.levels) == ("digits-grey", 17, "digits", 2)
    assert (grey.train_images.shape, grey.test_images.shape) == ((1437, 8, 8), (360, 8, 8))
    assert np.unique(grey.test_images).tolist() == list(range(17))
    for part in ("train", "test"):
        assert ((getattr(grey, f"{part}_images") > 7) == getattr(black, f"{part}_images")).all()
        assert (getattr(grey, f"{part}_labels") == getattr(black, f"{part}_labels")).all()
    assert fp.datasets.card("digits-grey").density is None


def test_built_in_data_need_no_folder(two_folders):
    assert load_card(fp.datasets.card("digits"), download=False).classes == 10
    assert not two_folders[0].exists()
