"""Models of codes where data are frames: forests that are kept as arrays, and torch modules, are asked with codes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.noise.laws import Law
from flipproof.noise.spaces.frame_book import FrameBook
from flipproof.noise.spaces.table import Table
from flipproof.pipeline.prepared import LabelledInputs, Model
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """A classifier of codes as a classifier of data frames that are made of them.

    Attributes:
        classifier: of arrays [rows, columns] of codes.
        book: what the codes stand for.
    """

    classifier: Any
    book: FrameBook
    _codes_of: tuple[Any, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index = require("pandas").Index
        object.__setattr__(self, "_codes_of", tuple(index(column.values) for column in self.book.columns))

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.classifier.classes)

    @property
    def module(self) -> Any:
        """The torch module behind the classifier, if it has one."""
        return self.classifier.module

    @property
    def engine(self) -> str | None:
        """The name of the engine, if the classifier is a torch module."""
        return getattr(self.classifier, "engine", None)

    def __call__(self, frame: Any) -> IntArray:
        """Labels [rows] of a frame."""
        labels: IntArray = self.classifier(self._codes(frame))
        return labels

    @property
    def label_scores(self) -> Callable[[Any], Any] | None:
        """A function that gives the scores [rows, classes] behind the labels of a frame, or None."""
        scores = getattr(self.classifier, "label_scores", None)
        return None if scores is None else lambda frame: scores(self._codes(frame))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the classifier and of what the codes stand for."""
        return fingerprint(("CodedRows", self.classifier, self.book))

    def _codes(self, frame: Any) -> NDArray[np.int64]:
        columns = [index.get_indexer(frame.iloc[:, place].array) for place, index in enumerate(self._codes_of)]
        codes = np.stack(columns, axis=1).astype(np.int64)
        if (codes < 0).any():
            raise InvalidInputError("expected values that are known, got a frame with others")
        return codes


@dataclass(frozen=True, slots=True, eq=False)
class CodedModel:
    """A model of codes, to be trained on codes and to be asked with frames."""

    model: Model
    book: FrameBook

    def check(self) -> None:
        """Refuses a model that cannot be made."""
        self.model.check()

    def trained(
        self, learned: LabelledInputs, noise: Law, memory_limit: str | int, progress: bool
    ) -> tuple[Any, dict[str, Any]]:
        """A classifier that was trained on codes."""
        space: Any = learned.space
        codes = replace(learned, space=Table(space.values, space.categories, space.columns))
        classifier, facts = self.model.trained(codes, noise, memory_limit, progress)
        return CodedRows(classifier, self.book), facts

    def weights(self, classifier: Any) -> bytes:
        """What training made of the classifier of codes."""
        return self.model.weights(classifier.classifier)

    def restored(self, content: bytes, name: str, code: str | None = None) -> Any:
        """The classifier with these weights."""
        return CodedRows(self.model.restored(content, name, code), self.book)
