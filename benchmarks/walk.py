"""The walk of a run: which files of the package one `flipproof run` enters, and who calls whom.

    python benchmarks/walk.py [--edges] [--files]

traces `flipproof run --dataset digits-graph --epochs 20 --select-samples 50 --samples 200`, its report included, with
`sys.setprofile`. A file is entered when a function of it is called; an edge is a pair of files of which one called the
other directly; an edge crosses rooms if both lie in different folders below `flipproof`. Code that runs while a module
is imported does not count, nor do compiled loops, which the profiler does not see.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from collections import Counter
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

COMMAND = "run --dataset digits-graph --epochs 20 --select-samples 50 --samples 200"
PACKAGE = Path(__import__("flipproof").__file__).parent


class Walk:
    """What a trace has seen: files, and pairs of files with the number of calls."""

    def __init__(self) -> None:
        self.edges: Counter[tuple[str, str]] = Counter()
        self.calls: Counter[tuple[str, str]] = Counter()
        self._names: dict[CodeType, str | None] = {}

    def file_of(self, code: CodeType) -> str | None:
        """The file of a function below the package; None for others' functions and for code that runs at import."""
        if code not in self._names:
            path = Path(code.co_filename)
            is_function = bool(code.co_flags & CO_OPTIMIZED)  # neither a module nor the body of a class
            self._names[code] = str(path.relative_to(PACKAGE)) if is_function and path.is_relative_to(PACKAGE) else None
        return self._names[code]

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (callee := self.file_of(frame.f_code)) is None or self._imports(frame.f_back):
            return
        self.calls[callee, frame.f_code.co_name] += 1
        caller = self.file_of(frame.f_back.f_code) if frame.f_back is not None else None
        if caller is not None and caller != callee:
            self.edges[caller, callee] += 1

    @staticmethod
    def _imports(frame: FrameType | None) -> bool:
        """Whether the caller is a module or a class that is being made."""
        return frame is not None and not frame.f_code.co_flags & CO_OPTIMIZED

    @property
    def files(self) -> set[str]:
        """The files that were entered."""
        return {file for file, _ in self.calls}

    @property
    def crossing(self) -> list[tuple[str, str]]:
        """The edges between two rooms."""
        return sorted(edge for edge in self.edges if room_of(edge[0]) != room_of(edge[1]))


def room_of(file: str) -> str:
    """The room of a file: the folder directly below the package, or the file itself if it lies in none."""
    return file.partition("/")[0]


def traced(command: str) -> Walk:
    """Runs a command of flipproof in this process, in a folder of its own."""
    from flipproof.cli import main

    walk = Walk()
    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["flipproof", *command.split(), "--out", f"{folder}/run"]
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            main()
        except SystemExit as done:
            if done.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--edges", action="store_true", help="List the edges between rooms.")
    arguments.add_argument("--files", action="store_true", help="List the files.")
    wanted = arguments.parse_args()
    walk = traced(COMMAND)
    if wanted.files:
        print("\n".join(sorted(walk.files)))
    if wanted.edges:
        print("\n".join(f"{caller} -> {callee}  x{walk.edges[caller, callee]}" for caller, callee in walk.crossing))
    print(f"flipproof {COMMAND}")
    print(f"files entered: {len(walk.files)}")
    print(f"edges between files: {len(walk.edges)}, of which between rooms: {len(walk.crossing)}")


if __name__ == "__main__":
    main()
