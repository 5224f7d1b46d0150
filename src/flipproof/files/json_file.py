"""JSON files that say what they are: a format and a version on top, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.files.archive import FileKind
from flipproof.files.json_text import json_value
from flipproof.files.whole import read_whole, replacing

_LONGEST = 2**26


def write_json(path: Path, kind: FileKind, record: Mapping[str, Any]) -> None:
    """Writes the record under its format and version."""
    whole = {"format": kind.format, "version": kind.version, **record}
    with replacing(path) as stream:
        stream.write(json.dumps(whole, indent=1, allow_nan=False).encode() + b"\n")


def read_json(path: Path, kind: FileKind, any_version: bool = False) -> dict[str, Any]:
    """The record, without its format and version."""
    try:
        record = json_value(read_whole(path, _LONGEST))
    except OSError as error:
        raise FileFormatError(f"expected a readable {kind.noun}, got {path}: {error.strerror or error}") from error
    except FileFormatError as error:
        raise FileFormatError(f"expected a {kind.noun} written by flipproof, got {path}: {error}") from error
    if not isinstance(record, dict) or record.pop("format", None) != kind.format:
        raise FileFormatError(f"expected a {kind.noun} written by flipproof, got {path}, which is something else")
    version = record.pop("version", None)
    if not any_version and (type(version) is not int or version != kind.version):
        raise FileFormatError(
            f"expected a {kind.noun} of version {kind.version}, got {path} of version {version!r}; "
            "use the flipproof that wrote it"
        )
    return record
