"""A user's own model of rows: an estimator that is fitted here, one that was fitted elsewhere, or a torch module.

Nothing of an estimator is stored but its fingerprint, as there is no way to store any estimator but a pickle, and a
pickle runs code. Whoever opens the run names the estimator again, and it is fitted again to the same noisy copies, or
taken as it is if it was fitted elsewhere.
"""

from __future__ import annotations

import inspect
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.threads import single_threaded
from flipproof.errors import FileFormatError, InvalidInputError, reason_of
from flipproof.extras import require
from flipproof.models.adapters.given_rows import fitted_columns, found, last_step, library_of
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.models.training.train import fit_estimator
from flipproof.models.weights import arrays_bytes, read_arrays
from flipproof.noise.laws import Law
from flipproof.noise.spaces.frame_book import FrameBook
from flipproof.pipeline.frame_models import CodedModel
from flipproof.pipeline.models import EstimatorModel, TorchModel, built_module, own_model_errors, own_object
from flipproof.pipeline.prepared import ELSEWHERE, LabelledInputs, Model
from flipproof.run_folder.task import Task
from flipproof.smoothing.classifier import Classifier, ModelOptions, classifier_of
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

_SIZES = ("features", "classes")
_KEPT = "fingerprint"
_NO_LIMIT = 2**62
"""Of memory, for fits that have been made before."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnModel:
    """The model in a user's file, whatever it turns out to be. Its code runs only when it is checked or asked for.

    Attributes:
        task: what was asked.
        learned: the inputs to fit to.
        noise: the law of the noisy copies to fit to.
        columns: how many entries a row has.
        class_names: one per class.
    """

    task: Task
    learned: LabelledInputs
    noise: Law
    columns: int
    class_names: tuple[str, ...]

    def check(self) -> None:
        """Refuses a model that cannot be made."""
        self._model(None).check()

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """A classifier of the model, and facts about its training."""
        return self._model(None).trained(learned, noise, memory_limit, progress)

    def weights(self, classifier: Any) -> bytes:
        """The state of a torch module; of an estimator, its fingerprint."""
        if (book := self._book) is not None and hasattr(classifier, "classifier"):
            return CodedModel(self._torch(None), book).weights(classifier)
        is_torch = isinstance(classifier, TorchClassifier)
        return self._torch(None).weights(classifier) if is_torch else _kept(classifier)

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """The classifier again: with these weights, or with this fingerprint."""
        return self._model(code).restored(content, name, code)

    def _model(self, code: str | None) -> Model:
        """What the name stands for."""
        name = self.task.model.name if code is None else code
        given = own_object(name)
        if _is_torch(given) or _wants_sizes(given):
            torch = self._torch(code)
            made = None if _is_torch(given) else built_module(torch.spec(code), torch.sizes, self.task.seed)
            if made is None or _is_torch(type(made)):
                return torch if self._book is None else CodedModel(torch, self._book)
            return self._estimator(made, name)
        return self._estimator(_made(given, name), name)

    def _estimator(self, estimator: Any, name: str) -> Model:
        if _is_torch(type(estimator)):
            raise InvalidInputError(
                f"expected the class of a torch module, got {name}, a module; give a class or a function that makes "
                f"one of ({', '.join(_SIZES)})"
            )
        if (self.task.model.hidden, self.task.model.dropout) != (None, None):
            raise InvalidInputError(f"expected no hidden and no dropout for {name}, an estimator, got some")
        return OwnEstimator(self, estimator, is_fitted(estimator))

    def _torch(self, code: str | None) -> TorchModel:
        classes = len(self.class_names)
        return TorchModel(
            self.task,
            {"features": self.columns, "classes": classes},
            lambda module: TorchClassifier(module, classes=classes),
        )

    @property
    def _book(self) -> FrameBook | None:
        return getattr(self.learned.space, "book", None)


@dataclass(frozen=True, slots=True, eq=False)
class OwnEstimator:
    """An estimator of scikit-learn, LightGBM, XGBoost, CatBoost or of the user, and what it is fitted to.

    Attributes:
        own: the task and its inputs.
        estimator: the estimator; it is fitted in place.
        elsewhere: whether it was fitted before it came here.
    """

    own: OwnModel
    estimator: Any
    elsewhere: bool

    def check(self) -> None:
        """Refuses to begin without the packages that training and saving will need."""
        require("safetensors.numpy")
        if self.elsewhere:
            self._classifier()
        elif not hasattr(self.estimator, "fit"):
            raise InvalidInputError(
                f"expected an estimator with fit, or a torch module, got {self.own.task.model.name}, which is a "
                f"{type(self.estimator).__name__}"
            )

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """The classifier of the fitted estimator."""
        if self.elsewhere:
            return self._classifier(), {"epochs": 0, "seconds": 0.0, ELSEWHERE: True}
        start = time.perf_counter()
        with own_model_errors(self.own.task):
            return self._fitted(memory_limit), {"epochs": 0, "seconds": time.perf_counter() - start}

    def weights(self, classifier: Any) -> bytes:
        """The fingerprint."""
        return _kept(classifier)

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """The classifier again, if it is the same."""
        arrays = read_arrays(content, name)
        if set(arrays) != {_KEPT}:
            raise FileFormatError(
                f"expected the fingerprint of an estimator, got {name} with others; an estimator that was fitted "
                "elsewhere needs no --weights: --model FILE.py:NAME may be a fitted one"
            )
        with own_model_errors(self.own.task):
            classifier = self._classifier() if self.elsewhere else self._fitted(_NO_LIMIT)
        if _kept(classifier) != content:
            model = self.own.task.model.name
            raise InvalidInputError(
                f"{model} is not the model that the run was made with: put it back, or start over with --force"
                if self.elsewhere
                else f"fitting {model} again gives another model, so that it could not be opened again: give it a "
                "random_state and one thread (n_jobs=1), or take it fitted"
            )
        return classifier

    def _fitted(self, memory_limit: str | int) -> Classifier:
        """The classifier of the estimator, fitted to noisy copies of the training rows."""
        own, task = self.own, self.own.task
        rows = own.learned.split.train
        if np.unique(own.learned.labels[rows]).size < len(own.class_names):
            raise InvalidInputError(f"expected inputs of all {len(own.class_names)} classes to train on, got fewer")
        _make_repeatable(self.estimator, task.seed)
        with single_threaded():
            fit_estimator(
                self.estimator, own.learned.space, self._targets(), rows, own.noise, task.training.noisy_samples,
                task.seed, memory_limit,
            )  # fmt: skip
        return self._classifier()

    def _targets(self) -> NDArray[Any]:
        """The labels to learn: the names of classes if they are words, else their numbers. XGBoost knows only these."""
        names, labels = self.own.class_names, self.own.learned.labels
        if library_of(last_step(self.estimator)) == "xgboost" or all(map(_is_number, names)):
            return labels
        return np.array(names)[labels]

    def _classifier(self) -> Classifier:
        """The adapter of the fitted estimator, whose classes must be those of the data, in their order."""
        own, name = self.own, self.own.task.model.name
        self._check_columns(name)
        classifier = classifier_of(self.estimator, own.learned.space, own.noise, ModelOptions())
        known = found(self.estimator, "classes_")
        words = tuple(map(str, range(classifier.classes) if known is None else np.asarray(known).tolist()))
        if words not in (own.class_names, tuple(map(str, range(len(own.class_names))))):
            raise InvalidInputError(
                f"expected a model of the classes {', '.join(own.class_names)}, or of their numbers from 0 in this "
                f"order, got {name} of {', '.join(words)}"
            )
        return classifier

    def _check_columns(self, name: str) -> None:
        """Refuses a table with other columns than those that the estimator was fitted on."""
        known, given = fitted_columns(self.estimator), getattr(self.own.learned.space, "column_names", None)
        if known is None or given is None or library_of(self.estimator) == "lightgbm":  # it renames columns
            return
        if lacking := [each for each in known if each not in given]:
            raise InvalidInputError(f"{name} was fitted on columns that this table lacks: {', '.join(lacking)}")
        if further := [each for each in given if each not in known]:
            raise InvalidInputError(
                f"{name} was not fitted on these columns: {', '.join(further)}; leave them out with --drop"
            )


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator was fitted; of libraries that do not say, attributes ending in _ tell, as in scikit-learn.

    Example:
        >>> from sklearn.naive_bayes import BernoulliNB
        >>> is_fitted(BernoulliNB()), is_fitted(BernoulliNB().fit([[0], [1]], [0, 1]))
        (False, True)
    """
    if library_of(estimator) == "catboost":
        return bool(estimator.is_fitted())
    if not hasattr(estimator, "fit"):
        return hasattr(estimator, "predict")
    try:
        require("sklearn.utils.validation").check_is_fitted(estimator)
    except require("sklearn.exceptions").NotFittedError:
        return False
    except Exception:  # it follows other conventions
        return any(name.endswith("_") and not name.endswith("__") for name in vars(estimator))
    return True


