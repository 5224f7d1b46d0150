"""The experiments of the paper, one after another: runs are shared and kept, so that it can be gone on with."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flipproof.errors import InvalidInputError
from flipproof.pipeline.machine import Machine
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.study import ScaledStudy, Study
from flipproof.reproduction.study_result import StudyResult


@dataclass(frozen=True, slots=True)
class Ahead:
    """How far a plan has come.

    Attributes:
        words: what comes next.
        done: how many steps are done.
        of: how many there are in all.
        seconds_left: about how long the others take, from what took how long; None before anything is known.
    """

    words: str
    done: int
    of: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class _Step:
    """A run that is to be made, or the rows of a study.

    Attributes:
        words: what it is.
        effort: about how many seconds it takes; only ratios matter.
        work: makes it.
        there: whether it is there already.
    """

    words: str
    effort: float
    work: Callable[[], object]
    there: Callable[[], bool] = lambda: False


def reproduce(
    studies: Iterable[Study],
    path: str | os.PathLike[str],
    scale: Scale,
    seeds: tuple[int, ...],
    machine: Machine | None = None,
    keep: Callable[[StudyResult], None] = lambda result: None,
    tell: Callable[[Ahead], None] = lambda ahead: None,
) -> list[StudyResult]:
    """Makes all runs that some experiments need, and then their rows.

    Args:
        studies: which experiments.
        path: of a folder for runs, which are not made again.
        scale: how much work.
        seeds: of splits, weights and noise.
        machine: what may be used.
        keep: is given what each experiment found, as soon as it has found it.
        tell: is told how far the plan has come.
    """
    labs = [ScaledStudy(study, Path(path), machine or Machine(), scale, seeds) for study in studies]
    if not labs or not seeds:
        raise InvalidInputError("expected at least one experiment and one seed, got none")
    found: list[StudyResult] = []

    def finish(scaled: ScaledStudy) -> None:
        found.append(StudyResult(scaled, scaled.study.rows(scaled)))
        keep(found[-1])

    _follow(list(_steps(labs, finish)), tell)
    return found


def _steps(labs: list[ScaledStudy], finish: Callable[[ScaledStudy], None]) -> Iterator[_Step]:
    """Every run once, before the rows of the first study that needs it; then these."""
    planned: set[Path] = set()
    for scaled in labs:
        for trial in scaled.trials():
            folder = scaled.folder_of(trial)
            if folder not in planned:
                planned.add(folder)
                work, votes = partial(scaled.outcome, trial), folder / "votes.npz"
                yield _Step(trial.words, trial.effort, work, votes.exists)
        yield _Step(f"rows of {scaled.study.name}", scaled.study.effort(scaled.scale), partial(finish, scaled))


def _follow(steps: list[_Step], tell: Callable[[Ahead], None]) -> None:
    """How long the others take is guessed from what steps took so far, by their effort."""
    left = [0.0 if step.there() else step.effort for step in steps]
    spent = made = 0.0
    for done, step in enumerate(steps):
        tell(Ahead(step.words, done, len(steps), spent / made * sum(left[done:]) if made else None))
        start = time.perf_counter()
        step.work()
        if left[done]:
            spent, made = spent + time.perf_counter() - start, made + left[done]
