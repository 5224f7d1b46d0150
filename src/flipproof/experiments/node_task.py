"""What is asked of a run on the nodes of a graph, as a value; and that together with its data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from flipproof.datasets import load
from flipproof.datasets.node_dataset import NodeDataset
from flipproof.errors import FileFormatError, InvalidInputError, not_among
from flipproof.experiments.model_spec import ModelSpec
from flipproof.models.node_classifier import NodeClassifier
from flipproof.models.training_settings import TrainingSettings
from flipproof.noise.graph import PARTS, Graph
from flipproof.noise.space import noise_of_parts
from flipproof.smoothing.fingerprints import fingerprint
from flipproof.smoothing.noise_record import noise_from_record, noise_record
from flipproof.smoothing.run_record import DataRecord
from flipproof.smoothing.split import Split
from flipproof.theory.law import Noise
from flipproof.theory.radii import checked_count


@dataclass(frozen=True, slots=True)
class PerClass:
    """How many nodes of every class are for training and for validation; all others are for testing."""

    train: int = 20
    validation: int = 20

    def __post_init__(self) -> None:
        for name in ("train", "validation"):
            if checked_count(getattr(self, name), f"{name} nodes per class") < 1:
                raise InvalidInputError(f"expected at least one {name} node per class, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True)
class NodeTask:
    """A model of the nodes of a graph, trained with noise.

    Attributes:
        dataset: a name that `flipproof.datasets.load` knows, or the path of a saved dataset.
        model: see `ModelSpec`.
        noisy: "structure", "attributes" or "both".
        noise: a `FlipNoise`, or for "both" a `JointNoise(structure=..., attributes=...)`.
        training: see `TrainingSettings`.
        per_class: the sizes of the split.
        seed: of split, initial weights, noise in training, and votes.
    """

    dataset: str
    model: ModelSpec
    noisy: str
    noise: Noise
    training: TrainingSettings = field(default_factory=TrainingSettings)
    per_class: PerClass = field(default_factory=PerClass)
    seed: int = 0

    def __post_init__(self) -> None:
        if self.noisy not in PARTS:
            raise not_among("noise", PARTS, self.noisy)
        noise_of_parts(self.noise, PARTS[self.noisy])
        if checked_count(self.seed, "seed") >= 2**63:
            raise InvalidInputError(f"expected seed below 2**63, got {self.seed}")

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "kind": "nodes",
            "dataset": self.dataset,
            "model": asdict(self.model),
            "noisy": self.noisy,
            "noise": noise_record(self.noise),
            "training": {**asdict(self.training), "average": str(self.training.average)},
            "per_class": asdict(self.per_class),
            "seed": self.seed,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> NodeTask:
        """The inverse of `to_record`."""
        try:
            if record["kind"] != "nodes":
                raise InvalidInputError(f"expected a run on nodes, got {record['kind']!r}")
            return cls(
                dataset=record["dataset"],
                model=ModelSpec(**record["model"]),
                noisy=record["noisy"],
                noise=noise_from_record(record["noise"]),
                training=TrainingSettings(**record["training"]),
                per_class=PerClass(**record["per_class"]),
                seed=record["seed"],
            )
        except (KeyError, TypeError, AttributeError, InvalidInputError) as error:
            raise FileFormatError(
                f"expected a run.json written by flipproof, got a task without sense: {error}"
            ) from error


@dataclass(frozen=True, slots=True, eq=False)
class NodeJob:
    """A task with its data: what the steps of a run work on."""

    task: NodeTask
    data: NodeDataset
    graph: Graph
    split: Split

    @classmethod
    def of(cls, task: NodeTask) -> NodeJob:
        """Loads the data and checks that they fit the task."""
        data = load(task.dataset)
        if not isinstance(data, NodeDataset):
            raise InvalidInputError(
                f"expected a graph with labels of nodes, got {task.dataset}, which is something else"
            )
        if data.attributes is None:
            raise InvalidInputError(
                f"expected a graph with attributes, got {task.dataset} without; numpy.eye(nodes) gives every node one"
            )
        per_class = task.per_class
        split = Split.per_class(data.labels, per_class.train, per_class.validation, task.seed)
        return cls(task, data, data.graph(task.noisy), split)

    def classifier(self, own: str | None = None) -> NodeClassifier:
        """A new model, not trained. `own` is where the code of a user's model is now."""
        model = self.task.model if own is None else replace(self.task.model, name=own)
        module = model.build(self.data.features, self.data.classes, self.task.seed)
        return NodeClassifier(module, classes=self.data.classes)


def data_record(data: NodeDataset) -> DataRecord:
    """What the data are."""
    contents = fingerprint((data.adjacency, data.attributes, data.labels))
    return DataRecord(data.name, data.nodes, data.edges, data.features, data.classes, contents)
