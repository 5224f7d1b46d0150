"""Images of integer grey or colour levels with labels, split into training and test images."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import BoolArray, IntArray, checked_count, first_place, read_only
from flipproof.datasets.kinds.labels import checked_labels, checked_names, plain_array
from flipproof.errors import FileFormatError, InvalidInputError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind

Images = NDArray[np.uint8]
IMAGES_FILE = FileKind("dataset", "flipproof-images", 1, "; fp.datasets.ImageDataset(...).save writes one")
_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")
_AXES = ("image", "row", "column", "colour")


@dataclass(frozen=True, slots=True, eq=False)
class ImageDataset:
    """Images [n, height, width] or [n, height, width, 3] of uint8, and their labels.

    Attributes:
        name: the name of the dataset.
        train_images: images to learn from.
        train_labels: their labels, from 0.
        test_images: images to certify, of the same shape.
        test_labels: their labels.
        class_names: one name per class; by default the numbers.
        levels: the number of values that a pixel may have.

    Example:
        >>> data = ImageDataset("two", [[[0, 9]]], [0], [[[200, 3]]], [1])
        >>> data.binarised(7).test_images.tolist()
        [[[1, 0]]]
    """

    name: str
    train_images: Images
    train_labels: IntArray
    test_images: Images
    test_labels: IntArray
    class_names: tuple[str, ...] = ()
    levels: int = 256

    def __post_init__(self) -> None:
        for part in ("train", "test"):
            images = _checked_images(getattr(self, f"{part}_images"), self.levels, part)
            object.__setattr__(self, f"{part}_images", images)
            labels = checked_labels(getattr(self, f"{part}_labels"), len(images), "image")
            object.__setattr__(self, f"{part}_labels", labels)
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            shapes = f"{self.train_images.shape[1:]} and {self.test_images.shape[1:]}"
            raise InvalidInputError(f"expected training and test images of one shape, got {shapes}")
        labels = np.concatenate([self.train_labels, self.test_labels])
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __repr__(self) -> str:
        return short_repr(
            self,
            repr(self.name),
            f"{len(self.train_labels):,} + {len(self.test_labels):,} images",
            f"shape {self.train_images.shape[1:]}",
            amount(self.levels, "level"),
            amount(self.classes, "class"),
        )

    def __len__(self) -> int:
        return len(self.train_images) + len(self.test_images)

    @property
    def features(self) -> int:
        """The number of values in an image."""
        return int(np.prod(self.train_images.shape[1:]))

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    def binarised(self, threshold: int) -> ImageDataset:
        """The dataset with black and white images: one where a pixel is above the threshold, else zero."""
        threshold = checked_count(threshold, "threshold")
        return ImageDataset(
            self.name,
            (self.train_images > threshold).view(np.uint8),
            self.train_labels,
            (self.test_images > threshold).view(np.uint8),
            self.test_labels,
            self.class_names,
            levels=2,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the dataset, without pickles, to a file that `load` reads; a partial file never appears."""
        description = {
            "name": one_line(str(self.name)),
            "class_names": self.class_names,
            "levels": self.levels,
            "images": len(self),
        }
        write_archive(path, IMAGES_FILE, description, {name: getattr(self, name) for name in _ARRAYS})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ImageDataset:
        """Reads a file written by `save`."""
        with reading_archive(path, IMAGES_FILE) as file:
            images, levels = _sizes(file.description)
            data = cls(
                name=str(file.description["name"]),
                **{name: file.array(name) for name in _ARRAYS},
                class_names=tuple(file.description["class_names"]),
                levels=levels,
            )
            if len(data) != images:
                raise FileFormatError(f"its description speaks of {images} images, it has {len(data)}")
            return data


def _checked_images(given: Any, levels: int, part: str) -> Images:
    if not 2 <= checked_count(levels, "levels") <= 256:
        raise InvalidInputError(f"expected levels from 2 to 256, got {levels}")
    images = plain_array(given)
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise InvalidInputError(
            f"expected {part} images of shape [n, height, width] or [n, height, width, 3], "
            f"got {images.dtype} of shape {list(images.shape)}"
        )
    if not math.prod(images.shape[1:]):
        raise InvalidInputError(f"expected {part} images with at least one pixel, got shape {list(images.shape)}")
    if images.dtype.kind == "f":
        _refuse_first(images, (images != np.floor(images)) | np.isinf(images), f"{part} pixels to be whole numbers")
    if images.dtype.kind not in "biu":
        raise InvalidInputError(f"expected {part} pixels of an integer type, got {images.dtype}")
    if images.size and (images.min() < 0 or images.max() >= levels):
        _refuse_first(images, (images < 0) | (images >= levels), f"{part} pixels from 0 to {levels - 1}")
    checked: Images = read_only(images.astype(np.uint8, copy=False))
    return checked


def _refuse_first(images: Any, wrong: BoolArray, expected: str) -> None:
    """Raises an error that names the position of the first wrong pixel."""
    index = first_place(wrong)
    if index is not None:
        place = ", ".join(f"{axis} {number}" for axis, number in zip(_AXES, index, strict=False))
        raise InvalidInputError(f"expected {expected}, got {images[index]} in {place}")


def described_images(path: str | os.PathLike[str]) -> tuple[int, int]:
    """The numbers of images and levels that a file's description states; the images are not read."""
    with reading_archive(path, IMAGES_FILE, whole=False) as file:
        return _sizes(file.description)


def _sizes(description: Mapping[str, Any]) -> tuple[int, int]:
    images, levels = description["images"], description["levels"]
    if type(images) is not int or type(levels) is not int or images < 0:
        raise FileFormatError(f"its description speaks of {images!r} images with {levels!r} levels")
    return images, levels
