"""Studies of the paper, and a study at a scale, with the runs that studies share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flipproof.pipeline.machine import Machine, Samples
from flipproof.pipeline.shared_runs import Runs
from flipproof.reproduction.scale import Scale
from flipproof.reproduction.studies.trial import Outcome, Row, Trial
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.records import TRAIN, Inputs, TrainingRecord, read_section


@dataclass(frozen=True, slots=True)
class Study:
    """An experiment of the paper.

    Attributes:
        name: on the command line.
        title: what it shows.
        trials: the runs that it needs, at a scale, with these seeds.
        rows: what comes out, when all trials are done.
        effort: about how many seconds that takes, without the trials.
    """

    name: str
    title: str
    trials: Callable[[Scale, tuple[int, ...]], list[Trial]]
    rows: Callable[[ScaledStudy], list[Row]]
    effort: Callable[[Scale], float] = lambda scale: 1.0


@dataclass(frozen=True, slots=True)
class ScaledStudy:
    """A study at a scale, with seeds, and a store of the runs that it needs.

    Attributes:
        study: which.
        path: of a folder for the runs of all studies; equal trials are made once.
        machine: what may be used.
        scale: see `Scale`.
        seeds: of splits, weights and noise.
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
        """The runs with these numbers of samples: what a study finds must not depend on other studies."""
        return Runs(self.path / f"runs-{samples.n_select}-{samples.n_estimate}", self.machine, self.path / "models")

    def folder_of(self, trial: Trial) -> Path:
        """Where the run of a trial is."""
        return self.runs(trial.samples).folder_of(trial.task)

    def outcome(self, trial: Trial) -> Outcome:
        """The outcome of a trial, which is run if that was not done yet."""
        votes, seconds = self.runs(trial.samples).voted(trial.task, trial.samples)
        folder = RunFolder.open(self.folder_of(trial))
        epochs = read_section(folder, "training", TrainingRecord, TRAIN).epochs
        return Outcome(trial, votes, Inputs.load(folder.inputs_file), seconds, epochs)
