"""Chunks of a run: the data and the memory limit fix their size, never the number of workers or samples."""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from flipproof.base.values import checked_count, checked_flag
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.extras import require
from flipproof.smoothing.classifier import check_engine
from flipproof.smoothing.voting.drawn_samples import MAX_SAMPLE, SampleRanges

_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_CHUNK_BYTES = 32 * 10**6
_SHARE_OF_LIMIT = 16
"""One chunk takes at most one part in this many of the limit: the model needs the rest for its intermediate values."""
_MOST_ROWS, _MOST_SAMPLES, _MOST_GRAPHS = 8192, 1024, 64
"""Limits for one call of a classifier. Models take whole graphs one by one, so many graphs at once are of no use."""

OUT_OF_MEMORY = "use fewer workers to go on, or start again with a lower memory limit or chunk size"
"""What to do when there is too little memory for a chunk. A run that has begun keeps its chunk size."""

DEFAULT_TIMEOUT = 3600.0
"""Seconds that a chunk may take in a worker process by default: only a worker that hangs should take longer."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive samples of one role that are evaluated, lost or kept together."""

    role: str
    samples: range

    def __str__(self) -> str:
        return f"{self.role} samples {self.samples.start} to {self.samples.stop - 1}"


@dataclass(frozen=True, slots=True)
class InputSize:
    """The memory that one noisy input takes.

    Attributes:
        per_row: the bytes of a noisy row in the form in which the classifier takes it.
        total: the bytes of the input with all intermediate values that the classifier computes from it.
        is_joint: whether it is one input with many predictions, such as a graph.
    """

    per_row: int
    total: int
    is_joint: bool


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """`chunk_size` samples are evaluated together, `rows_per_call` rows of each at a time.

    Chunks begin at multiples of their size and are always evaluated in full, because the last bits of what a model
    computes may depend on the size of the batch. So a label does not depend on how many samples are drawn.
    """

    chunk_size: int
    rows_per_call: int

    def __post_init__(self) -> None:
        for name in ("chunk_size", "rows_per_call"):
            object.__setattr__(self, name, _at_least_one(getattr(self, name), name))

    @classmethod
    def for_inputs(cls, size: InputSize, rows: int, memory_limit: int, chunk_size: int | None) -> ChunkPlan:
        """Chunks of the given size, or else of the largest size that is still of use."""
        check_fits(size, memory_limit)
        budget = min(_CHUNK_BYTES, memory_limit // _SHARE_OF_LIMIT)
        if chunk_size is None:
            most = _MOST_GRAPHS if size.is_joint else _MOST_SAMPLES
            fitting = min(most, _MOST_ROWS // max(1, rows), budget // (size.per_row * max(1, rows)))
            chunk_size = 1 << max(0, fitting.bit_length() - 1)
        chunk_size = _fitting(chunk_size, size.per_row, memory_limit)
        return cls(chunk_size, max(1, min(rows, budget // (size.per_row * chunk_size))))

    @classmethod
    def for_fused(
        cls, bytes_per_sample: int, working_bytes: int, memory_limit: int, chunk_size: int | None
    ) -> ChunkPlan:
        """Chunks for the fused engine, which never makes noisy copies of a graph as a whole."""
        _check_size(bytes_per_sample + working_bytes, memory_limit, "one noisy input")
        if chunk_size is None:
            fitting = min(_MOST_GRAPHS, memory_limit // _SHARE_OF_LIMIT // bytes_per_sample)
            chunk_size = 1 << max(0, fitting.bit_length() - 1)
        return cls(_fitting(chunk_size, bytes_per_sample, memory_limit - 2 * working_bytes), 1)

    def chunks(self, role: str, wanted: range, seen: SampleRanges) -> Iterator[Chunk]:
        """The wanted samples that have not been seen, as parts of chunks."""
        for gap in seen.missing(wanted):
            start = gap.start
            while start < gap.stop:
                stop = min(gap.stop, (start // self.chunk_size + 1) * self.chunk_size)
                yield Chunk(role, range(start, stop))
                start = stop

    def count(self, group: Chunk) -> int:
        """The number of chunks that the samples of a group belong to.

        Example:
            >>> ChunkPlan(chunk_size=10, rows_per_call=1).count(Chunk("estimate", range(5, 31)))
            4
        """
        return (group.samples.stop - 1) // self.chunk_size - group.samples.start // self.chunk_size + 1

    def whole(self, samples: range) -> range:
        """The whole chunk that some samples belong to."""
        start = samples.start // self.chunk_size * self.chunk_size
        return range(start, start + self.chunk_size)


def check_fits(size: InputSize, memory_limit: int, copies: int = 1) -> None:
    """Refuses noisy inputs for which the memory limit is too low, and says which limit would do."""
    _check_size(copies * size.total, memory_limit, "one noisy input" if copies == 1 else f"{copies} noisy inputs")


def _check_size(size: int, memory_limit: int, what: str) -> None:
    if size > memory_limit // 2:
        raise TooLargeError(
            f"expected a memory limit of at least {_size_words(2 * size)} for {what}, got "
            f"{_size_words(memory_limit)}; raise the limit, or lower p_plus if there is one"
        )


def _fitting(chunk_size: object, bytes_per_sample: int, memory_limit: int) -> int:
    """The size of a chunk; a size that needs more than half the memory is refused."""
    size, most = _at_least_one(chunk_size, "chunk_size"), memory_limit // 2 // bytes_per_sample
    if size > most:
        raise TooLargeError(
            f"expected chunk_size of at most {most} for a memory limit of {memory_limit} bytes, got {size}"
        )
    return size


def _size_words(size: int) -> str:
    """A number of bytes in words that `checked_memory` reads, rounded up."""
    unit = next((unit for unit in ("TB", "GB", "MB", "KB") if size >= _UNITS[unit]), "")
    return f"{math.ceil(size * 10 / _UNITS[unit]) / 10:g}{unit or ' bytes'}"


def _at_least_one(count: Any, name: str) -> int:
    if checked_count(count, name) < 1:
        raise InvalidInputError(f"expected {name} to be at least 1, got {count}")
    return int(count)


def checked_memory(limit: object) -> int:
    """The number of bytes that a number or a text such as "2GB" means.

    Example:
        >>> checked_memory("1.5 GB")
        1500000000
    """
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([a-zA-Z]*)\s*", limit)
        if found and found[2].upper() in _UNITS:
            return int(float(found[1]) * _UNITS[found[2].upper()])
    elif isinstance(limit, numbers.Integral) and not isinstance(limit, bool) and int(limit) > 0:
        return int(limit)
    raise InvalidInputError(f"expected a memory limit such as '2GB' or a number of bytes, got {limit!r}")


def checked_wanted(samples: object, name: str) -> range:
    """The sample numbers that are wanted: a range, or a count of samples from number 0 on."""
    if isinstance(samples, range):
        if samples.step != 1 or samples.start < 0:
            raise InvalidInputError(f"expected {name} to be a range of sample numbers with step 1, got {samples!r}")
        wanted = samples
    else:
        wanted = range(checked_count(samples, name))
    if wanted and wanted.stop > MAX_SAMPLE - 2**32:  # len() of so long a range fails
        raise TooLargeError(f"expected {name} below {MAX_SAMPLE - 2**32}, got {wanted.stop}")
    return wanted


def checked_timeout(value: Any) -> float | None:
    """The seconds that a task may take; None if there is no limit.

    Example:
        >>> checked_timeout(60)
        60.0
    """
    if value is None:
        return None
    try:
        seconds = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise InvalidInputError(f"expected timeout to be a positive number of seconds, or None, got {value!r}")
    return seconds


@dataclass(frozen=True, slots=True)
class Workers:
    """Who evaluates chunks: a number of processes, or "ray" for a cluster, with a timeout for each chunk."""

    count: int | Literal["ray"] = 1
    address: str | None = None
    timeout: float | None = DEFAULT_TIMEOUT

    def __post_init__(self) -> None:
        check_workers(self.count, self.address)
        object.__setattr__(self, "timeout", checked_timeout(self.timeout))

    @property
    def here(self) -> bool:
        """Whether this process evaluates all chunks itself."""
        return self.count == 1 and self.timeout in (None, DEFAULT_TIMEOUT)


def check_evaluation(memory_limit: Any, engine: Any, check: Any) -> None:
    """Refuses arguments of `vote` that say how samples are evaluated, before anything was drawn or trained."""
    checked_memory(memory_limit)
    check_engine(engine)
    checked_flag(check, "check")


def check_workers(workers: object, address: object = None) -> None:
    """Refuses a number of processes below 1, and the address of a cluster without workers='ray'."""
    if isinstance(workers, str) and workers == "ray":
        checked_address(address)
        require("ray")
    elif checked_count(workers, "workers") < 1:
        raise InvalidInputError(f"expected workers to be at least 1, got {workers}")
    elif address is not None:
        raise InvalidInputError(f"expected an address only together with workers='ray', got {address!r}")


def checked_address(address: object) -> str:
    """The address of the cluster: HOST:PORT, "auto", or "local" for a new cluster on this machine."""
    if address in (None, "auto"):
        address = os.environ.get("RAY_ADDRESS") or address or "local"
    host, _, port = address.rpartition(":") if isinstance(address, str) else ("", "", "")
    if address in ("auto", "local") or (host and "/" not in host and port.isdecimal() and int(port) < 2**16):
        return str(address)
    raise InvalidInputError(
        f"expected the address of a Ray cluster to be HOST:PORT or 'auto', on one of its machines, got {address!r}"
    )
