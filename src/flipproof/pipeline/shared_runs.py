"""Runs that several experiments share: equal tasks use one folder."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flipproof.pipeline.reopened import reopened
from flipproof.pipeline.steps import Machine, Samples, train_run, vote_run
from flipproof.run_folder.folder import RunFolder, TrainingRecord, VotesRecord
from flipproof.run_folder.task import Task
from flipproof.smoothing.votes import Votes


@dataclass(frozen=True, slots=True)
class Runs:
    """A folder of run folders, each named after its task. What it already holds is not made again.

    Attributes:
        path: of the folder.
        machine: what may be used.
        models: a folder of trained runs without votes, which others share, too; None: models are trained in `path`.
    """

    path: Path
    machine: Machine
    models: Path | None = None

    def folder_of(self, task: Task) -> Path:
        """Where the run of a task is."""
        return self.path / _name(task)

    def trained(self, task: Task) -> tuple[Any, float]:
        """The trained classifier, and how many seconds that took."""
        folder = self._trained_folder(task)
        return reopened(folder, task.model.name).classifier, _training_seconds(folder)

    def voted(self, task: Task, samples: Samples) -> tuple[Votes, float]:
        """Votes of the trained classifier, and how many seconds training and votes took."""
        # The fused engine has no other laws than flips, and need not be insisted on.
        machine = replace(self.machine, engine=None) if not task.noise.flips else self.machine
        folder = RunFolder(self.folder_of(task))
        if self.models is not None and not folder.exists:
            folder.take_training(self._trained_folder(task))
        train_run(folder.path, task, machine)
        votes = vote_run(folder.path, samples, machine, task.model.name)
        return votes, _training_seconds(folder) + folder.read(VotesRecord).seconds

    def _trained_folder(self, task: Task) -> RunFolder:
        return train_run((self.models or self.path) / _name(task), task, self.machine)


def _name(task: Task) -> str:
    """Different for different tasks."""
    words = f"{task.model.name.rpartition(':')[2]} {task.noisy} {task.noise.short_words}"
    content = json.dumps(task.to_record(), sort_keys=True).encode()
    return "-".join([*re.findall(r"[\w.]+", words), hashlib.sha256(content).hexdigest()[:8]])


def _training_seconds(folder: RunFolder) -> float:
    return folder.read(TrainingRecord).seconds