def _make_repeatable(estimator: Any, seed: int) -> None:
    """Gives a seed to every part of an estimator that has none, so that it can be fitted again to the same model."""
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "set_params"):
        return
    free = {
        name: seed % 2**31
        for name, value in estimator.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    }
    estimator.set_params(**free)
    if library_of(last_step(estimator)) == "lightgbm":
        last_step(estimator).set_params(deterministic=True, force_col_wise=True)


def _kept(classifier: Any) -> bytes:
    """What is stored of an estimator."""
    return arrays_bytes({_KEPT: np.frombuffer(bytes.fromhex(fingerprint(classifier)), dtype=np.uint8)})


def _is_torch(given: Any) -> bool:
    """Whether something is the class of a torch module."""
    return isinstance(given, type) and any(base.__module__.partition(".")[0] == "torch" for base in given.__mro__)


def _wants_sizes(given: Any) -> bool:
    """Whether a class or function is to be called with the numbers of features and classes."""
    if not (inspect.isclass(given) or inspect.isfunction(given)):
        return False
    try:
        known = inspect.signature(given).parameters
    except (TypeError, ValueError):
        return False
    return all(name in known for name in _SIZES)


def _made(given: Any, name: str) -> Any:
    """An estimator itself, or the one that a class or a function makes."""
    if not (inspect.isclass(given) or inspect.isfunction(given)):
        return given
    try:
        return given()
    except Exception as error:  # whatever somebody's code raises
        raise InvalidInputError(
            f"expected an estimator, or something that makes one without arguments, got {name}: {reason_of(error)}"
        ) from error


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return name in ("False", "True")
    return True


def model_of_rows(task: Task, learned: LabelledInputs, noise: Law, columns: int, class_names: tuple[str, ...]) -> Model:
    """The model of rows: an estimator that is kept as arrays, or the user's own."""
    if task.model.own:
        return OwnModel(task, learned, noise, columns, class_names)
    model, book = EstimatorModel(task, columns, len(class_names)), getattr(learned.space, "book", None)
    return model if book is None else CodedModel(model, book)
