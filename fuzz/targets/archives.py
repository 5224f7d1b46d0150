"""Datasets as they were published: idx, tar, zip and npz files and the texts in them, told by the first byte."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.datasets.cards.catalogue import StoredForm
from flipproof.datasets.fetching.data_file import gunzipped, untarred, unzipped
from flipproof.datasets.readers.citations import read_planetoid_arrays, read_sparse_graph
from flipproof.datasets.readers.images import idx_array, read_cifar_arrays
from flipproof.datasets.readers.text_files import messages_of
from flipproof.datasets.readers.tudataset import TUDataset
from fuzz.mutators import in_gzip, in_tar, in_zip, tarred, zipped
from fuzz.target import ByteMutator, Mutator, Target, in_bytes

_MOST = 1_000


@dataclass(frozen=True)
class _Unpinned:
    """A member of which no checksum is known, so that the reader behind it gets to see it."""

    name: str

    def read(self, archive: bytes) -> bytes:
        return unzipped(archive, self.name, _MOST)


@dataclass(frozen=True)
class _Kind:
    """A reader, how its files are changed, and one of them."""

    read: Callable[[bytes], Any]
    mutate: Mutator
    seed: bytes


_MOLECULES = TUDataset(
    "TWO",
    {-1: "no", 1: "yes"},
    ("C", "N"),
    tuple(map(_Unpinned, ("A", "graph", "labels", "nodes"))),  # type: ignore[arg-type]
)


def _molecules() -> bytes:
    texts = {"A": b"1, 2\n2, 1\n3,4\n4,3\n", "graph": b"1\n1\n2\n2\n", "labels": b"1\n-1\n", "nodes": b"0\n1\n1\n0\n"}
    return zipped([*texts.items()])


def _npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _graph(adjacency: str, attributes: str) -> bytes:
    path, words = sp.csr_array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), sp.csr_array(np.eye(3, dtype=np.float32))
    arrays = {"labels": np.array([0, 1, 0]), "class_names": np.array(["x/a", "x/b"])}
    for prefix, matrix in ((adjacency, path), (attributes, words)):
        for part in ("data", "indices", "indptr", "shape"):
            arrays[prefix + part] = np.asarray(getattr(matrix, part))
    return _npz(**arrays)


def _images() -> bytes:
    pixels, labels = np.zeros((2, 2, 2, 3), np.uint8), np.array([0, 9])
    return _npz(train_images=pixels, train_labels=labels, test_images=pixels, test_labels=labels)


_IDX = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])
_MESSAGES = b"ham\thello\nspam\tbye bye!\n"
_KINDS = (
    _Kind(lambda content: idx_array(content, (2, 3)), in_gzip, gzip.compress(_IDX, mtime=0)),
    _Kind(lambda content: messages_of(gunzipped(content, len(_MESSAGES))), in_gzip, gzip.compress(_MESSAGES, mtime=0)),
    _Kind(messages_of, in_bytes, _MESSAGES),
    _Kind(
        lambda content: untarred(content, {"a/b.bin": 4, "c": 2}),
        in_tar,
        tarred({"x": b"y", "c": b"123", "a/b.bin": b"12345"}),
    ),
    _Kind(lambda content: _MOLECULES.read({"TWO.zip": content}), in_zip, _molecules()),
    _Kind(
        lambda content: read_sparse_graph({"few.npz": content}, "few"), in_zip, _graph("adj_matrix.", "attr_matrix.")
    ),
    _Kind(lambda content: read_planetoid_arrays({"few.npz": content}, "few"), in_zip, _graph("adj_", "attr_")),
    _Kind(lambda content: read_cifar_arrays({"cifar10_subset.npz": content}), in_zip, _images()),
)


def _seeds() -> Iterator[bytes]:
    for number, kind in enumerate(_KINDS):
        yield bytes([number]) + kind.seed


def _kind(content: bytes) -> _Kind:
    return _KINDS[content[0] % len(_KINDS) if content else 0]


def _read(content: bytes) -> None:
    StoredForm((), lambda contents: _kind(content).read(contents["few"])).dataset({"few": content[1:]})


def _mutate(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    return content[:1] + _kind(content).mutate(content[1:], rng, mutate)


TARGET = Target(
    "archives", _seeds, _read, _mutate, (b"ustar", b"ham\t", b"spam\t", b", ", b"-1", b"9223372036854775808")
)
