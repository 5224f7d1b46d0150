"""The votes file: two tables of counts, and how they were drawn."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from flipproof.errors import FileFormatError
from flipproof.smoothing.array_archive import ArrayArchive, FileKind, reading_archive, write_archive
from flipproof.smoothing.noise_record import any_noise_from_record, noise_record
from flipproof.smoothing.run import Run
from flipproof.theory.arrays import IntArray

if TYPE_CHECKING:
    from flipproof.smoothing.votes import Votes

VOTES_FILE = FileKind("votes file", "flipproof-votes", 1)


def write_votes(votes: Votes, path: str | os.PathLike[str]) -> None:
    """Writes the file atomically."""
    description = {
        "noise": noise_record(votes.noise),
        "n_select": votes.n_select,
        "n_estimate": votes.n_estimate,
        "run": None if votes.run is None else votes.run.to_record(),
    }
    roles = ("selection", "estimation")
    write_archive(path, VOTES_FILE, description, {role: _compact(getattr(votes, role)) for role in roles})


def read_votes(path: str | os.PathLike[str]) -> Votes:
    """Reads and checks a file written by `write_votes`."""
    from flipproof.smoothing.votes import Votes

    with reading_archive(path, VOTES_FILE) as archive:
        description = archive.description
        return Votes(
            selection=_counts(archive, "selection"),
            estimation=_counts(archive, "estimation"),
            noise=any_noise_from_record(description["noise"]),
            n_select=description["n_select"],
            n_estimate=description["n_estimate"],
            run=None if description.get("run") is None else Run.from_record(description["run"]),
        )


def _compact(counts: IntArray) -> NDArray[Any]:
    return counts.astype("<u4" if counts.max(initial=0) < 2**32 else "<i8")


def _counts(archive: ArrayArchive, name: str) -> NDArray[Any]:
    counts = archive.array(name)
    if counts.dtype.str not in ("<u4", "<i8") or counts.ndim != 2:
        raise FileFormatError(f"{name} is not a table of counts but {counts.dtype} of shape {counts.shape}")
    return counts
