"""The run folder: what was asked and all that came of it, so that every step can be repeated, resumed and checked.

`run.json` has one section per step and is written last, so that a section stands for files that are there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.smoothing.array_archive import FileKind
from flipproof.smoothing.files import cannot_write, checked_path, replacing
from flipproof.smoothing.json_file import read_json, write_json

RUN_FILE = FileKind("run folder", "flipproof-run", 1)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder with a `run.json`. Make one with `create` or `open`."""

    path: Path

    @classmethod
    def create(cls, path: Any, task: Mapping[str, Any]) -> RunFolder:
        """A new folder that knows its task. A folder with other things in it is refused."""
        folder = cls(checked_path(path))
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
            if not folder.exists and any(folder.path.iterdir()):
                raise OutputError(
                    f"expected a new or empty folder, got {folder.path} with other things in it; name another one"
                )
        except OSError as error:
            raise cannot_write(folder.path, error) from error
        write_json(folder.record_file, RUN_FILE, {"task": dict(task)})
        return folder

    @classmethod
    def open(cls, path: Any) -> RunFolder:
        """A folder that `create` made."""
        folder = cls(checked_path(path))
        if not folder.path.is_dir():
            raise InvalidInputError(
                f"expected a run folder, got {folder.path}, which is not there; see flipproof train"
            )
        if not folder.exists:
            raise FileFormatError(f"expected a run folder, got {folder.path} without run.json; see flipproof train")
        folder.record()
        return folder

    @property
    def exists(self) -> bool:
        """Whether there is a run here."""
        return self.record_file.exists()

    @property
    def record_file(self) -> Path:
        """What was asked, and what was done so far."""
        return self.path / "run.json"

    @property
    def weights_file(self) -> Path:
        """The trained weights."""
        return self.path / "weights.safetensors"

    @property
    def inputs_file(self) -> Path:
        """True labels, split and base predictions."""
        return self.path / "inputs.npz"

    @property
    def votes_file(self) -> Path:
        """The votes."""
        return self.path / "votes.npz"

    @property
    def checkpoint_file(self) -> Path:
        """The votes as they come."""
        return self.path / "votes.checkpoint"

    @property
    def certificates_file(self) -> Path:
        """The certificates; their arrays are beside it."""
        return self.path / "certificates.json"

    def record(self) -> dict[str, Any]:
        """All sections of `run.json`."""
        record = read_json(self.record_file, RUN_FILE)
        if not isinstance(record.get("task"), dict):
            raise FileFormatError(f"expected {self.record_file} to say what was asked, got no task")
        return record

    def section(self, name: str, made_by: str) -> dict[str, Any]:
        """What a step wrote, or the step that is missing."""
        section = self.record().get(name)
        if not isinstance(section, dict):
            raise FileFormatError(f"expected {self.path} to have its {name}, got none; run {made_by} first")
        return section

    def update(self, **sections: Mapping[str, Any]) -> None:
        """Notes what steps have done."""
        write_json(self.record_file, RUN_FILE, {**self.record(), **{name: dict(s) for name, s in sections.items()}})

    def write(self, path: Path, content: bytes) -> str:
        """Writes one of the files and returns its hash."""
        with replacing(path) as stream:
            stream.write(content)
        return hashlib.sha256(content).hexdigest()

    def check(self, path: Path, sha256: Any, made_by: str) -> bytes:
        """The contents of one of the files, which must be those that `run.json` knows."""
        try:
            content = path.read_bytes()
        except OSError as error:
            raise FileFormatError(f"expected {path}, got: {error.strerror or error}; run {made_by} again") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise FileFormatError(f"expected {path} as run.json knows it, got another; run {made_by} again")
        return content

    def clear(self, *paths: Path) -> None:
        """Removes files that a repeated step makes anew."""
        for path in paths:
            path.unlink(missing_ok=True)


def sha256_of(path: Path) -> str | None:
    """The hash of a file, or None if it is not there."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None
