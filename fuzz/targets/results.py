"""Rows of experiments, and what other systems have proved."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from flipproof.baselines.proofs import Proofs
from flipproof.comparison.compare import known_entries, write_entries
from flipproof.comparison.comparison import Comparison, Entry
from flipproof.reproduction.pages.rows import mean, read_rows, summarised, write_rows
from flipproof.smoothing.fingerprint.identity import differences_between
from flipproof.theory.certificate import Promise, Subject
from fuzz.mutators import in_json
from fuzz.target import Target, saved, scratch

_ASKED = {"task": {"seed": 0}, "noise": {"p_plus": 0.1, "p_minus": 0.2, "categories": 2}}


def _seeds() -> Iterator[bytes]:
    rows = [{"noise": "x", "seed": seed, "measure": "m", "value": 1.0 + seed, "published": None} for seed in (0, 1)]
    write_rows(scratch() / "rows", {"scale": "quick", "made": {"date": "x", "commit": "y"}, "rows": rows})
    yield (scratch() / "rows.json").read_bytes()
    promise = Promise("somebody", Subject.BASE, "r bits change", "exact")
    proofs = Proofs(promise, np.array([0, 1]), np.array([3, 1]), np.array([False, True]))
    write_entries(scratch() / "entries.json", _ASKED, [Entry("theirs", "any", "gcn", "none", proofs, seconds=1.0)])
    yield (scratch() / "entries.json").read_bytes()


def _read(content: bytes) -> None:
    path = saved(content, "results.json")
    entries = known_entries(path, _ASKED)
    for entry in entries or ():
        count = len(entry.proofs)
        comparison = Comparison((entry,), np.arange(count), np.zeros(count, np.int64))
        json.dumps([*comparison.rows([1, 2])], allow_nan=False)
        comparison.mean_radius(entry, entry.attacker, 3)
    if entries is None:
        rows = read_rows(path)["rows"]
        summarised(rows)
        mean(rows)


def _read_with_identity(content: bytes) -> None:
    """Also compares whatever JSON it is with what another run asks for, as a checkpoint does."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and isinstance(value.get("asked"), dict):
        differences_between(value["asked"], _ASKED)
    _read(content)


TARGET = Target(
    "results", _seeds, _read_with_identity, in_json, (b"flipproof-rows", b"measure", b"value", b"flipproof-entries")
)
