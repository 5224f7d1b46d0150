"""Images and small graphs that users bring as files of arrays. Files that lie are refused in one line."""

import io
import json
import re
import zipfile

import networkx as nx
import numpy as np
import pytest
from refusals import refusal

import flipproof as fp
from flipproof.datasets import GraphDataset, ImageDataset, NodeDataset, load
from flipproof.pipeline.kinds.kind import kind_named, kind_of

PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)


@pytest.fixture
def images(tmp_path):
    path = tmp_path / "images.npz"
    ImageDataset("mine", PIXELS[:, :, :, 0] % 5, [1, 0], PIXELS[:1, :, :, 1] % 5, [1], ("cat", "dog"), 5).save(path)
    return path


@pytest.fixture
def graphs(tmp_path):
    path = tmp_path / "graphs.npz"
    edges = ([[0, 1], [1, 0]], [[], []], [[0, 2], [2, 0]])
    GraphDataset("mine", edges, ([0, 1], [1], [0, 0, 0]), [0, 1, 1], ("a", "b"), ("C", "N")).save(path)
    return path


@pytest.fixture
def nodes(tmp_path):
    path = tmp_path / "nodes.npz"
    fp.datasets.from_networkx(nx.path_graph(3), labels=[0, 1, 0]).save(path)
    return path


def test_images_come_back(images, tmp_path):
    data = load(str(images))
    assert isinstance(data, ImageDataset)
    assert (data.name, data.class_names, data.levels) == ("mine", ("cat", "dog"), 5)
    assert data.train_images.tolist() == (PIXELS[:, :, :, 0] % 5).tolist()
    assert data.test_images.tolist() == (PIXELS[:1, :, :, 1] % 5).tolist()
    assert (data.train_labels.tolist(), data.test_labels.tolist()) == ([1, 0], [1])
    data.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == images.read_bytes()
    ImageDataset("colours", PIXELS, [0, 1], PIXELS, [0, 1]).save(tmp_path / "colours.npz")
    assert ImageDataset.load(tmp_path / "colours.npz").test_images.tolist() == PIXELS.tolist()


def test_graphs_come_back(graphs, tmp_path):
    data = load(graphs)
    assert isinstance(data, GraphDataset)
    assert (data.name, data.class_names, data.node_names) == ("mine", ("a", "b"), ("C", "N"))
    assert [index.tolist() for index in data.edge_indices] == [[[0, 1], [1, 0]], [[], []], [[0, 2], [2, 0]]]
    assert [kinds.tolist() for kinds in data.node_labels] == [[0, 1], [1], [0, 0, 0]]
    assert data.labels.tolist() == [0, 1, 1]
    data.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == graphs.read_bytes()
    GraphDataset("none", (), (), []).save(tmp_path / "none.npz")
    assert len(GraphDataset.load(tmp_path / "none.npz")) == 0


def test_kinds_are_known_before_anything_is_read(tmp_path, images, graphs, nodes):
    table, mail = tmp_path / "mine.csv", tmp_path / "mine.TSV"
    table.touch()
    mail.touch()
    found = [kind_of(str(path)).name for path in (table, mail, images, graphs, nodes)]
    assert found == ["tables", "text", "images", "graphs", "nodes"]
    assert isinstance(load(nodes), NodeDataset)
    for path, kind in zip((images, graphs, nodes), found[2:], strict=True):
        spoiled = rewritten(path, {"labels.npy": b"", "train_labels.npy": b""})
        assert kind_of(str(spoiled)).name == kind
        assert "labels is not an array" in refusal(spoiled)


def test_what_suits_images_of_ones_own(images, tmp_path):
    assert kind_named("images").usual_noise(str(images)) == "levels"
    load(images).binarised(2).save(tmp_path / "black.npz")
    assert kind_named("images").usual_noise(str(tmp_path / "black.npz")) == "pixels"
    named, own = load("digits"), tmp_path / "digits.npz"
    named.save(own)
    assert (
        kind_named("images").defaults("levels", str(own)).training
        == kind_named("images").defaults("levels", "digits").training
    )


@pytest.mark.parametrize("name", ["mine.csv", "mine.tsv", "mine.npz"])
def test_files_that_are_not_there(tmp_path, name):
    for ask in (load, kind_of):
        with pytest.raises(fp.FileFormatError, match=f"^expected a readable dataset, got .*{name}: No such file"):
            ask(str(tmp_path / name))
    (tmp_path / name).mkdir()
    for ask in (load, kind_of):
        with pytest.raises(fp.FileFormatError, match=f"{name}, which is no file"):
            ask(str(tmp_path / name))


def rewritten(path, members):
    """The same file with the contents of some members replaced, or removed where they are None."""
    with zipfile.ZipFile(path) as file:
        content = {name: file.read(name) for name in file.namelist()} | members
    with zipfile.ZipFile(path, "w") as file:
        for name, each in content.items():
            if each is not None:
                file.writestr(name, each)
    return path


def npy(values, dtype=np.int64):
    content = io.BytesIO()
    np.lib.format.write_array(content, np.array(values, dtype=dtype))
    return content.getvalue()


