"""Makes all certificates that apply to a setting, in turn, and keeps the runs so that a comparison can be resumed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.base.values import IntArray
from flipproof.comparison.comparison import Comparison, Entry
from flipproof.comparison.setting import Setting, Terms, compared_inputs
from flipproof.comparison.smoothed_rivals import (
    OURS,
    ablation_entries,
    can_be_hidden,
    divergence_entries,
    flipproof_entries,
    has_even_noise,
    lee_entries,
)
from flipproof.comparison.white_box_rivals import (
    gcn_attributes_entries,
    gcn_structure_entries,
    has_noisy_attributes,
    has_noisy_edges,
    joins_all_nodes,
    page_rank_all_edges_entries,
    page_rank_entries,
)
from flipproof.errors import FlipproofError, InvalidInputError, not_among
from flipproof.files.strict_json import FileKind, read_json, write_json
from flipproof.files.whole import make_folder
from flipproof.noise.laws import scope_of_outputs
from flipproof.pipeline.kinds.kind import prepared_task
from flipproof.pipeline.prepared import PreparedTask
from flipproof.pipeline.shared_runs import Runs
from flipproof.pipeline.steps import Machine, Samples, check_can_vote
from flipproof.run_folder.task import Task
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.run import installed_versions
from flipproof.theory.base_law import Noise
from flipproof.theory.certificate import ANY
from flipproof.theory.law import checked_noise
from flipproof.theory.radii import axes_of

_ENTRIES = FileKind("file of proofs", "flipproof-entries", 1)


@dataclass(frozen=True, slots=True)
class Rival:
    """A certification system that can take part in a comparison.

    Attributes:
        applies: tells whether the system can certify a task.
        entries: yields what the system proves.
        slow: whether its proofs are slow enough to be worth keeping in a file.
        by_default: whether it takes part when the user names no systems.
    """

    applies: Callable[[PreparedTask], bool]
    entries: Callable[[Setting], Iterator[Entry]]
    slow: bool = False
    by_default: bool = True


RIVALS: Mapping[str, Rival] = {
    OURS: Rival(lambda prepared: True, flipproof_entries),
    "f_divergence": Rival(lambda prepared: True, divergence_entries),
    "lee": Rival(has_even_noise, lee_entries),
    "ablation": Rival(can_be_hidden, ablation_entries),
    "gcn_attributes": Rival(has_noisy_attributes, gcn_attributes_entries, slow=True),
    "gcn_structure": Rival(has_noisy_edges, gcn_structure_entries, slow=True),
    "page_rank": Rival(joins_all_nodes, page_rank_entries, slow=True),
    "page_rank_all_edges": Rival(has_noisy_edges, page_rank_all_edges_entries, slow=True, by_default=False),
}
"""All systems for classifiers of discrete data, in the order in which tables list them."""


def compare(
    path: str | os.PathLike[str],
    task: Task,
    systems: Iterable[str] | None = None,
    terms: Terms | None = None,
    samples: Samples | None = None,
    machine: Machine | None = None,
    tell: Callable[[str, int, int], None] = lambda system, done, of: None,
    runs: Runs | None = None,
) -> Comparison:
    """Certifies the same inputs with every system that applies.

    Systems that need votes train the task's model under their own noise. Systems that certify a network itself train
    the network that they are made for, without noise. Finished work is kept.

    Args:
        path: a folder for the runs and proofs of all systems.
        task: data, model, noise and training for flipproof's own certificate.
        systems: names from `RIVALS`; by default the systems that apply to the task and do not take hours.
        terms: the terms of the comparison, see `Terms`.
        samples: the numbers of samples for every vote.
        machine: the hardware that may be used.
        tell: called with the next system, the number of finished systems and their total number.
        runs: the store of all systems' runs, if it is not in the folder.
    """
    machine, terms = machine or Machine(), terms or Terms()
    check_can_vote(machine, task)
    prepared = prepared_task(task)
    if not prepared.noise.flips:
        raise InvalidInputError(f"expected noise that flips entries, got {prepared.noise}")
    prepared.check()
    chosen = _chosen(prepared, systems)
    inputs = compared_inputs(prepared, terms.nodes)
    noise, runs = checked_noise(prepared.noise), runs or Runs(Path(path) / "runs", machine)
    setting = Setting(runs, prepared, noise, inputs, terms, samples or Samples())
    make_folder(Path(path))
    entries: list[Entry] = []
    for done, system in enumerate(chosen):
        tell(system, done, len(chosen))
        entries += _entries(setting, system, Path(path) / f"{system}.json")
    return Comparison(tuple(entries), inputs, prepared.certified.labels[inputs], _room(prepared, noise, inputs))


def _room(prepared: PreparedTask, noise: Noise, inputs: IntArray) -> dict[str, IntArray]:
    """The largest possible number of changes to each input, by attacker."""
    scope = scope_of_outputs(prepared.certified.space, noise, prepared.certified.labels.size)
    if scope is None:
        return {}
    alone = dict(zip(map(str, axes_of(noise)), scope.room_alone(noise)[inputs].T, strict=True))
    return {**alone, ANY: scope.totals[inputs]}


def _chosen(prepared: PreparedTask, systems: Iterable[str] | None) -> list[str]:
    """The chosen systems that apply, in the order in which tables list them."""
    fitting = [name for name, rival in RIVALS.items() if rival.applies(prepared)]
    if systems is None:
        return [name for name in fitting if RIVALS[name].by_default]
    wanted = list(systems)
    for name in wanted:
        if name not in RIVALS:
            raise not_among("system", RIVALS, name)
        if name not in fitting:
            what = f"such {prepared.task.kind} with noise on {prepared.task.noisy}"
            raise InvalidInputError(f"expected systems for {what} ({', '.join(fitting)}), got {name}")
    if not wanted:
        raise InvalidInputError("expected at least one system, got none")
    return [name for name in fitting if name in wanted]


def _entries(setting: Setting, system: str, file: Path) -> list[Entry]:
    """What a system proves; proofs of a slow system are read from its file if that was made with the same settings."""
    rival, settings = RIVALS[system], _settings_record(setting)
    known = known_entries(file, settings) if rival.slow else None
    if known is not None and all(_answers(entry, setting) for entry in known):
        return known
    entries = list(rival.entries(setting))
    if rival.slow:
        write_entries(file, settings, entries)
    return entries


def _settings_record(setting: Setting) -> dict[str, Any]:
    """All settings that proofs about a network itself depend on, as JSON values."""
    return {
        "task": {name: value for name, value in setting.prepared.task_record().items() if name != "noise"},
        "data": setting.prepared.record.fingerprint,
        "inputs": fingerprint(setting.inputs),
        "radii": setting.terms.radii,
        "versions": installed_versions(),
    }


def _answers(entry: Entry, setting: Setting) -> bool:
    """Whether an entry read from a file fits the setting; the file may have been edited."""
    radius = entry.proofs.radius
    return len(entry.proofs) == setting.inputs.size and bool((radius <= setting.terms.radii[-1]).all())


def write_entries(file: Path, settings: Mapping[str, Any], entries: Sequence[Entry]) -> None:
    """Keeps the entries of a slow system, and the settings that they were made with."""
    write_json(file, _ENTRIES, {"asked": settings, "entries": [entry.to_record() for entry in entries]})


def known_entries(file: Path, settings: Mapping[str, Any]) -> list[Entry] | None:
    """Reads the entries of a file made with these settings; None if there is no such file or it is damaged."""
    if not file.exists():
        return None
    try:
        record = read_json(file, _ENTRIES)
        return [Entry.from_record(entry) for entry in record["entries"]] if record["asked"] == settings else None
    except (FlipproofError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None
