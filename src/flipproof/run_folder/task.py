"""The task of a run, as a value: data, model, noise, training, and how inputs are split.

Whether a task fits its kind of data is checked in `flipproof.pipeline`, which knows the kinds.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from flipproof.base.values import checked_count, checked_items, chosen
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.files.strict_json import is_plain
from flipproof.noise.laws import Law, law_from_record
from flipproof.run_folder.reading import Reading

_MOST = 1e30


class Average(StrEnum):
    """What is averaged over the noisy samples of a step."""

    LOG_SOFTMAX = "log-softmax"
    SOFTMAX = "softmax"

    @classmethod
    def named(cls, name: str) -> Average:
        """The average with this name."""
        return chosen(cls, name, "average")


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a model is trained; the defaults are those of the paper (appendix, "Hyperparameters").

    Attributes:
        noisy_samples: noisy copies of every input per step, the paper's m; 0 trains on the clean inputs.
        average: "log-softmax" averages the cross-entropies of the samples; "softmax" takes the cross-entropy of the
            averaged probabilities, which trains the smoothed classifier itself (Salman et al., 2019). For one
            sample they are the same.
        learning_rate: of Adam.
        weight_decay: of Adam.
        epochs: how often all inputs are seen at most; for the nodes of a graph, an epoch is one step.
        patience: stop after this many epochs without a lower validation loss.
        batch_size: rows or small graphs per step; the nodes of a graph are all seen at once.
        balanced: whether every class counts the same, however many inputs it has.
    """

    noisy_samples: int = 1
    average: str = Average.LOG_SOFTMAX
    learning_rate: float = 1e-3
    weight_decay: float = 1e-3
    epochs: int = 3000
    patience: int = 50
    batch_size: int = 128
    balanced: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "average", Average.named(self.average))
        checked_count(self.noisy_samples, "noisy_samples")
        for name in ("epochs", "patience", "batch_size"):
            if checked_count(getattr(self, name), name) < 1:
                raise InvalidInputError(f"expected {name} to be at least 1, got {getattr(self, name)}")
        for name in ("learning_rate", "weight_decay"):
            number = getattr(self, name)
            real = isinstance(number, numbers.Real) and not isinstance(number, bool)
            if not real or not 0.0 <= float(number) <= _MOST:
                raise InvalidInputError(f"expected {name} to be a number from 0 to {_MOST:g}, got {number!r}")
            object.__setattr__(self, name, float(number))
        if not isinstance(self.balanced, bool):
            raise InvalidInputError(f"expected balanced to be True or False, got {self.balanced!r}")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model a task asks for: one that ships, by its name, or a user's own, by where its code is.

    Attributes:
        name: "gcn", "gat" or "appnp" for nodes, "gin" for graphs, "cnn" for images, "embedding" for sequences of
            words, "logistic" or "forest" for bags of words, "forest" for tables; or "path/to/file.py:Name" or
            "package.module:Name" for a torch module of your own.
        hidden: the size of the hidden layer; by default the model's own.
        dropout: the share of hidden numbers that training leaves out; by default the model's own.
    """

    name: str
    hidden: int | None = None
    dropout: float | None = None

    def __post_init__(self) -> None:
        if self.hidden is not None and checked_count(self.hidden, "hidden") < 1:
            raise InvalidInputError("expected hidden to be at least 1, got 0")
        if self.dropout is not None and not 0.0 <= self.dropout < 1.0:
            raise InvalidInputError(f"expected dropout in [0, 1), got {self.dropout}")

    @property
    def own(self) -> bool:
        """Whether it is the user's own."""
        return isinstance(self.name, str) and ":" in self.name


@dataclass(frozen=True, slots=True)
class PerClass:
    """How many nodes of every class are for training and for validation; all others are for testing."""

    flag: ClassVar[str] = "per_class"

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

    flag: ClassVar[str] = "share"

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
class SplitFile:
    """A split of the user's own, in a text file with a word per input; see `flipproof.run_folder.split_file`."""

    flag: ClassVar[str] = "file"

    file: str

    def __post_init__(self) -> None:
        if not is_plain(self.file) or not self.file:
            raise InvalidInputError(f"expected the path of a split, got {self.file!r}")


@dataclass(frozen=True, slots=True)
class Task:
    """A model, trained with noise, whose predictions are to be certified.

    Attributes:
        kind: what an input is: "nodes", "graphs", "images", "text", "tables", or a kind that was registered.
        dataset: a name that `flipproof.datasets.load` knows, or the path of a saved dataset.
        model: see `ModelSpec`.
        noisy: what gets noise: one of the `noises` of the kind.
        noise: a `FlipNoise`, or for "both" a `JointNoise(structure=..., attributes=...)`. Entries with more than two
            values get as many categories as the data have. An `AblationNoise` is for comparisons: its certificates
            come from `flipproof.baselines`.
        training: see `TrainingSettings`.
        split: which inputs are for what: `PerClass` for nodes, `Shares` for all else, or a `SplitFile`.
        reading: how data are read.
        inputs: how many test inputs are certified at most; None: all. Nodes are always certified all.
        seed: of split, initial weights, noise in training, and votes.
        targets: the numbers of the inputs that are certified; None: those that are for testing, or all nodes.
    """

    kind: str
    dataset: str
    model: ModelSpec
    noisy: str
    noise: Law
    training: TrainingSettings = field(default_factory=TrainingSettings)
    split: PerClass | Shares | SplitFile = field(default_factory=PerClass)
    reading: Reading = field(default_factory=Reading)
    inputs: int | None = None
    seed: int = 0
    targets: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        for name in (self.dataset, self.model.name):
            if not is_plain(name):
                raise InvalidInputError(f"expected names without control characters, got {name!r}")
        if self.inputs is not None and checked_count(self.inputs, "inputs") < 1:
            raise InvalidInputError("expected at least one of the inputs, got 0")
        if checked_count(self.seed, "seed") >= 2**63:
            raise InvalidInputError(f"expected seed below 2**63, got {self.seed}")
        if self.targets is not None:
            targets = tuple(
                checked_count(each, "targets") for each in checked_items(self.targets, "targets", "numbers")
            )
            if not targets or len(set(targets)) < len(targets):
                raise InvalidInputError("expected different targets, at least one, got others")
            if self.inputs is not None:
                raise InvalidInputError("expected either inputs or targets, got both")
            object.__setattr__(self, "targets", targets)

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
            "reading": self.reading.to_record(),
            "inputs": self.inputs,
            "seed": self.seed,
            **({} if self.targets is None else {"targets": list(self.targets)}),
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
                split=_split_kind(record["split"])(**record["split"]),
                reading=Reading(**record["reading"]),
                inputs=record["inputs"],
                seed=record["seed"],
                targets=record.get("targets"),
            )
        except (KeyError, TypeError, AttributeError, InvalidInputError) as error:
            raise FileFormatError(
                f"expected a run.json written by flipproof, got a task that makes no sense: {error}"
            ) from error


def _split_kind(record: Mapping[str, Any]) -> type[PerClass | Shares | SplitFile]:
    """The kind of split that a record describes."""
    return SplitFile if "file" in record else PerClass if "train" in record else Shares
