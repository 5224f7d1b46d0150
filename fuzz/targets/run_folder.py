"""Run folders: the record of a run and its certificates, with everything that reads them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from flipproof.pipeline.steps import open_run
from flipproof.report.summary import summary_of
from flipproof.run_folder.finished_run import write_certified
from flipproof.run_folder.folder import DataRecord, RunFolder, TrainingRecord, VotesRecord, sha256_of
from flipproof.run_folder.split import Inputs, Split
from flipproof.run_folder.task import ModelSpec, Task
from flipproof.smoothing.certify import PromiseSettings
from fuzz.mutators import in_json
from fuzz.target import Target, scratch
from fuzz.targets.votes import FLIPS, drawn_votes

_WORDS = (
    b"flipproof-run",
    b"flipproof-certificates",
    b"task",
    b"training",
    b"votes",
    b"certificates",
    b"alpha",
    b"rule",
)


@functools.cache
def _folder() -> tuple[Path, bytes, bytes]:
    """A whole run, and its two records."""
    folder = RunFolder.prepare(scratch() / "run")
    votes = drawn_votes()
    votes.save(folder.votes_file)
    labels = np.array([0, 1, 2, 0])
    Inputs(labels, Split([0], [1], [2, 3]), labels, ("a", "b", "c")).save(folder.inputs_file)
    weights = folder.write(folder.weights_file, b"weights")
    identity = votes.run.identity
    folder.begin(
        task=Task("nodes", "cora_ml", ModelSpec("gcn"), "attributes", FLIPS).to_record(),
        dataset=asdict(DataRecord("cora_ml", {"nodes": 4}, 3, "ab")),
        training=asdict(
            TrainingRecord(
                epochs=1, seconds=1.0, base_accuracy=0.5, model=identity["model"], weights_sha256=weights,
                inputs_sha256=str(sha256_of(folder.inputs_file)), inputs="ab", versions={}, loss=[0.5],
            )
        ),
        votes=asdict(
            VotesRecord(
                n_select=votes.n_select, n_estimate=votes.n_estimate, sha256=str(sha256_of(folder.votes_file)),
                seconds=1.0, drawn=40, workers=1, versions={},
            )
        ),
    )  # fmt: skip
    write_certified(folder, PromiseSettings(), force=False)
    return folder.path, folder.record_file.read_bytes(), folder.certificates_file.read_bytes()


def run_folder() -> Path:
    """The folder of a whole run; what is changed in it has to be put right again."""
    return _folder()[0]


def _seeds() -> Iterator[bytes]:
    _, record, certificates = _folder()
    yield record
    yield certificates


def _read(content: bytes) -> None:
    path, record, certificates = _folder()
    fuzzed = "certificates.json" if b"flipproof-certificates" in content[:200] else "run.json"
    for name, right in (("run.json", record), ("certificates.json", certificates)):
        (path / name).write_bytes(content if name == fuzzed else right)
    folder = RunFolder.open(path)
    Task.from_record(folder.record()["task"])
    summary_of(open_run(path)).to_record()


TARGET = Target("run_folder", _seeds, _read, in_json, _WORDS)
