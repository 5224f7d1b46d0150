"""Files that lie: objects that would run code, arrays that promise too much, matrices that point outside."""

import gzip
import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets import NodeDataset
from flipproof.datasets.fetching.data_file import gunzipped, untarred
from flipproof.datasets.readers.images import idx_array
from flipproof.datasets.readers.sparse_arrays import read_csr
from flipproof.datasets.readers.text_files import messages_of
from flipproof.datasets.readers.tudataset import split_graphs
from flipproof.files.archive import read_array


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def archive_of(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return zipfile.ZipFile(file)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "mine.npz"
    NodeDataset("mine", sp.csr_array([[0, 1], [1, 0]]), sp.csr_array([[1, 0], [1, 1]]), [0, 1]).save(path)
    return path


def rewritten(path, **changed):
    """The same file with some members replaced, or removed where they are None."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    for name, value in changed.items():
        if isinstance(value, bytes):
            members[f"{name}.npy"] = value
            continue
        content = io.BytesIO()
        np.lib.format.write_array(content, value)
        members[f"{name}.npy"] = content.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_the_bomb_works(tmp_path):
    np.save(tmp_path / "bomb.npy", np.array(Bomb(tmp_path / "exploded"), dtype=object))
    np.load(tmp_path / "bomb.npy", allow_pickle=True)
    assert (tmp_path / "exploded").exists()


@pytest.mark.parametrize("name", ["labels", "adjacency_data", "attributes_indptr"])
def test_objects_are_refused_without_being_unpickled(saved, tmp_path, name):
    rewritten(saved, **{name: np.array([Bomb(tmp_path / "exploded")], dtype=object)})
    with pytest.raises(fp.FileFormatError, match=f"{name} holds Python objects, which are never unpickled"):
        fp.datasets.load(saved)
    assert not (tmp_path / "exploded").exists()


def test_objects_beside_the_arrays_are_refused(saved, tmp_path):
    rewritten(saved, metadata=np.array(Bomb(tmp_path / "exploded"), dtype=object))
    with pytest.raises(fp.FileFormatError, match=r"an unknown member 'metadata\.npy'"):
        fp.datasets.load(saved)
    assert not (tmp_path / "exploded").exists()


def array(*values):
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"adjacency_indptr": array(0, 5, 2)}, "row starts do not fit its entries"),
        ({"adjacency_indptr": array(0, 1)}, "2 row starts for shape 2 x 2"),
        ({"adjacency_indptr": array(0, 1, 9)}, "row starts do not fit its entries"),
        ({"adjacency_indptr": array(1, 1, 2)}, "row starts do not fit its entries"),
        ({"adjacency_indices": array(1, 2)}, "column 2 of 2"),
        ({"adjacency_indices": array(1, -1)}, "column 1 of 2"),
        ({"adjacency_indices": array(1, 0, 1)}, "row starts do not fit its entries"),
        ({"adjacency_indices": np.array([0.0, 1.0])}, "wrong types"),
        ({"adjacency_shape": array(2, 2, 2)}, "wrong types"),
        ({"adjacency_shape": array(-1, 2)}, "row starts for shape -1 x 2"),
        ({"adjacency_shape": array(2, 2**40)}, "row starts for shape"),
        ({"adjacency_shape": array(2, 3)}, "expected a square adjacency matrix"),
        ({"adjacency_data": array(1, 7)}, "zeros and ones, got 7"),
        ({"adjacency_data": np.array(["a", "b"])}, "wrong types"),
        ({"attributes_data": np.array([1.0, np.nan, 1.0])}, "expected finite attributes"),
        ({"labels": array(0, -3)}, "the label -3"),
        ({"labels": array(0, 1, 1)}, r"labels of shape \[3\]"),
        ({"labels": np.zeros(2, dtype=[("a", "i4")])}, "not an array of numbers"),
        ({"labels": b"garbage"}, "labels is not an array"),
        ({"labels": b""}, "labels is not an array"),
    ],
)
def test_wrong_arrays_are_refused(saved, changed, reason):
    rewritten(saved, **changed)
    with pytest.raises(fp.FileFormatError, match=rf"^expected a dataset written by flipproof, got {saved}: .*{reason}"):
        fp.datasets.load(saved)


def test_an_array_that_promises_more_than_there_is(saved):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (2**50,)})
    rewritten(saved, labels=header.getvalue() + bytes(16))
    with pytest.raises(fp.FileFormatError, match="labels promises 9007199254740992 bytes"):
        fp.datasets.load(saved)


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ({}, "does not say flipproof-nodes"),
        ([], "does not say flipproof-nodes"),
        ({"format": "flipproof-nodes", "version": 3}, "it has version 3, this flipproof reads 2"),
        ({"format": "flipproof-nodes", "version": 1}, "KeyError"),
    ],
)
def test_wrong_descriptions_are_refused(saved, description, reason):
    with zipfile.ZipFile(saved, "w") as file:
        file.writestr("metadata.json", json.dumps(description))
    with pytest.raises(fp.FileFormatError, match=reason):
        fp.datasets.load(saved)


def test_other_files_are_refused(saved, tmp_path):
    for end in range(0, len(saved.read_bytes()), 97):
        (tmp_path / "cut.npz").write_bytes(saved.read_bytes()[:end])
        with pytest.raises(fp.FileFormatError):
            fp.datasets.load(tmp_path / "cut.npz")
    np.savez(tmp_path / "other.npz", labels=[0])
    with pytest.raises(fp.FileFormatError, match=r"it has no description; fp.datasets.from_scipy takes matrices"):
        fp.datasets.load(tmp_path / "other.npz")
    with pytest.raises(fp.FileFormatError, match="No such file"):
        fp.datasets.load("nowhere.npz")


def test_arrays_of_strangers():
    assert read_array(archive_of(a=np.array(["x", "y"])), "a").tolist() == ["x", "y"]
    with pytest.raises(fp.FileFormatError, match="it has no array b"):
        read_array(archive_of(a=[1]), "b")
    with pytest.raises(fp.FileFormatError, match="a is not an array of numbers or words"):
        read_array(archive_of(a=np.asfortranarray(np.ones((2, 3)))), "a")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", b"")
    with pytest.raises(fp.FileFormatError, match="compressed in a way that flipproof does not read"):
        read_array(zipfile.ZipFile(file), "a")
    with pytest.raises(fp.FileFormatError, match="m is no sparse matrix: its arrays have the wrong types"):
        read_csr(archive_of(m_data=[[1]], m_indices=[0], m_indptr=[0, 1], m_shape=[1, 1]), "m_")


def test_archives_that_unpack_to_more():
    with pytest.raises(fp.FileFormatError, match="unpacks to more bytes instead of 100"):
        gunzipped(gzip.compress(bytes(10**6)), 100)
    with pytest.raises(fp.FileFormatError, match="unpacks to 3 bytes instead of 100"):
        gunzipped(gzip.compress(bytes(3)), 100)
    file = io.BytesIO()
    with gzip.GzipFile(fileobj=file, mode="w") as stream:
        stream.write(bytes(10_240))
    with pytest.raises(fp.FileFormatError, match="it has no member a"):
        untarred(file.getvalue(), {"a": 1})


def test_texts_that_are_something_else():
    with pytest.raises(fp.FileFormatError, match=r"expected an idx file of shape \[2\], got another header"):
        idx_array(gzip.compress(bytes(10)), (2,))
    with pytest.raises(fp.FileFormatError, match="expected lines that begin with ham or spam, got 'eggs'"):
        messages_of(b"ham\thello\neggs\tbye\n")


@pytest.mark.parametrize(
    ("pairs", "graph_of_node", "reason"),
    [
        ([[0, 1], [1, 0]], [1, 0, 1], "in the order of its 2 graphs"),
        ([[0, 1], [1, 0]], [0, 1, 2], "in the order of its 2 graphs"),
        ([[0, 3], [3, 0]], [0, 0, 1], "edges between nodes 1 to 3, got another"),
        ([[0, 2], [2, 0]], [0, 0, 1], "got one between two graphs"),
    ],
)
def test_collections_that_do_not_fit_together(pairs, graph_of_node, reason):
    with pytest.raises(fp.FileFormatError, match=reason):
        split_graphs("two", np.array(pairs), np.array(graph_of_node), array(0, 1), array(0, 0, 0), (), ())
