"""Images in black and white, or with all their levels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from flipproof.datasets import ImageDataset, card
from flipproof.datasets.kinds.image_dataset import described_images
from flipproof.datasets.loading import is_user_file
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.rows import DenseRows
from flipproof.noise.spaces.words import image_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.models import TorchModel
from flipproof.pipeline.prepared import (
    LabelledInputs,
    PreparedTask,
    check_parts,
    data_record,
    fitted_noise,
    shares_of,
    to_certify,
)
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.split import Split
from flipproof.run_folder.task import Task, TrainingSettings
from flipproof.theory.law import FlipNoise


def _prepared(task: Task, data: ImageDataset) -> PreparedTask:
    """The first images of the test set; a share of the others is for validation."""
    read = _read(task, data)
    split = Split.by_share(read.train_labels, 0.0, shares_of(task).validation, task.seed)
    check_parts(read.train_labels.size, validation=split.validation)
    if not len(read.test_images):
        raise InvalidInputError(f"expected test images to certify, got none in {data.name}")
    test = to_certify(task, np.arange(len(read.test_images)), len(read.test_images))
    shape, classes = read.train_images.shape[1:], read.classes
    return PreparedTask(
        task=task,
        record=data_record(
            data.name,
            {"images": len(data), **_sizes(read)},
            classes,
            (read.train_images, read.train_labels, read.test_images, read.test_labels),
        ),
        noise=fitted_noise(task.noise, {"values": read.levels}),
        learned=LabelledInputs(DenseRows(read.train_images), read.train_labels, split),
        certified=LabelledInputs.to_test(DenseRows(read.test_images[test]), read.test_labels[test]),
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
    if task.noisy == "levels" or (data.levels == 2 and threshold is None):
        return data
    return data.binarised((data.levels - 2) // 2 if threshold is None else threshold)


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return image_words(colours=data.counts.get("colours", 1) > 1)


def _check(task: Task) -> None:
    if task.reading.threshold is not None and task.noisy != "pixels":
        raise InvalidInputError(f"expected a threshold only for noise on pixels, got one for noise on {task.noisy}")


def _suited_to(noisy: str, defaults: NoiseDefaults, dataset: str) -> NoiseDefaults:
    """Few images are looked at more often, and small ones bear less noise.

    Where a level of zero means that there is nothing, it may stay, and other levels may change a lot.
    """
    epochs = max(_FEW_EPOCHS, min(_MANY_EPOCHS, _LOOKS // max(1, _described(dataset)[0])))
    training = replace(defaults.training, epochs=epochs, patience=epochs)
    return replace(defaults, noise=_NOISES.get((dataset, noisy), defaults.noise), training=training)


def _first_noise(dataset: str) -> str:
    """Of images that are read in black and white, the pixels.

    Example:
        >>> _first_noise("mnist"), _first_noise("cifar10")
        ('pixels', 'levels')
    """
    return "pixels" if _described(dataset)[1] else "levels"


def _described(dataset: str) -> tuple[int, bool]:
    """How many images there are, and whether they are read in black and white."""
    if is_user_file(dataset):
        images, levels = described_images(dataset)
        return images, levels == 2
    return card(dataset).inputs, card(dataset).binary is not None


_LOOKS, _FEW_EPOCHS, _MANY_EPOCHS = 300_000, 8, 60
_NOISES = {
    ("digits", "pixels"): FlipNoise(0.03, 0.2),
    ("digits-grey", "pixels"): FlipNoise(0.03, 0.2),
    ("digits-grey", "levels"): FlipNoise(0.03, 0.9),
    ("mnist", "levels"): FlipNoise(0.2, 0.9),
}
_TRAINING = TrainingSettings(weight_decay=0.0)

IMAGES = Kind(
    name="images",
    unit="image",
    noises={
        "pixels": NoiseDefaults(usual.PIXELS, ("cnn",), _TRAINING, inputs=200),
        "levels": NoiseDefaults(usual.LEVELS, ("cnn",), _TRAINING, inputs=200),
    },
    dataset=ImageDataset,
    prepare=_prepared,
    change_words=_change_words,
    reading=("threshold",),
    chosen=("targets",),
    useless=("test_share",),
    suited_to=_suited_to,
    first_noise=_first_noise,
    check=_check,
)