def claiming(shape):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": shape})
    return header.getvalue() + bytes(64)


IMAGE_LIES = {
    "train_images": [
        (npy([[[7, 0], [0, 0]]] * 2), "expected train pixels from 0 to 4, got 7"),
        (npy([0, 1]), "expected train images of shape"),
        (npy([[["a"]]] * 2, "U1"), "expected train pixels of an integer type"),
        (npy([None], object), "train_images holds Python objects, which are never unpickled"),
        (claiming((2, 2**40, 2)), "train_images promises"),
    ],
    "test_images": [(npy([[[0]]]), "images of one shape"), (None, "it has no array test_images")],
    "train_labels": [(npy([0]), r"labels of shape \[1\] for 2 images"), (npy([0, -1]), "the label -1")],
    "test_labels": [(npy([5]), "expected a name for each of 6 classes"), (b"", "test_labels is not an array")],
}
GRAPH_LIES = {
    "node_starts": [
        (npy([0, 2, 3, 7]), "its node_starts do not fit its 6 nodes"),
        (npy([1, 2, 3, 6]), "its node_starts do not fit its 6 nodes"),
        (npy([0, 3, 2, 6]), "its node_starts do not fit its 6 nodes"),
        (npy([0, 9, 3, 6], np.uint64), "its node_starts do not fit its 6 nodes"),
        (npy([]), "its node_starts do not fit its 6 nodes"),
        (npy([0, 6]), "equally many graphs, got 3 and 1"),
        (npy([0, 3, 3, 6]), "got graph 1 with none"),
        (npy([[0, 6]]), "its nodes are arrays of the wrong types"),
        (npy([0.0, 2.0, 3.0, 6.0], np.float64), "its nodes are arrays of the wrong types"),
        (npy([None], object), "node_starts holds Python objects, which are never unpickled"),
        (claiming((2**50,)), "node_starts promises"),
    ],
    "edge_starts": [(npy([0, 2, 2, 5]), "its edge_starts do not fit its 4 edges"), (None, "no array edge_starts")],
    "edge_index": [
        (npy([[0, 1, 0, 3], [1, 0, 3, 0]]), "graph 2: "),
        (npy([[0, 1, 0, 2], [1, 0, -1, 0]]), "graph 2: "),
        (npy([[0, 1, 0, 2]]), "graph 0: "),
        (npy([0, 1, 0, 2]), "its edges are arrays of the wrong types"),
        (npy([["a"] * 4] * 2, "U1"), "graph 0: "),
    ],
    "node_labels": [(npy([0, 1, 1, 0, 0, 9]), "a name for each of 10"), (npy([0, -1, 1, 0, 0, 0]), "graph 0: ")],
    "labels": [(npy([0, 1]), r"labels of shape \[2\] for 3 graphs"), (b"garbage", "labels is not an array")],
}


@pytest.mark.parametrize(
    ("kind", "name", "content", "reason"),
    [
        (kind, name, *lie)
        for kind, lies in (("images", IMAGE_LIES), ("graphs", GRAPH_LIES))
        for name, several in lies.items()
        for lie in several
    ],
)
def test_arrays_that_lie(request, kind, name, content, reason):
    path = rewritten(request.getfixturevalue(kind), {f"{name}.npy": content})
    assert re.search(f"^expected a dataset written by flipproof, got .*{reason}", refusal(path))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"format": "flipproof-votes"}, "its description does not say flipproof-images"),
        ({"version": 2}, "it has version 2, this flipproof reads 1"),
        ({"images": "many"}, "its description speaks of 'many' images with 5 levels"),
        ({"images": True}, "its description speaks of True images with 5 levels"),
        ({"images": -1}, "its description speaks of -1 images with 5 levels"),
        ({"images": 4}, "its description speaks of 4 images, it has 3"),
        ({"levels": 4.5}, "its description speaks of 3 images with 4.5 levels"),
        ({"levels": 10**30}, "expected levels from 2 to 256"),
        ({"class_names": None}, "TypeError"),
    ],
)
def test_descriptions_that_lie(images, changed, reason):
    with zipfile.ZipFile(images) as file:
        description = json.loads(file.read("metadata.json"))
    assert reason in refusal(rewritten(images, {"metadata.json": json.dumps(description | changed)}))


def test_files_without_a_description(images, graphs):
    reason = "it has no description; fp.datasets.ImageDataset(...).save writes one"
    for ask in (load, kind_of):
        with pytest.raises(fp.FileFormatError, match="it has no description"):
            ask(str(rewritten(graphs, {"metadata.json": None})))
    assert refusal(rewritten(images, {"metadata.json": None})).endswith(reason)


@pytest.mark.parametrize("kind", ["images", "graphs"])
def test_files_that_are_cut_or_spoiled(request, kind):
    path = request.getfixturevalue(kind)
    whole = path.read_bytes()
    for end in range(0, len(whole), 61):
        path.write_bytes(whole[:end])
        assert refusal(path)
        with pytest.raises(fp.FileFormatError):
            kind_of(str(path))
    for place in range(0, len(whole), 17):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        refusal(path)  # or it is read, where the byte does not matter
