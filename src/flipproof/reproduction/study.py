"""The paper's studies, and a study at a given scale with the runs that studies share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flipproof.pipeline.shared_runs import Runs
from flipproof.pipeline.steps import Machine, Samples
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import Outcome, Row, Trial
from flipproof.run_folder.folder import RunFolder, TrainingRecord
from flipproof.run_folder.split import Inputs


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
