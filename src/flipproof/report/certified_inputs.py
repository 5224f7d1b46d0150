"""The inputs of a report with their certificates: the one file of this room that asks certificates, votes and laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import BoolArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import sampler_of
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.words import ANY, EXCHANGE
from flipproof.report.described_inputs import DescribedInputs, check_names, inputs_of
from flipproof.report.shares import (
    CERTIFIED_ACCURACY,
    CERTIFIED_RATIO,
    LARGEST_COUNT,
    GridCounts,
    ShareGrid,
    ShareLine,
    checked_truth,
    chosen_rows,
)
from flipproof.smoothing.certificates import Abstention, Certificates
from flipproof.smoothing.votes import Votes
from flipproof.statistics.bounds import MAX_SAMPLES
from flipproof.theory.certificate import checked_certificate
from flipproof.theory.claims import Claim, Claims, Lead, default_lead, has_boxes
from flipproof.theory.law import Noise
from flipproof.theory.radii import Axis, Radii
from flipproof.theory.search import SEARCH_LIMIT
from flipproof.theory.stairs import Stairs, farthest_end, grid_counts, page_counts, ranges_along, ranges_of

MOST_GRID_AXES = 8
"""With more axes, a report shows radii over all kinds together instead of every combination."""

REASONS = tuple(why.words for why in Abstention)
"""The words for each number in `Certificates.abstention`; 0 is no abstention."""


@dataclass(frozen=True, eq=False)
class CertifiedInputs:
    """Inputs, described, with what is certified of them. Each property is computed once, when it is first read.

    Attributes:
        certificates: what `certify` made, or any other `Certificate`, of which only the protocol is asked.
        described: what else is known about the inputs.
    """

    certificates: Any
    described: DescribedInputs = field(default_factory=DescribedInputs)

    def check(self) -> None:
        """Raises if this is no certificate, or the description does not fit it."""
        if not self.is_smoothed:
            checked_certificate(self.certificates)
        self.described.check(self.inputs, self.classes)
        if self.described.space is not None:
            if self.is_smoothed:
                self._check_data(self.described.space)
            check_names(self.described.space, self.described, self.noise if self.is_smoothed else None)

    def _check_data(self, space: Space) -> None:
        """Raises if these are not the data that were voted on: their pictures would mislead."""
        if self.votes.run is not None:
            self.votes.check_data(space)
        elif (given := inputs_of(space, sampler_of(space, self.noise, 0).rows)) != self.inputs:
            raise InvalidInputError(f"expected the data of {self.inputs} inputs, got those of {given}")

    @cached_property
    def is_smoothed(self) -> bool:
        """Whether `certify` made the certificates, so that votes and noise are known."""
        return isinstance(self.certificates, Certificates)

    @cached_property
    def inputs(self) -> int:
        """The number of inputs."""
        return len(self.certificates)

    @cached_property
    def label(self) -> IntArray:
        """The prediction for every input."""
        return np.asarray(self.certificates.label)

    @cached_property
    def abstained(self) -> BoolArray:
        """Which inputs have no certificate at all."""
        return np.asarray(self.certificates.abstained)

    @cached_property
    def classes(self) -> int:
        """The number of classes: known to the certificates, or enough for all labels and class names."""
        known = getattr(self.certificates, "classes", None)
        if known is not None:
            return int(known)
        every = (self.label, self.described.labels)
        seen = [int(np.max(labels, initial=-1)) + 1 for labels in every if labels is not None]
        return max([len(self.described.class_names), *seen])

    @cached_property
    def votes(self) -> Votes:
        """The votes behind the certificates."""
        return cast(Votes, self.certificates.votes)

    @cached_property
    def checked(self) -> bool | None:
        """Whether equal noisy inputs were checked to get equal labels; None if the votes were counted elsewhere."""
        return self.votes.checked if self.is_smoothed else getattr(self.certificates, "checked", None)

    @cached_property
    def engine(self) -> str | None:
        """The engine that drew the votes; None if that was the classifier itself."""
        return self.votes.engine

    @cached_property
    def in_order(self) -> bool:
        """Whether the inputs have the numbers 0, 1, 2, ..."""
        return self.votes.in_order

    @cached_property
    def on_some(self) -> bool:
        """Whether the certificates are about some inputs of the data only, or about all in another order."""
        return self.votes.on_some

    @cached_property
    def voted_samples(self) -> range:
        """The numbers of the first estimation samples of the run; empty if the run is not known."""
        run = self.votes.run
        return range(0) if run is None or not run.estimate.pairs else range(*run.estimate.pairs[0])

    def drawn(self, space: Space, samples: range, rows: IntArray) -> Any:
        """Noisy samples of some rows, drawn again: they are what the classifier saw in the run."""
        return self.votes.drawn_again(space, samples, rows)

    @cached_property
    def noise(self) -> Noise:
        """The noise under which the votes were drawn."""
        return cast(Noise, self.certificates.noise)

    @cached_property
    def noise_words(self) -> tuple[str, ...]:
        """The noise in words, one text per part."""
        return tuple(self.noise.words.split("; "))

    @cached_property
    def noise_facts(self) -> tuple[tuple[str | None, str, str], ...]:
        """The probabilities of the noise with all their digits: part, name and value."""
        return self.noise.facts()

    @cached_property
    def flips(self) -> dict[str | None, Any]:
        """The flip noise of each part; empty if the noise is of another form."""
        return dict(self.noise.flips)

    @cached_property
    def parts(self) -> tuple[str | None, ...]:
        """The names of the parts that get noise; None stands for the only part."""
        return self.noise.part_names

    @cached_property
    def adds_or_deletes(self) -> bool:
        """Whether the noise has one part, of bits."""
        return len(self.parts) == 1 and not self.noise.has_levels

    @cached_property
    def fixed(self) -> tuple[str, ...] | None:
        """What gets no noise; None if unknown."""
        return None if self.votes.scope is None else self.votes.scope.fixed

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """The kinds of change, by name."""
        return {str(axis): axis for axis in self.certificates.axes}

    @cached_property
    def meanings(self) -> dict[str, str]:
        """What a single change along each axis is."""
        return {name: self.noise.meaning(axis) for name, axis in self.axes.items()}

    @cached_property
    def radii(self) -> dict[str, Any]:
        """The largest certified number of changes along each axis, at most as many as the input can suffer."""
        return {name: np.asarray(self.certificates.max_radius(name)) for name in self.axes}

    @cached_property
    def uncapped_radii(self) -> dict[str, IntArray]:
        """The largest certified number of changes along each axis, whatever number the input can suffer."""
        return {name: self.certificates.uncapped_radius(name) for name in self.axes}

    @cached_property
    def sample_caps(self) -> dict[str, int]:
        """The largest radius along each axis that this number of samples can certify."""
        return dict(zip(self.axes, self.certificates.unanimous_radii(), strict=True))

    def withstands(self, name: str, count: int) -> BoolArray:
        """Which inputs withstand `count` changes along an axis."""
        axis, radii = self.axes[name], Radii(**{self.axes[name].kind: count})
        return np.asarray(self.certificates.certified(radii if axis.part is None else {axis.part: radii}))

    @cached_property
    def withstands_one(self) -> dict[str, BoolArray]:
        """Which inputs withstand any one change along each axis."""
        return {name: self.withstands(name, 1) for name in self.axes}

    @cached_property
    def withstands_exchange(self) -> BoolArray:
        """Which inputs withstand any one deletion together with any one addition."""
        return np.asarray(self.certificates.certified(Radii(add=1, delete=1)))

    @cached_property
    def withstands_one_of_any_kind(self) -> BoolArray:
        """Which inputs withstand any one change of any kind."""
        return self.withstands_any(self.certificates.max_l0_radius(limit=1), 1)

    @cached_property
    def any_radii(self) -> IntArray | None:
        """The largest certified number of changes in any mixture of kinds, one per input.

        None without inputs, and for a noise on bits that adds and deletes with different probabilities: there, separate
        radii for additions and deletions say more.
        """
        if not self.inputs or (self.adds_or_deletes and not self.noise.is_even):
            return None
        return np.asarray(self.certificates.max_l0_radius())

    def withstands_any(self, radii: IntArray, count: int) -> BoolArray:
        """Which inputs withstand any `count` changes, for radii that count changes of all kinds.

        An input that withstands changes of all its entries withstands any larger count as well.
        """
        return np.asarray(radii >= np.minimum(count, self.certificates.bounded.room_together)) & ~self.abstained

    @cached_property
    def lead(self) -> Lead:
        """Which changes the sentences about these inputs name first."""
        if EXCHANGE in self.described.changes:
            return Lead.EXCHANGES
        return Lead.TOGETHER if ANY in self.described.changes else default_lead(self.noise)

    @cached_property
    def counts(self) -> GridCounts | None:
        """The counts of the grid on a page; None if there are too many axes to combine."""
        return None if len(self.axes) > MOST_GRID_AXES else page_counts(self.certificates.bounded)

    @cached_property
    def _stairs(self) -> Stairs | None:
        return None if self.counts is None else Stairs.of(self.certificates.bounded, self.counts)

    @cached_property
    def shown_stairs(self) -> Stairs | None:
        """The certified combinations of each input, within what it can suffer."""
        return None if self._stairs is None else self._stairs.within(self.certificates.bounded.room)

    @cached_property
    def claims(self) -> Claims:
        """The leading claim about every input."""
        stairs = self._stairs if has_boxes(self.noise) else None
        return Claims.leading(self.certificates.bounded, self.certificates.predictions, self.lead, stairs)

    def claim(self, index: int) -> Claim:
        """The leading claim about one input; no claims about other inputs are made."""
        if self.is_smoothed:
            return Claims.of_one(self.certificates.bounded, self.certificates.predictions, index, self.lead)
        return cast(Claim, self.certificates.claim(index))

    @cached_property
    def judged(self) -> IntArray:
        """The inputs that accuracies are computed on."""
        return np.arange(self.inputs) if self.described.judged is None else self.described.judged

    @cached_property
    def is_judged(self) -> bool:
        """Whether there are inputs with known labels to judge."""
        return self.described.labels is not None and self.judged.size > 0

    @cached_property
    def lines(self) -> list[tuple[ShareLine, ...]]:
        """The certified ratio along each axis and, if labels are known, the certified accuracy."""
        judged = [self.lines_of(self.described.labels, self.judged)] if self.is_judged else []
        return [self.lines_of(), *judged]

    @cached_property
    def grids(self) -> list[ShareGrid | None]:
        """The same measures as `lines` over all combinations of counts; None if there are too many axes to combine."""
        if self.counts is None:
            return [None] * len(self.lines)
        judged = [self.grid_of(self.counts, self.described.labels, self.judged)] if self.is_judged else []
        return [self.grid_of(self.counts), *judged]

    def lines_of(self, true_labels: ArrayLike | None = None, among: ArrayLike | None = None) -> tuple[ShareLine, ...]:
        """The certified ratio along each axis with the others at 0; given true labels, the certified accuracy.

        `among` is a mask or the indices of the inputs to judge, such as the test inputs; by default all.
        """
        measure, of, share = self._measure(true_labels, among)
        lines = []
        for name, counts in self._line_counts.items():
            parts, kinds = ranges_along({self.axes[name]: counts})
            lines.append(ShareLine(name, counts, share(parts, **kinds), measure, of, self.sample_caps[name]))
        return tuple(lines)

    def grid_of(
        self, counts: GridCounts, true_labels: ArrayLike | None = None, among: ArrayLike | None = None
    ) -> ShareGrid:
        """The certified ratio, or the certified accuracy as in `lines_of`, for all combinations of counts."""
        measure, of, share = self._measure(true_labels, among)
        parts, kinds = ranges_of(self.noise, counts)
        return ShareGrid(tuple(self.axes), counts, share(parts, **kinds), measure, of)

    def counts_beside(self, held: Mapping[str, int]) -> GridCounts:
        """The counts of a grid over the axes that are not held fixed."""
        return grid_counts(self.certificates.bounded, held=held)

    def _measure(self, true_labels: ArrayLike | None, among: ArrayLike | None) -> tuple[str, int, Callable[..., Any]]:
        """The name of the measure, the number of inputs, and the function that computes shares."""
        if true_labels is None:
            return CERTIFIED_RATIO, self.inputs, self.certificates.certified_ratio
        rows = chosen_rows(self.inputs, among)
        truth = checked_truth(true_labels, self.inputs)[rows]
        return CERTIFIED_ACCURACY, rows.size, partial(self.certificates.selected(rows).certified_accuracy, truth)

    @cached_property
    def _line_counts(self) -> dict[str, tuple[int, ...]]:
        """Counts from 0 to just past the last certificate and the cap, for each axis."""
        last = {
            name: max(farthest_end(self.certificates.bounded, name), cap + 1 if cap < SEARCH_LIMIT else 0)
            for name, cap in self.sample_caps.items()
        }
        return {name: tuple(range(min(LARGEST_COUNT, most) + 1)) for name, most in last.items()}

    def with_samples(self, factor: int) -> CertifiedInputs | None:
        """The inputs as a run with `factor` times the samples and the same shares of votes would certify them.

        None if that is more samples than can be drawn.
        """
        if factor * self.votes.n_estimate > MAX_SAMPLES:
            return None
        return self if factor == 1 else replace(self, certificates=self.certificates.with_more_samples(factor))
