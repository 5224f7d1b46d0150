"""Who drew which samples: the versions that took part, for every portion of a run."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from flipproof.errors import FlipproofWarning, InvalidInputError
from flipproof.smoothing.voting.sample_ranges import SampleRanges

_ROLES = ("select", "estimate")


@dataclass(frozen=True, slots=True)
class Source:
    """Samples that were drawn with the same versions of everything.

    Attributes:
        versions: of Python, of flipproof and of the libraries that were loaded; empty if nobody noted them.
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
        """The samples of it that are among these."""
        return Source(self.versions, self.select.overlap(select), self.estimate.overlap(estimate))

    def union(self, other: Source) -> Source:
        """The samples of both."""
        return Source(self.versions, self.select.union(other.select), self.estimate.union(other.estimate))

    def to_record(self) -> dict[str, Any]:
        """JSON values."""
        return {"versions": dict(self.versions), **{role: getattr(self, role).to_record() for role in _ROLES}}

    @classmethod
    def from_record(cls, record: Any) -> Source:
        """The inverse of `to_record`."""
        if not isinstance(record, Mapping) or set(record) != {"versions", *_ROLES}:
            raise InvalidInputError(f"expected a source with versions, select and estimate, got {reprlib.repr(record)}")
        return cls(record["versions"], *(SampleRanges.from_record(record[role]) for role in _ROLES))


def sources_from_record(record: Any) -> tuple[Source, ...]:
    """The sources in a list of records."""
    if not isinstance(record, list):
        raise InvalidInputError(f"expected a list of sources, got {reprlib.repr(record)}")
    return tuple(map(Source.from_record, record))


def merged_sources(sources: Iterable[Source]) -> tuple[Source, ...]:
    """One source for all samples that have the same versions; in the order of their samples."""
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


def check_sources(sources: Any, select: SampleRanges, estimate: SampleRanges) -> None:
    """Every sample has one source, and there are no others."""
    if not isinstance(sources, tuple) or not all(isinstance(source, Source) for source in sources):
        raise InvalidInputError(f"expected sources to be a tuple of Source, got {reprlib.repr(sources)}")
    for role, samples in (("select", select), ("estimate", estimate)):
        found = SampleRanges()
        for source in sources:
            found = found.union(getattr(source, role))
        if found != samples:
            raise InvalidInputError(f"expected sources of the {role} samples {samples}, got those of {found}")


def check_versions(given: Any) -> None:
    """Names and texts."""
    texts = isinstance(given, Mapping) and all(isinstance(each, str) for pair in given.items() for each in pair)
    if not texts:
        raise InvalidInputError(f"expected versions to map names to texts, got {given!r}")


def warn_of_other_versions(sources: Iterable[Source], now: Mapping[str, str], name: str) -> None:
    """Says in one line which libraries have other versions now than when earlier samples were drawn."""
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
