"""Votes: how often a classifier gave each label to noisy copies of each input. The evidence of a certificate."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.values import IntArray, checked_kind, checked_rows, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import Law, checked_any_law, is_joint, sampler_of, scope_of, space_for
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.space import Space
from flipproof.smoothing.fingerprint.identity import run_differences
from flipproof.smoothing.run import Run
from flipproof.smoothing.votes_file import read_votes, write_votes
from flipproof.smoothing.voting.vote_counts import VoteCounts, checked_counts, count_array
from flipproof.statistics.bounds import Counts
from flipproof.statistics.clopper_pearson import MAX_SAMPLES, checked_samples
from flipproof.theory.scope import Scope

_MOST_ID = 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Counts of labels on two independent sets of noisy samples, [inputs, classes] each.

    `selection` chooses the label, `estimation` bounds its probability. A row may sum to less than its number
    of samples where the classifier gave no label. If flipproof drew the votes, `run` says how, and `tally` has them by
    portions of the samples, which can be drawn again and compared. `scope` says what each input has for an attacker to
    change, and what noise does not touch; without it, certificates do not know how large an input is. `ids` are the
    numbers of the inputs that the rows are about, as certificates call them: the targets of `vote`, or 0, 1, 2, ...

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
    tally: VoteCounts | None = None
    scope: Scope | None = None
    ids: IntArray = None  # type: ignore[assignment]  # made of the number of inputs

    def __post_init__(self) -> None:
        checked_any_law(self.noise)
        for role, n in (("selection", "n_select"), ("estimation", "n_estimate")):
            object.__setattr__(self, n, checked_samples(getattr(self, n), n))
            object.__setattr__(self, role, read_only(checked_counts(getattr(self, role), getattr(self, n), role)))
        self._check_run()
        self._check_tally()
        self._check_scope()
        if self.selection.shape != self.estimation.shape:
            raise InvalidInputError(
                "expected selection and estimation of equal shape [inputs, classes], got "
                f"{self.selection.shape} and {self.estimation.shape}"
            )
        object.__setattr__(self, "ids", read_only(_checked_ids(self.ids, len(self))))

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

    def _check_tally(self) -> None:
        """The portions are of these votes and of the samples of the run."""
        if self.tally is None:
            return
        checked_kind(self.tally, VoteCounts, "tally")
        for part, votes, samples in (
            (self.tally.select, self.selection, self.run and self.run.select),
            (self.tally.estimate, self.estimation, self.run and self.run.estimate),
        ):
            if part.samples != samples or not np.array_equal(part.counts, votes):
                raise InvalidInputError("expected portions that add up to the votes, got others")

    def _check_scope(self) -> None:
        """It is about these inputs and the parts of this noise."""
        if self.scope is None:
            return
        if not isinstance(self.scope, Scope):
            raise InvalidInputError(f"expected scope to be a Scope, got {type(self.scope).__name__}")
        if not self.scope.fits(self.noise, len(self)):
            raise InvalidInputError(f"expected the scope of {len(self)} inputs under {self.noise}, got another")

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
    ) -> Votes:
        """Votes from elsewhere. Sample counts are the sums of the rows unless they are given.

        Args:
            selection: integer counts [inputs, classes] on the selection samples.
            estimation: integer counts [inputs, classes] on other, independent samples.
            noise: the law under which all samples were drawn.
            n_select: number of selection samples, if some of them got no label.
            n_estimate: number of estimation samples, if some of them got no label.
            inputs: the data that were voted on, as `vote` takes them. With them, radii never exceed what an input has.
            ids: the numbers of the inputs, one per row; by default 0, 1, 2, ...
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
        )

    def __len__(self) -> int:
        return int(self.selection.shape[0])

    @property
    def classes(self) -> int:
        """How many labels there are."""
        return int(self.selection.shape[1])

    @property
    def in_order(self) -> bool:
        """Whether the ids of the rows are 0, 1, 2, ..."""
        return np.array_equal(self.ids, np.arange(len(self)))

    @property
    def on_some(self) -> bool:
        """Whether the rows are known to be some of the inputs that the data have, or in another order."""
        return self.run is not None and (self.run.identity.get("targets") is not None or not self.in_order)

    @property
    def checked(self) -> bool | None:
        """Whether it was checked that the classifier gives one label to one noisy input; None if others counted."""
        return None if self.run is None else self.run.checked

    @property
    def engine(self) -> str | None:
        """What evaluated the samples, "fused" or "torch"; None if it is not known, or the classifier did it itself."""
        return None if self.run is None else self.run.engine

    @property
    def sampling_error(self) -> float:
        """How far the law of the samples is from the stated noise at most, in total variation; part of alpha."""
        return 0.0 if self.run is None else self.run.sampling_error

    def merged(self, other: Votes) -> Votes:
        """Votes of the same run on further samples, from another machine or a later day, added to these.

        The sample numbers must be disjoint, and model, data, noise and seed the same.
        """
        if not isinstance(other, Votes):
            raise InvalidInputError(f"expected Votes, got {type(other).__name__}")
        if self.run is None or other.run is None:
            raise InvalidInputError("expected votes that flipproof.vote has drawn, got votes from elsewhere")
        differences = run_differences(other.run.identity, self.run.identity)
        if differences:
            raise InvalidInputError(f"expected votes of the same run, got others: {differences}")
        if self.selection.shape != other.selection.shape:
            raise InvalidInputError(f"expected votes of shape {self.selection.shape}, got {other.selection.shape}")
        if not np.array_equal(self.ids, other.ids):
            raise InvalidInputError("expected votes on inputs of the same ids, got others; the order counts, too")
        return Votes(
            selection=self.selection + other.selection,
            estimation=self.estimation + other.estimation,
            noise=self.noise,
            n_select=self.n_select + other.n_select,
            n_estimate=self.n_estimate + other.n_estimate,
            run=self.run.merged(other.run),
            tally=None if self.tally is None or other.tally is None else self.tally.merged(other.tally),
            scope=self.scope,
            ids=self.ids,
        )

    def selected(self, rows: IntArray) -> Votes:
        """The votes on some inputs, with their ids. Their portions are not kept."""
        rows = checked_rows(rows, len(self), "rows")
        scope = None if self.scope is None else self.scope.selected(rows)
        return Votes(
            self.selection[rows],
            self.estimation[rows],
            self.noise,
            self.n_select,
            self.n_estimate,
            run=self.run,
            scope=scope,
            ids=self.ids[rows],
        )

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
        """Reads votes that `save` wrote; anything else is refused with a `FileFormatError`."""
        return read_votes(path, cls)


