"""The paper's studies, and a study at a given scale with the runs that studies share."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flipproof.pipeline.shared_runs import Runs
from flipproof.pipeline.steps import Machine, Samples
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import Outcome, Row, Trial
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import Inputs
from flipproof.smoothing.run import versions


@dataclass(frozen=True, slots=True)
class Study:
    """An experiment of the paper.

    Attributes:
        name: the name on the command line.
        title: what the study shows.
        trials: gives the runs that the study needs, for a scale and seeds.
        rows: computes the results once all trials are done.
        effort: the approximate seconds that computing the rows takes, without the trials.
    """

    name: str
    title: str
    trials: Callable[[Scale, tuple[int, ...]], list[Trial]]
    rows: Callable[[ScaledStudy], list[Row]]
    effort: Callable[[Scale], float] = lambda scale: 1.0


@dataclass(frozen=True, slots=True)
class ScaledStudy:
    """A study at a scale with seeds, and the store of the runs that it needs.

    Attributes:
        study: the study.
        path: a folder for the runs of all studies; equal trials are run once.
        machine: the hardware that may be used.
        scale: the amount of work, see `Scale`.
        seeds: the seeds of splits, weights and noise.
    """

    study: Study
    path: Path
    machine: Machine
    scale: Scale
    seeds: tuple[int, ...]

    def trials(self) -> list[Trial]:
        """The runs that the study needs."""
        return self.study.trials(self.scale, self.seeds)

    def runs(self, samples: Samples) -> Runs:
        """The store of runs with these numbers of samples; a study's results must not depend on other studies."""
        return Runs(self.path / f"runs-{samples.n_select}-{samples.n_estimate}", self.machine, self.path / "models")

    def folder_of(self, trial: Trial) -> Path:
        """The folder of a trial's run."""
        return self.runs(trial.samples).folder_of(trial.task)

    def outcome(self, trial: Trial) -> Outcome:
        """The outcome of a trial; runs the trial first if necessary."""
        votes, seconds = self.runs(trial.samples).voted(trial.task, trial.samples)
        folder = RunFolder.open(self.folder_of(trial))
        epochs = folder.read(TrainingRecord).epochs
        return Outcome(trial, votes, Inputs.load(folder.inputs_file), seconds, epochs)


@dataclass(frozen=True, slots=True, eq=False)
class StudyResult:
    """The rows that a study produced.

    Attributes:
        scaled: the study, its scale and its seeds.
        rows: the results.
    """

    scaled: ScaledStudy
    rows: list[Row]

    def record(self) -> dict[str, Any]:
        """JSON values: the task of every run, when and where the rows were made, and the rows."""
        scaled = self.scaled
        return {
            "study": scaled.study.name,
            "title": scaled.study.title,
            "scale": scaled.scale.name,
            "seeds": sorted({trial.task.seed for trial in scaled.trials()}),
            "made": _circumstances(),
            "trials": [trial.record() for trial in scaled.trials()],
            "rows": self.rows,
        }


def _circumstances() -> dict[str, Any]:
    """The time, the software and the machine of a measurement."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": _commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}",
        "versions": versions(),
    }


def _commit() -> str | None:
    """The commit of the checkout that contains this file, if any; "+" marks changes made since."""
    here = Path(__file__)
    if _git("-C", str(here.parent), "ls-files", "--error-unmatch", here.name) is None:
        return None
    changed = _git("-C", str(here.parent), "status", "--porcelain", "--untracked-files=no", ":/src")
    return f"{_git('-C', str(here.parent), 'rev-parse', '--short=12', 'HEAD')}{'+' if changed else ''}"


def _git(*arguments: str) -> str | None:
    try:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
