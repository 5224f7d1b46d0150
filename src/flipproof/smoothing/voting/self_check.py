"""The self-check of votes: a few noisy inputs are evaluated again, in other ways, and must get the same labels.

Votes prove something only if the label of a noisy input depends on nothing but that input. Dropout that is left on,
statistics of a batch, changes in place and wrong `hops` break this without any error. The check consists of a few
tasks among the chunks of a run, so that workers do them like any other task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray
from flipproof.errors import TooLargeError, reason_of
from flipproof.smoothing.classifier import ClassifierError, UnstableClassifierError
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.voting.answers import Answer, Way, likely_cause
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.evaluation import Engine, Evaluation, is_out_of_memory, too_little_memory

_GRAPHS, _MOST_ROWS, _MOST_INPUTS = 2, 16, 48
"""How many noisy graphs, or how many rows and noisy copies of rows, are evaluated in several ways."""
_MOST_SCORES = 2**24
"""A very large graph is checked with fewer noisy copies, such that they have at most this many scores."""
_AFFORDABLE = 100
"""A chunk is counted again only if at least this many times its work is to be drawn."""
_ALONE = 6
"""How many noisy rows are evaluated alone. If inputs are graphs, only the last one is."""
_ESCAPE = "check=False (--no-check) votes without this check, and certificates then say so"

Result = tuple[Any, Any, str]
"""A task, its result, and in words the place where it was done."""


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A task: evaluate these noisy inputs in several ways.

    Attributes:
        early: whether the probe comes before the votes. If its first evaluation fails, the votes will report that.
    """

    role: str
    samples: range
    rows: IntArray
    early: bool

    def __repr__(self) -> str:
        return f"the check of {Chunk(self.role, self.samples)}"


@dataclass(frozen=True, slots=True)
class Recount:
    """A task: count a chunk again, or the part of its rows that one call of the classifier gets."""

    chunk: Chunk
    rows: slice

    def __repr__(self) -> str:
        return f"the recount of {self.chunk}"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedEvaluation:
    """An evaluation that can also be checked: the work of a run, as it is sent to workers.

    Attributes:
        memory_limit: the memory in bytes; ways of evaluation that need more are left out.
        shared: a hash of the arrays that all noisy copies share, taken before the classifier could change them.
    """

    evaluation: Evaluation
    memory_limit: int
    shared: str

    @classmethod
    def of(cls, evaluation: Evaluation, memory_limit: int) -> CheckedEvaluation:
        """Hashes the shared arrays; to be called before the classifier is."""
        return cls(evaluation, memory_limit, _shared_contents(evaluation))

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def compile(self) -> None:
        """Compiles all loops that the evaluation needs."""
        self.evaluation.compile()

    def __call__(self, task: Chunk | Probe | Recount) -> Any:
        """The counts of a chunk or of a recount, or None for a probe that passes."""
        if isinstance(task, Probe):
            return self._probe(task)
        if isinstance(task, Recount):
            return replace(self.evaluation, rows=self.evaluation.rows[task.rows])(task.chunk)
        return self.evaluation(task)

    def _probe(self, probe: Probe) -> None:
        evaluation, samples = self.evaluation, probe.samples
        try:
            first = evaluation.answer(probe.role, samples, probe.rows)
        except Exception as error:
            if probe.early:
                return
            raise _failed(probe, "in a batch of another size", error) from error
        try:
            for way, answer, other in self._other_ways(probe, first):
                _compare(answer, other, way, probe, evaluation.classifier)
        except ClassifierError:
            raise
        except Exception as error:
            raise _failed(probe, "when it was evaluated again", error) from error
        if _shared_contents(evaluation) != self.shared:
            raise UnstableClassifierError(
                "expected a classifier that leaves its input unchanged, got one that changes in place the edges or the "
                f"attributes that all noisy copies share: let it work on a copy; {_ESCAPE}"
            )

    def _other_ways(self, probe: Probe, first: Answer) -> Iterator[tuple[Way, Answer, Answer]]:
        """Pairs of answers that should be the same."""
        evaluation, role, samples, rows = self.evaluation, probe.role, probe.samples, probe.rows
        yield Way.TWICE, first, evaluation.answer(role, samples, rows)
        for sample, row in _spread(len(samples), rows.size, 1 if evaluation.is_joint else _ALONE):
            try:
                alone = evaluation.answer(role, samples[sample : sample + 1], rows[row : row + 1])
            except Exception as error:
                cause = likely_cause(Way.ALONE, evaluation.classifier)
                raise _failed(probe, f"when it was evaluated alone ({cause})", error) from error
            answer = first[sample : sample + 1]
            yield Way.ALONE, answer if rows.size == 1 else answer.outputs([row]), alone
        if len(samples) > 1 or rows.size > 1:
            step = 1 if len(samples) > 1 else 0
            shifted, turned = range(samples.start + step, samples.stop + step), np.ascontiguousarray(rows[::-1])
            other = evaluation.answer(role, shifted, turned)
            other = other if rows.size == 1 else other.outputs(slice(None, None, -1))
            yield Way.ELSEWHERE, first[step:], other[: len(samples) - step]
        if (whole := self._if_it_fits(evaluation.on_whole_graph())) is not None:
            yield Way.WHOLE, first, whole.answer(role, samples, rows)
        by_torch = None if evaluation.engine.fused is None else replace(evaluation, engine=Engine())
        if probe.early and (plain := self._if_it_fits(by_torch)) is not None:
            yield Way.BY_TORCH, first[:1], plain.answer(role, samples[:1], rows)

    def _if_it_fits(self, evaluation: Evaluation | None) -> Evaluation | None:
        """Another evaluation, if there is one, and if its noisy inputs fit into memory."""
        try:
            if evaluation is not None:
                evaluation.check_fits(self.memory_limit)
        except TooLargeError:
            return None
        return evaluation


