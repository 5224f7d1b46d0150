"""A torch module as a classifier of rows: images, token sequences, bags of words, tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray, RowArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.tensors import dense_tensor
from flipproof.models.adapters.torch_modules import (
    call_module,
    checked_classes,
    checked_logits,
    checked_module,
    device_of,
    evaluating,
    labels_of,
    torch,
)
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True, eq=False)
class TorchClassifier:
    """Gives each row the index of its largest logit.

    Args:
        module: called with a tensor [rows, ...] on its own device; returns logits [rows, classes].
        classes: the number of labels.
        dtype: the type of numbers that the module expects, "int64" for tokens.
        transform: a function applied to the tensor first, for example to scale it.
        rows_at_once: the number of rows in a call of the module; its intermediate results should fit into the
            processor's cache. The last bits of the logits may depend on it, so it is part of the fingerprint.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> module = torch.nn.Linear(2, 2, bias=False)
        >>> _ = module.weight.data.copy_(torch.eye(2))
        >>> classifier = TorchClassifier(module, classes=2, transform=lambda levels: levels / 255)
        >>> classifier(np.array([[255, 0], [17, 34]], dtype=np.uint8))
        array([0, 1])
    """

    module: Any
    classes: int
    dtype: str = "float32"
    transform: Callable[[Any], Any] | None = None
    rows_at_once: int = 256
    engine: ClassVar[str] = "torch"

    def __post_init__(self) -> None:
        checked_module(self.module)
        object.__setattr__(self, "classes", checked_classes(self.classes))
        if not isinstance(self.dtype, str) or not isinstance(getattr(torch, self.dtype, None), torch.dtype):
            raise InvalidInputError(f'expected dtype to be a name like "float32" or "int64", got {self.dtype!r}')
        if self.transform is not None and not callable(self.transform):
            raise InvalidInputError(f"expected transform to be a function, got {self.transform!r}")
        if checked_count(self.rows_at_once, "rows_at_once") < 1:
            raise InvalidInputError(f"expected rows_at_once to be at least 1, got {self.rows_at_once}")

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.module), amount(self.classes, "class"), self.dtype)

    @property
    def bytes_per_entry(self) -> int:
        """Memory for every entry of a sparse row: a number and a copy of it."""
        return 8

    def __call__(self, batch: RowArray) -> IntArray:
        """Labels [rows] of an array [rows, ...] or of a sparse matrix [rows, columns]."""
        return labels_of(self.label_scores(batch), batch.shape[0], self.classes)

    def label_scores(self, batch: RowArray) -> Any:
        """The logits [rows, classes] behind the labels, a tensor."""
        if not hasattr(batch, "shape"):
            raise InvalidInputError("expected rows, got graphs: use NodeClassifier or GraphClassifier")
        rows, step = batch.shape[0], self.rows_at_once
        if scipy.sparse.issparse(batch):
            batch = batch.tocsr()  # type: ignore[union-attr]  # scipy is not annotated
        with evaluating(self.module):
            parts = [self.logits(batch[start : start + step]) for start in range(0, max(1, rows), step)]
            return torch.cat(parts)

    def logits(self, batch: RowArray) -> Any:
        """The logits [rows, classes] of one call of the module in its current mode, with gradients if enabled."""
        rows = dense_tensor(batch, getattr(torch, self.dtype), device_of(self.module))
        logits = call_module(self.module, rows if self.transform is None else self.transform(rows))
        return checked_logits(logits, batch.shape[0], self.classes)

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the module and the options in their current state."""
        options = self.classes, self.dtype, self.transform, self.rows_at_once
        return fingerprint(("TorchClassifier", self.module, *options))
