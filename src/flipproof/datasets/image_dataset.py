"""Images of whole grey or colour levels with labels, split into training and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.labels import checked_labels, checked_names
from flipproof.errors import InvalidInputError
from flipproof.theory.arrays import IntArray, read_only

Images = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class ImageDataset:
    """Images [n, height, width] or [n, height, width, 3] of uint8, and their labels.

    Attributes:
        name: what to call it.
        train_images: images to learn from.
        train_labels: their labels, from 0.
        test_images: images to certify; of the same shape.
        test_labels: their labels.
        class_names: one name per class; by default the numbers.
        levels: how many values a pixel may have.

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
            images = _checked_images(getattr(self, f"{part}_images"), self.levels)
            object.__setattr__(self, f"{part}_images", images)
            labels = checked_labels(getattr(self, f"{part}_labels"), len(images), "image")
            object.__setattr__(self, f"{part}_labels", labels)
        if self.train_images.shape[1:] != self.test_images.shape[1:]:
            shapes = f"{self.train_images.shape[1:]} and {self.test_images.shape[1:]}"
            raise InvalidInputError(f"expected training and test images of one shape, got {shapes}")
        labels = np.concatenate([self.train_labels, self.test_labels])
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __len__(self) -> int:
        return len(self.train_images) + len(self.test_images)

    @property
    def features(self) -> int:
        """How many numbers an image has."""
        return int(np.prod(self.train_images.shape[1:]))

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    def binarised(self, threshold: int) -> ImageDataset:
        """The same images in black and white: one where a pixel is above the threshold."""
        return ImageDataset(
            self.name,
            (self.train_images > threshold).view(np.uint8),
            self.train_labels,
            (self.test_images > threshold).view(np.uint8),
            self.test_labels,
            self.class_names,
            levels=2,
        )


def _checked_images(given: Any, levels: int) -> Images:
    if not 2 <= levels <= 256:
        raise InvalidInputError(f"expected levels from 2 to 256, got {levels}")
    images = np.asarray(given)
    if images.dtype.kind not in "biu" or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise InvalidInputError(
            f"expected whole numbers of shape [n, height, width] or [n, height, width, 3], "
            f"got {images.dtype} of shape {list(images.shape)}"
        )
    if images.size and (images.min() < 0 or images.max() >= levels):
        raise InvalidInputError(f"expected pixels from 0 to {levels - 1}, got {images.min()} to {images.max()}")
    checked: Images = read_only(images.astype(np.uint8, copy=False))
    return checked