def _compare(one: Answer, other: Answer, way: Way, probe: Probe, classifier: Any) -> None:
    if one.labels.shape != other.labels.shape:
        raise UnstableClassifierError(
            f"expected {one.labels.shape[1]} labels for every noisy input, got {other.labels.shape[1]} when it was "
            f"evaluated {way.value}; {_ESCAPE}"
        )
    differs = one.differs_from(other)
    if not differs.any():
        return
    labels = int((differs & (one.labels != other.labels)).sum())
    got = f"{labels or int(differs.sum()):,} of {differs.size:,} with other {'labels' if labels else 'scores'}"
    raise UnstableClassifierError(
        f"expected one label for one noisy input, got {got} when {Chunk(probe.role, probe.samples)} were evaluated "
        f"{way.value}: {likely_cause(way, classifier)}; {_ESCAPE}"
    )


def _failed(probe: Probe, how: str, error: Exception) -> ClassifierError:
    """The error of a classifier that fails depending on what else is evaluated, or for lack of memory."""
    if is_out_of_memory(error):
        return too_little_memory(Chunk(probe.role, probe.samples), error)
    return UnstableClassifierError(
        f"the classifier failed on one of {Chunk(probe.role, probe.samples)} {how}: {reason_of(error)}; {_ESCAPE}"
    )


def _spread(samples: int, rows: int, most: int) -> list[tuple[int, int]]:
    """Samples and rows of some inputs: the last of a batch, which all other inputs may have changed, and some more."""
    inputs = samples * rows
    return [divmod(int(each), rows) for each in np.linspace(inputs - 1, 0, min(inputs, most))]


def _shared_contents(evaluation: Evaluation) -> str:
    """A hash of the arrays that all noisy copies share."""
    return fingerprint(evaluation.shared) if evaluation.is_joint else ""


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
            f"{Way.AGAIN.value}: {likely_cause(Way.AGAIN, self.work.evaluation.classifier)}; {_ESCAPE}"
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
