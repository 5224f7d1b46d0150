"""A torch module as a classifier of rows, called in any way: one logit, outputs of Hugging Face, calls of the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse

from flipproof.base.short_repr import amount, model_words, short_repr
from flipproof.base.values import IntArray, RowArray
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.score_function import as_numbers, first_key
from flipproof.models.adapters.scores import Cut, with_rows
from flipproof.models.adapters.tensors import dense_tensor
from flipproof.models.adapters.torch_modules import call_module, device_of, evaluating, labels_of, torch
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


@dataclass(frozen=True)
class PlainCall:
    """Calls a module with the tensor of rows alone."""

    def __call__(self, module: Any, rows: Any) -> Any:
        """What the module returns."""
        return call_module(module, rows)


@dataclass(frozen=True)
class TokenCall:
    """Calls a model of Hugging Face with `input_ids`, and with an `attention_mask` if noisy inputs have empty places.

    Both are made from the noisy input alone: no token stands where it has the number `empty`, and attention is 0 there.
    An input without any token gets attention everywhere, as attention to nothing is not defined.

    Args:
        empty: the number that stands for no token: padding, or the mask of hidden tokens.
        padding: what the model gets in its place, if that number is not in its vocabulary.
    """

    empty: int | None = None
    padding: int | None = None

    def __call__(self, module: Any, rows: Any) -> Any:
        """What the model returns."""
        if self.empty is None:
            return module(input_ids=rows)
        is_token = rows != self.empty
        ids = rows if self.padding is None else torch.where(is_token, rows, self.padding)
        attended = is_token | ~is_token.any(dim=1, keepdim=True)
        return module(input_ids=ids, attention_mask=attended.long())


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """A function of a batch of texts or of a data frame: the user's own call of a module, in evaluation mode."""

    module: Any
    call: Callable[[Any, Any], Any]

    def __call__(self, batch: Any) -> Any:
        """Scores or labels, an array."""
        with evaluating(self.module):
            return as_numbers(output_tensor(self.call(self.module, batch)))


@dataclass(frozen=True, eq=False)
class RowModule:
    """Gives each row the label that a module says, whatever the module needs and returns.

    Args:
        module: a torch module; it is called in evaluation mode, without gradients, on its own device.
        classes: the number of labels.
        dtype: the type of numbers that the module gets.
        call: calls the module with a tensor of rows.
        cut: where the one logit or score of the second of two classes begins to mean it; None: the largest score wins.
        gives_labels: whether the call returns labels instead of scores.
        rows_at_once: the number of rows in a call. The last bits of scores may depend on it.
    """

    module: Any
    classes: int
    dtype: str
    call: Callable[[Any, Any], Any]
    cut: Cut | None = None
    gives_labels: bool = False
    rows_at_once: int = 256
    engine: ClassVar[str] = "torch"

    def __repr__(self) -> str:
        return short_repr(self, model_words(self.module), amount(self.classes, "class"), self.dtype)

    @property
    def bytes_per_entry(self) -> int:
        """Memory for every entry of a sparse row: a number and a copy of it."""
        return 8

    def __call__(self, batch: RowArray) -> IntArray:
        """Labels [rows] of an array [rows, ...] or of a sparse matrix [rows, columns]."""
        if self.gives_labels:
            labels: IntArray = self.outputs(batch).reshape(-1).cpu().numpy()
            return labels
        return labels_of(self._columns(batch), batch.shape[0], self.classes)

    @property
    def label_scores(self) -> Callable[[RowArray], Any] | None:
        """A function that gives the scores [rows, classes] behind the labels, a tensor; None if there are none."""
        return None if self.gives_labels else self._columns

    def _columns(self, batch: RowArray) -> Any:
        return columns_of_tensor(self.outputs(batch), self.cut)

    def outputs(self, batch: RowArray) -> Any:
        """What the module returns for all rows, a tensor: scores or labels."""
        rows, step = batch.shape[0], self.rows_at_once
        if scipy.sparse.issparse(batch):
            batch = batch.tocsr()  # type: ignore[union-attr]  # scipy is not annotated
        device, dtype = device_of(self.module), getattr(torch, self.dtype)
        with evaluating(self.module):
            starts = range(0, max(1, rows), step)
            return torch.cat([self._output(dense_tensor(batch[at : at + step], dtype, device)) for at in starts])

    def _output(self, rows: Any) -> Any:
        """What the module returns in one call."""
        return with_rows(output_tensor(self.call(self.module, rows)), len(rows))

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the module in its current state, of the call, and of the rule of decision."""
        options = self.classes, self.dtype, self.call, self.cut, self.gives_labels, self.rows_at_once
        return fingerprint(("RowModule", self.module, *options))


def output_tensor(given: Any) -> Any:
    """The tensor of scores or labels in what a module returns: itself, or its `logits`."""
    logits = given.get("logits") if isinstance(given, dict) else getattr(given, "logits", None)
    tensor = given if logits is None else logits
    if not isinstance(tensor, torch.Tensor):
        raise InvalidInputError(
            f"expected a tensor of logits, or something with logits, from the module, got {type(tensor).__name__}; "
            f"pick them: call=lambda model, rows: model(rows)[{first_key(tensor)!r}]"
        )
    return tensor


def columns_of_tensor(scores: Any, cut: Cut | None) -> Any:
    """Scores [rows, classes], in which the largest score of a row, the first one on a tie, is at its label."""
    if cut is None:
        return scores
    second = scores if scores.ndim == 1 else scores[:, -1]
    floor = torch.tensor(cut.at, dtype=second.dtype, device=second.device)
    if cut.included:
        floor = torch.nextafter(floor, torch.full_like(floor, -torch.inf))
    return torch.stack([floor.expand_as(second), second], dim=1)
