"""Cards against the data they describe: real files where there are any, and the built-in ones."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets.fetching.data_file import find
from flipproof.datasets.loading import found_form
from flipproof.datasets.readers.images import read_cifar_batches
from flipproof.datasets.readers.text_files import SMS, read_sms_zip

FOLDER = Path(os.environ.get("FLIPPROOF_DATA", "nowhere"))


def load(name):
    if found_form(fp.datasets.card(name)) is None:
        pytest.skip(f"needs the files of {name} in FLIPPROOF_DATA")
    return fp.datasets.load(name, download=False)


def numbers_of(data):
    """What a card says, counted."""
    if isinstance(data, fp.datasets.NodeDataset):
        return data.nodes, data.nodes, data.edges, data.features, int(data.attributes.sum())
    if isinstance(data, fp.datasets.GraphDataset):
        return len(data), data.nodes, data.edges, data.features, int(data.graphs().attributes.sum())
    if isinstance(data, fp.datasets.TextDataset):
        return len(data), None, None, None, None
    if isinstance(data, fp.datasets.TableDataset):
        return len(data), None, None, data.features, None
    black = data if data.levels == 2 else data.binarised(127)
    ones = int(black.train_images.sum(dtype=np.int64) + black.test_images.sum(dtype=np.int64))
    return (
        len(data),
        None,
        None,
        data.features,
        ones if data.train_images.ndim == 3 and data.levels in (2, 256) else None,
    )


@pytest.mark.parametrize("name", fp.datasets.names())
def test_the_card_tells_the_truth(name):
    data, card = load(name), fp.datasets.card(name)
    assert numbers_of(data) == (card.inputs, card.nodes, card.edges, card.features, card.ones)
    assert (data.name, data.classes) == (name, card.classes)
    labels = np.concatenate([data.train_labels, data.test_labels]) if card.kind == "images" else data.labels
    assert (np.bincount(labels, minlength=card.classes) > 0).all()


def test_cora_ml_is_that_of_the_paper():
    cora = load("cora_ml")
    assert (cora.nodes, cora.edges, cora.attributes.nnz) == (2810, 7981, 142_286)
    assert np.bincount(cora.labels).tolist() == [348, 393, 440, 407, 781, 150, 291]
    assert cora.class_names[4] == "Neural_Networks"
    assert (cora.adjacency != cora.adjacency.T).nnz == 0
    assert cora.adjacency.diagonal().sum() == 0
    assert set(np.unique(cora.attributes.data)) == {1.0}
    again = cora.standardised()
    assert (again.nodes, again.edges, again.attributes.nnz) == (2810, 7981, 142_286)


@pytest.mark.parametrize(
    ("name", "counts"), [("citeseer", [115, 463, 388, 304, 532, 308]), ("pubmed", [4103, 7739, 7875])]
)
def test_classes_of_citation_graphs(name, counts):
    assert np.bincount(load(name).labels).tolist() == counts


@pytest.mark.parametrize("noisy", ["structure", "attributes", "both"])
def test_graphs_are_ready_for_noise(noisy):
    graph = load("citeseer").graph(noisy)
    assert (graph.nodes, graph.edges.count, graph.noisy) == (2110, 3668, noisy)


@pytest.mark.parametrize(
    ("name", "counts", "kinds"),
    [
        ("mutag", [63, 125], [2395, 345, 593, 12, 1, 23, 2]),
        ("proteins", [663, 450], [21_151, 20_931, 1389]),
    ],
)
def test_collections_of_graphs(name, counts, kinds):
    data = load(name)
    assert np.bincount(data.labels).tolist() == counts
    assert np.bincount(np.concatenate(data.node_labels)).tolist() == kinds
    some = data.graphs("both", which=[0, 5])
    assert some.nodes == data.node_labels[0].size + data.node_labels[5].size
    assert some.graphs[1].edges.count * 2 == data.edge_indices[5].shape[1]
    assert some.attributes.ones == some.nodes


def test_mnist():
    mnist = load("mnist")
    assert (len(mnist.train_images), len(mnist.test_images)) == (60_000, 10_000)
    assert np.bincount(mnist.test_labels).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert round(100 * mnist.binarised(127).train_images.mean(), 4) == 13.2258
    assert round(100 * mnist.binarised(0).test_images.mean(), 4) == 19.2758


def test_cifar_out_of_the_whole_archive_is_what_the_arrays_hold():
    """The archive of its home is not at hand: one of the same form is made of the same images."""
    data = load("cifar10")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
        for part, name in (("train", "data_batch_1.bin"), ("test", "test_batch.bin")):
            planes = getattr(data, f"{part}_images").transpose(0, 3, 1, 2).reshape(-1, 3072)
            records = np.hstack([getattr(data, f"{part}_labels").astype(np.uint8)[:, None], planes])
            content = records.tobytes() + b"the other half of it" * 1000
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    again = read_cifar_batches({"cifar-10-binary.tar.gz": archive.getvalue()})
    for part in ("train_images", "train_labels", "test_images", "test_labels"):
        assert (getattr(again, part) == getattr(data, part)).all()
    assert np.bincount(data.test_labels).tolist() == [103, 89, 100, 103, 90, 86, 112, 102, 106, 109]
    assert again.class_names[0] == "airplane"


def test_sms_spam_from_either_form():
    data = load("sms_spam")
    assert np.bincount(data.labels).tolist() == [4827, 747]
    assert (len(set(data.messages)), max(map(len, data.messages))) == (5171, 910)
    if find("sms_spam.tsv.gz") is None:
        pytest.skip("needs sms_spam.tsv.gz in FLIPPROOF_DATA")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(SMS.name, gzip.decompress(find("sms_spam.tsv.gz").read_bytes()))
    assert read_sms_zip({"sms+spam+collection.zip": archive.getvalue()}).messages == data.messages


@pytest.mark.skipif(not (FOLDER / "cora_ml.npz").is_file(), reason="needs cora_ml.npz in FLIPPROOF_DATA")
@pytest.mark.parametrize("place", [0, 1000, 1_000_000, -1])
def test_one_changed_byte_is_noticed(place, tmp_path, monkeypatch):
    content = bytearray((FOLDER / "cora_ml.npz").read_bytes())
    content[place] ^= 1
    (tmp_path / "cora_ml.npz").write_bytes(content)
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path))
    with pytest.raises(
        fp.FileFormatError, match=r"expected cora_ml.npz with sha256 46b98cabc9c22c09, got \w{16} in .*delete"
    ):
        fp.datasets.load("cora_ml")


def test_saved_real_data_come_back(tmp_path):
    cora = load("cora_ml")
    cora.save(tmp_path / "mine.npz")
    again = fp.datasets.load(tmp_path / "mine.npz")
    assert (again.adjacency != cora.adjacency).nnz == 0
    assert (again.attributes != cora.attributes).nnz == 0
    assert (again.labels == cora.labels).all()
    assert (again.name, again.class_names, again.directed) == (cora.name, cora.class_names, False)


def test_digits_are_those_of_the_example():
    from sklearn.datasets import load_digits

    raw, digits = load_digits(), fp.datasets.load("digits")
    assert digits.levels == 2
    assert (digits.train_images.reshape(-1, 64) == (raw.data[:1437] > 7)).all()
    assert (digits.test_images.reshape(-1, 64) == (raw.data[1437:] > 7)).all()
    assert (digits.test_labels == raw.target[1437:]).all()


def test_the_graph_of_digits_joins_nearest_neighbours():
    """Against distances in plain integers, sorted as pairs (distance, number)."""
    from sklearn.datasets import load_digits

    graph = fp.datasets.load("digits-graph")
    grey = load_digits().data.astype(np.int64)
    chosen = np.zeros((1797, 1797), dtype=bool)
    for node in range(1797):
        distances = ((grey - grey[node]) ** 2).sum(axis=1)
        distances[node] = 10**9
        chosen[node, np.lexsort((np.arange(1797), distances))[:5]] = True
    assert (graph.adjacency.toarray().astype(bool) == (chosen | chosen.T)).all()
    assert (graph.attributes != sp.csr_array(grey > 7)).nnz == 0
    assert graph.graph("both").parts == ("structure", "attributes")
