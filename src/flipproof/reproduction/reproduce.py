"""The paper's experiments by name, and how they are run.

Runs are shared and kept, so that an interrupted reproduction can resume.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from flipproof.errors import InvalidInputError, not_among
from flipproof.pipeline.steps import Machine
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies import grids, lines, network_certificates, table_1, timing
from flipproof.reproduction.study import ScaledStudy, Study, StudyResult


@dataclass(frozen=True, slots=True)
class Ahead:
    """The progress of a plan.

    Attributes:
        words: the next step.
        done: how many steps are done.
        of: how many steps there are in total.
        seconds_left: estimated time for the remaining steps, from the times so far; None before any are known.
    """

    words: str
    done: int
    of: int
    seconds_left: float | None


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a plan: a run, or the rows of a study.

    Attributes:
        words: a description of the step.
        effort: the approximate seconds that it takes; only ratios matter.
        work: carries out the step.
        there: whether its result exists already.
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
    """Makes all runs that the experiments need, and computes their rows.

    Args:
        studies: the experiments.
        path: a folder for runs; existing runs are not repeated.
        scale: the amount of work.
        seeds: the seeds of splits, weights and noise.
        machine: the hardware that may be used.
        keep: called with the result of each experiment as soon as it is known.
        tell: called with the progress of the plan.
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
    """The steps of a plan: each study's rows, and each run once, before the rows of the first study that needs it."""
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
    """Carries out the steps; estimates the remaining time from the time and effort of the steps so far."""
    left = [0.0 if step.there() else step.effort for step in steps]
    spent = made = 0.0
    for done, step in enumerate(steps):
        tell(Ahead(step.words, done, len(steps), spent / made * sum(left[done:]) if made else None))
        start = time.perf_counter()
        step.work()
        if left[done]:
            spent, made = spent + time.perf_counter() - start, made + left[done]


STUDIES = {
    study.name: study
    for study in (
        table_1.TABLE_1, timing.TABLE_2, grids.HEATMAP, lines.TRADEOFFS, lines.MODELS_ATTRIBUTES,
        lines.MODELS_STRUCTURE, lines.MODELS_DELETION, lines.JOINT_LINES, grids.JOINT_PAIRS, lines.PUBMED, lines.MNIST,
        lines.MUTAG, lines.TRAINING, grids.CLEAN_ACCURACY, grids.RULES, network_certificates.COMPARE_GCN,
        network_certificates.COMPARE_PPNP, timing.EFFICIENCY,
    )
}  # fmt: skip
"""All experiments, in the order in which they are run and shown."""

EVERY = "all"


def studies_named(names: Iterable[str]) -> list[Study]:
    """The experiments with these names; "all" selects every experiment.

    Example:
        >>> [study.name for study in studies_named(["rules", "table-1"])]
        ['table-1', 'rules']
    """
    wanted = list(names)
    for name in wanted:
        if name not in (*STUDIES, EVERY):
            raise not_among("experiment", (*STUDIES, EVERY), name)
    return [study for name, study in STUDIES.items() if name in wanted or EVERY in wanted]
