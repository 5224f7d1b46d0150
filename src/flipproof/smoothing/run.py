"""Runs: how votes were drawn. A run is kept with its votes, so that anybody can repeat, extend and check them."""

from __future__ import annotations

import functools
import math
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import Any

from flipproof.base.short_repr import short_repr
from flipproof.base.values import checked_count, checked_kind
from flipproof.errors import InvalidInputError
from flipproof.smoothing.voting.drawn_samples import (
    SampleRanges,
    Source,
    check_sources,
    check_versions,
    merged_sources,
    merged_versions,
    sources_from_record,
)

STREAM_VERSION = 3
"""Changes when the same seed begins to give other noise, or the same noise in another order."""

_IDENTITY = {"model": str, "data": str, "noise": dict, "seed": int, "classes": int, "chunk size": int}
_LATER = {"space", "sources"}
"""Fields that older records lack."""
_PACKAGES = {
    "flipproof": "flipproof", "numpy": "numpy", "scipy": "scipy", "numba": "numba", "torch": "torch",
    "torch_geometric": "torch_geometric", "sklearn": "scikit-learn",
}  # fmt: skip
"""Packages by the names of the modules that they install."""


@dataclass(frozen=True, slots=True)
class Run:
    """How votes were drawn.

    Attributes:
        identity: everything that the votes depend on, as JSON values: hashes of model and data, noise, seed, chunks.
        select: the numbers of the selection samples.
        estimate: the numbers of the estimation samples.
        sampling_error: bounds the total variation distance of the law of all samples from the exact law. Tables of
            finite precision cause it; `certify` subtracts it from alpha.
        versions: the versions of the libraries that took part; where they differ from sample to sample, all of them.
        seconds: the wall time, without samples that came from a checkpoint.
        drawn: how many samples were drawn in these seconds.
        space: the kind of data and, for each part, how many entries it has and how many are not zero.
        sources: which samples were drawn with which versions; by default, all samples with `versions`.
    """

    identity: Mapping[str, Any]
    select: SampleRanges
    estimate: SampleRanges
    sampling_error: float
    versions: Mapping[str, str]
    seconds: float
    drawn: int
    space: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        if not (isinstance(self.sampling_error, float) and 0.0 <= self.sampling_error <= 1.0):
            raise InvalidInputError(f"expected sampling_error in [0, 1], got {self.sampling_error!r}")
        if not isinstance(self.identity, Mapping):
            raise InvalidInputError(f"expected identity to map names to JSON values, got {self.identity!r}")
        for name, kind in _IDENTITY.items():
            if not isinstance(self.identity.get(name), kind):
                raise InvalidInputError(f"expected the run's {name}, got {self.identity.get(name)!r}")
        if not (isinstance(self.seconds, float) and 0.0 <= self.seconds < math.inf):
            raise InvalidInputError(f"expected seconds to be a non-negative number, got {self.seconds!r}")
        checked_count(self.drawn, "drawn")
        if not isinstance(self.space, Mapping):
            raise InvalidInputError(f"expected space to be a mapping, got {self.space!r}")
        for role in ("select", "estimate"):
            if not isinstance(getattr(self, role), SampleRanges):
                raise InvalidInputError(f"expected {role} to be SampleRanges, got {getattr(self, role)!r}")
        check_versions(self.versions)
        if isinstance(self.sources, tuple) and not self.sources and (self.select or self.estimate):
            object.__setattr__(self, "sources", (Source(self.versions, self.select, self.estimate),))
        check_sources(self.sources, self.select, self.estimate)
        if self.sources and dict(self.versions) != merged_versions(self.sources):
            raise InvalidInputError(f"expected the versions of the sources, got {self.versions!r}")

    def __repr__(self) -> str:
        return short_repr(
            self,
            str(self.space.get("kind", "")),
            f"{self.select.count:,} + {self.estimate.count:,} samples",
            f"noise {self.identity['noise']}",
            f"seed {self.identity['seed']}",
            f"{self.seconds:.1f} s",
        )

    @property
    def samples_per_second(self) -> float:
        """Throughput of all workers together."""
        return self.drawn / self.seconds if self.seconds > 0.0 else 0.0

    @property
    def engine(self) -> str | None:
        """The engine that evaluated the samples, "fused" or "torch"; None if the classifier is no torch module."""
        name = self.identity.get("engine")
        return name if isinstance(name, str) else None

    @property
    def checked(self) -> bool:
        """Whether it was checked, on a few samples, that the classifier gives one label to one noisy input."""
        return self.identity.get("checked") is True

    def merged(self, other: Run) -> Run:
        """Both runs as one; their samples must be disjoint. Versions that differ are both kept."""
        checked_kind(other, Run, "other")
        for role in ("select", "estimate"):
            common = getattr(self, role).overlap(getattr(other, role))
            if common:
                raise InvalidInputError(
                    f"expected disjoint {role} samples, got {common.count} in both, {common}; "
                    f"draw others with n_{role}=range(start, stop), or none with n_{role}=0"
                )
        sources = merged_sources((*self.sources, *other.sources))
        return replace(
            self,
            select=self.select.union(other.select),
            estimate=self.estimate.union(other.estimate),
            sampling_error=_sum(self.sampling_error, other.sampling_error),
            versions=merged_versions(sources),
            seconds=self.seconds + other.seconds,
            drawn=self.drawn + other.drawn,
            sources=sources,
        )

    def to_record(self) -> dict[str, Any]:
        """The run as JSON values."""
        ranges = {role: getattr(self, role).to_record() for role in ("select", "estimate")}
        plain = {name: getattr(self, name) for name in ("sampling_error", "seconds", "drawn")}
        return {
            "identity": dict(self.identity),
            "versions": dict(self.versions),
            "space": dict(self.space),
            "sources": [source.to_record() for source in self.sources],
            **ranges,
            **plain,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Run:
        """The inverse of `to_record`."""
        known = [each.name for each in fields(cls)]
        if not isinstance(record, Mapping) or not set(known) - _LATER <= set(record) <= set(known):
            got = ", ".join(map(str, record)) if isinstance(record, Mapping) else type(record).__name__
            raise InvalidInputError(f"expected a record with {', '.join(known)}, got {got}")
        ranges = {role: SampleRanges.from_record(record[role]) for role in ("select", "estimate")}
        sources = {"sources": sources_from_record(record["sources"])} if "sources" in record else {}
        run = cls(**{**record, **ranges, **sources})
        if run.sources != sources.get("sources", run.sources):
            raise InvalidInputError("expected the sources of the samples, got none")
        return run


def sampling_error(distance: Fraction, samples: int) -> float:
    """The total variation distance of many samples, given that of one, rounded up.

    Example:
        >>> sampling_error(Fraction(1, 3), 1) >= Fraction(1, 3)
        True
    """
    total = distance * samples
    if not total:
        return 0.0
    return min(1.0, math.nextafter(float(total), math.inf))


def _sum(one: float, other: float) -> float:
    """The sum of two sampling errors, rounded up if neither is zero."""
    return min(1.0, math.nextafter(one + other, math.inf)) if one and other else max(one, other)


def versions() -> dict[str, str]:
    """The versions of Python, of flipproof and of the libraries that are loaded."""
    loaded = (package for name, package in _PACKAGES.items() if name in sys.modules)
    return {"python": platform.python_version(), **{package: _version(package) for package in loaded}}


def installed_versions() -> dict[str, str]:
    """The versions of Python, of flipproof and of all libraries that it may load, whatever is loaded by now."""
    return {"python": platform.python_version(), **{package: _version(package) for package in _PACKAGES.values()}}


@functools.cache
def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
