"""Whole graphs, such as molecules, whose nodes are of a few kinds."""

from __future__ import annotations

from flipproof.datasets.kinds.graph_dataset import GraphDataset
from flipproof.models.adapters.graph_classifier import GraphClassifier
from flipproof.noise.spaces.graph import ATTRIBUTES, PARTS
from flipproof.pipeline.job import Job, Lot, fitted_noise
from flipproof.pipeline.kinds.row_split import split_of, split_parts, tested
from flipproof.pipeline.task import Task
from flipproof.pipeline.torch_model import TorchModel
from flipproof.run_folder.records import DataRecord
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


def graph_job(task: Task, data: GraphDataset) -> Job:
    """Graphs of a test set; the kinds of their nodes are entries with several values, or one-hot bits."""
    kinds = "one-hot" if task.reading.one_hot else "category"
    one_hot = None if task.reading.one_hot else data.features
    parts = PARTS[task.noisy]
    split = split_of(task, data.labels, data.split)
    test, classes = tested(task, split.test), data.classes
    return Job(
        task=task,
        record=DataRecord(
            data.name,
            {"graphs": len(data), "nodes": data.nodes, "edges": data.edges, "kinds of nodes": data.features},
            classes,
            fingerprint((data.edge_indices, data.node_labels, data.labels, *split_parts(data.split))),
        ),
        noise=fitted_noise(task.noise, {part: one_hot or 2 if part == ATTRIBUTES else 2 for part in parts}),
        learned=Lot(data.graphs(task.noisy, kinds=kinds), data.labels, split),
        certified=Lot.to_test(data.graphs(task.noisy, test, kinds=kinds), data.labels[test]),
        class_names=data.class_names,
        model=TorchModel(
            task,
            {"features": data.features, "classes": classes},
            lambda module: GraphClassifier(module, classes=classes, one_hot=one_hot),
        ),
        drawn={"names": tuple(f"no. {i} of {data.name}" for i in test), "node_names": data.node_names},
        split_given=data.split is not None,
    )
