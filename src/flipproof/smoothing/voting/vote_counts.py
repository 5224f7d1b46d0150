"""Vote counts: how often each label was given so far, and on which samples. The chunks of a run add up to them."""

from __future__ import annotations

import json
import reprlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import IntArray, checked_count, read_only
from flipproof.errors import InvalidInputError
from flipproof.files.strict_json import json_value
from flipproof.files.whole import is_bomb
from flipproof.smoothing.voting.drawn_samples import Pair, SampleRanges

ROLES = ("select", "estimate")

MOST_PORTIONS = 64
_MOST_PORTION_BYTES = 2**27

_DTYPES = ("|u1", "<u2", "<u4", "<i8")


@dataclass(frozen=True, slots=True, eq=False)
class RoleCounts:
    """Counts of labels [outputs, classes] on the samples of one role.

    A row may sum to less than the number of samples where the classifier gave no label. `portions` are counts on
    neighbouring samples that add up to these counts, so that a part of the votes can be drawn again and compared;
    counts of a single portion have none. Portions depend on the samples only, not on the order in which these came.
    """

    samples: SampleRanges
    counts: IntArray
    portions: tuple[RoleCounts, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.samples, SampleRanges):
            raise InvalidInputError(f"expected SampleRanges, got {self.samples!r}")
        object.__setattr__(self, "counts", read_only(checked_counts(self.counts, self.samples.count)))

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.counts), amount(self.samples.count, "sample"))

    def merged(self, other: RoleCounts) -> RoleCounts:
        """The counts on the samples of both, which must have none in common."""
        _check_same_shape(self.counts, other.counts)
        if not self.samples or not other.samples:
            return self if self.samples else other
        portions = _joined((*self.pieces, *other.pieces))
        several = portions if len(portions) > 1 else ()
        return RoleCounts(self.samples.union(other.samples), self.counts + other.counts, several)

    @property
    def pieces(self) -> tuple[RoleCounts, ...]:
        """The portions, or these counts themselves if they are a single portion; none if there are no samples."""
        return self.portions or ((self,) if self.samples else ())

    @property
    def _first_and_last(self) -> Pair:
        return self.samples.pairs[0][0], self.samples.pairs[-1][1] - 1


