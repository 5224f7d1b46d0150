"""Sequences of any length, drawn with noise: entries are deleted and gaps close, or hidden, or replaced."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.noise.sampling.samplers import BitSampler, Form, Role, Stream, ValueSampler
from flipproof.theory.law import FlipNoise


class Sequences(NamedTuple):
    """Several sequences one after the other: number i is codes[starts[i] : starts[i + 1]]."""

    starts: IntArray
    codes: NDArray[Any]

    @property
    def lengths(self) -> IntArray:
        """The length of each sequence."""
        return np.diff(self.starts)

    @property
    def row_of(self) -> IntArray:
        """The number of the sequence to which each code belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), self.lengths)

    def selected(self, which: NDArray[np.bool_]) -> Sequences:
        """The sequences of the chosen codes alone."""
        counts = np.bincount(self.row_of[which], minlength=len(self.starts) - 1)
        return Sequences(_starts_of(counts), self.codes[which])

    def padded(self, width: int, padding: int) -> IntArray:
        """An array [sequences, width] with `padding` behind each sequence."""
        out = np.full((len(self.starts) - 1, width), padding, dtype=np.int64)
        out[np.arange(width) < self.lengths[:, None]] = self.codes
        return out


def _starts_of(lengths: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class KeptTokens:
    """Draws which entries of sequences noise keeps, in time and memory that are linear in their lengths."""

    bits: BitSampler

    @classmethod
    def of(cls, clean: Sequences, there: NDArray[np.bool_], noise: FlipNoise, stream: Stream) -> KeptTokens:
        """A sampler for a law that only deletes. What is not `there` has no coin and is never kept."""
        kept = clean.selected(there)
        # A sequence is a row of all codes, in which only its own can be ones.
        entries = np.full(len(clean.starts) - 1, clean.codes.size, dtype=np.int64)
        return cls(BitSampler(kept.starts, np.flatnonzero(there), entries, noise, stream))

    def draw(self, role: Role, samples: range, rows: IntArray) -> Sequences:
        """The places of the entries that are kept, among all codes, for every (sample, row)."""
        return Sequences(*self.bits.draw(role, samples, rows))


@dataclass(frozen=True, slots=True, eq=False)
class DeletingSampler:
    """Draws noisy copies of sequences: each entry is deleted by a coin of its own, and gaps close.

    What is drawn holds the entries that are left and nothing else: neither where they stood nor how many there were.
    """

    clean: Sequences
    kept: KeptTokens
    form: Form | None = None

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return self.kept.bits.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.kept.bits.distance

    @property
    def bytes_per_row(self) -> int:
        """Places and codes of an average sequence, and its form."""
        drawn = 4 * 8 * self.clean.codes.size // max(1, self.rows) + 64
        return int(drawn) + (0 if self.form is None else self.form.bytes_per_row)

    def draw(self, role: Role, samples: range, rows: IntArray) -> Sequences:
        """One noisy sequence per (sample, row), ordered by sample."""
        starts, places = self.kept.draw(role, samples, rows)
        return Sequences(starts, self.clean.codes[places])


@dataclass(frozen=True, slots=True, eq=False)
class HidingSampler:
    """Draws noisy copies of sequences in which each entry is replaced by `mask` by a coin of its own."""

    clean: Sequences
    kept: KeptTokens
    mask: int
    form: Form | None = None

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return self.kept.bits.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.kept.bits.distance

    @property
    def bytes_per_row(self) -> int:
        """Places and codes of an average sequence, and its form."""
        drawn = 6 * 8 * self.clean.codes.size // max(1, self.rows) + 64
        return int(drawn) + (0 if self.form is None else self.form.bytes_per_row)

    def draw(self, role: Role, samples: range, rows: IntArray) -> Sequences:
        """One noisy sequence per (sample, row), ordered by sample."""
        kept = self.kept.draw(role, samples, rows)
        begins = np.tile(self.clean.starts[rows], len(samples))
        starts = _starts_of(np.tile(self.clean.lengths[rows], len(samples)))
        codes = np.full(int(starts[-1]), self.mask, dtype=self.clean.codes.dtype)
        codes[kept.codes + (starts[:-1] - begins)[kept.row_of]] = self.clean.codes[kept.codes]
        return Sequences(starts, codes)


@dataclass(frozen=True, slots=True, eq=False)
class ReplacingSampler:
    """Draws noisy copies of sequences in which each entry below `categories` becomes another such entry by its coin."""

    clean: Sequences
    values: ValueSampler
    form: Form | None = None

    @classmethod
    def of(cls, clean: Sequences, noise: FlipNoise, stream: Stream, form: Form | None = None) -> ReplacingSampler:
        """A sampler that leaves entries beyond the categories of the noise as they are."""
        width, beyond = int(clean.lengths.max(initial=0)), noise.categories
        table = clean.padded(width, beyond)
        values = table.astype(np.min_scalar_type(max(beyond, int(table.max(initial=0)))))
        law_of = np.where(table < noise.categories, 0, -1).astype(np.int16)
        return cls(clean, ValueSampler(values, law_of, [noise], stream), form)

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return self.values.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.values.distance

    @property
    def bytes_per_row(self) -> int:
        """The longest sequence, an average sequence, and its form."""
        drawn = (self.values.values.itemsize + 1) * int(self.values.values.shape[1])
        drawn += 2 * 8 * self.clean.codes.size // max(1, self.rows) + 64
        return int(drawn) + (0 if self.form is None else self.form.bytes_per_row)

    def draw(self, role: Role, samples: range, rows: IntArray) -> Sequences:
        """One noisy sequence per (sample, row), ordered by sample."""
        lengths = np.tile(self.clean.lengths[rows], len(samples))
        drawn = self.values.draw(role, samples, rows)
        return Sequences(_starts_of(lengths), drawn[np.arange(drawn.shape[1]) < lengths[:, None]])


@dataclass(frozen=True, slots=True, eq=False)
class PaddedSampler:
    """Draws noisy copies of sequences whose gaps close, as an array of constant width or as a list of arrays.

    The array is as wide as the clean data, whatever is drawn, with `padding` behind every sequence. Without padding, a
    list has one array per sequence. Both are functions of the noisy sequence alone.
    """

    sequences: DeletingSampler
    width: int
    padding: int | None

    @property
    def rows(self) -> int:
        """The number of sequences."""
        return self.sequences.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.sequences.distance

    @property
    def bytes_per_row(self) -> int:
        """What is drawn, the array, and a copy of it for the classifier."""
        return self.sequences.bytes_per_row + 17 * self.width + 128

    def draw(self, role: Role, samples: range, rows: IntArray) -> Any:
        """One noisy sequence per (sample, row), ordered by sample."""
        drawn = self.sequences.draw(role, samples, rows)
        if self.padding is not None:
            return drawn.padded(self.width, self.padding)
        return np.split(drawn.codes, drawn.starts[1:-1])
