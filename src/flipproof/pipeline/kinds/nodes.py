"""Nodes of one graph."""

from __future__ import annotations

from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.pipeline.job import Job, Lot
from flipproof.pipeline.kinds.row_split import kept_split, split_parts
from flipproof.pipeline.task import PerClass, Task
from flipproof.pipeline.torch_model import TorchModel
from flipproof.run_folder.records import DataRecord
from flipproof.run_folder.split import Split
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

_IMAGES = {"digits-graph": (8, 8)}
"""Datasets whose attributes are pixels."""


def node_job(task: Task, data: NodeDataset) -> Job:
    """The nodes of a graph, all of them certified."""
    if data.attributes is None:
        raise InvalidInputError(
            f"expected a graph with attributes, got {task.dataset} without; numpy.eye(nodes) gives every node one"
        )
    graph, sizes = data.graph(task.noisy), task.split
    if not isinstance(sizes, PerClass):
        raise InvalidInputError(f"expected PerClass for nodes, got {sizes!r}")
    if data.split is None:
        split = Split.per_class(data.labels, sizes.train, sizes.validation, task.seed)
    else:
        split = kept_split(task, data.split)
    nodes, classes = Lot(graph, data.labels, split), data.classes
    return Job(
        task=task,
        record=DataRecord(
            data.name,
            {"nodes": data.nodes, "edges": data.edges, "features": data.features},
            classes,
            fingerprint((data.adjacency, data.attributes, data.labels, *split_parts(data.split))),
        ),
        noise=task.noise,
        learned=nodes,
        certified=nodes,
        class_names=data.class_names,
        model=TorchModel(
            task,
            {"features": data.features, "classes": classes},
            lambda module: NodeClassifier(module, classes=classes),
        ),
        drawn={"image_shape": _IMAGES.get(task.dataset)},
        split_given=data.split is not None,
    )
