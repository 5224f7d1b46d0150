"""The result of an experiment with everything it depends on, in the form in which it is written to files."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flipproof.reproduction.studies.trial import Row
from flipproof.reproduction.study import ScaledStudy
from flipproof.smoothing.run import versions


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
