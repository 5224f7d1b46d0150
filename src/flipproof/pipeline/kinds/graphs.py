"""Whole graphs, such as molecules, whose nodes are of a few kinds."""

from __future__ import annotations

from typing import Any

from flipproof.datasets import GraphDataset
from flipproof.models.adapters.graph_classifier import GraphClassifier
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.graph import ATTRIBUTES, PARTS
from flipproof.noise.spaces.words import small_graph_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.models import TorchModel
from flipproof.pipeline.prepared import (
    LabelledInputs,
    PreparedTask,
    data_record,
    fitted_noise,
    split_of,
    split_parts,
    to_certify,
)
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.task import SplitFile, Task, TrainingSettings


def _prepared(task: Task, data: GraphDataset) -> PreparedTask:
    """Graphs of a test set; the kinds of their nodes are entries with several values, or one-hot bits."""
    kinds = "one-hot" if task.reading.one_hot else "category"
    one_hot = None if task.reading.one_hot else data.features
    parts = PARTS[task.noisy]
    split = split_of(task, data.labels, data.split)
    test, classes = to_certify(task, split.test, len(data)), data.classes
    return PreparedTask(
        task=task,
        record=data_record(
            data.name,
            {"graphs": len(data), "nodes": data.nodes, "edges": data.edges, "kinds of nodes": data.features},
            classes,
            (data.edge_indices, data.node_labels, data.labels, *split_parts(data.split)),
        ),
        noise=fitted_noise(task.noise, {part: one_hot or 2 if part == ATTRIBUTES else 2 for part in parts}),
        learned=LabelledInputs(data.graphs(task.noisy, kinds=kinds), data.labels, split),
        certified=LabelledInputs.some(data.graphs(task.noisy, test, kinds=kinds), data.labels, split, test),
        class_names=data.class_names,
        model=TorchModel(
            task,
            {"features": data.features, "classes": classes},
            lambda module: GraphClassifier(module, classes=classes, one_hot=one_hot),
        ),
        drawn={"names": tuple(f"no. {i} of {data.name}" for i in test), "node_names": data.node_names},
        split_given=data.split is not None or isinstance(task.split, SplitFile),
    )


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return small_graph_words(task.noisy, one_hot=task.reading.one_hot)


_MODELS = ("gin",)
_TRAINING = TrainingSettings(noisy_samples=4, learning_rate=5e-3, epochs=100, batch_size=32)

GRAPHS = Kind(
    name="graphs",
    unit="graph",
    noises={noisy: NoiseDefaults(noise, _MODELS, _TRAINING) for noisy, noise in usual.GRAPHS.items()},
    dataset=GraphDataset,
    prepare=_prepared,
    change_words=_change_words,
    reading=("one_hot",),
    chosen=("targets", "split"),
)
