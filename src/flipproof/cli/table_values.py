"""Values of the flags that describe a user's own table, and of those that name inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.files.whole import read_whole
from flipproof.run_folder.reading import Bins

_MOST_TARGETS = 10**7
_MOST_BYTES = 2**27
_RANGES = re.compile(r"\d{1,15}(-\d{1,15})?(,\d{1,15}(-\d{1,15})?)*")


def listed(given: Iterable[str] | None) -> tuple[str, ...]:
    """The names in flags that may be given several times, or have several names with commas between them.

    Example:
        >>> listed(["id", "name, street"])
        ('id', 'name', 'street')
    """
    return tuple(name.strip() for names in given or () for name in names.split(",") if name.strip())


def bins_of(given: Iterable[str] | None) -> dict[str, Bins]:
    """The bins by column in flags that may be given several times, or name several columns.

    Example:
        >>> bins_of(["amount=10,age=18,30,65", "size=4"])
        {'amount': 10, 'age': (18.0, 30.0, 65.0), 'size': 4}
    """
    found: dict[str, list[str]] = {}
    for flag in given or ():
        name = ""
        for word in flag.split(","):
            before, is_new, number = word.rpartition("=")
            name = before.strip() if is_new else name
            if is_new and name in found:
                raise InvalidInputError(f"--bins says twice how {name!r} is cut")
            found.setdefault(name, []).append(number.strip())
    return {name: _bins(name, numbers) for name, numbers in found.items()}


def _bins(name: str, words: Sequence[str]) -> Bins:
    """How many bins, or the edges between them."""
    try:
        edges = tuple(map(float, words))
    except ValueError:
        edges = ()
    if not name or not edges:
        raise InvalidInputError(
            f"--bins takes NAME=COUNT or NAME=EDGE,EDGE,..., such as amount=10, got {name!r} with {','.join(words)!r}"
        )
    return int(words[0]) if len(words) == 1 and words[0].isdigit() else edges


def reading_flags(reading: Mapping[str, Any]) -> dict[str, Any]:
    """The flags for the reading in a `run.json`.

    Example:
        >>> reading_flags({"one_hot": False, "drop": ["id"], "bins": {"age": [18.0, 65.5], "amount": 10}})
        {'one_hot': False, 'drop': ['id'], 'bins': ['age=18,65.5', 'amount=10']}
    """
    bins = [f"{name}={_bins_words(given)}" for name, given in reading.get("bins", {}).items()]
    return {**reading, **({"bins": bins} if bins else {})}


def _bins_words(given: int | Sequence[float]) -> str:
    return str(given) if isinstance(given, int) else ",".join(f"{edge!r}".removesuffix(".0") for edge in given)


def targets_of(given: str | None) -> tuple[int, ...] | None:
    """The numbers in a flag, such as 3,17,40-60, or in the file that it names.

    Example:
        >>> targets_of("3,17,40-43")
        (3, 17, 40, 41, 42, 43)
    """
    if given is None:
        return None
    if _RANGES.fullmatch(given):
        return _numbers(given.split(","), given)
    try:
        lines = read_whole(Path(given), most=_MOST_BYTES).split()
    except OSError as error:
        raise FileFormatError(
            f"expected --targets as numbers such as 3,17,40-60, or a file with one per line, got {given}: "
            f"{error.strerror or error}"
        ) from error
    words = [line.decode("utf-8", "replace") for line in lines[: _MOST_TARGETS + 1]]
    wrong = next((word for word in words if not _RANGES.fullmatch(word) or "," in word), None)
    if wrong is not None or not words:
        raise FileFormatError(f"expected a number in every line of {given}, got {wrong!r}")
    return _numbers(words, given)


def _numbers(words: Sequence[str], given: str) -> tuple[int, ...]:
    """The numbers of ranges, in order, each once."""
    ranges = [(int(first), int(last or first)) for first, _, last in (word.partition("-") for word in words)]
    if sum(max(0, last - first) + 1 for first, last in ranges) > _MOST_TARGETS:
        raise InvalidInputError(f"--targets takes at most {_MOST_TARGETS:,} numbers, got more in {given}")
    found = dict.fromkeys(number for first, last in ranges for number in range(first, last + 1))
    if not found:
        raise InvalidInputError(f"--targets takes ascending ranges such as 40-60, got {given}")
    return tuple(found)


def targets_words(targets: Sequence[int] | None) -> str | None:
    """The flag for some targets; neighbours become ranges.

    Example:
        >>> targets_words([3, 17, 40, 41, 42])
        '3,17,40-42'
    """
    if targets is None:
        return None
    ranges: list[list[int]] = []
    for number in targets:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
