"""Which noisy samples were drawn, so that no sample is counted twice, and with which versions."""

from __future__ import annotations

import itertools
import reprlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.errors import FlipproofWarning, InvalidInputError

MAX_SAMPLE = 2**40
"""Sample numbers are below this."""

Pair = tuple[int, int]
"""A half-open range (start, stop) that is not empty."""


@dataclass(frozen=True, slots=True, repr=False)
class SampleRanges:
    """A set of sample numbers as sorted (start, stop) pairs with a gap between any two of them.

    Example:
        >>> seen = SampleRanges.of(range(10, 20), range(0, 10), range(30, 35))
        >>> seen
        SampleRanges.of(range(0, 20), range(30, 35))
        >>> seen.count
        25
        >>> seen.missing(range(15, 40))
        (range(20, 30), range(35, 40))
    """

    pairs: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))
        end = -1
        for pair in self.pairs:
            _check_pair(pair)
            if pair[0] <= end:
                raise InvalidInputError(f"expected sorted ranges with gaps between them, got {pair} after {end}")
            end = pair[1]

    @classmethod
    def of(cls, *ranges: range) -> SampleRanges:
        """The samples in any of the ranges, given in any order; a sample that is in two ranges is refused."""
        return cls(_joined(pair for one in ranges for pair in _pairs_of(one)))

    @property
    def count(self) -> int:
        """How many samples there are."""
        return sum(stop - start for start, stop in self.pairs)

    def union(self, other: SampleRanges) -> SampleRanges:
        """The samples of both, which must have none in common.

        Example:
            >>> SampleRanges.of(range(0, 10)).union(SampleRanges.of(range(5, 12)))
            Traceback (most recent call last):
                ...
            flipproof.errors.InvalidInputError: expected disjoint sample ranges, got samples 5 to 9 twice
        """
        return SampleRanges(_joined((*self.pairs, *other.pairs)))

    def overlap(self, other: SampleRanges) -> SampleRanges:
        """The samples that are in both."""
        mine, theirs, common = self.pairs, other.pairs, []
        i = j = 0
        while i < len(mine) and j < len(theirs):
            start, stop = max(mine[i][0], theirs[j][0]), min(mine[i][1], theirs[j][1])
            if start < stop:
                common.append((start, stop))
            if mine[i][1] <= theirs[j][1]:
                i += 1
            else:
                j += 1
        return SampleRanges(tuple(common))

    def missing(self, wanted: range) -> tuple[range, ...]:
        """The parts of `wanted` that are not in this set, in order."""
        gaps = []
        for begin, end in _pairs_of(wanted):
            for start, stop in self.overlap(SampleRanges(((begin, end),))).pairs:
                gaps.append(range(begin, start))
                begin = stop
            gaps.append(range(begin, end))
        return tuple(gap for gap in gaps if gap)

    def to_record(self) -> list[list[int]]:
        """The pairs as JSON values."""
        return [list(pair) for pair in self.pairs]

    @classmethod
    def from_record(cls, record: object) -> SampleRanges:
        """The inverse of `to_record`; it refuses anything that `to_record` would not have written."""
        if not isinstance(record, list):
            raise InvalidInputError(f"expected a list of sample ranges, got {reprlib.repr(record)}")
        return cls(tuple(tuple(pair) if isinstance(pair, list) else pair for pair in record))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __str__(self) -> str:
        return ", ".join(f"{start} to {stop - 1}" for start, stop in self.pairs) or "none"

    def __repr__(self) -> str:
        return f"SampleRanges.of({', '.join(f'range({start}, {stop})' for start, stop in self.pairs)})"


def _check_pair(pair: Any) -> None:
    numbers = isinstance(pair, tuple) and len(pair) == 2 and all(type(number) is int for number in pair)
    if not numbers or not 0 <= pair[0] < pair[1] <= MAX_SAMPLE:
        raise InvalidInputError(
            f"expected a range of samples as start < stop, both from 0 to {MAX_SAMPLE}, got {reprlib.repr(pair)}"
        )


def _pairs_of(samples: object) -> tuple[Pair, ...]:
    """One pair, or none for an empty range."""
    if not isinstance(samples, range) or samples.step != 1:
        raise InvalidInputError(f"expected a range of samples with step 1, got {samples!r}")
    return ((int(samples.start), int(samples.stop)),) if samples else ()


