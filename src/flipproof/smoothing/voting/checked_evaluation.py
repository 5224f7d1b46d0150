"""The tasks of the self-check: noisy inputs are evaluated in several ways, which must give the same labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flipproof.base.values import IntArray
from flipproof.errors import TooLargeError, reason_of
from flipproof.smoothing.classifier import ClassifierError, UnstableClassifierError
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.voting.answers import Answer, Way, likely_cause
from flipproof.smoothing.voting.chunks import Chunk
from flipproof.smoothing.voting.evaluation import Engine, Evaluation, is_out_of_memory, too_little_memory

_ALONE = 6
"""How many noisy rows are evaluated alone. If inputs are graphs, only the last one is."""
ESCAPE = "check=False (--no-check) votes without this check, and certificates then say so"


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
                f"attributes that all noisy copies share: let it work on a copy; {ESCAPE}"
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
        if (whole := self._on_whole_graph()) is not None:
            yield Way.WHOLE, first, whole.answer(role, samples, rows)
        if probe.early and (plain := self._by_torch()) is not None:
            yield Way.BY_TORCH, first[:1], plain.answer(role, samples[:1], rows)

    def _on_whole_graph(self) -> Evaluation | None:
        """The evaluation on the whole graph, if only the targets' neighbourhood is drawn and memory is enough."""
        whole = self.evaluation.on_whole_graph()
        return None if whole is None else self._if_it_fits(whole)

    def _by_torch(self) -> Evaluation | None:
        """The evaluation by the torch module, if the engine is fused and a noisy graph fits into memory."""
        if self.evaluation.engine.fused is None:
            return None
        return self._if_it_fits(replace(self.evaluation, engine=Engine()))

    def _if_it_fits(self, evaluation: Evaluation) -> Evaluation | None:
        try:
            evaluation.check_fits(self.memory_limit)
        except TooLargeError:
            return None
        return evaluation


def _compare(one: Answer, other: Answer, way: Way, probe: Probe, classifier: Any) -> None:
    if one.labels.shape != other.labels.shape:
        raise UnstableClassifierError(
            f"expected {one.labels.shape[1]} labels for every noisy input, got {other.labels.shape[1]} when it was "
            f"evaluated {way.value}; {ESCAPE}"
        )
    differs = one.differs_from(other)
    if not differs.any():
        return
    labels = int((differs & (one.labels != other.labels)).sum())
    got = f"{labels or int(differs.sum()):,} of {differs.size:,} with other {'labels' if labels else 'scores'}"
    raise UnstableClassifierError(
        f"expected one label for one noisy input, got {got} when {Chunk(probe.role, probe.samples)} were evaluated "
        f"{way.value}: {likely_cause(way, classifier)}; {ESCAPE}"
    )


def _failed(probe: Probe, how: str, error: Exception) -> ClassifierError:
    """The error of a classifier that fails depending on what else is evaluated, or for lack of memory."""
    if is_out_of_memory(error):
        return too_little_memory(Chunk(probe.role, probe.samples), error)
    return UnstableClassifierError(
        f"the classifier failed on one of {Chunk(probe.role, probe.samples)} {how}: {reason_of(error)}; {ESCAPE}"
    )


def _spread(samples: int, rows: int, most: int) -> list[tuple[int, int]]:
    """Samples and rows of some inputs: the last of a batch, which all other inputs may have changed, and some more."""
    inputs = samples * rows
    return [divmod(int(each), rows) for each in np.linspace(inputs - 1, 0, min(inputs, most))]


def _shared_contents(evaluation: Evaluation) -> str:
    """A hash of the arrays that all noisy copies share."""
    return fingerprint(evaluation.shared) if evaluation.is_joint else ""
