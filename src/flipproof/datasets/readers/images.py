"""MNIST's idx files and CIFAR-10's binary batches as images."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.fetching.data_file import gunzipped, untarred
from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.errors import FileFormatError
from flipproof.files.archive import read_array

CIFAR_TRAIN, CIFAR_TEST = 5_000, 1_000
CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_PARTS = ("train", "test")
_CIFAR_RECORD = 1 + 3 * 32 * 32


def read_mnist(contents: Mapping[str, bytes]) -> ImageDataset:
    """Reads the four files of MNIST."""
    arrays: list[Any] = []
    for part, count in (("train", 60_000), ("t10k", 10_000)):
        arrays.append(idx_array(contents[f"{part}-images-idx3-ubyte.gz"], (count, 28, 28)))
        arrays.append(idx_array(contents[f"{part}-labels-idx1-ubyte.gz"], (count,)))
    train, train_labels, test, test_labels = arrays
    return ImageDataset("mnist", train, train_labels, test, test_labels)


def idx_array(content: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The array of bytes in a gzipped idx file, which must have this shape.

    Example:
        >>> import gzip
        >>> idx_array(gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9])), (2,))
        array([7, 9], dtype=uint8)
    """
    header = bytes([0, 0, 8, len(shape)]) + np.array(shape, dtype=">u4").tobytes()
    text = gunzipped(content, len(header) + int(np.prod(shape)))
    if not text.startswith(header):
        raise FileFormatError(f"expected an idx file of shape {list(shape)}, got another header")
    return np.frombuffer(text, np.uint8, offset=len(header)).reshape(shape)


def read_cifar_arrays(contents: Mapping[str, bytes]) -> ImageDataset:
    """Reads the first images of CIFAR-10 from an npz file."""
    with zipfile.ZipFile(io.BytesIO(contents["cifar10_subset.npz"])) as archive:
        train, test = (
            (read_array(archive, f"{part}_images"), read_array(archive, f"{part}_labels")) for part in _PARTS
        )
    return _cifar(train, test)


def read_cifar_batches(contents: Mapping[str, bytes]) -> ImageDataset:
    """Reads the first images of CIFAR-10 from the archive at its public home."""
    folder = "cifar-10-batches-bin"
    counts = {f"{folder}/data_batch_1.bin": CIFAR_TRAIN, f"{folder}/test_batch.bin": CIFAR_TEST}
    sizes = {name: count * _CIFAR_RECORD for name, count in counts.items()}
    texts = untarred(contents["cifar-10-binary.tar.gz"], sizes)
    train, test = (_records(texts[name]) for name in counts)
    return _cifar(train, test)


def _records(text: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Splits records into labels and images; a record is a label and an image's red, green and blue planes."""
    records = np.frombuffer(text, np.uint8).reshape(-1, _CIFAR_RECORD)
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0]


def _cifar(train: tuple[Any, Any], test: tuple[Any, Any]) -> ImageDataset:
    return ImageDataset("cifar10", *train, *test, class_names=CIFAR_CLASSES)