def _joined(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """Sorts the pairs and joins those that touch."""
    ordered = sorted(pairs)
    _check_disjoint(ordered)
    joined: list[Pair] = []
    for start, stop in ordered:
        if joined and joined[-1][1] == start:
            start = joined.pop()[0]
        joined.append((start, stop))
    return tuple(joined)


def _check_disjoint(ordered: list[Pair]) -> None:
    for (_, end), (start, stop) in itertools.pairwise(ordered):
        if start < end:
            last = min(end, stop) - 1
            which = f"sample {start}" if start == last else f"samples {start} to {last}"
            raise InvalidInputError(f"expected disjoint sample ranges, got {which} twice")


_ROLES = ("select", "estimate")


@dataclass(frozen=True, slots=True)
class Source:
    """Samples that were drawn with the same versions of everything.

    Attributes:
        versions: the versions of Python, of flipproof and of the loaded libraries; empty if they are unknown.
        select: the numbers of the selection samples.
        estimate: the numbers of the estimation samples.

    Example:
        >>> Source({"numpy": "2.1.0"}, SampleRanges(), SampleRanges.of(range(0, 50))).to_record()
        {'versions': {'numpy': '2.1.0'}, 'select': [], 'estimate': [[0, 50]]}
    """

    versions: Mapping[str, str]
    select: SampleRanges
    estimate: SampleRanges

    def __post_init__(self) -> None:
        check_versions(self.versions)
        for role in _ROLES:
            if not isinstance(getattr(self, role), SampleRanges):
                raise InvalidInputError(f"expected {role} to be SampleRanges, got {getattr(self, role)!r}")

    def __bool__(self) -> bool:
        """Whether it has any samples."""
        return bool(self.select or self.estimate)

    def within(self, select: SampleRanges, estimate: SampleRanges) -> Source:
        """The part of this source with samples among these."""
        return Source(self.versions, self.select.overlap(select), self.estimate.overlap(estimate))

    def union(self, other: Source) -> Source:
        """The samples of both sources, with the versions of this one."""
        return Source(self.versions, self.select.union(other.select), self.estimate.union(other.estimate))

    def to_record(self) -> dict[str, Any]:
        """The source as JSON values."""
        return {"versions": dict(self.versions), **{role: getattr(self, role).to_record() for role in _ROLES}}

    @classmethod
    def from_record(cls, record: object) -> Source:
        """The inverse of `to_record`."""
        if not isinstance(record, Mapping) or set(record) != {"versions", *_ROLES}:
            raise InvalidInputError(f"expected a source with versions, select and estimate, got {reprlib.repr(record)}")
        return cls(record["versions"], *(SampleRanges.from_record(record[role]) for role in _ROLES))


def sources_from_record(record: object) -> tuple[Source, ...]:
    """The sources in a list of records."""
    if not isinstance(record, list):
        raise InvalidInputError(f"expected a list of sources, got {reprlib.repr(record)}")
    return tuple(map(Source.from_record, record))


def merged_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Merges sources that have the same versions, and sorts them by their samples."""
    found: list[Source] = []
    for source in filter(None, sources):
        place = next((i for i, other in enumerate(found) if other.versions == source.versions), len(found))
        found[place : place + 1] = [found[place].union(source) if place < len(found) else source]
    return tuple(sorted(found, key=lambda source: (source.select.pairs, source.estimate.pairs)))


def merged_versions(sources: Iterable[Source]) -> dict[str, str]:
    """The versions of all sources in one mapping; where they differ, all of them.

    Example:
        >>> first, then = SampleRanges.of(range(0, 50)), SampleRanges.of(range(50, 60))
        >>> merged_versions([Source({"numpy": "2.1"}, first, first), Source({"numpy": "2.2"}, then, then)])
        {'numpy': '2.1 / 2.2'}
    """
    parts = [(source.versions, "none" if source.versions else "unknown") for source in sources]
    names = sorted({name for part, _ in parts for name in part})
    return {name: " / ".join(sorted({part.get(name, missing) for part, missing in parts})) for name in names}


def check_sources(sources: object, select: SampleRanges, estimate: SampleRanges) -> None:
    """Refuses sources unless every sample has exactly one, and they have no further samples."""
    if not isinstance(sources, tuple) or not all(isinstance(source, Source) for source in sources):
        raise InvalidInputError(f"expected sources to be a tuple of Source, got {reprlib.repr(sources)}")
    for role, samples in (("select", select), ("estimate", estimate)):
        found = SampleRanges()
        for source in sources:
            found = found.union(getattr(source, role))
        if found != samples:
            raise InvalidInputError(f"expected sources of the {role} samples {samples}, got those of {found}")


def check_versions(given: object) -> None:
    """Refuses versions that do not map names to texts."""
    texts = isinstance(given, Mapping) and all(isinstance(each, str) for pair in given.items() for each in pair)
    if not texts:
        raise InvalidInputError(f"expected versions to map names to texts, got {given!r}")


def warn_of_other_versions(sources: Iterable[Source], now: Mapping[str, str], name: str) -> None:
    """Warns in one line of libraries whose versions have changed since earlier samples were drawn."""
    before = merged_versions(sources)
    changed = [
        f"{each} {before[each]} -> {now[each]}"
        for each in before
        if each in now and now[each] not in before[each].split(" / ")
    ]
    if changed:
        warnings.warn(
            f"{name} goes on with other versions: {', '.join(changed)}; votes.run.sources says what drew which",
            FlipproofWarning,
            stacklevel=3,
        )