def samples_per_portion(samples: int) -> int:
    """The length of portions, a power of two, if this number of samples is drawn from the first one on.

    Example:
        >>> samples_per_portion(100_000)
        2048
    """
    return 1 << max(0, (samples - 1) // MOST_PORTIONS).bit_length()


def _joined(pieces: Sequence[RoleCounts]) -> tuple[RoleCounts, ...]:
    """Joins pieces of the same 2 ** grain samples, with the finest grain that leaves few enough portions."""
    most = max(1, min(MOST_PORTIONS, _MOST_PORTION_BYTES // max(1, pieces[0].counts.nbytes)))
    grain = max((first ^ last).bit_length() for first, last in (piece._first_and_last for piece in pieces))
    while len({piece._first_and_last[0] >> grain for piece in pieces}) > most:
        grain += 1
    groups: dict[int, list[RoleCounts]] = {}
    for piece in pieces:
        groups.setdefault(piece._first_and_last[0] >> grain, []).append(piece)
    return tuple(_sum(groups[number]) for number in sorted(groups))


def _sum(pieces: Sequence[RoleCounts]) -> RoleCounts:
    """Several pieces as one portion."""
    total = pieces[0]
    for piece in pieces[1:]:
        total = RoleCounts(total.samples.union(piece.samples), total.counts + piece.counts)
    return total


@dataclass(frozen=True, slots=True, eq=False)
class VoteCounts:
    """Counts of labels on the samples seen so far, for both roles.

    Example:
        >>> first = VoteCounts.of("estimate", range(0, 10), [[9, 1], [4, 6]])
        >>> both = first.merged(VoteCounts.of("estimate", range(10, 20), [[8, 2], [5, 5]]))
        >>> both.estimate.samples, both.estimate.counts.tolist()
        (SampleRanges.of(range(0, 20)), [[17, 3], [9, 11]])
    """

    select: RoleCounts
    estimate: RoleCounts

    def __post_init__(self) -> None:
        for role in ROLES:
            if not isinstance(getattr(self, role), RoleCounts):
                raise InvalidInputError(f"expected {role} to be a RoleCounts, got {getattr(self, role)!r}")
        _check_same_shape(self.select.counts, self.estimate.counts)

    def __repr__(self) -> str:
        return short_repr(self, f"select={self.select!r}", f"estimate={self.estimate!r}")

    @classmethod
    def empty(cls, outputs: int, classes: int) -> VoteCounts:
        """The counts of no samples: all zero."""
        shape = _checked_shape((outputs, classes))
        nothing = RoleCounts(SampleRanges(), np.zeros(shape, dtype=np.int64))
        return cls(nothing, nothing)

    @classmethod
    def of(cls, role: str, samples: range, counts: ArrayLike) -> VoteCounts:
        """The counts [outputs, classes] of some samples of one role; the other role has none yet."""
        if role not in ROLES:
            raise InvalidInputError(f"expected role to be one of {', '.join(ROLES)}, got {role!r}")
        part = RoleCounts(SampleRanges.of(samples), count_array(counts))
        return cls.empty(*part.counts.shape)._with(**{role: part})

    @property
    def shape(self) -> tuple[int, int]:
        """(outputs, classes)."""
        outputs, classes = self.select.counts.shape
        return outputs, classes

    def __bool__(self) -> bool:
        """Whether any sample has been seen."""
        return bool(self.select.samples or self.estimate.samples)

    def merged(self, other: VoteCounts) -> VoteCounts:
        """The counts on the samples of both, role by role."""
        return VoteCounts(self.select.merged(other.select), self.estimate.merged(other.estimate))

    def pieces(self) -> Iterator[VoteCounts]:
        """The vote counts of every portion by itself; merged, they are these vote counts."""
        for role in ROLES:
            for piece in getattr(self, role).pieces:
                yield VoteCounts.empty(*self.shape)._with(**{role: piece})

    def to_bytes(self, **notes: Any) -> bytes:
        """A line of JSON and the compressed counts of the roles that have samples, without portions and pickle.

        Notes are further JSON values for the line.
        """
        packed = {role: _packed(getattr(self, role)) for role in ROLES if getattr(self, role).samples}
        header = {"shape": self.shape, "roles": {role: record for role, (record, _) in packed.items()}, **notes}
        return json.dumps(header).encode() + b"\n" + b"".join(content for _, content in packed.values())

    @classmethod
    def from_bytes(cls, content: bytes) -> VoteCounts:
        """The inverse of `to_bytes`. It refuses anything else, and allocates no more than the content unpacks to."""
        line, _, packed = content.partition(b"\n")
        header = json_value(line)
        shape, roles = _checked_shape(header["shape"]), header["roles"]
        if not isinstance(roles, dict) or not roles or not set(roles) <= set(ROLES):
            raise InvalidInputError(f"expected counts for {' or '.join(ROLES)}, got other roles")
        parts, start = {}, 0
        for role in (role for role in ROLES if role in roles):
            stop = start + checked_count(roles[role]["bytes"], "bytes")
            parts[role] = _unpacked(roles[role], packed[start:stop], shape)
            start = stop
        if start != len(packed):
            raise InvalidInputError(f"expected {start} bytes of counts, got {len(packed)}")
        return cls.empty(*shape)._with(**parts)

    def _with(self, **parts: RoleCounts) -> VoteCounts:
        return VoteCounts(**({role: getattr(self, role) for role in ROLES} | parts))


def count_array(given: ArrayLike, name: str = "votes") -> NDArray[Any]:
    """Counts of labels as an array. Rows of unequal length are refused."""
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidInputError(f"expected {name} of shape [inputs, classes], got rows of unequal length") from None


def checked_counts(given: ArrayLike, samples: int, name: str = "votes") -> IntArray:
    """Returns counts of labels [inputs, classes], or refuses what cannot be counts on this number of samples."""
    counts = count_array(given, name)
    if counts.ndim != 2 or counts.shape[1] == 0:
        raise InvalidInputError(f"expected {name} of shape [inputs, classes], got shape {counts.shape}")
    if counts.dtype.kind not in "iu":
        raise InvalidInputError(f"expected {name} to be integer counts, got {counts.dtype}")
    if counts.min(initial=0) < 0:
        raise InvalidInputError(f"expected {name} to be non-negative counts, got {counts.min()}")
    sums = counts.sum(axis=1, dtype=np.float64)  # exact up to 2**53, and a larger sum does not wrap around
    if sums.max(initial=0.0) > samples:
        row = int(sums.argmax())
        raise InvalidInputError(
            f"expected rows of {name} to sum to at most {samples}, got {sums[row]:.0f} in row {row}"
        )
    return counts.astype(np.int64, copy=False)


def _check_same_shape(one: IntArray, other: IntArray) -> None:
    if one.shape != other.shape:
        raise InvalidInputError(
            f"expected vote counts of equal shape [outputs, classes], got {one.shape} and {other.shape}"
        )


def _checked_shape(record: Any) -> tuple[int, int]:
    outputs, classes = record
    return checked_count(outputs, "outputs"), checked_count(classes, "classes")


def _packed(part: RoleCounts) -> tuple[dict[str, Any], bytes]:
    """A description of the counts, and the counts in the smallest type that holds them, compressed."""
    most = part.counts.max(initial=0)
    dtype = next(name for name in _DTYPES if most <= np.iinfo(name).max)
    plain = part.counts.astype(dtype).tobytes()
    content = zlib.compress(plain, level=1)
    if is_bomb(len(plain), len(content)):
        content = zlib.compress(plain, level=0)
    return {"samples": part.samples.to_record(), "dtype": dtype, "bytes": len(content)}, content


def _unpacked(record: Mapping[str, Any], content: bytes, shape: tuple[int, int]) -> RoleCounts:
    if record["dtype"] not in _DTYPES:
        raise InvalidInputError(f"expected counts of type {', '.join(_DTYPES)}, got {reprlib.repr(record['dtype'])}")
    dtype = np.dtype(record["dtype"])
    size = shape[0] * shape[1] * dtype.itemsize
    if is_bomb(size, len(content)):
        raise InvalidInputError(f"expected {size} bytes of counts, got {len(content)} that could not hold them")
    decompressor = zlib.decompressobj()
    plain = decompressor.decompress(content, size + 1)  # a bomb is stopped one byte after the promised end
    if len(plain) != size or not decompressor.eof or decompressor.unused_data:
        raise InvalidInputError(f"expected {size} bytes of counts, got another number")
    samples = SampleRanges.from_record(record["samples"])
    if not samples:
        raise InvalidInputError("expected counts of some samples, got counts of none")
    return RoleCounts(samples, np.frombuffer(plain, dtype).reshape(shape))
