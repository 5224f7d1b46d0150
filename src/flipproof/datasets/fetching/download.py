"""Downloads that survive interruptions: a part file grows, can be resumed, and gets its final name once checked."""

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

    An interrupted download is resumed. The file gets its name only after its checksum proved right; a wrong file is
    removed. Several processes may download at once: one uses the part file that can be resumed later, the others use
    separate part files.
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
    """Tries one home after the other, and retries a home as long as it delivers bytes."""
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
                    if not before:  # else the resumed bytes may have been wrong: start over
                        break
                except (OSError, http.client.HTTPException, ValueError) as error:
                    failure = error, url
                    if part.length <= before:
                        break
    raise _refusal(file, folder, part, failure)


def _refusal(file: DataFile, folder: Path, part: PartFile, failure: tuple[Exception, str]) -> FlipproofError:
    """The one-line error that says what went wrong and what to do."""
    by_hand = f"put a copy ({file.pin}) into {folder}"
    error, url = failure
    if isinstance(error, FileFormatError):
        return FileFormatError(f"{error}, from {url}; nothing of it was kept; try again later, or {by_hand}")
    again = "try again to resume, or " if part.length and part.resumable else ""
    reason = " ".join(str(getattr(error, "reason", None) or error or type(error).__name__).split())
    return MissingDataError(f"expected to download {file.name}, got: {reason} ({url}); {again}{by_hand}")
