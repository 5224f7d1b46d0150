"""The models of tasks: torch modules, kept as safetensors, and scikit-learn estimators, kept as plain arrays."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError, reason_of
from flipproof.extras import MissingExtraError, require
from flipproof.models.adapters.torch_modules import checked_device
from flipproof.models.fitted.estimators import classifier_of_arrays, fitted
from flipproof.models.training.train import fit_estimator, train
from flipproof.models.weights import arrays_bytes, load_weights, read_arrays, seeded_module, weights_bytes
from flipproof.noise.laws import Law
from flipproof.run_folder.task import ModelSpec, Task

if TYPE_CHECKING:
    from flipproof.pipeline.prepared import LabelledInputs

FUSED_MODELS = ("gcn", "appnp", "gat")
"""Models that the fused engine can evaluate."""

_TREES = 30
_MODULES: dict[str, str] = {
    "gcn": "flipproof.models.networks.node_modules:GCN",
    "gat": "flipproof.models.networks.node_modules:GAT",
    "appnp": "flipproof.models.networks.node_modules:APPNP",
    "gin": "flipproof.models.networks.graph_modules:GIN",
    "cnn": "flipproof.models.networks.image_modules:CNN",
    "embedding": "flipproof.models.networks.text_modules:WordMean",
}
"""Torch modules that tasks can name, and where they are."""


def register_module(name: str, place: str) -> None:
    """Gives a torch module a name that tasks can ask for: `place` is "package.module:Name"."""
    _MODULES[name] = place


@dataclass(frozen=True, slots=True, eq=False)
class TorchModel:
    """A torch module and the adapter that makes a classifier of it.

    Attributes:
        task: what was asked.
        sizes: what the module is made with, by keyword: how many features and classes, and the like.
        wrap: makes a classifier of a module.
    """

    task: Task
    sizes: Mapping[str, Any]
    wrap: Callable[[Any], Any]

    def spec(self, code: str | None = None) -> ModelSpec:
        """Which model it is; `code` is where a user's own one is now."""
        return self.task.model if code is None else replace(self.task.model, name=code)

    def new(self, code: str | None = None) -> Any:
        """A classifier that is not trained."""
        return self.wrap(built_module(self.spec(code), self.sizes, self.task.seed))

    def check(self) -> None:
        """Refuses a module that cannot be made."""
        self.new()

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """A trained classifier and what happened in training."""
        classifier, task = self.new(), self.task
        with own_model_errors(task):
            history = train(
                classifier, learned.space, learned.labels, learned.split, noise, task.training, task.seed,
                memory_limit=memory_limit, progress=progress,
            )  # fmt: skip
        return classifier, {
            "epochs": len(history.loss),
            "seconds": history.seconds,
            "loss": history.loss,
            "validation_loss": history.validation_loss,
            "validation_accuracy": history.validation_accuracy,
        }

    def weights(self, classifier: Any) -> bytes:
        """The state of the module."""
        return weights_bytes(classifier.module)

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """A new module with this state."""
        classifier = self.new(code)
        load_weights(classifier.module, content, name)
        classifier.module.eval()
        return classifier


def built_module(spec: ModelSpec, sizes: Mapping[str, Any], seed: int) -> Any:
    """A new module for data of these sizes, with initial weights that depend on the seed alone."""
    make = _named(_MODULES[spec.name]) if spec.name in _MODULES else own_object(spec.name)
    chosen = {"hidden": spec.hidden, "dropout": spec.dropout}
    options = {**sizes, **{name: value for name, value in chosen.items() if value is not None}}
    try:
        return seeded_module(make, options, seed)
    except MissingExtraError:
        raise
    except Exception as error:  # whatever the constructor of somebody's model raises
        raise InvalidInputError(
            f"expected a model that is made by ({', '.join(options)}), got {spec.name}: {error}"
        ) from error


def _named(place: str) -> Any:
    """What "package.module:Name" names."""
    module, _, attribute = place.rpartition(":")
    return getattr(importlib.import_module(module), attribute)


def own_object(name: str) -> Any:
    """What a user's FILE.py:NAME or package.module:NAME names. It runs the user's code."""
    place, _, attribute = name.rpartition(":")
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        return getattr(module, attribute)
    except (Exception, SystemExit) as error:  # whatever somebody's code raises when it is loaded
        raise InvalidInputError(
            f"expected FILE.py:NAME or package.module:NAME, got {name}: {reason_of(error)}"
        ) from error


def _from_file(path: Path) -> Any:
    """The module of a file, sent to workers by value because they could not import it."""
    import cloudpickle  # only models from a file need it

    name = f"flipproof_own_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    cloudpickle.register_pickle_by_value(module)
    return module


def on_device(classifier: Any, device: str) -> Any:
    """The classifier, with its module moved to a device."""
    module = getattr(classifier, "module", None)
    if module is None:
        raise InvalidInputError(f"expected a torch module for device {device!r}, got {type(classifier).__name__}")
    module.to(checked_device(device))
    return classifier


@contextlib.contextmanager
def own_model_errors(task: Task) -> Iterator[None]:
    """Turns whatever a user's own model raises into one line. An error in ours is a bug, and passes unchanged."""
    try:
        yield
    except Exception as error:
        if isinstance(error, FlipproofError) or not task.model.own:
            raise
        raise InvalidInputError(f"expected {task.model.name} to label {task.kind}, got {reason_of(error)}") from error


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorModel:
    """An estimator fitted to rows with this number of columns.

    Attributes:
        task: what was asked; of its training, `noisy_samples` and `balanced` count.
        columns: how many entries a row has.
        classes: how many labels there are.
    """

    task: Task
    columns: int
    classes: int

    def check(self) -> None:
        """Refuses to begin without the packages that training and saving will need."""
        require("safetensors.numpy")
        _MAKERS[self.task.model.name](self.task)

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """The arrays of a fitted estimator."""
        task, rows, start = self.task, learned.split.train, time.perf_counter()
        if np.unique(learned.labels[rows]).size < self.classes:
            raise InvalidInputError(f"expected inputs of all {self.classes} classes to train on, got fewer")
        estimator = fit_estimator(
            _MAKERS[task.model.name](task), learned.space, learned.labels, rows, noise, task.training.noisy_samples,
            task.seed, memory_limit,
        )  # fmt: skip
        return fitted(estimator), {"epochs": 0, "seconds": time.perf_counter() - start}

    def weights(self, classifier: Any) -> bytes:
        """The arrays."""
        return arrays_bytes(classifier.arrays())

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """The classifier of arrays that fit the data."""
        classifier = classifier_of_arrays(read_arrays(content, name), name)
        found = (classifier.columns, classifier.classes)
        if found != (self.columns, self.classes):
            raise FileFormatError(
                f"expected weights for {self.columns} columns and {self.classes} classes, got {name} for "
                f"{found[0]} and {found[1]}"
            )
        return classifier


def _logistic(task: Task) -> Any:
    return require("sklearn.linear_model").LogisticRegression(max_iter=1000, class_weight=_weights(task))


def _forest(task: Task) -> Any:
    return require("sklearn.ensemble").RandomForestClassifier(
        _TREES, class_weight=_weights(task), random_state=task.seed % 2**32
    )


def _weights(task: Task) -> str | None:
    return "balanced" if task.training.balanced else None


_MAKERS: dict[str, Callable[[Task], Any]] = {"logistic": _logistic, "forest": _forest}

ESTIMATORS = tuple(_MAKERS)
"""Models that are fitted at once: most settings of training are not for them."""
