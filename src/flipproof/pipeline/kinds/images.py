"""Images in black and white, or with all their levels."""

from __future__ import annotations

import numpy as np

from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.noise.spaces.rows import DenseRows
from flipproof.pipeline.job import Job, Lot, fitted_noise
from flipproof.pipeline.kinds.row_split import check_parts, shares_of, tested
from flipproof.pipeline.task import Task
from flipproof.pipeline.torch_model import TorchModel
from flipproof.run_folder.records import DataRecord
from flipproof.run_folder.split import Split
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


def image_job(task: Task, data: ImageDataset) -> Job:
    """The first images of the test set; a share of the others is for validation."""
    read = _read(task, data)
    split = Split.by_share(read.train_labels, 0.0, shares_of(task).validation, task.seed)
    check_parts(read.train_labels.size, validation=split.validation)
    if not len(read.test_images):
        raise InvalidInputError(f"expected test images to certify, got none in {data.name}")
    test = tested(task, np.arange(len(read.test_images)))
    shape, classes = read.train_images.shape[1:], read.classes
    return Job(
        task=task,
        record=DataRecord(
            data.name,
            {"images": len(data), **_sizes(read)},
            classes,
            fingerprint((read.train_images, read.train_labels, read.test_images, read.test_labels)),
        ),
        noise=fitted_noise(task.noise, {"values": read.levels}),
        learned=Lot(DenseRows(read.train_images), read.train_labels, split),
        certified=Lot.to_test(DenseRows(read.test_images[test]), read.test_labels[test]),
        class_names=read.class_names,
        model=TorchModel(
            task,
            {"shape": tuple(map(int, shape)), "classes": classes, "levels": read.levels},
            lambda module: TorchClassifier(module, classes=classes),
        ),
        drawn={"image_shape": tuple(map(int, shape))},
        split_given=True,  # images come with a test set
    )


def _sizes(data: ImageDataset) -> dict[str, int]:
    """Pixels, colours of each if there are several, and levels."""
    height, width, *colours = data.train_images.shape[1:]
    return {
        "pixels": int(height * width),
        **({"colours": int(colours[0])} if colours else {}),
        "levels": data.levels,
    }


def _read(task: Task, data: ImageDataset) -> ImageDataset:
    """The images as the task wants them."""
    threshold = task.reading.threshold
    if task.noisy == "levels":
        if threshold is not None:
            raise InvalidInputError("expected a threshold only for noise on pixels, got one for noise on levels")
        return data
    if data.levels == 2 and threshold is None:
        return data
    return data.binarised((data.levels - 2) // 2 if threshold is None else threshold)
