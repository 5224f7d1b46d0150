"""Keeps the proofs of slow systems in files, so that nothing is proved twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flipproof.comparison.comparison import Entry
from flipproof.errors import FlipproofError
from flipproof.files.strict_json import FileKind, read_json, write_json

_ENTRIES = FileKind("file of proofs", "flipproof-entries", 1)


def write_entries(file: Path, settings: Mapping[str, Any], entries: Iterable[Entry]) -> None:
    """Writes the entries and the settings that they depend on."""
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
