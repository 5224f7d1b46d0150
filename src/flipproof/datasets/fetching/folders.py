"""Where datasets lie: the folder named by FLIPPROOF_DATA, then the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from flipproof.datasets.fetching.data_file import MissingDataError

VARIABLE = "FLIPPROOF_DATA"


def folders() -> tuple[Path, ...]:
    """The folders in which files are looked for, in this order."""
    given = os.environ.get(VARIABLE)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # as the XDG standard says
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    # Without a home "~" stays what it is: nothing is to be put into a folder of that name.
    found = [Path(given)] if given else []
    return (*found, Path(cache) / "flipproof") if os.path.isabs(cache) else tuple(found)


def find(name: str) -> Path | None:
    """The path of a file in the first folder that has it."""
    return next((folder / name for folder in folders() if (folder / name).is_file()), None)


def folder_to_write() -> Path:
    """The first of the folders that can be written to; it is made if it is not there."""
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    tried = " or ".join(map(str, folders())) or "no folder at all"
    raise MissingDataError(f"expected a folder to write data to, got {tried}; name one in {VARIABLE}")
