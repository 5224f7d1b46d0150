"""The folders of datasets: the folder named by FLIPPROOF_DATA, then the user's cache."""

from __future__ import annotations

import os
from pathlib import Path

from flipproof.datasets.fetching.data_file import MissingDataError

VARIABLE = "FLIPPROOF_DATA"


def folders() -> tuple[Path, ...]:
    """The folders that are searched for files, in this order."""
    given = os.environ.get(VARIABLE)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the XDG standard ignores relative paths
        cache = os.path.join(os.path.expanduser("~"), ".cache")
    # Without a home, "~" stays unexpanded: never write into a folder of that name.
    found = [Path(given)] if given else []
    return (*found, Path(cache) / "flipproof") if os.path.isabs(cache) else tuple(found)


def find(name: str) -> Path | None:
    """The path of a file in the first folder that has it, or None."""
    return next((folder / name for folder in folders() if (folder / name).is_file()), None)


def folder_to_write() -> Path:
    """The first folder that can be written to; it is created if it does not exist."""
    for folder in folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    tried = " or ".join(map(str, folders())) or "no folder at all"
    raise MissingDataError(f"expected a folder to write data to, got {tried}; name one in {VARIABLE}")
