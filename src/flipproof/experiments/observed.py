"""The data of a run again, for whoever wants to look at them."""

from __future__ import annotations

from dataclasses import dataclass

from flipproof.datasets import load
from flipproof.datasets.node_dataset import NodeDataset
from flipproof.errors import FlipproofError
from flipproof.experiments.node_task import NodeTask, data_record
from flipproof.noise.graph import Graph
from flipproof.smoothing.run_folder import RunFolder
from flipproof.smoothing.run_record import TRAIN, DataRecord, read_section

_IMAGES = {"digits-graph": (8, 8)}
"""Datasets whose attributes are pixels."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The graph that was voted on, and the shape of the images that its nodes are, if they are."""

    graph: Graph
    image_shape: tuple[int, int] | None


def observed(folder: RunFolder) -> Observed | None:
    """The data of a run, if they are at hand and still what they were. Nothing is fetched."""
    task = NodeTask.from_record(folder.record()["task"])
    try:
        data = load(task.dataset, download=False)
    except FlipproofError:
        return None
    known = read_section(folder, "dataset", DataRecord, TRAIN)
    if not isinstance(data, NodeDataset) or data_record(data) != known:
        return None
    return Observed(data.graph(task.noisy), _IMAGES.get(task.dataset))
