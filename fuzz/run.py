"""Fuzzes the loaders with atheris: `python -m fuzz.run --target votes --minutes 10`, or all, one after the other.

Every target runs in a process of its own that may use a little more memory than it starts with. What was found stays in
`.fuzz/`: a corpus for the next run, and the files that made a loader crash.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import random
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORK = Path(".fuzz")
_INSTRUMENTED = ("flipproof", "zipfile", "tarfile", "gzip", "pickletools")
_MORE_MEMORY = 2**30
_SECONDS_PER_INPUT = 20
_LONGEST_INPUT = 2**14


@dataclass(frozen=True, slots=True)
class Found:
    """What came of fuzzing a target."""

    executions: int
    coverage: str
    crashed: bool

    @classmethod
    def in_log(cls, log: str, status: int) -> Found:
        """Reads what libFuzzer has printed."""
        counts = (
            re.findall(r"number_of_executed_units:\s*(\d+)", log) or re.findall(r"^#(\d+)", log, re.MULTILINE) or ["0"]
        )
        coverage = re.findall(r"cov: (\d+)", log) or ["unknown"]
        return cls(int(counts[-1]), coverage[-1], status != 0)


def fuzz(name: str, minutes: float) -> Found:
    """Runs one target in a child; its log is kept."""
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "fuzz.run", "--child", "--target", name, "--minutes", str(minutes)]
    with (WORK / f"{name}.log").open("w+") as log:
        status = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False).returncode
        log.seek(0)
        return Found.in_log(log.read(), status)


def _fuzz_here(name: str, minutes: float) -> None:
    """Never returns: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=_INSTRUMENTED, exclude=_compiled_modules()):
        from fuzz.targets import TARGETS
    _instrument_torch(atheris)
    target, folder = TARGETS[name], WORK / name
    for number, seed in enumerate(target.seeds()):
        (folder / f"seed-{number}").write_bytes(seed)
        target.run(seed)
    words = WORK / f"{name}.dict"
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
    arguments = [
        sys.argv[0], str(folder), *(str(each) for each in [Path("tests/fuzz/corpus") / name] if each.is_dir()),
        f"-max_total_time={round(60 * minutes)}", f"-max_len={_LONGEST_INPUT}", f"-timeout={_SECONDS_PER_INPUT}",
        "-rss_limit_mb=4096", f"-artifact_prefix={WORK}/{name}-", f"-dict={words}", "-print_final_stats=1",
    ]  # fmt: skip

    def mutate(content: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        return target.mutate(content, rng, lambda part: atheris.Mutate(part, most))[:most]

    def run(content: bytes) -> None:
        try:
            target.run(content)
        except BaseException:  # libFuzzer keeps it too, unless there is no memory left for that
            (WORK / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.crash").write_bytes(content)
            raise

    atheris.Setup(arguments, run, custom_mutator=mutate)
    _limit_memory()
    atheris.Fuzz()


def _compiled_modules() -> list[str]:
    """Modules with functions that numba compiles, which must stay as they are."""
    found = importlib.util.find_spec("flipproof")
    if found is None or not found.submodule_search_locations:
        raise ImportError("flipproof is not installed")
    root = Path(found.submodule_search_locations[0])
    files = [file for file in root.rglob("*.py") if "theory.compiled import" in file.read_text()]
    return [".".join(file.relative_to(root.parent).with_suffix("").parts) for file in files]


def _instrument_torch(atheris: Any) -> None:
    """What reads the pickles of torch.save, too."""
    from torch._weights_only_unpickler import Unpickler

    Unpickler.load = atheris.instrument_func(Unpickler.load)


def _limit_memory() -> None:
    used = int(re.search(r"VmSize:\s*(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024  # type: ignore[index]
    resource.setrlimit(resource.RLIMIT_AS, (used + _MORE_MEMORY, used + _MORE_MEMORY))


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


def main() -> None:
    """Prints one line for each target; the exit code is 1 if there was a crash."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--target", default="all", help='the name of a target, or "all"')
    parser.add_argument("--minutes", type=float, default=10.0, help="for each target")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    act: Callable[[str, float], object] = _fuzz_here if asked.child else _fuzz_and_tell
    names = [asked.target]
    if asked.target == "all":
        from fuzz.targets import TARGETS

        names = [*TARGETS]
    crashed = [name for name in names if act(name, asked.minutes)]
    sys.exit(1 if crashed else 0)


def _fuzz_and_tell(name: str, minutes: float) -> bool:
    found = fuzz(name, minutes)
    crash = f"CRASH, see {WORK}/{name}.log" if found.crashed else "no crash"
    print(
        f"{name:<14}{found.executions:>12,} executions in {minutes:g} min, coverage {found.coverage}: {crash}",
        flush=True,
    )
    return found.crashed


if __name__ == "__main__":
    main()
