"""What certificates say: the one place of this room that asks certificates, votes and laws. The rest reads values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from flipproof.base.values import BoolArray, IntArray
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.words import ANY, EXCHANGE
from flipproof.report.described_inputs import DescribedInputs, check_names, inputs_of
from flipproof.report.shares import (
    CERTIFIED_ACCURACY,
    CERTIFIED_RATIO,
    FAR,
    GridCounts,
    ShareGrid,
    ShareLine,
    checked_truth,
    chosen_rows,
)
from flipproof.smoothing.certificates import Abstention, Certificates
from flipproof.smoothing.certify import unanimous_radii, with_more_samples
from flipproof.smoothing.fingerprint.identity import check_data
from flipproof.smoothing.votes import Votes, drawn_again
from flipproof.statistics.clopper_pearson import MAX_SAMPLES
from flipproof.theory.certificate import checked_certificate
from flipproof.theory.claim import Claim
from flipproof.theory.claims import Claims, Lead, default_lead, has_boxes
from flipproof.theory.law import Noise
from flipproof.theory.radii import Axis, Radii
from flipproof.theory.search import SEARCH_LIMIT
from flipproof.theory.stairs import Stairs, farthest_end, grid_counts, page_counts, ranges_along, ranges_of

MOST_GRID_AXES = 8
"""With more axes than this, combinations of all kinds are not shown: changes of any kinds are."""

REASONS = tuple(why.words for why in Abstention)
"""Why an input abstains, by the numbers that `Certificates.abstention` has; the first one does not."""


@dataclass(frozen=True, eq=False)
class Findings:
    """What is certified of described inputs: every answer is computed once, when it is first read.

    Attributes:
        certificates: what `certify` made; of any other `Certificate` only what the protocol answers is known.
        described: what the inputs are.
    """

    certificates: Any
    described: DescribedInputs = field(default_factory=DescribedInputs)

    def check(self) -> None:
        """Refuses what is no certificate, and a description that does not fit it."""
        if not self.is_smoothed:
            checked_certificate(self.certificates)
        self.described.check(self.inputs, self.classes)
        if self.described.space is not None:
            if self.is_smoothed:
                self._check_data(self.described.space)
            check_names(self.described.space, self.described, self.noise if self.is_smoothed else None)

    def _check_data(self, space: Any) -> None:
        """Pictures of other data than those that were voted on would mislead."""
        if self.votes.run is not None:
            check_data(self.votes.run.identity, space)
        elif (found := inputs_of(space, space.sampler(self.noise, 0).rows)) != self.inputs:
            raise InvalidInputError(f"expected the data of {self.inputs} inputs, got those of {found}")

    @cached_property
    def is_smoothed(self) -> bool:
        """Whether `certify` made them, from votes that can be asked."""
        return isinstance(self.certificates, Certificates)

    @cached_property
    def inputs(self) -> int:
        """How many there are."""
        return len(self.certificates)

    @cached_property
    def label(self) -> IntArray:
        """The prediction for every input."""
        return np.asarray(self.certificates.label)

    @cached_property
    def abstained(self) -> BoolArray:
        """Where nothing is certified."""
        return np.asarray(self.certificates.abstained)

    @cached_property
    def classes(self) -> int:
        """How many labels there are, as far as certificates, true labels and names of classes tell."""
        known = getattr(self.certificates, "classes", None)
        if known is not None:
            return int(known)
        every = (self.label, self.described.labels)
        seen = [int(np.max(labels, initial=-1)) + 1 for labels in every if labels is not None]
        return max([len(self.described.class_names), *seen])

    @cached_property
    def votes(self) -> Votes:
        """What the certificates rest on."""
        return cast(Votes, self.certificates.votes)

    @cached_property
    def checked(self) -> bool | None:
        """Whether the classifier was seen to be a function; None if the votes come from elsewhere."""
        return self.votes.checked

    @cached_property
    def engine(self) -> str | None:
        """What drew the votes, if it was not the classifier itself."""
        return self.votes.engine

    @cached_property
    def in_order(self) -> bool:
        """Whether the inputs are numbered through."""
        return self.votes.in_order

    @cached_property
    def on_some(self) -> bool:
        """Whether the certificates are about some of the inputs that the data have."""
        return self.votes.on_some

    @cached_property
    def voted_samples(self) -> range:
        """The numbers of the first estimation samples of the run; none where the run is not known."""
        run = self.votes.run
        return range(0) if run is None or not run.estimate.pairs else range(*run.estimate.pairs[0])

    def drawn(self, space: Any, samples: range, rows: IntArray) -> Any:
        """These samples of the run for some rows of the data, as the classifier got them."""
        return drawn_again(self.votes, space, samples, rows)

    @cached_property
    def noise(self) -> Noise:
        """The law of the votes."""
        return cast(Noise, self.certificates.noise)

    @cached_property
    def noise_words(self) -> tuple[str, ...]:
        """The law, part by part."""
        return tuple(self.noise.words.split("; "))

    @cached_property
    def noise_facts(self) -> tuple[tuple[str | None, str, str], ...]:
        """The law with all digits of its probabilities: part, name and value."""
        return self.noise.facts()

    @cached_property
    def flips(self) -> dict[str | None, Any]:
        """The flips that the law is made of, by part; none if it is made of something else."""
        return dict(self.noise.flips)

    @cached_property
    def parts(self) -> tuple[str | None, ...]:
        """The names of the parts that get noise."""
        return self.noise.part_names

    @cached_property
    def adds_or_deletes(self) -> bool:
        """Whether there is one part, of bits."""
        return len(self.parts) == 1 and not self.noise.has_levels

    @cached_property
    def fixed(self) -> tuple[str, ...] | None:
        """What gets no noise; None if that is not known."""
        return None if self.votes.scope is None else self.votes.scope.fixed

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """The kinds of change, by name."""
        return {str(axis): axis for axis in self.certificates.axes}

    @cached_property
    def meanings(self) -> dict[str, str]:
        """What a single change along every axis is."""
        return {name: self.noise.meaning(axis) for name, axis in self.axes.items()}

    @cached_property
    def radii(self) -> dict[str, Any]:
        """Along every axis the largest certified number of changes, within what each input can suffer."""
        return {name: np.asarray(self.certificates.max_radius(name)) for name in self.axes}

    @cached_property
    def uncapped_radii(self) -> dict[str, IntArray]:
        """Along every axis the largest certified number of changes of inputs without end."""
        return {name: self.certificates.uncapped_radius(name) for name in self.axes}

    @cached_property
    def sample_caps(self) -> dict[str, int]:
        """Along every axis the largest radius that the number of samples allows."""
        return dict(zip(self.axes, unanimous_radii(self.certificates), strict=True))

    def certified(self, name: str, count: int) -> BoolArray:
        """Which inputs withstand so many changes along an axis."""
        axis, radii = self.axes[name], Radii(**{self.axes[name].kind: count})
        return np.asarray(self.certificates.certified(radii if axis.part is None else {axis.part: radii}))

    @cached_property
    def withstands_one(self) -> dict[str, BoolArray]:
        """Along every axis, which inputs withstand any one change."""
        return {name: self.certified(name, 1) for name in self.axes}

    @cached_property
    def withstands_exchange(self) -> BoolArray:
        """Which inputs withstand any one deletion together with any one addition."""
        return np.asarray(self.certificates.certified(Radii(add=1, delete=1)))

    @cached_property
    def withstands_one_of_any_kind(self) -> BoolArray:
        """Which inputs withstand any one change of whatever kind."""
        return self.withstands_any(self.certificates.max_l0_radius(limit=1), 1)

    @cached_property
    def any_radii(self) -> IntArray | None:
        """The largest certified number of changes in any mixture of kinds, one per input.

        None for a noise of one part with two categories that treats them differently, where additions and deletions by
        themselves say more.
        """
        if not self.inputs or (self.adds_or_deletes and not self.noise.is_even):
            return None
        return np.asarray(self.certificates.max_l0_radius())

    def withstands_any(self, radii: IntArray, count: int) -> BoolArray:
        """Whether any `count` changes are certified, for radii that count changes of all kinds.

        Where all that can change may change, more changes than that are certified too.
        """
        scope = self.votes.scope
        return (radii >= (count if scope is None else np.minimum(count, scope.totals))) & ~self.abstained

    @cached_property
    def lead(self) -> Lead:
        """What the sentences about these inputs speak of first."""
        if EXCHANGE in self.described.changes:
            return Lead.EXCHANGES
        return Lead.TOGETHER if ANY in self.described.changes else default_lead(self.noise)

    @cached_property
    def counts(self) -> GridCounts | None:
        """The counts of the grid that a page shows; None where there are too many axes to combine."""
        return None if len(self.axes) > MOST_GRID_AXES else page_counts(self.certificates.bounded)

    @cached_property
    def _stairs(self) -> Stairs | None:
        return None if self.counts is None else Stairs.of(self.certificates.bounded, self.counts)

    @cached_property
    def shown_stairs(self) -> Stairs | None:
        """The certified part of the grid for every input, within what it can suffer."""
        return None if self._stairs is None else self._stairs.within(self.certificates.bounded.room)

    @cached_property
    def claims(self) -> Claims:
        """The leading claim about every input."""
        stairs = self._stairs if has_boxes(self.noise) else None
        return Claims.leading(self.certificates.bounded, self.certificates.predictions, self.lead, stairs)

    def claim(self, index: int) -> Claim:
        """The leading claim about one input, without those about the others."""
        if self.is_smoothed:
            return Claims.of_one(self.certificates.bounded, self.certificates.predictions, index, self.lead)
        return cast(Claim, self.certificates.claim(index))

    @cached_property
    def judged(self) -> IntArray:
        """The inputs that accuracies are about."""
        return np.arange(self.inputs) if self.described.judged is None else self.described.judged

    @cached_property
    def is_judged(self) -> bool:
        """Whether there are inputs with known labels to judge."""
        return self.described.labels is not None and self.judged.size > 0

    @cached_property
    def lines(self) -> list[tuple[ShareLine, ...]]:
        """The certified ratio along every axis and, if labels are known, the certified accuracy."""
        judged = [self.lines_of(self.described.labels, self.judged)] if self.is_judged else []
        return [self.lines_of(), *judged]

    @cached_property
    def grids(self) -> list[ShareGrid | None]:
        """Both shares over all combinations of counts; None where there are too many axes to combine."""
        if self.counts is None:
            return [None] * len(self.lines)
        judged = [self.grid_of(self.counts, self.described.labels, self.judged)] if self.is_judged else []
        return [self.grid_of(self.counts), *judged]

    def lines_of(self, true_labels: ArrayLike | None = None, among: ArrayLike | None = None) -> tuple[ShareLine, ...]:
        """The certified ratio along every axis, the other axes at 0; given true labels, the certified accuracy.

        `among` is a mask or the indices of the inputs that count (the test inputs), by default all.
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
        """The certified ratio for all combinations of counts along every axis, or the accuracy: see `lines_of`."""
        measure, of, share = self._measure(true_labels, among)
        parts, kinds = ranges_of(self.noise, counts)
        return ShareGrid(tuple(self.axes), counts, share(parts, **kinds), measure, of)

    def counts_beside(self, held: Mapping[str, int]) -> GridCounts:
        """Counts of a grid over the axes that are not held."""
        return grid_counts(self.certificates.bounded, held=held)

    def _measure(self, true_labels: ArrayLike | None, among: ArrayLike | None) -> tuple[str, int, Callable[..., Any]]:
        """What is measured, of how many inputs, and how."""
        if true_labels is None:
            return CERTIFIED_RATIO, self.inputs, self.certificates.certified_ratio
        rows = chosen_rows(self.inputs, among)
        truth = checked_truth(true_labels, self.inputs)[rows]
        return CERTIFIED_ACCURACY, rows.size, partial(self.certificates.selected(rows).certified_accuracy, truth)

    @cached_property
    def _line_counts(self) -> dict[str, tuple[int, ...]]:
        """Past the last certificate and the cap."""
        last = {
            name: max(farthest_end(self.certificates.bounded, name), cap + 1 if cap < SEARCH_LIMIT else 0)
            for name, cap in self.sample_caps.items()
        }
        return {name: tuple(range(min(FAR, most) + 1)) for name, most in last.items()}

    def with_samples(self, factor: int) -> Findings | None:
        """What would be found with so many times the samples, if they fell alike; None if nobody can draw as many."""
        if factor * self.votes.n_estimate > MAX_SAMPLES:
            return None
        return self if factor == 1 else replace(self, certificates=with_more_samples(self.certificates, factor))
