"""Votes: how often a classifier gave each label to noisy copies of each input. They are a certificate's evidence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, checked_kind, checked_rows, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, checked_any_law, drawn_again, scope_of_outputs, space_for
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.fingerprint.identity import check_data, run_differences
from flipproof.smoothing.html_table import votes_html
from flipproof.smoothing.names import shown_names
from flipproof.smoothing.result_files import read_votes, write_votes
from flipproof.smoothing.run import Run
from flipproof.smoothing.voting.vote_counts import VoteCounts, checked_counts, count_array
from flipproof.statistics.bounds import MAX_SAMPLES, Counts, checked_samples
from flipproof.theory.scope import Scope

_MOST_ID = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Counts of labels on two independent sets of noisy samples, [inputs, classes] each.

    `selection` chooses the label, `estimation` bounds its probability. A row may sum to less than the number of
    samples where the classifier gave no label. If flipproof drew the votes, `run` says how, and `vote_counts` divides
    them into portions of the samples that can be drawn again and compared. `scope` says how much of each input an
    attacker can change, and what noise does not touch; without it, certificates do not know how large an input is.
    `ids` are the numbers by which certificates name the inputs: the targets of `vote`, or 0, 1, 2, ...
    `input_names` and `class_names` are to be shown beside the numbers, if the data and the model have names; they are
    no part of what is proved.

    Example:
        >>> from flipproof import FlipNoise
        >>> noise = FlipNoise(p_plus=0.01, p_minus=0.6)
        >>> votes = Votes.from_counts(selection=[[98, 2]], estimation=[[990, 10]], noise=noise)
        >>> votes.n_select, votes.n_estimate, len(votes)
        (100, 1000, 1)
    """

    selection: IntArray
    estimation: IntArray
    noise: Law
    n_select: int
    n_estimate: int
    run: Run | None = None
    vote_counts: VoteCounts | None = None
    scope: Scope | None = None
    ids: IntArray = None  # type: ignore[assignment]  # made of the number of inputs
    input_names: tuple[str, ...] | None = None
    class_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        checked_any_law(self.noise)
        for role, n in (("selection", "n_select"), ("estimation", "n_estimate")):
            object.__setattr__(self, n, checked_samples(getattr(self, n), n))
            object.__setattr__(self, role, read_only(checked_counts(getattr(self, role), getattr(self, n), role)))
        self._check_run()
        self._check_vote_counts()
        self._check_scope()
        if self.selection.shape != self.estimation.shape:
            raise InvalidInputError(
                "expected selection and estimation of equal shape [inputs, classes], got "
                f"{self.selection.shape} and {self.estimation.shape}"
            )
        object.__setattr__(self, "ids", read_only(_checked_ids(self.ids, len(self))))
        for name, count in (("input_names", len(self)), ("class_names", self.classes)):
            object.__setattr__(self, name, shown_names(getattr(self, name), count, name))

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(len(self), "input"),
            amount(self.classes, "class"),
            f"{self.n_select:,} + {self.n_estimate:,} samples",
            repr(self.noise),
        )

    def _check_run(self) -> None:
        if self.run is not None:
            checked_kind(self.run, Run, "run")
            drawn, stated = (self.run.select.count, self.run.estimate.count), (self.n_select, self.n_estimate)
            if drawn != stated:
                raise InvalidInputError(f"expected the run's numbers of samples, {drawn}, got {stated}")
            if self.run.identity["classes"] != self.classes:
                raise InvalidInputError(
                    f"expected the run's {self.run.identity['classes']} classes, got {self.classes}"
                )
            if self.run.identity["noise"] != self.noise.record():
                raise InvalidInputError(f"expected the run's noise, {self.run.identity['noise']}, got {self.noise}")

    def _check_vote_counts(self) -> None:
        """Refuses portions that do not add up to these votes and to the samples of the run."""
        if self.vote_counts is None:
            return
        checked_kind(self.vote_counts, VoteCounts, "vote_counts")
        for part, votes, samples in (
            (self.vote_counts.select, self.selection, self.run and self.run.select),
            (self.vote_counts.estimate, self.estimation, self.run and self.run.estimate),
        ):
            if part.samples != samples or not np.array_equal(part.counts, votes):
                raise InvalidInputError("expected portions that add up to the votes, got portions of other votes")

    def _check_scope(self) -> None:
        """Refuses the scope of other inputs or of a noise with other parts."""
        if self.scope is None:
            return
        if not isinstance(self.scope, Scope):
            raise InvalidInputError(f"expected scope to be a Scope, got {type(self.scope).__name__}")
        if not self.scope.fits(self.noise, len(self)):
            raise InvalidInputError(f"expected the scope of {len(self)} inputs under {self.noise}, got another")

    def _repr_html_(self) -> str:
        return votes_html(self)

    @classmethod
    def from_counts(
        cls,
        *,
        selection: ArrayLike,
        estimation: ArrayLike,
        noise: Law,
        n_select: int | None = None,
        n_estimate: int | None = None,
        inputs: Any = None,
        ids: ArrayLike | None = None,
        input_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Votes:
        """Votes that were counted elsewhere. Numbers of samples are the sums of the rows unless they are given.

        Args:
            selection: integer counts [inputs, classes] on the selection samples.
            estimation: integer counts [inputs, classes] on other, independent samples.
            noise: the law under which all samples were drawn.
            n_select: the number of selection samples, if some of them got no label.
            n_estimate: the number of estimation samples, if some of them got no label.
            inputs: the data that were voted on, as `vote` takes them. With them, no radius exceeds the number of
                changes that an input has room for.
            ids: the numbers of the inputs, one per row; by default 0, 1, 2, ...
            input_names: names to show for the inputs, one per row.
            class_names: names to show for the classes, one per column.
        """
        selection, estimation = count_array(selection, "selection"), count_array(estimation, "estimation")
        return cls(
            selection=selection,
            estimation=estimation,
            noise=noise,
            n_select=_row_sum(selection, "selection", "n_select") if n_select is None else n_select,
            n_estimate=_row_sum(estimation, "estimation", "n_estimate") if n_estimate is None else n_estimate,
            scope=None if inputs is None else scope_of_outputs(space_for(inputs, noise), noise, len(selection)),
            ids=ids,  # type: ignore[arg-type]  # they are checked
            input_names=input_names,  # type: ignore[arg-type]  # they are checked
            class_names=class_names,  # type: ignore[arg-type]  # they are checked
        )

    def __len__(self) -> int:
        return int(self.selection.shape[0])

    @property
    def classes(self) -> int:
        """The number of labels."""
        return int(self.selection.shape[1])

    @property
    def in_order(self) -> bool:
        """Whether the ids of the rows are 0, 1, 2, ..."""
        return np.array_equal(self.ids, np.arange(len(self)))

    @property
    def on_some(self) -> bool:
        """Whether the rows are known to be only some of the data's inputs, or in another order than the data."""
        return self.run is not None and (self.run.identity.get("targets") is not None or not self.in_order)

    @property
    def checked(self) -> bool | None:
        """Whether `vote` checked that the classifier gives one label to one noisy input; None if votes have no run."""
        return None if self.run is None else self.run.checked

    @property
    def engine(self) -> str | None:
        """The engine that evaluated the samples, "fused" or "torch"; None if it is unknown or no engine took part."""
        return None if self.run is None else self.run.engine

    @property
    def sampling_error(self) -> float:
        """Bounds the total variation distance of the samples' law from the stated noise; it is a part of alpha."""
        return 0.0 if self.run is None else self.run.sampling_error

    def merged(self, other: Votes) -> Votes:
        """These votes and those of the same run on further samples, from another machine or a later day, together.

        The sample numbers must be disjoint, and model, data, noise and seed must be the same.
        """
        if not isinstance(other, Votes):
            raise InvalidInputError(f"expected Votes, got {type(other).__name__}")
        if self.run is None or other.run is None:
            raise InvalidInputError("expected votes that flipproof.vote has drawn, got votes from elsewhere")
        differences = run_differences(other.run.identity, self.run.identity)
        if differences:
            raise InvalidInputError(f"expected votes of the same run, got votes of another: {differences}")
        if self.selection.shape != other.selection.shape:
            raise InvalidInputError(f"expected votes of shape {self.selection.shape}, got {other.selection.shape}")
        if not np.array_equal(self.ids, other.ids):
            raise InvalidInputError("expected votes on inputs of the same ids, got other ids; the order counts, too")
        mine, theirs = self.vote_counts, other.vote_counts
        return replace(
            self,
            selection=self.selection + other.selection,
            estimation=self.estimation + other.estimation,
            n_select=self.n_select + other.n_select,
            n_estimate=self.n_estimate + other.n_estimate,
            run=self.run.merged(other.run),
            vote_counts=None if mine is None or theirs is None else mine.merged(theirs),
            input_names=other.input_names if self.input_names is None else self.input_names,
            class_names=other.class_names if self.class_names is None else self.class_names,
        )

    def selected(self, rows: IntArray) -> Votes:
        """The votes on some inputs, with their ids but without portions."""
        rows = checked_rows(rows, len(self), "rows")
        scope = None if self.scope is None else self.scope.selected(rows)
        names = None if self.input_names is None else tuple(self.input_names[row] for row in rows)
        return replace(
            self,
            selection=self.selection[rows],
            estimation=self.estimation[rows],
            vote_counts=None,
            scope=scope,
            ids=self.ids[rows],
            input_names=names,
        )

    def with_more_samples(self, factor: int) -> Votes:
        """Votes with the same shares of labels on `factor` times as many estimation samples; nobody has drawn them."""
        estimation, n_estimate = self.estimation * factor, self.n_estimate * factor
        return replace(self, estimation=estimation, n_estimate=n_estimate, run=None, vote_counts=None)

    def unanimous(self) -> Votes:
        """The votes on one input, were all samples to get the same label."""
        one = np.eye(1, self.classes, dtype=np.int64)
        selection, estimation = one * self.n_select, one * self.n_estimate
        return Votes(selection, estimation, self.noise, self.n_select, self.n_estimate)

    def check_data(self, space: Space) -> None:
        """Refuses data other than those that were voted on, as far as the run of the votes says which these were."""
        if self.run is not None:
            check_data(self.run.identity, space)

    def drawn_again(self, space: Space, samples: range, rows: IntArray) -> Any:
        """The noisy inputs of some estimation samples and rows, drawn again as the classifier got them."""
        if self.run is None:
            raise InvalidInputError("expected the votes of a run, got counts alone")
        return drawn_again(space, self.noise, self.run.identity["seed"], samples, rows)

    @property
    def selection_counts(self) -> Counts:
        """The selection votes with their number of samples."""
        return Counts(self.selection, self.n_select)

    @property
    def estimation_counts(self) -> Counts:
        """The estimation votes with their number of samples."""
        return Counts(self.estimation, self.n_estimate)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the votes to one file, whole or not at all."""
        write_votes(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Votes:
        """Reads votes that `save` wrote, and refuses anything else with a `FileFormatError`."""
        return read_votes(path, cls)


def _checked_ids(given: ArrayLike | None, inputs: int) -> IntArray:
    """One number per input, small enough for a double, and so for every reader of JSON, to hold exactly."""
    if given is None:
        return np.arange(inputs)
    ids = count_array(given, "ids")
    if ids.shape != (inputs,) or (inputs and ids.dtype.kind not in "iu"):
        raise InvalidInputError(f"expected ids to be {inputs} integers, got {ids.dtype} of shape {ids.shape}")
    if inputs and not 0 <= int(ids.min()) <= int(ids.max()) < _MOST_ID:
        raise InvalidInputError(f"expected ids from 0 to 2**53 - 1, got {int(ids.min())} to {int(ids.max())}")
    return ids.astype(np.int64)


def _row_sum(counts: NDArray[Any], name: str, argument: str) -> int:
    """The number of votes in every row, apart from inputs that got no vote at all."""
    if counts.ndim != 2 or counts.dtype.kind not in "iu":
        return 0  # refused with a better message when the votes are made
    if counts.sum(axis=1, dtype=np.float64).max(initial=0.0) > MAX_SAMPLES:
        raise InvalidInputError(f"expected rows of {name} to sum to at most {MAX_SAMPLES}, got more")
    sums = counts.sum(axis=1)
    rows = np.flatnonzero(sums)
    unequal = rows[sums[rows] != sums[rows[:1]]]
    if unequal.size:
        first, other = rows[0], unequal[0]
        raise InvalidInputError(
            f"expected all rows of {name} to have the same number of votes, got {sums[first]} in row {first} and "
            f"{sums[other]} in row {other}; give {argument}= if some samples got no label"
        )
    return int(sums.max(initial=0))
