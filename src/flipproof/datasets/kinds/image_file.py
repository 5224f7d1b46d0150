"""The file format of `ImageDataset`: a zip of arrays that numpy can open and a JSON description, without pickles."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from flipproof.errors import FileFormatError, one_line
from flipproof.files.archive import reading_archive, write_archive
from flipproof.files.strict_json import FileKind

if TYPE_CHECKING:
    from flipproof.datasets.kinds.image_dataset import ImageDataset

IMAGES_FILE = FileKind("dataset", "flipproof-images", 1, "; fp.datasets.ImageDataset(...).save writes one")
_ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")


def write_images(data: ImageDataset, path: str | os.PathLike[str]) -> None:
    """Writes the images to a file; a partial file never appears."""
    description = {
        "name": one_line(str(data.name)),
        "class_names": data.class_names,
        "levels": data.levels,
        "images": len(data),
    }
    write_archive(path, IMAGES_FILE, description, {name: getattr(data, name) for name in _ARRAYS})


def read_images(path: str | os.PathLike[str], dataset: type[ImageDataset]) -> ImageDataset:
    """Reads and checks a file written by `write_images`; `dataset` is the class of the result."""
    with reading_archive(path, IMAGES_FILE) as file:
        images, levels = _sizes(file.description)
        data = dataset(
            name=str(file.description["name"]),
            **{name: file.array(name) for name in _ARRAYS},
            class_names=tuple(file.description["class_names"]),
            levels=levels,
        )
        if len(data) != images:
            raise FileFormatError(f"its description speaks of {images} images, it has {len(data)}")
        return data


def described_images(path: str | os.PathLike[str]) -> tuple[int, int]:
    """The numbers of images and levels that a file's description states; the images are not read."""
    with reading_archive(path, IMAGES_FILE, whole=False) as file:
        return _sizes(file.description)


def _sizes(description: Mapping[str, Any]) -> tuple[int, int]:
    images, levels = description["images"], description["levels"]
    if type(images) is not int or type(levels) is not int or images < 0:
        raise FileFormatError(f"its description speaks of {images!r} images with {levels!r} levels")
    return images, levels
