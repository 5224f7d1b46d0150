"""Downloads that can be interrupted: a part file that grows, is resumed, checked, and only then takes its name."""

from __future__ import annotations

import http.client
import os
from pathlib import Path

from flipproof.base.progress import progress_line
from flipproof.datasets.fetching.data_file import DataFile, MissingDataError
from flipproof.datasets.fetching.part_file import PartFile, open_part
from flipproof.datasets.fetching.transfer import transfer
from flipproof.errors import FileFormatError, FlipproofError
from flipproof.files.whole import cannot_write

_ATTEMPTS = 3


def download(file: DataFile, folder: Path) -> Path:
    """Fetches a file from the first of its homes that has it, and returns its path.

    What an interrupted download left is resumed. The file gets its name only after its sha256 was found right; a
    wrong one is removed. Several processes may do this at once: one works on the part file that is resumed later,
    the others on their own.
    """
    target = folder / file.name
    with open_part(target) as part:
        _fetch(file, part, folder)
        try:
            part.close()
            os.replace(part.path, target)
        except OSError as error:
            raise cannot_write(target, error) from error
    return target


def _fetch(file: DataFile, part: PartFile, folder: Path) -> None:
    """Tries one home after the other, the same one again as long as bytes come."""
    failure: tuple[Exception, str]
    with progress_line(file.name, ("bar", "bytes", "bytes/s", "time"), done=part.length) as line:
        for url in file.urls:
            for _ in range(_ATTEMPTS):
                before = part.length
                try:
                    transfer(url, part, file.size, lambda there, of: line.update(done=there, of=of))
                    file.check(part.content())
                    return
                except FileFormatError as error:
                    failure = error, url
                    part.clear()
                    if not before:  # else what was resumed may have been wrong: once more from the start
                        break
                except (OSError, http.client.HTTPException, ValueError) as error:
                    failure = error, url
                    if part.length <= before:
                        break
    raise _refusal(file, folder, part, failure)


def _refusal(file: DataFile, folder: Path, part: PartFile, failure: tuple[Exception, str]) -> FlipproofError:
    """The one line that says what went wrong and what to do."""
    by_hand = f"put a copy ({file.pin}) into {folder}"
    error, url = failure
    if isinstance(error, FileFormatError):
        return FileFormatError(f"{error}, from {url}; nothing of it was kept; try again later, or {by_hand}")
    again = "try again to resume, or " if part.length and part.resumable else ""
    reason = " ".join(str(getattr(error, "reason", None) or error or type(error).__name__).split())
    return MissingDataError(f"expected to download {file.name}, got: {reason} ({url}); {again}{by_hand}")
