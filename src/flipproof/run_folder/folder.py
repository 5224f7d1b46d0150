"""The run folder: a task and all its results, so that every step can be repeated, resumed and checked.

`run.json` has one section per step, written after the files that the section describes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args, get_type_hints

from flipproof.errors import FileFormatError, InvalidInputError, OutputError
from flipproof.files.strict_json import FileKind, is_number, read_json, write_json
from flipproof.files.whole import cannot_write, checked_path, opened, read_whole, remove_leftovers, replacing, take_lock
from flipproof.run_folder.data_record import DataRecord
from flipproof.run_folder.split import DRAWN, Inputs

RUN_FILE = FileKind("run folder", "flipproof-run", 1)
_FIGURES = [f"figures/{name}.{kind}" for name in ("heatmap", "lines", "bounds") for kind in ("png", "svg")]
_MARK = b'<meta name="generator" content="flipproof">'
"""Among the first bytes of every report."""
_LOCK = ".lock"
_FILES = {
    "training": ("weights.safetensors", "inputs.npz"),
    "votes": ("votes.npz", "votes.checkpoint"),
    "certificates": ("certificates.json", "certificates.npz", "report.html", *_FIGURES),
}
"""By section of `run.json`: the files that belong to it."""
_ALL_FILES = ("run.json", *(name for names in _FILES.values() for name in names))
_MADE_BY = {"votes": "flipproof vote", "certificates": "flipproof certify"}
"""By section: the command that makes it; all others are made by `flipproof train`."""


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """How a model was trained. `model` and `inputs` are fingerprints of the classifier and of what is certified.

    `blind` has the words and the accuracy of a classifier that ignores the noisy part, if there is one. `files` has the
    sha256 of each file of the user's own that the classifier is made of. `split` says where the split comes from:
    "given", "drawn" or "unknown". If it is unknown, no input is known to be for testing, and there are no accuracies.
    `fingerprints` is the version of the fingerprints: 1 in early runs, which did not note it.
    """

    section: ClassVar[str] = "training"
    epochs: int
    seconds: float
    base_accuracy: float | None
    model: str
    weights_sha256: str
    inputs_sha256: str
    inputs: str
    versions: dict[str, str]
    loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_accuracy: list[float] = field(default_factory=list)
    blind: dict[str, Any] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    split: str = field(default_factory=lambda: DRAWN)
    fingerprints: int = field(default_factory=lambda: 1)


@dataclass(frozen=True, slots=True)
class VotesRecord:
    """How votes were drawn; seconds and drawn samples are sums over all calls that drew some and were not killed.

    `workers` is how many processes the last call used, or "ray".
    """

    section: ClassVar[str] = "votes"
    n_select: int
    n_estimate: int
    sha256: str
    seconds: float
    drawn: int
    workers: int | str
    versions: dict[str, str]


Section = TypeVar("Section", DataRecord, TrainingRecord, VotesRecord)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A folder with a `run.json`, or one that will have it. See `prepare` and `open`."""

    path: Path

    @classmethod
    def prepare(cls, path: Any) -> RunFolder:
        """A folder that a run may be written to; it is made if it is not there. Other things in it are refused."""
        folder = cls(checked_path(path))
        try:
            folder.path.mkdir(parents=True, exist_ok=True)
            expected = {name.partition("/")[0] for name in _ALL_FILES}
            strange = [each.name for each in folder.path.iterdir() if each.name not in expected and each.name[0] != "."]
        except OSError as error:
            raise cannot_write(folder.path, error) from error
        if strange and not folder.exists:
            raise OutputError(f"expected a new or empty folder, got {folder.path} with {strange[0]}; name another one")
        folder._check_plain()
        if folder.exists:
            read_json(folder.record_file, RUN_FILE, any_version=True)  # a run.json of something else is left alone
        return folder

    @classmethod
    def open(cls, path: Any) -> RunFolder:
        """The folder of a run that is there."""
        folder = cls(checked_path(path))
        if not folder.path.is_dir():
            what = "which is no folder" if os.path.exists(folder.path) else "which is not there; see flipproof train"
            raise InvalidInputError(f"expected a run folder, got {folder.path}, {what}")
        if not folder.exists:
            raise FileFormatError(f"expected a run folder, got {folder.path} without run.json; see flipproof train")
        folder._check_plain()
        folder.record()
        return folder

    def _check_plain(self) -> None:
        """Refuses links: writing through one in a folder from elsewhere could overwrite other files of the user."""
        for name in (_LOCK, "figures", *_ALL_FILES):
            path = self.path / name
            plain = os.path.isdir(path) if name == "figures" else os.path.isfile(path)
            if os.path.islink(path) or (os.path.exists(path) and not plain):
                raise FileFormatError(
                    f"expected plain files in {self.path}, got {name}, which is something else; "
                    "put the file itself in its place"
                )

    @property
    def exists(self) -> bool:
        """Whether there is a run here."""
        return os.path.exists(self.record_file)  # unlike Path.exists: False for names that are too long

    @property
    def record_file(self) -> Path:
        """The task, and a section for each finished step."""
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

    @property
    def report_file(self) -> Path:
        """The page that people look at."""
        return self.path / "report.html"

    @property
    def figures_folder(self) -> Path:
        """Figures for papers."""
        return self.path / "figures"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps other processes from changing the folder. The lock ends with the process, however that ends.

        Temporary files that killed processes have left are removed.
        """
        try:
            stream = open(self.path / _LOCK, "ab")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        with stream:
            try:
                alone = take_lock(stream.fileno())
            except OSError:
                raise OutputError(f"{self.path} is in use by another process; wait until that is done") from None
            if alone:
                for folder in (self.path, self.figures_folder):
                    remove_leftovers(folder)
            yield

    def record(self) -> dict[str, Any]:
        """All sections of `run.json`."""
        record = read_json(self.record_file, RUN_FILE)
        if not isinstance(record.get("task"), dict):
            raise FileFormatError(f"expected {self.record_file} to have a task, got none")
        return record

    def section(self, name: str, record: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The section that a step wrote, or an error that names the step; `record` is `run.json`, if it was read."""
        section = (self.record() if record is None else record).get(name)
        if not isinstance(section, dict):
            made_by = _MADE_BY.get(name, "flipproof train")
            raise FileFormatError(f"expected {self.path} to have its {name}, got none; run {made_by} first")
        return section

    def read(self, kind: type[Section], record: Mapping[str, Any] | None = None) -> Section:
        """A section as a value, or an error that says what is wrong with it; `record` is `run.json`, if it was read."""
        section, hints, fields = self.section(kind.section, record), get_type_hints(kind), dataclasses.fields(kind)
        wrong = f"expected {self.record_file} as flipproof wrote it, got"
        if unknown := sorted(set(section) - {each.name for each in fields}):
            raise FileFormatError(f"{wrong} an unknown field {kind.section}.{unknown[0][:40]}")
        needed = [each.name for each in fields if each.name in section or each.default_factory is dataclasses.MISSING]
        values: dict[str, Any] = {name: section.get(name) for name in needed}
        for name, value in values.items():
            if not _fits(value, hints[name]):
                raise FileFormatError(f"{wrong} {value!r} for {kind.section}.{name}")
        return kind(**values)

    def begin(self, **sections: Mapping[str, Any]) -> None:
        """Writes a new `run.json` with these sections."""
        write_json(self.record_file, RUN_FILE, {name: dict(section) for name, section in sections.items()})

    def save_training(
        self, task: Mapping[str, Any], dataset: DataRecord, weights: bytes, inputs: Inputs, /, **facts: Any
    ) -> TrainingRecord:
        """Discards all results, and begins a run with a trained model; `facts` are further fields of its record."""
        self.forget("training", "votes", "certificates")
        inputs.save(self.inputs_file)
        training = TrainingRecord(
            base_accuracy=inputs.accuracy(inputs.base_label == inputs.labels),
            weights_sha256=self.write(self.weights_file, weights),
            inputs_sha256=str(sha256_of(self.inputs_file)),
            **facts,
        )
        self.begin(task=task, dataset=dataset.to_record(), training=asdict(training))
        return training

    def take_training(self, other: RunFolder) -> None:
        """Begins a run with the model that another one has trained for the same task."""
        folder = RunFolder.prepare(self.path)
        sections = {name: other.section(name) for name in ("task", "dataset", "training")}
        with folder.locked():
            if folder.exists:  # somebody else has begun it meanwhile
                return
            for name in _FILES["training"]:
                try:
                    content = read_whole(other.path / name)
                except OSError as error:
                    raise FileFormatError(f"expected {other.path / name}, got: {error.strerror or error}") from error
                folder.write(self.path / name, content)
            folder.begin(**sections)

    def update(self, **sections: Mapping[str, Any]) -> None:
        """Adds the sections of finished steps."""
        self.begin(**{**self.record(), **sections})

    def forget(self, *sections: str) -> None:
        """Discards the results of steps: first their sections, then their files."""
        try:
            if self.exists and "training" in sections:
                self.record_file.unlink()
            elif self.exists:
                self.begin(**{name: each for name, each in self.record().items() if name not in sections})
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._remove(file for section in sections for file in _FILES[section])

    def forget_report(self) -> None:
        """Removes a report that is out of date. A file of that name that flipproof did not write stays."""
        self._remove([*_FIGURES, *(["report.html"] if is_report(self.report_file) else [])])
        with contextlib.suppress(OSError):  # it is not there, or has other files
            self.figures_folder.rmdir()

    def _remove(self, names: Iterable[str]) -> None:
        try:
            for name in names:
                (self.path / name).unlink(missing_ok=True)
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def write(self, path: Path, content: bytes) -> str:
        """Writes one of the files and returns its hash."""
        with replacing(path) as stream:
            stream.write(content)
        return hashlib.sha256(content).hexdigest()

    def check(self, path: Path, sha256: Any, made_by: str) -> bytes:
        """The contents of one of the files, which must be those that `run.json` knows."""
        try:
            content = read_whole(path)
        except OSError as error:
            raise FileFormatError(f"expected {path}, got: {error.strerror or error}; run {made_by} again") from error
        if hashlib.sha256(content).hexdigest() != sha256:
            raise FileFormatError(f"expected {path} as run.json knows it, got another; run {made_by} again")
        return content


def _fits(value: Any, hint: Any) -> bool:
    if hint in (float, float | None):
        return is_number(value) or (value is None and hint is not float)
    if hint in (int, str, int | str):
        return type(value) in (get_args(hint) or (hint,))
    if hint == dict[str, int]:
        return isinstance(value, dict) and all(type(count) is int for count in value.values())
    return isinstance(value, list if hint == list[float] else dict)


def is_report(path: Path) -> bool:
    """Whether a file is a page that was written by flipproof."""
    try:
        with opened(path) as stream:
            return _MARK in stream.read(1_000)
    except OSError:
        return False


def sha256_of(path: Path) -> str | None:
    """The hash of a file, or None if it cannot be read."""
    try:
        return hashlib.sha256(read_whole(path)).hexdigest()
    except OSError:
        return None
