"""Certificates: what the votes prove about every input, at any radii and without asking the model again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import (
    BoolArray,
    FloatArray,
    IntArray,
    checked_index,
    checked_kind,
    checked_rows,
    read_only,
)
from flipproof.errors import InvalidInputError
from flipproof.smoothing.abstention import Abstention as Abstention
from flipproof.smoothing.shown_certificates import ShownCertificates
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import AlphaBudget, Bounds, Rule, bounds_from_counts
from flipproof.theory.base_law import Noise
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.certificate import ANY, Promise, Subject
from flipproof.theory.claims import Claim, Claims, Predictions
from flipproof.theory.edit_distance import max_edit_distance
from flipproof.theory.radii import AnyRadii, Axis, Counts, given_radii
from flipproof.theory.search import SEARCH_LIMIT
from flipproof.theory.tables import Parts


@dataclass(frozen=True, slots=True, eq=False)
class Certificates(ShownCertificates):
    """What `votes` prove about every input; `certify` makes it.

    With probability at least 1 - alpha over the estimation samples, for each input by itself (for all inputs at once
    if `simultaneous`): no change within certified radii makes the smoothed classifier predict anything but `label`.
    Abstained inputs are certified at no radii.

    If `votes.scope` says how many entries an input has, no radius exceeds the number of changes that the input has
    room for, and an input that withstands the loss of everything is certified at every larger radius.
    """

    votes: Votes
    budget: AlphaBudget
    rule: Rule
    simultaneous: bool
    bounds: Bounds = field(repr=False)
    abstention: IntArray = field(init=False, repr=False)
    bounded: BoundedInputs = field(init=False, repr=False)

    def __post_init__(self) -> None:
        votes, bounds = checked_kind(self.votes, Votes, "votes"), checked_kind(self.bounds, Bounds, "bounds")
        if len(bounds.label) != len(votes):
            raise InvalidInputError(f"expected bounds of {len(votes)} inputs, got {len(bounds.label)}")
        unselected, unestimated = votes.selection.sum(axis=1) == 0, votes.estimation.sum(axis=1) == 0
        unanswered = np.asarray(unselected | unestimated)
        bounded = BoundedInputs.under(votes.noise, bounds.p_lower, bounds.p_upper, votes.scope, unanswered)
        object.__setattr__(self, "bounded", bounded)
        why = [Abstention.NO_SELECTION_VOTES, Abstention.NO_ESTIMATION_VOTES, Abstention.TOO_CLOSE]
        reason = np.select([unselected, unestimated, ~bounded.certain], why, Abstention.NONE)
        object.__setattr__(self, "abstention", read_only(reason.astype(np.int64)))

    def __repr__(self) -> str:
        return short_repr(
            self,
            amount(len(self), "input"),
            f"{int(self.abstained.sum()):,} abstained",
            f"alpha={self.alpha:g}",
            "for all inputs at once" if self.simultaneous else "for each input by itself",
            str(self.rule),
            repr(self.noise),
        )

    def __len__(self) -> int:
        return len(self.votes)

    @property
    def noise(self) -> Noise:
        """The law under which the votes were drawn and against which the certificates hold."""
        return self.bounded.noise

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The kinds of change that radii count."""
        return self.bounded.axes

    @property
    def axis_names(self) -> tuple[str, ...]:
        """The names of the axes, such as "add" or "structure.add"."""
        return self.bounded.axis_names

    @property
    def promise(self) -> Promise:
        """The promise of these certificates, in the terms that all kinds of certificates share."""
        return Promise(
            "Bojchevski et al. 2020",
            Subject.SMOOTHED,
            "at most r changes of one kind",
            str(self.rule),
            self.alpha,
            self.simultaneous,
        )

    @property
    def classes(self) -> int:
        """The number of labels."""
        return self.votes.classes

    @property
    def alpha(self) -> float:
        """Bounds the probability that a certificate is wrong; if `simultaneous`, that any of them is."""
        return self.budget.alpha

    @property
    def label(self) -> IntArray:
        """The prediction for every input. Look at `abstained` before using it."""
        return self.bounds.label

    @property
    def p_lower(self) -> FloatArray:
        """Lower bound on the probability of the prediction, one per input."""
        return self.bounds.p_lower

    @property
    def p_upper(self) -> FloatArray:
        """Upper bound on the probability of any other label, one per input."""
        return self.bounds.p_upper

    @property
    def abstained(self) -> BoolArray:
        """True where the votes do not even prove the prediction for the unchanged input; `reason` says why."""
        return np.not_equal(self.abstention, Abstention.NONE)

    @property
    def reason(self) -> NDArray[np.str_]:
        """Why each input abstained, in words; empty where it did not."""
        return np.array([abstention.words for abstention in Abstention])[self.abstention]

    def certified(
        self,
        radii: AnyRadii | None = None,
        *,
        add: int | None = None,
        delete: int | None = None,
        change: int | None = None,
    ) -> BoolArray:
        """Whether each input's prediction is proved to withstand all changes within the radii.

        Args:
            radii: `Radii`; under joint noise a mapping from part to `Radii`.
            add: instead of radii, how many additions may come together with the other changes; likewise the others.
            delete: how many deletions.
            change: how many changes from one non-zero value to another.
        """
        return self.bounded.certified(given_radii(radii, add=add, delete=delete, change=change))

    def certified_holm(
        self,
        radii: AnyRadii | None = None,
        *,
        add: int | None = None,
        delete: int | None = None,
        change: int | None = None,
    ) -> BoolArray:
        """Whether each input is certified at these radii, given as in `certified`, by Holm's method for all at once.

        With probability at least 1 - alpha, every input marked true is robust at these radii. The promise covers
        these radii only, and they must be fixed beforehand. Holm's method certifies every input that Bonferroni's
        certifies: certified inputs leave their share of alpha to the rest.
        """
        radii = given_radii(radii, add=add, delete=delete, change=change)
        selection, estimation = self.votes.selection_counts, self.votes.estimation_counts
        certified, budget = np.zeros(len(self), dtype=bool), self.budget.shared_by(max(1, len(self)))
        while True:
            bounds = bounds_from_counts(selection, estimation, budget, self.rule)
            bounded = replace(self.bounded, p_lower=bounds.p_lower, p_upper=bounds.p_upper)
            now = bounded.certified(radii) | certified
            if now.all() or (now == certified).all():
                return now
            certified, budget = now, budget.shared_by(len(self) - int(now.sum()))

    def max_radius(self, along: str | tuple[str, str], *, limit: int = SEARCH_LIMIT) -> IntArray:
        """The largest certified number of changes of one kind, one per input; 0 where nothing is certified.

        If `votes.scope` says how many changes an input has room for, its radius is at most that number. Without a
        scope, it is `UNBOUNDED` where no number of changes matters. A radius equal to `limit` means "at least".
        """
        return self.bounded.max_radius(along, limit)

    def uncapped_radius(self, along: str | tuple[str, str], *, limit: int = SEARCH_LIMIT) -> IntArray:
        """The largest number of changes that noise and votes allow, one per input, however small the input is."""
        return self.bounded.uncapped_radius(along, limit)

    def max_l0_radius(self, *, limit: int = SEARCH_LIMIT) -> IntArray:
        """The largest certified number of changes in any mixture of kinds, one per input.

        If `votes.scope` says how many changes an input has room for, its radius is at most that number. Under noise
        with many parts, the radius may be smaller than what could be proved (docs/theory.md, statement 17).
        """
        return self.bounded.max_l0_radius(limit)

    def max_edit_distance(self, *, limit: int = SEARCH_LIMIT) -> IntArray:
        """The largest certified edit distance, one per input: insertions, deletions and replacements in all.

        Only for votes on sequences whose gaps close (`Texts`, `Tokens(..., gaps="closed")`).
        """
        return max_edit_distance(self.bounded, limit)

    def frontier(self, index: int, *, limit: int = SEARCH_LIMIT) -> list[AnyRadii]:
        """All maximal certified radii of one input, as far as it has room for them; empty if it abstained."""
        return self.bounded.frontier(checked_index(index, len(self), "index"), limit)

    @property
    def predictions(self) -> Predictions:
        """The ids, labels and probabilities that claims state besides the changes that inputs withstand."""
        votes = self.votes
        return Predictions(votes.ids, self.label, self.alpha, self.simultaneous, votes.checked)

    def claim(self, index: int, along: str | tuple[str, str] | None = None) -> Claim:
        """The claim about one input, as a value from which sentences, tables and files are made.

        Args:
            index: the row of the input; the claim names the input by its id.
            along: one kind of change, nothing else being changed, or "any" for all kinds together. By default the
                combination of changes that says most.
        """
        number = checked_index(index, len(self), "index")
        if along is None:
            return Claims.of_one(self.bounded, self.predictions, number)
        one, predictions = self.bounded.selected(np.array([number])), self.predictions.selected(np.array([number]))
        together = isinstance(along, str) and along == ANY
        return (Claims.together(one, predictions) if together else Claims.along(one, predictions, along))[0]

    def certified_ratio(
        self,
        parts: Parts | None = None,
        *,
        add: Counts | None = None,
        delete: Counts | None = None,
        change: Counts | None = None,
    ) -> Any:
        """The share of inputs that are certified, over a grid of radii as in `critical_table`."""
        return self.bounded.share(self.bounded.grid(parts, {"add": add, "delete": delete, "change": change}))

    def certified_accuracy(
        self,
        true_labels: ArrayLike,
        parts: Parts | None = None,
        *,
        add: Counts | None = None,
        delete: Counts | None = None,
        change: Counts | None = None,
    ) -> Any:
        """The share of inputs that are certified and predicted correctly. Without radii: smoothed accuracy.

        Abstentions count as wrong.
        """
        try:
            truth = np.asarray(true_labels)
        except ValueError:
            raise InvalidInputError(f"expected {len(self)} integer labels, got rows of unequal length") from None
        if truth.shape != (len(self),) or truth.dtype.kind not in "iu":
            raise InvalidInputError(f"expected {len(self)} integer labels, got {truth.dtype} of shape {truth.shape}")
        if truth.size and not (truth.min() >= 0 and truth.max() < self.votes.classes):
            wrong = truth.min() if truth.min() < 0 else truth.max()
            raise InvalidInputError(
                f"expected true labels as numbers of classes in [0, {self.votes.classes}), got {wrong}; "
                "for a scikit-learn model, convert them: np.searchsorted(model.classes_, y)"
            )
        grid = self.bounded.grid(parts, {"add": add, "delete": delete, "change": change})
        return self.bounded.share(grid, truth == self.label)

    def staircases(
        self,
        parts: Parts | None = None,
        *,
        add: Counts | None = None,
        delete: Counts | None = None,
        change: Counts | None = None,
    ) -> tuple[IntArray, IntArray]:
        """The certified part of a grid of radii, for every input.

        Returns heights [staircases, all axes of the grid but the last] and the number of each input's staircase. A
        height is how many counts of the last axis are certified beside given counts of the other axes: since rho
        falls in every radius, these are the first counts.
        """
        return self.bounded.staircases(self.bounded.grid(parts, {"add": add, "delete": delete, "change": change}))

    def selected(self, rows: IntArray) -> Certificates:
        """The certificates of some inputs; ids, bounds and alpha stay what they were among all inputs."""
        bounds, rows = self.bounds, checked_rows(rows, len(self), "rows")
        return replace(
            self,
            votes=self.votes.selected(rows),
            bounds=Bounds(bounds.label[rows], bounds.runner_up[rows], bounds.p_lower[rows], bounds.p_upper[rows]),
        )

    def unanimous_radii(self) -> tuple[int, ...]:
        """For every axis, the radius of an input whose samples all have the same label. More samples could raise it."""
        bounds = self._of(self.votes.unanimous()).bounds
        bounded = BoundedInputs(self.noise, bounds.p_lower, bounds.p_upper, None, np.zeros(1, dtype=bool))
        return tuple(int(bounded.uncapped_radius(name)[0]) for name in self.axis_names)

    def with_more_samples(self, factor: int) -> Certificates:
        """The certificates of `factor` times as many estimation samples with the same shares of labels."""
        return self._of(self.votes.with_more_samples(factor))

    def _of(self, votes: Votes) -> Certificates:
        """The certificates of other votes under the same promise."""
        bounds = bounds_from_counts(votes.selection_counts, votes.estimation_counts, self.budget, self.rule)
        return replace(self, votes=votes, bounds=bounds)
