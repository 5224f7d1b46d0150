"""Nodes of one graph."""

from __future__ import annotations

from typing import Any

from flipproof.datasets import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.noise import usual
from flipproof.noise.laws import Law
from flipproof.noise.spaces.words import graph_words
from flipproof.pipeline.kinds.kind import Kind, NoiseDefaults
from flipproof.pipeline.models import TorchModel
from flipproof.pipeline.prepared import LabelledInputs, PreparedTask, data_record, given_split, split_parts, to_certify
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.split import Split
from flipproof.run_folder.task import PerClass, SplitFile, Task

_IMAGES = {"digits-graph": (8, 8)}
"""Datasets whose attributes are pixels."""


def _prepared(task: Task, data: NodeDataset) -> PreparedTask:
    """The nodes of a graph, all of them certified."""
    if data.attributes is None:
        raise InvalidInputError(
            f"expected a graph with attributes, got {task.dataset} without; numpy.eye(nodes) gives every node one"
        )
    graph, sizes = data.graph(task.noisy), task.split
    split = given_split(task, data.split, data.nodes)
    if split is None and isinstance(sizes, PerClass):
        split = Split.per_class(data.labels, sizes.train, sizes.validation, task.seed)
    elif split is None:
        raise InvalidInputError(f"expected PerClass for nodes, got {sizes!r}")
    nodes, classes = LabelledInputs(graph, data.labels, split), data.classes
    targets = None if task.targets is None else to_certify(task, split.test, data.nodes)
    return PreparedTask(
        task=task,
        record=data_record(
            data.name,
            {"nodes": data.nodes, "edges": data.edges, "features": data.features},
            classes,
            (data.adjacency, data.attributes, data.labels, *split_parts(data.split)),
        ),
        noise=task.noise,
        learned=nodes,
        certified=nodes if targets is None else LabelledInputs.some(graph, data.labels, split, targets),
        class_names=data.class_names,
        model=TorchModel(
            task,
            {"features": data.features, "classes": classes},
            lambda module: NodeClassifier(module, classes=classes),
        ),
        drawn=_drawn(task),
        split_given=data.split is not None or isinstance(sizes, SplitFile),
        targets=targets,
    )


def _drawn(task: Task) -> dict[str, Any]:
    """Attributes that are pixels are drawn and called so."""
    shape = _IMAGES.get(task.dataset)
    return {} if shape is None else {"image_shape": shape, **graph_words(task.noisy, "pixels")}


def _change_words(task: Task, data: DataRecord, noise: Law) -> dict[str, Any]:
    return graph_words(task.noisy)


def _check(task: Task) -> None:
    if task.inputs is not None:
        raise InvalidInputError("expected all nodes of a graph to be certified, got inputs")


_MODELS = ("gcn", "gat", "appnp")

NODES = Kind(
    name="nodes",
    unit="node",
    noises={noisy: NoiseDefaults(noise, _MODELS, split=PerClass()) for noisy, noise in usual.NODES.items()},
    dataset=NodeDataset,
    prepare=_prepared,
    change_words=_change_words,
    n_estimate=100_000,  # a graph gives votes for all its nodes at once, so more can be had
    chosen=("targets", "split"),
    useless=("batch_size",),
    check=_check,
)
