"""The self-check of votes: a few noisy inputs are evaluated again, in other ways, and must get the same labels.

Votes prove something only if the label of a noisy input depends on nothing but that input. Dropout that is left on,
statistics of a batch, changes in place and wrong `hops` break this without any error. The check consists of a few
tasks among the chunks of a run, so that workers do them like any other task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.smoothing.classifier import UnstableClassifierError
from flipproof.smoothing.voting.answers import Way, likely_cause
from flipproof.smoothing.voting.checked_evaluation import ESCAPE, CheckedEvaluation, Probe, Recount
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.evaluation import Evaluation

_GRAPHS, _MOST_ROWS, _MOST_INPUTS = 2, 16, 48
"""How many noisy graphs, or how many rows and noisy copies of rows, are evaluated in several ways."""
_MOST_SCORES = 2**24
"""A very large graph is checked with fewer noisy copies, such that they have at most this many scores."""
_AFFORDABLE = 100
"""A chunk is counted again only if at least this many times its work is to be drawn."""

Result = tuple[Any, Any, str]
"""A task, its result, and in words the place where it was done."""


@dataclass(slots=True, eq=False)
class SelfCheck:
    """The tasks of a check, and the comparison of their results.

    The seed and the missing samples determine which noisy inputs are checked.

    Attributes:
        missing: the samples that will be drawn, by role.
    """

    work: CheckedEvaluation
    seed: int
    missing: Mapping[str, Sequence[range]]
    recount: Recount | None = field(init=False)
    _counts: dict[str, IntArray] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.recount = self._chosen_chunk()

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation that is checked."""
        return self.work.evaluation

    @property
    def total(self) -> int:
        """How many samples will be drawn."""
        return sum(len(gap) for gaps in self.missing.values() for gap in gaps)

    def before(self) -> list[Probe]:
        """The tasks before the first chunk; none if there are no chunks."""
        return [self._probe(1, early=True)] if self._is_needed else []

    def after(self) -> list[Probe | Recount]:
        """The tasks after the last chunk; none if there are no chunks."""
        if not self._is_needed:
            return []
        return [*([] if self.recount is None else [self.recount]), self._probe(2, early=False)]

    @property
    def _is_needed(self) -> bool:
        return self.total > 0 and self.work.evaluation.rows.size > 0

    def among(self, chunks: Iterable[Chunk]) -> Iterator[Any]:
        """The chunks, with the tasks of the check before and after them."""
        yield from self.before()
        yield from chunks
        yield from self.after()

    def passed(self, results: Iterable[Result]) -> Iterator[tuple[Chunk, IntArray, str]]:
        """The chunks among some results. The last chunk is kept back until everything is checked.

        So a run that fails the check stays incomplete, and is checked again when it is continued.
        """
        left, last = self.total, list[tuple[Chunk, IntArray, str]]()
        for task, counts, places in results:
            if isinstance(task, Probe):
                continue
            if isinstance(task, Recount):
                self._counts["again"] = counts
                continue
            if self.recount is not None and task == self.recount.chunk:
                self._counts["first"] = counts[self.recount.rows]
            left -= len(task.samples)
            if left > 0:
                yield task, counts, places
            else:
                last.append((task, counts, places))
        self._compare_counts()
        yield from last

    def _probe(self, stage: int, early: bool) -> Probe:
        evaluation, rng = self.work.evaluation, np.random.default_rng([self.seed, stage])
        role, sample = self._sample(rng)
        if evaluation.is_joint:
            scores = evaluation.predictions * evaluation.classifier.classes
            rows, copies = evaluation.rows, min(_GRAPHS, max(1, _MOST_SCORES // max(1, scores)))
        else:
            rows = rng.permutation(evaluation.rows)[:_MOST_ROWS]
            copies = _MOST_INPUTS // rows.size
        return Probe(role, range(sample, sample + min(copies, evaluation.plan.chunk_size)), rows, early)

    def _sample(self, rng: np.random.Generator) -> tuple[str, int]:
        """One of the missing samples, all with the same probability."""
        number = int(rng.integers(self.total))
        for role, gaps in self.missing.items():
            for gap in gaps:
                if number < len(gap):
                    return role, gap[number]
                number -= len(gap)
        raise AssertionError("there are as many samples as were counted")

    def _chosen_chunk(self) -> Recount | None:
        """A chunk to count again, or None if that would take too long."""
        plan, rows = self.work.evaluation.plan, self.work.evaluation.rows.size
        if not rows or plan.chunk_size * min(plan.rows_per_call, rows) * _AFFORDABLE > self.total * rows:
            return None
        rng = np.random.default_rng([self.seed, 3])
        role, sample = self._sample(rng)
        gap = next(gap for gap in self.missing[role] if sample in gap)
        whole = plan.whole(range(sample, sample + 1))
        start = int(rng.integers(-(-rows // plan.rows_per_call))) * plan.rows_per_call
        samples = range(max(gap.start, whole.start), min(gap.stop, whole.stop))
        some = slice(None) if self.evaluation.is_joint else slice(start, start + plan.rows_per_call)
        return Recount(Chunk(role, samples), some)

    def _compare_counts(self) -> None:
        """Refuses other counts of the same chunk, except for samples whose label rounding may change."""
        if self.recount is None or len(self._counts) < 2:
            return
        first, again, chunk = self._counts["first"], self._counts["again"], self.recount.chunk
        if first.shape == again.shape:
            moved = np.abs(first - again).sum(axis=1) // 2
            if not moved.any() or (moved <= self._undecided(self.recount)).all():
                return
        raise UnstableClassifierError(
            f"expected one label for one noisy input, got other counts of labels when {chunk} were evaluated "
            f"{Way.AGAIN.value}: {likely_cause(Way.AGAIN, self.work.evaluation.classifier)}; {ESCAPE}"
        )

    def _undecided(self, recount: Recount) -> IntArray:
        """How many samples of the chunk have two labels that are equal up to rounding, for each output."""
        evaluation, chunk = self.work.evaluation, recount.chunk
        rows = evaluation.rows[recount.rows]
        with single_threaded():
            ties = (evaluation.answer(chunk.role, range(i, i + 1), rows).undecided()[0] for i in chunk.samples)
            return np.asarray(sum(each.astype(np.int64) for each in ties))


@dataclass(frozen=True, slots=True, eq=False)
class NoCheck:
    """Takes the place of a `SelfCheck` where no check is wanted: it adds nothing to the chunks."""

    evaluation: Evaluation

    @property
    def work(self) -> Evaluation:
        """The evaluation, which is what workers get."""
        return self.evaluation

    def before(self) -> list[Any]:
        """No tasks."""
        return []

    def after(self) -> list[Any]:
        """No tasks."""
        return []

    def among(self, chunks: Iterable[Chunk]) -> Iterator[Any]:
        """The chunks alone."""
        return iter(chunks)

    def passed(self, results: Iterable[Result]) -> Iterator[Result]:
        """All results, unchanged."""
        return iter(results)


def done_here(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Result]:
    """The results of tasks that this process does itself."""
    with single_threaded():
        yield from ((task, work(task), "1 process") for task in tasks)
