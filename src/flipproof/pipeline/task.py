"""What is asked of a run, as a value: data, model, noise, training, which inputs are for what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from flipproof.base.arguments import checked_count
from flipproof.errors import FileFormatError, InvalidInputError, not_among
from flipproof.files.json_text import is_plain
from flipproof.models.training.settings import TrainingSettings
from flipproof.noise.laws import Law, law_from_record
from flipproof.pipeline.model_spec import ModelSpec

NOISES = {
    "nodes": ("attributes", "structure", "both"),
    "graphs": ("structure", "attributes", "both"),
    "images": ("pixels", "levels"),
    "text": ("words", "substitution", "masking"),
    "tables": ("cells",),
}
"""What may get noise, by the kind of data."""


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
class Shares:
    """Which share of the inputs of every class is for testing and for validation; all others are for training.

    Images come with a test set of their own: of the others, a share is for validation.
    """

    test: float = 0.1
    validation: float = 0.1

    def __post_init__(self) -> None:
        for name in ("test", "validation"):
            if not isinstance(getattr(self, name), float | int) or not 0.0 < getattr(self, name) < 1.0:
                raise InvalidInputError(f"expected a {name} share between 0 and 1, got {getattr(self, name)!r}")
        if self.test + self.validation >= 1.0:
            raise InvalidInputError(
                f"expected shares that leave something to train on, got {self.test} and {self.validation}"
            )


@dataclass(frozen=True, slots=True)
class Reading:
    """How data are read where they can be read in several ways.

    Attributes:
        threshold: of images with noise on pixels: those above become ones.
        one_hot: of graphs: the kind of a node is a row of bits, of which two change when it changes, not one
            entry with several values.
    """

    threshold: int | None = None
    one_hot: bool = False

    def __post_init__(self) -> None:
        if self.threshold is not None:
            checked_count(self.threshold, "threshold")
        if not isinstance(self.one_hot, bool):
            raise InvalidInputError(f"expected one_hot to be True or False, got {self.one_hot!r}")


@dataclass(frozen=True, slots=True)
class Task:
    """A model, trained with noise, whose predictions are to be certified.

    Attributes:
        kind: what an input is: "nodes", "graphs", "images", "text" or "tables".
        dataset: a name that `flipproof.datasets.load` knows, or the path of a saved dataset.
        model: see `ModelSpec`.
        noisy: what gets noise; see `NOISES`.
        noise: a `FlipNoise`, or for "both" a `JointNoise(structure=..., attributes=...)`. Entries with more than two
            values get as many categories as the data have. An `AblationNoise` is for comparisons: its certificates
            come from `flipproof.baselines`.
        training: see `TrainingSettings`.
        split: which inputs are for what: `PerClass` for nodes, `Shares` for all else.
        reading: how data are read.
        inputs: at most so many test inputs are certified; None: all. Of nodes, always all.
        seed: of split, initial weights, noise in training, and votes.
    """

    kind: str
    dataset: str
    model: ModelSpec
    noisy: str
    noise: Law
    training: TrainingSettings = field(default_factory=TrainingSettings)
    split: PerClass | Shares = field(default_factory=PerClass)
    reading: Reading = field(default_factory=Reading)
    inputs: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in NOISES:
            raise not_among("kind", NOISES, self.kind)
        if self.noisy not in NOISES[self.kind]:
            raise not_among("noise", NOISES[self.kind], self.noisy)
        self.model.check(self.kind, self.noisy)
        for name in (self.dataset, self.model.name):
            if not is_plain(name):
                raise InvalidInputError(f"expected names without control characters, got {name!r}")
        if isinstance(self.split, PerClass) != (self.kind == "nodes"):
            raise InvalidInputError("expected PerClass for nodes and Shares for all else, got the other")
        if self.reading.threshold is not None and self.noisy != "pixels":
            raise InvalidInputError(f"expected a threshold only for noise on pixels, got one for noise on {self.noisy}")
        if self.reading.one_hot and self.kind != "graphs":
            raise InvalidInputError(f"expected one_hot for graphs only, got it for {self.kind}")
        if self.inputs is not None:
            if self.kind == "nodes":
                raise InvalidInputError("expected all nodes of a graph to be certified, got inputs")
            if checked_count(self.inputs, "inputs") < 1:
                raise InvalidInputError("expected at least one of the inputs, got 0")
        if checked_count(self.seed, "seed") >= 2**63:
            raise InvalidInputError(f"expected seed below 2**63, got {self.seed}")

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "kind": self.kind,
            "dataset": self.dataset,
            "model": asdict(self.model),
            "noisy": self.noisy,
            "noise": self.noise.record(),
            "training": {**asdict(self.training), "average": str(self.training.average)},
            "split": asdict(self.split),
            "reading": asdict(self.reading),
            "inputs": self.inputs,
            "seed": self.seed,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Task:
        """The inverse of `to_record`."""
        try:
            return cls(
                kind=record["kind"],
                dataset=record["dataset"],
                model=ModelSpec(**record["model"]),
                noisy=record["noisy"],
                noise=law_from_record(record["noise"]),
                training=TrainingSettings(**record["training"]),
                split=(PerClass if record["kind"] == "nodes" else Shares)(**record["split"]),
                reading=Reading(**record["reading"]),
                inputs=record["inputs"],
                seed=record["seed"],
            )
        except (KeyError, TypeError, AttributeError, InvalidInputError) as error:
            raise FileFormatError(
                f"expected a run.json written by flipproof, got a task without sense: {error}"
            ) from error
