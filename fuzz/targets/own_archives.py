"""A user's own nodes, graphs and images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from flipproof.datasets import GraphDataset, ImageDataset, NodeDataset
from flipproof.datasets.kinds.image_dataset import described_images
from flipproof.datasets.loading import kind_of_file, load_user_file
from fuzz.mutators import in_zip
from fuzz.target import Target, saved, scratch, written

_WORDS = (b"flipproof-nodes", b"flipproof-graphs", b"flipproof-images", b"levels", b"directed", b"sparse", b"dense")


def _seeds() -> Iterator[bytes]:
    path = sp.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    for attributes in (None, sp.csr_array(np.eye(3)), np.array([[0.5, 1.0], [2.0, 0.0], [0.0, 0.25]])):
        yield written(NodeDataset("mine", path, attributes, [0, 1, 1], ("a", "b")).save)
    edges = ([[0, 1], [1, 0]], [[], []], [[0, 2], [2, 0]])
    yield written(GraphDataset("mine", edges, ([0, 1], [1], [0, 0, 0]), [0, 1, 1], ("a", "b"), ("C", "N")).save)
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 2, 2, 3)
    yield written(ImageDataset("mine", pixels, [0, 1], pixels, [0, 1]).save)
    yield written(
        ImageDataset("mine", pixels[..., 0] % 5, [1, 0], pixels[:1, :, :, 1] % 5, [1], ("cat", "dog"), 5).save
    )


def _read(content: bytes) -> None:
    path = saved(content, "mine.npz")
    if kind_of_file(path) == "images":
        described_images(path)
    data = load_user_file(path)
    data.save(scratch() / "again.npz")
    load_user_file(scratch() / "again.npz")
    if isinstance(data, NodeDataset):
        data.standardised()
    elif isinstance(data, GraphDataset):
        data.graphs()


TARGET = Target("own_archives", _seeds, _read, in_zip, _WORDS)