def scope_of_outputs(space: Space, noise: Law, outputs: int, targets: IntArray | None = None) -> Scope | None:
    """What noise can touch in the input of every output. Those of a joint input, such as a graph, share it."""
    scope = scope_of(space, noise)
    if scope is None:
        return None
    if is_joint(space):
        return scope.selected(np.zeros(outputs, dtype=np.int64))
    return scope if targets is None else scope.selected(targets)


def drawn_again(votes: Votes, space: Space, samples: range, rows: IntArray) -> Any:
    """Some estimation samples of the votes for some rows of their data, as the classifier got them."""
    if votes.run is None:
        raise InvalidInputError("expected the votes of a run, got counts alone")
    return sampler_of(space, votes.noise, votes.run.identity["seed"]).draw(Role.ESTIMATE, samples, rows)


def _checked_ids(given: Any, inputs: int) -> IntArray:
    """One number per input; every double, and so every reader of JSON, holds it exactly."""
    if given is None:
        return np.arange(inputs)
    ids = count_array(given, "ids")
    if ids.shape != (inputs,) or (inputs and ids.dtype.kind not in "iu"):
        raise InvalidInputError(f"expected ids to be {inputs} integers, got {ids.dtype} of shape {ids.shape}")
    if inputs and not 0 <= int(ids.min()) <= int(ids.max()) < _MOST_ID:
        raise InvalidInputError(f"expected ids from 0 to 2**53 - 1, got {int(ids.min())} to {int(ids.max())}")
    return ids.astype(np.int64)


def _row_sum(counts: NDArray[Any], name: str, argument: str) -> int:
    """The number of votes that all rows have in common; inputs that got no vote at all do not count."""
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
