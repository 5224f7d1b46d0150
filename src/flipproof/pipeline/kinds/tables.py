"""Rows of a table of categories."""

from __future__ import annotations

from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.pipeline.estimator_model import EstimatorModel
from flipproof.pipeline.job import Job, Lot, Model, fitted_noise
from flipproof.pipeline.kinds.row_split import split_of, tested
from flipproof.pipeline.task import Task
from flipproof.pipeline.torch_model import TorchModel
from flipproof.run_folder.records import DataRecord
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.theory.radii import parts_of


def table_job(task: Task, data: TableDataset) -> Job:
    """Rows of a test set; columns with equally many categories form a part with radii of their own."""
    split = split_of(task, data.labels)
    test, table = tested(task, split.test), data.table()
    categories = {name or table.parts[0]: part.categories for name, part in parts_of(table.noise(0.0, 0.0))}
    return Job(
        task=task,
        record=DataRecord(
            data.name,
            {"rows": len(data), "columns": data.features},
            data.classes,
            fingerprint((data.values, data.categories, data.labels)),
        ),
        noise=fitted_noise(task.noise, categories),
        learned=Lot(table, data.labels, split),
        certified=Lot.to_test(data.table(test), data.labels[test]),
        class_names=data.class_names,
        model=_model(task, data.features, data.classes),
        drawn={
            "names": tuple(f"no. {i} of {data.name}" for i in test),
            "column_names": data.column_names,
            "value_names": data.value_names or None,
        },
    )


def _model(task: Task, columns: int, classes: int) -> Model:
    if not task.model.own:
        return EstimatorModel(task, columns, classes)
    sizes = {"features": columns, "classes": classes}
    return TorchModel(task, sizes, lambda module: TorchClassifier(module, classes=classes))
