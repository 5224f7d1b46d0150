"""Rows of a table: of categories, or of a user's data frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

from flipproof.datasets import FrameDataset, TableDataset
from flipproof.datasets.loading import is_user_file
from flipproof.errors import InvalidInputError
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.words import table_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.own_models import model_of_rows
from flipproof.pipeline.prepared import LabelledInputs, PreparedTask, data_record, fitted_noise, split_of, to_certify
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.task import Shares, SplitFile, Task, TrainingSettings
from flipproof.theory.law import FlipNoise, JointNoise, Noise


def _prepared(task: Task, data: TableDataset | FrameDataset) -> PreparedTask:
    """Rows of a test set; columns with equally many categories form a part with radii of their own."""
    split = split_of(task, data.labels)
    test, table = to_certify(task, split.test, len(data)), data.table()
    categories = {name or table.parts[0]: part.categories for name, part in table.noise(0.0, 0.0).flips}
    noise, learned = fitted_noise(task.noise, categories), LabelledInputs(table, data.labels, split)
    certified = data.table(test)
    return PreparedTask(
        task=task,
        record=_record(task, data),
        noise=noise,
        learned=learned,
        certified=LabelledInputs.some(certified, data.labels, split, test),
        class_names=data.class_names,
        model=model_of_rows(task, learned, noise, data.features, data.class_names),
        drawn={
            "names": tuple(f"no. {i} of {data.name}" for i in test),
            "column_names": data.column_names,
            "value_names": data.value_names or None,
            **(certified.words(noise, None) if table.book is not None and _is_about_flips(noise) else {}),
        },
        split_given=isinstance(task.split, SplitFile),
    )


def _is_about_flips(noise: Law) -> TypeGuard[Noise]:
    return isinstance(noise, FlipNoise | JointNoise)


def _record(task: Task, data: TableDataset | FrameDataset) -> DataRecord:
    counts = {"rows": len(data), "columns": data.features}
    if isinstance(data, TableDataset):
        if task.reading.given:
            raise InvalidInputError(f"expected {task.reading.given[0]} for files only, got it for {task.dataset}")
        return data_record(data.name, counts, data.classes, (data.values, data.categories, data.labels))
    record = data_record(data.name, counts, data.classes, (data.rows, data.labels, data.class_names))
    label, separator = data.label_column, data.separator or ""
    return replace(record, label_column=label, class_counts=data.class_counts, separator=separator)


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return table_words(noise.flips)


def _suited_to(noisy: str, defaults: NoiseDefaults, dataset: str) -> NoiseDefaults:
    """A user's table may have any number of rows."""
    return replace(defaults, inputs=500) if is_user_file(dataset) else defaults


TABLES = Kind(
    name="tables",
    unit="row",
    noises={"cells": NoiseDefaults(usual.CELLS, ("forest",), TrainingSettings(noisy_samples=20), Shares(test=0.3))},
    dataset=(TableDataset, FrameDataset),
    prepare=_prepared,
    change_words=_change_words,
    reading=("label", "drop", "fixed", "bins", "header", "separator"),
    chosen=("targets", "split"),
    suited_to=_suited_to,
)
