"""From a task to its job, by the kind of its data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flipproof.datasets import GraphDataset, ImageDataset, NodeDataset, TableDataset, TextDataset, card, load
from flipproof.datasets.readers.own_files import is_own, kind_of_file
from flipproof.errors import InvalidInputError
from flipproof.pipeline.job import Job
from flipproof.pipeline.kinds.graphs import graph_job
from flipproof.pipeline.kinds.images import image_job
from flipproof.pipeline.kinds.nodes import node_job
from flipproof.pipeline.kinds.tables import table_job
from flipproof.pipeline.kinds.texts import text_job
from flipproof.pipeline.task import Task

_JOBS: dict[str, tuple[type, Callable[[Task, Any], Job]]] = {
    "nodes": (NodeDataset, node_job),
    "graphs": (GraphDataset, graph_job),
    "images": (ImageDataset, image_job),
    "text": (TextDataset, text_job),
    "tables": (TableDataset, table_job),
}


def kind_of(dataset: str) -> str:
    """What an input is, of a dataset by its name or path. Of a file, little is read.

    Example:
        >>> kind_of("mnist")
        'images'
    """
    return kind_of_file(dataset) if is_own(dataset) else card(dataset).kind


def job_of(task: Task, download: bool = True) -> Job:
    """Loads the data of a task and checks that they fit it."""
    kind, make = _JOBS[task.kind]
    data = load(task.dataset, download=download)
    if not isinstance(data, kind):
        raise InvalidInputError(f"expected {task.kind}, got {task.dataset}, which is something else")
    return make(task, data)
