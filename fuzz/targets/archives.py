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

from flipproof.datasets.archives import gunzipped, untarred, unzipped
from flipproof.datasets.dataset_card import Form
from flipproof.datasets.read_citations import read_planetoid_arrays, read_sparse_graph
from flipproof.datasets.read_images import idx_array, read_cifar_arrays
from flipproof.datasets.read_messages import messages_of
from flipproof.datasets.read_tudataset import TUDataset
from fuzz.mutators import in_gzip, in_tar, in_zip, tarred, zipped
from fuzz.target import ByteMutator, Mutator, Target, in_bytes

_MOST = 1_000


@dataclass(frozen=True)
class _Unpinned:
    """A member of which no checksum is known, so that the reader behind it gets to see it."""

    name: str

    def read(self, archive: bytes) -> bytes:
        return unzipped(archive, self.name, _MOST)


_MOLECULES = TUDataset(
    "TWO",
    {-1: "no", 1: "yes"},
    ("C", "N"),
    tuple(map(_Unpinned, ("A", "graph", "labels", "nodes"))),  # type: ignore[arg-type]
)
_IDX = bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6])
_KINDS: tuple[tuple[Callable[[bytes], Any], Mutator, Callable[[], bytes]], ...] = (
    (lambda content: idx_array(content, (2, 3)), in_gzip, lambda: gzip.compress(_IDX, mtime=0)),
    (lambda content: messages_of(gunzipped(content, 24)), in_gzip, lambda: gzip.compress(b"ham\thello\nspam\tbye bye!\n", mtime=0)),
    (messages_of, in_bytes, lambda: b"ham\thello\nspam\tbye\n"),
    (lambda content: untarred(content, {"a/b.bin": 4, "c": 2}), in_tar, lambda: tarred({"x": b"y", "c": b"123", "a/b.bin": b"12345"})),
    (lambda content: _MOLECULES.read({"TWO.zip": content}), in_zip, lambda: _molecules()),
    (lambda content: read_sparse_graph({"few.npz": content}, "few"), in_zip, lambda: _graph("adj_matrix.", "attr_matrix.")),
    (lambda content: read_planetoid_arrays({"few.npz": content}, "few"), in_zip, lambda: _graph("adj_", "attr_")),
    (lambda content: read_cifar_arrays({"cifar10_subset.npz": content}), in_zip, lambda: _images()),
)  # fmt: skip


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


def _seeds() -> Iterator[bytes]:
    for kind, (_, _, seed) in enumerate(_KINDS):
        yield bytes([kind]) + seed()


def _kind(content: bytes) -> tuple[Callable[[bytes], Any], Mutator, Callable[[], bytes]]:
    return _KINDS[content[0] % len(_KINDS) if content else 0]


def _read(content: bytes) -> None:
    read = _kind(content)[0]
    Form((), lambda contents: read(contents["few"])).dataset({"few": content[1:]})


def _mutate(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    return content[:1] + _kind(content)[1](content[1:], rng, mutate)


TARGET = Target(
    "archives", _seeds, _read, _mutate, (b"ustar", b"ham\t", b"spam\t", b", ", b"-1", b"9223372036854775808")
)
