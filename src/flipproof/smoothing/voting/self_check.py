"""The check that votes are those of a function: a few noisy inputs are evaluated again, in other ways.

Votes prove something only if the label of a noisy input depends on nothing but that input. Dropout that is left on,
statistics of a batch, changes in place and wrong `hops` break this without any error. The check takes part in a run as
a few tasks among its chunks, so that workers do it as they do everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from flipproof.base.arrays import IntArray
from flipproof.base.threads import single_threaded
from flipproof.errors import TooLargeError, reason_of
from flipproof.noise.spaces.graph import GraphSampler
from flipproof.smoothing.classifier import ClassifierError, UnstableClassifierError
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.voting.answers import Answer
from flipproof.smoothing.voting.chunks import Chunk, check_fits
from flipproof.smoothing.voting.engine import Engine
from flipproof.smoothing.voting.evaluation import Evaluation, is_out_of_memory, too_little_memory
from flipproof.smoothing.voting.likely_cause import Way, likely_cause

_GRAPHS, _MOST_ROWS, _MOST_INPUTS = 2, 16, 48
"""How many noisy graphs, or rows and noisy copies of rows, are evaluated in several ways."""
_ALONE = 6
"""How many noisy rows are evaluated alone; of noisy graphs, the last one is."""
_MOST_SCORES = 2**24
"""Of a very large graph, fewer copies are looked at."""
_AFFORDABLE = 100
"""A whole chunk is counted again if there are at least as many samples to draw as in so many chunks."""

Result = tuple[Any, Any, str]
"""A task, what came of it, and where it was done, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A task: evaluate these noisy inputs in several ways.

    Attributes:
        early: whether a classifier that fails on them may be left to the votes, which will meet them.
    """

    role: str
    samples: range
    rows: IntArray
    early: bool

    def __repr__(self) -> str:
        return f"the check of {Chunk(self.role, self.samples)}"


@dataclass(frozen=True, slots=True)
class Recount:
    """A task: count a chunk again, or those of its rows that one call of the classifier gets."""

    chunk: Chunk
    rows: slice

    def __repr__(self) -> str:
        return f"the recount of {self.chunk}"


@dataclass(frozen=True, slots=True, eq=False)
class CheckedEvaluation:
    """An evaluation that can also be checked: the work of a run, as it is sent to workers.

    Attributes:
        memory_limit: in bytes; ways of evaluation that need more are left out.
        shared: a hash of the arrays that all noisy copies share, before anybody could change them.
    """

    evaluation: Evaluation
    memory_limit: int
    shared: str

    @classmethod
    def of(cls, evaluation: Evaluation, memory_limit: int) -> CheckedEvaluation:
        """To be made before the classifier is asked for anything."""
        return cls(evaluation, memory_limit, _shared_contents(evaluation))

    def __repr__(self) -> str:
        return repr(self.evaluation)

    def compile(self) -> None:
        """As for the evaluation."""
        self.evaluation.compile()

    def __call__(self, task: Chunk | Probe | Recount) -> Any:
        """Counts of a chunk; of a probe None, if nothing is wrong."""
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
                "expected a classifier that leaves its input as it is, got one that changes in place the edges or the "
                f"attributes that all noisy copies share: let it work on a copy; {_ESCAPE}"
            )

    def _other_ways(self, probe: Probe, first: Answer) -> Iterator[tuple[Way, Answer, Answer]]:
        """Pairs of answers that should be the same."""
        evaluation, role, samples, rows = self.evaluation, probe.role, probe.samples, probe.rows
        yield Way.TWICE, first, evaluation.answer(role, samples, rows)
        for sample, row in _spread(len(samples), rows.size, 1 if _is_graph(evaluation) else _ALONE):
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
        if (whole := self._on_whole_graph()) is not None:
            yield Way.WHOLE, first, whole.answer(role, samples, rows)
        if probe.early and (plain := self._by_torch()) is not None:
            yield Way.BY_TORCH, first[:1], plain.answer(role, samples[:1], rows)

    def _on_whole_graph(self) -> Evaluation | None:
        """The same, if only the neighbourhood of the targets is drawn and the whole graph fits into memory."""
        evaluation, sampler = self.evaluation, self.evaluation.sampler
        if not isinstance(sampler, GraphSampler) or sampler.around is None:
            return None
        whole, engine = replace(sampler, around=None), evaluation.engine
        targets = sampler.around.nodes[sampler.around.targets]
        if engine.fused is not None:
            offer = evaluation.classifier.fused(whole)  # type: ignore[attr-defined]
            engine = Engine(engine.name, None if isinstance(offer, str) else offer)
        return self._if_it_fits(replace(evaluation, sampler=whole, outputs=targets, engine=engine))

    def _by_torch(self) -> Evaluation | None:
        """The same by the torch module, if the engine is fused and a noisy graph fits into memory."""
        if self.evaluation.engine.fused is None:
            return None
        return self._if_it_fits(replace(self.evaluation, engine=Engine()))

    def _if_it_fits(self, evaluation: Evaluation) -> Evaluation | None:
        try:
            if evaluation.engine.fused is None:
                check_fits(evaluation.sampler, evaluation.classifier, self.memory_limit)
        except TooLargeError:
            return None
        return evaluation


@dataclass(slots=True, eq=False)
class SelfCheck:
    """The tasks of a check, and what comes of them.

    Which noisy inputs are looked at is a function of the seed and of the samples that are missing.

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
        """What is checked."""
        return self.work.evaluation

    @property
    def total(self) -> int:
        """How many samples will be drawn."""
        return sum(len(gap) for gaps in self.missing.values() for gap in gaps)

    def before(self) -> list[Probe]:
        """What is done before the first chunk; nothing, if there is none."""
        return [self._probe(1, early=True)] if self._is_needed else []

    def after(self) -> list[Probe | Recount]:
        """What is done after the last chunk."""
        if not self._is_needed:
            return []
        return [*([] if self.recount is None else [self.recount]), self._probe(2, early=False)]

    @property
    def _is_needed(self) -> bool:
        return self.total > 0 and self.work.evaluation.rows.size > 0

    def among(self, chunks: Iterable[Chunk]) -> Iterator[Any]:
        """The chunks and, around them, the tasks of the check."""
        yield from self.before()
        yield from chunks
        yield from self.after()

    def passed(self, results: Iterable[Result]) -> Iterator[tuple[Chunk, IntArray, str]]:
        """The chunks among some results. The last one is kept back until all is checked.

        So a run that fails the check stays incomplete, and who goes on with it is checked again.
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
        if isinstance(evaluation.sampler, GraphSampler):
            scores = evaluation.sampler.nodes.size * evaluation.classifier.classes
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
        """A chunk to be counted again, if that is cheap."""
        plan, rows = self.work.evaluation.plan, self.work.evaluation.rows.size
        if not rows or plan.chunk_size * min(plan.rows_per_call, rows) * _AFFORDABLE > self.total * rows:
            return None
        rng = np.random.default_rng([self.seed, 3])
        role, sample = self._sample(rng)
        gap = next(gap for gap in self.missing[role] if sample in gap)
        whole = plan.whole(range(sample, sample + 1))
        start = int(rng.integers(-(-rows // plan.rows_per_call))) * plan.rows_per_call
        samples = range(max(gap.start, whole.start), min(gap.stop, whole.stop))
        some = slice(None) if _is_graph(self.evaluation) else slice(start, start + plan.rows_per_call)
        return Recount(Chunk(role, samples), some)

    def _compare_counts(self) -> None:
        """Counts of one chunk must be equal, but for samples whose label rounding may change."""
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
    """In the place of a `SelfCheck` where none is wanted: nothing is added to the chunks."""

    evaluation: Evaluation

    @property
    def work(self) -> Evaluation:
        """What workers get."""
        return self.evaluation

    def before(self) -> list[Any]:
        """Nothing."""
        return []

    def after(self) -> list[Any]:
        """Nothing."""
        return []

    def among(self, chunks: Iterable[Chunk]) -> Iterator[Any]:
        """The chunks."""
        return iter(chunks)

    def passed(self, results: Iterable[Result]) -> Iterator[Result]:
        """All results."""
        return iter(results)


def done_here(work: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Result]:
    """What comes of some tasks in this process."""
    with single_threaded():
        yield from ((task, work(task), "1 process") for task in tasks)


_ESCAPE = "check=False (--no-check) votes without this check, and certificates then say so"


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
    """That a classifier fails depends on what else is evaluated; unless it has too little memory."""
    if is_out_of_memory(error):
        return too_little_memory(Chunk(probe.role, probe.samples), error)
    return UnstableClassifierError(
        f"the classifier failed on one of {Chunk(probe.role, probe.samples)} {how}: {reason_of(error)}; {_ESCAPE}"
    )


def _spread(samples: int, rows: int, most: int) -> list[tuple[int, int]]:
    """Places of some inputs: the last one of a batch, which all others may have changed, and some before it."""
    inputs = samples * rows
    return [divmod(int(each), rows) for each in np.linspace(inputs - 1, 0, min(inputs, most))]


def _is_graph(evaluation: Evaluation) -> bool:
    return isinstance(evaluation.sampler, GraphSampler)


def _shared_contents(evaluation: Evaluation) -> str:
    """A hash of the arrays that all noisy copies share."""
    sampler = evaluation.sampler
    return fingerprint(sampler.shared) if isinstance(sampler, GraphSampler) else ""
