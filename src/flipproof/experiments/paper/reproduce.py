"""The experiments of the paper, one after another: runs are shared and kept, rows are written."""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flipproof.errors import InvalidInputError, not_among
from flipproof.experiments.paper.against import COMPARE_GCN, COMPARE_PPNP
from flipproof.experiments.paper.grids import CLEAN_ACCURACY, HEATMAP, JOINT_PAIRS, RULES
from flipproof.experiments.paper.lab import Lab, Study
from flipproof.experiments.paper.lines import (
    JOINT_LINES,
    MNIST,
    MODELS_ATTRIBUTES,
    MODELS_DELETION,
    MODELS_STRUCTURE,
    MUTAG,
    PUBMED,
    TRADEOFFS,
    TRAINING,
)
from flipproof.experiments.paper.scale import Scale
from flipproof.experiments.paper.table_1 import TABLE_1
from flipproof.experiments.paper.timing import EFFICIENCY, TABLE_2
from flipproof.experiments.paper.trial import Row, Trial
from flipproof.experiments.steps import Machine
from flipproof.smoothing.array_archive import FileKind
from flipproof.smoothing.files import replacing
from flipproof.smoothing.json_file import read_json, write_json
from flipproof.smoothing.run import versions

STUDIES = {
    study.name: study
    for study in (
        TABLE_1, TABLE_2, HEATMAP, TRADEOFFS, MODELS_ATTRIBUTES, MODELS_STRUCTURE, MODELS_DELETION, JOINT_LINES,
        JOINT_PAIRS, PUBMED, MNIST, MUTAG, TRAINING, CLEAN_ACCURACY, RULES, COMPARE_GCN, COMPARE_PPNP, EFFICIENCY,
    )
}  # fmt: skip
"""All experiments of the paper, by name."""

_OVERHEAD = 5_000
"""As many samples as could be drawn while a model is trained, roughly."""

_ROWS = FileKind("rows of an experiment", "flipproof-rows", 1)


@dataclass(frozen=True, slots=True)
class Ahead:
    """How far a plan has come.

    Attributes:
        words: what comes next.
        done: how many runs are there.
        of: how many there are in all.
        seconds_left: about how long the others take, from what took how long; None before anything is known.
    """

    words: str
    done: int
    of: int
    seconds_left: float | None


def studies_named(names: Iterable[str]) -> list[Study]:
    """Experiments by their names; "all" for all of them."""
    wanted = list(names)
    for name in wanted:
        if name not in (*STUDIES, "all"):
            raise not_among("experiment", (*STUDIES, "all"), name)
    return [study for name, study in STUDIES.items() if name in wanted or "all" in wanted]


def reproduce(
    studies: list[Study],
    path: str | os.PathLike[str],
    scale: Scale,
    seeds: tuple[int, ...],
    machine: Machine | None = None,
    tell: Callable[[Ahead], None] = lambda ahead: None,
) -> dict[str, list[Row]]:
    """Makes all runs that some experiments need, and writes their rows as JSON and CSV.

    Args:
        studies: which experiments.
        path: of a folder; runs go into it, too, and are not made again.
        scale: how much work.
        seeds: of splits, weights and noise.
        machine: what may be used.
        tell: is told how far the plan has come.
    """
    if not studies or not seeds:
        raise InvalidInputError("expected at least one experiment and one seed, got none")
    folder = Path(path)
    labs = [Lab(study, folder, machine or Machine(), scale, seeds) for study in studies]
    _make_runs(labs, tell)
    found = {}
    for number, lab in enumerate(labs):
        tell(Ahead(f"rows of {lab.study.name}", number, len(labs), None))
        rows = lab.study.rows(lab)
        _write(folder / lab.study.name, lab, rows)
        found[lab.study.name] = rows
    return found


def _make_runs(labs: list[Lab], tell: Callable[[Ahead], None]) -> None:
    """Each once. How long the others take is guessed from what runs took so far, by their samples."""
    plan = {lab.folder_of(trial): (lab, trial) for lab in labs for trial in lab.trials()}
    weights = [_OVERHEAD + trial.samples.estimate for _, trial in plan.values()]
    spent, made = 0.0, 0
    for done, (folder, (lab, trial)) in enumerate(plan.items()):
        left = spent / made * sum(weights[done:]) if made else None
        tell(Ahead(_words(trial), done, len(plan), left))
        start, new = time.perf_counter(), not (folder / "votes.npz").exists()
        lab.outcome(trial)
        if new:
            spent, made = spent + time.perf_counter() - start, made + weights[done]


def _words(trial: Trial) -> str:
    facts = trial.facts()
    return f"{facts['model']} on {facts['dataset']}, {facts['noisy']} {facts['noise']}, seed {facts['seed']}"


def _write(base: Path, lab: Lab, rows: list[Row]) -> None:
    """The same rows twice: for programs with what they depend on, for tables."""
    record = {
        "study": lab.study.name,
        "title": lab.study.title,
        "scale": lab.scale.name,
        "seeds": list(lab.seeds),
        "made": _circumstances(),
        "rows": rows,
    }
    write_json(base.with_suffix(".json"), _ROWS, record)
    names = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(names), restval="")
    writer.writeheader()
    writer.writerows(rows)
    with replacing(base.with_suffix(".csv")) as stream:
        stream.write(text.getvalue().encode())


def read_rows(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What `reproduce` wrote about one experiment."""
    return read_json(Path(path), _ROWS)


def _circumstances() -> dict[str, Any]:
    """When, with what, and where."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": _commit(),
        "machine": f"{platform.machine()}, {os.cpu_count()} CPUs",
        "versions": versions(),
    }


def _commit() -> str | None:
    """Of the checkout that this code is in, if it is in one."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
