"""The files that accompany certificates in a run folder, as the checker reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.verification.certificate import check_array
from flipproof.verification.limits import check_time
from flipproof.verification.plain_files import Archive, Array, read_record, reading_archive, refusing
from flipproof.verification.schema import check_form, schema_of

RECORD, VOTES, WEIGHTS, INPUTS = "run.json", "votes.npz", "weights.safetensors", "inputs.npz"
TABLES = {"select": "selection", "estimate": "estimation"}
Ranges = Sequence[Sequence[int]]
_LABELS, _SPLIT = ("labels", "base_label"), ("train", "validation", "test")
_COUNTS, _NUMBERS = ("I", "q"), ("q",)


@dataclass(frozen=True, slots=True, eq=False)
class VotesFile:
    """The content of `votes.npz`, whose portions have all been summed."""

    record: Mapping[str, Any]
    tables: Mapping[str, Array]

    @property
    def run(self) -> Mapping[str, Any]:
        """How the votes were drawn."""
        run: Mapping[str, Any] = self.record["run"]
        return run


@dataclass(frozen=True, slots=True, eq=False)
class InputsFile:
    """The content of `inputs.npz`: labels, the split, base predictions and class names."""

    columns: Mapping[str, Array]
    class_names: tuple[str, ...]

    def base_accuracy(self) -> float | None:
        """The accuracy of the base classifier on test inputs; None if there are none."""
        labels, found = (self.columns[name].numbers for name in ("labels", "base_label"))
        test = self.columns["test"].numbers
        return sum(labels[i] == found[i] for i in test) / len(test) if len(test) else None


def read_run(folder: Path) -> dict[str, Any]:
    """Reads `run.json` of a finished run."""
    record = read_record(folder / RECORD)
    with refusing(folder / RECORD):
        check_form(record, schema_of("run"))
    return record


def read_votes(folder: Path) -> VotesFile:
    """Reads `votes.npz` and refuses it unless its portions match its samples and add up to its votes."""
    with reading_archive(folder / VOTES) as archive:
        record = archive.description()
        if record.get("format") == "flipproof-votes" and record.get("version") == 1:
            raise FileFormatError("votes of version 1, which lack much of what is evidence; draw them again")
        check_form(record, schema_of("votes"))
        portions = [f"{table}_portions" for table in TABLES.values()]
        archive.check_members([*TABLES.values(), *portions, "ids", "zeros", "nonzeros"])
        tables = {name: archive.array(name) for name in (*TABLES.values(), "ids", "zeros", "nonzeros")}
        shape = tables["estimation"].shape
        if len(shape) != 2:
            raise FileFormatError(f"estimation of shape {shape}")
        parts = (shape[0], len(record["noise"].get("parts", "1")))
        shapes = dict.fromkeys(TABLES.values(), shape) | {"ids": shape[:1], "zeros": parts, "nonzeros": parts}
        for name, expected in shapes.items():
            check_array(name, tables[name], expected, _COUNTS)
        for role, table in TABLES.items():
            _check_portions(archive, record["portions"][role], table, tables[table])
    return VotesFile(record, tables)


def _check_portions(archive: Archive, ranges: Sequence[Ranges], table: str, total: Array) -> None:
    """Checks that the portions add up to the table, and that no sample votes twice within a portion."""
    name, size, width = f"{table}_portions", len(total.numbers), total.shape[1]
    portions = archive.array(name)
    check_array(name, portions, (len(ranges), *total.shape), _COUNTS)
    for index in range(size):
        if not index % 1024:
            check_time()
        if sum(portions.numbers[index::size]) != total.numbers[index]:
            raise FileFormatError(f"portions that do not add up to its {table} votes")
    for number, samples in enumerate(ranges):
        most = sum(stop - start for start, stop in samples)
        for start in range(number * size, (number + 1) * size, width):
            if sum(portions.numbers[start : start + width]) > most:
                raise FileFormatError(f"a portion with more {table} votes than samples")


def read_inputs(folder: Path, inputs: int, classes: int) -> InputsFile:
    """Reads `inputs.npz` and refuses it unless it has this number of inputs and classes."""
    with reading_archive(folder / INPUTS) as archive:
        record = archive.description()
        check_form(record, schema_of("inputs"))
        archive.check_members([*_LABELS, *_SPLIT])
        columns = {name: archive.array(name) for name in (*_LABELS, *_SPLIT)}
        for name, column in columns.items():
            shape, most = ((inputs,), classes) if name in _LABELS else (column.shape[:1], inputs)
            check_array(name, column, shape, _NUMBERS)
            if max(column.numbers, default=0) >= max(1, most):
                raise FileFormatError(f"{name} with a number of {most} or more")
        split = [number for name in _SPLIT for number in columns[name].numbers]
        if len(set(split)) < len(split):
            raise FileFormatError("an input in two parts of the split")
        if len(record["class_names"]) != classes:
            raise FileFormatError(f"{len(record['class_names'])} names of {classes} classes")
    return InputsFile(columns, tuple(record["class_names"]))
