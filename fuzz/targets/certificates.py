"""The arrays of certificates, and what is known about the inputs of a run."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import flipproof as fp
from flipproof.files.archive import reading_archive
from flipproof.run_folder.split import Inputs, Split
from flipproof.smoothing.result_files import CERTIFICATES_FILE
from fuzz.mutators import in_zip
from fuzz.target import Target, saved, scratch, written
from fuzz.targets.votes import LAWS

_WORDS = (b"flipproof-inputs", b"flipproof-certificates", b"class_names", b"labels", b"base_label", b"validation")


def _seeds() -> Iterator[bytes]:
    for noise in LAWS[:2]:
        votes = fp.Votes.from_counts(selection=[[9, 1], [5, 5]], estimation=[[90, 10], [2, 98]], noise=noise)
        fp.certify(votes).save(scratch() / "seed.json")
        yield (scratch() / "seed.npz").read_bytes()
    labels = np.array([0, 1, 1, 0])
    yield written(Inputs(labels, Split([0], [1], [2, 3]), labels, ("cat", "dog")).save)


def _read(content: bytes) -> None:
    path = saved(content, "arrays.npz")
    if b"base_label" in content:
        inputs = Inputs.load(path)
        inputs.accuracy(np.equal(inputs.labels, inputs.base_label))
        inputs.save(scratch() / "again.npz")
        return
    with reading_archive(path, CERTIFICATES_FILE) as file:
        for name in file.zip.namelist():
            if name != "metadata.json":
                file.array(name.removesuffix(".npy"))


TARGET = Target("certificates", _seeds, _read, in_zip, _WORDS)
