"""Rows of a table of categories."""

from __future__ import annotations

from typing import Any

from flipproof.datasets import TableDataset
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.words import table_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.models import model_of_rows
from flipproof.pipeline.prepared import LabelledInputs, PreparedTask, data_record, fitted_noise, split_of, tested
from flipproof.run_folder.folder import DataRecord
from flipproof.run_folder.task import Shares, Task, TrainingSettings


def _prepared(task: Task, data: TableDataset) -> PreparedTask:
    """Rows of a test set; columns with equally many categories form a part with radii of their own."""
    split = split_of(task, data.labels)
    test, table = tested(task, split.test), data.table()
    categories = {name or table.parts[0]: part.categories for name, part in table.noise(0.0, 0.0).flips}
    return PreparedTask(
        task=task,
        record=data_record(
            data.name,
            {"rows": len(data), "columns": data.features},
            data.classes,
            (data.values, data.categories, data.labels),
        ),
        noise=fitted_noise(task.noise, categories),
        learned=LabelledInputs(table, data.labels, split),
        certified=LabelledInputs.to_test(data.table(test), data.labels[test]),
        class_names=data.class_names,
        model=model_of_rows(task, data.features, data.classes),
        drawn={
            "names": tuple(f"no. {i} of {data.name}" for i in test),
            "column_names": data.column_names,
            "value_names": data.value_names or None,
        },
    )


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return table_words(noise.flips)


TABLES = Kind(
    name="tables",
    unit="row",
    noises={"cells": NoiseDefaults(usual.CELLS, ("forest",), TrainingSettings(noisy_samples=20), Shares(test=0.3))},
    dataset=TableDataset,
    prepare=_prepared,
    change_words=_change_words,
)
