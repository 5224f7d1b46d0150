"""Samplers turn a law and clean data into noisy copies; every space builds on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.bit_law import (
    EVERY_ENTRY,
    SCATTERED,
    BitLaw,
    BitRows,
    Scratch,
    binomial_table,
    digits_of,
    scratch_for,
)
from flipproof.noise.sampling.counter import ROW_LIMIT, SAMPLE_LIMIT, StreamWords
from flipproof.theory.law import FlipNoise, Law


class Role(IntEnum):
    """The purpose of a sample. Samples of different roles are independent."""

    SELECT = 0
    ESTIMATE = 1
    TRAIN = 2


class Sampler(Protocol):
    """Draws noisy copies of a space. Sample i of a role is the same in every draw that contains it."""

    @property
    def rows(self) -> int:
        """The number of inputs that can be drawn separately."""

    @property
    def distance(self) -> Fraction:
        """An upper bound on the total variation distance of one sample of all rows from the exact law."""

    @property
    def bytes_per_row(self) -> int:
        """The approximate memory of one noisy row."""

    def draw(self, role: Role, samples: range, rows: IntArray) -> Any:
        """Noisy copies of the rows, ordered by sample."""


class JointSampler(Sampler, Protocol):
    """Draws noisy copies of one input that receives many predictions, such as a graph whose nodes are classified.

    The whole input is one row.
    """

    @property
    def outputs(self) -> int:
        """The number of predictions for each noisy copy."""

    @property
    def expected_edges(self) -> float:
        """The average number of edges of a noisy copy; classifiers may need memory for each edge."""

    @property
    def shared(self) -> tuple[Any, ...]:
        """The arrays that all noisy copies share; classifiers must not change them."""

    def restricted(self, targets: IntArray, hops: int) -> JointSampler | None:
        """A sampler that draws only what reaches the targets in `hops` steps; None if that may be anything."""

    @property
    def places(self) -> IntArray | None:
        """The indices of the targets' predictions if the sampler is restricted, else None."""

    def unrestricted(self) -> tuple[JointSampler, IntArray] | None:
        """The sampler of the whole input, and the targets' places in it; None if nothing was left out."""


class Form(Protocol):
    """How noisy copies look to a model: a function of the drawn copies alone, such as from codes back to words.

    A sampler that has a `form` draws plain numbers, and the model gets `form(drawn)`. A form must not know which row
    a copy was drawn from: the model may see nothing that the law of the noise does not describe.
    """

    @property
    def bytes_per_row(self) -> int:
        """About how much memory a row takes in this form."""

    def __call__(self, drawn: Any, /) -> Any:
        """What the model gets."""


SamplerMaker = Callable[[Any, Any, int], Sampler]
"""Makes a sampler from a space, a law and a seed, or raises an error if they do not fit."""

_PAIRS: dict[tuple[type, type], SamplerMaker] = {}


def register_sampler(law: type[Law], space: type, make: SamplerMaker) -> None:
    """Registers how to draw noisy copies of a space under a law, if the space cannot draw them itself.

    Args:
        law: the class of laws.
        space: the class of spaces; `object` stands for all spaces not registered themselves.
        make: makes a sampler from a space, a law and a seed.
    """
    _PAIRS[law, space] = make


def registered_sampler(law: object, space: object) -> SamplerMaker | None:
    """The sampler maker registered for the classes of a law and a space, or for their bases; None if there is none."""
    pairs = ((one, other) for one in type(law).__mro__ for other in type(space).__mro__)
    return next((_PAIRS[pair] for pair in pairs if pair in _PAIRS), None)


@dataclass(frozen=True, slots=True)
class Stream:
    """The source of a sampler's random words: the seed of the run and the number of the part of the input."""

    seed: int
    part: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int | np.integer) or not 0 <= self.seed < 2**64:
            raise InvalidInputError(f"expected seed to be an integer in [0, 2**64), got {self.seed!r}")

    def words(self, role: Role) -> StreamWords:
        """The stream of a role, in the form that the compiled loops take."""
        return StreamWords(np.uint64(self.seed), np.uint64(role), np.uint64(self.part))


LoopArguments = tuple[StreamWords, tuple[int, int], IntArray, BitRows, BitLaw, Scratch]
"""The arguments of a compiled loop that draws rows of bits: stream, samples, rows, clean data, law, working memory."""


@dataclass(frozen=True, slots=True, eq=False)
class BitSampler:
    """Draws noisy copies of sparse rows of bits, in time proportional to their ones and flips.

    Row r has `entries[r]` entries; its ones are at the sorted `positions[starts[r] : starts[r + 1]]`.
    """

    starts: IntArray
    positions: NDArray[Any]
    entries: IntArray
    noise: FlipNoise
    stream: Stream
    _law: BitLaw = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_rows(self.rows)
        longest = int(self.entries.max(initial=0))
        law = BitLaw.of(self.noise.p_plus, self.noise.p_minus, longest)
        if longest > law.longest_row:
            raise TooLargeError(f"expected at most {law.longest_row} entries in a row with {self.noise}, got {longest}")
        object.__setattr__(self, "_law", law)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.entries.size)

    @property
    def distance(self) -> Fraction:
        """A bound on the total variation distance of one sample of all rows: the table's distance for each block."""
        if self._law.method != SCATTERED:
            return Fraction(0)
        size = int(self._law.block_size)
        blocks = int((-(-self.entries // size)).sum())
        return blocks * binomial_table(size, self.noise.p_plus).distance

    def expected_ones(self, rows: IntArray) -> float:
        """The average number of ones in a noisy copy of the rows."""
        ones = (self.starts[rows + 1] - self.starts[rows]).sum(dtype=np.float64)
        entries = self.entries[rows].sum(dtype=np.float64)
        return float(ones * (1.0 - self.noise.p_minus) + (entries - ones) * self.noise.p_plus)

    def draw(self, role: Role, samples: range, rows: IntArray) -> tuple[IntArray, NDArray[Any]]:
        """Starts and sorted positions of the ones of every (sample, row), ordered by sample."""
        from flipproof.noise.sampling.bit_kernels import draw_bits  # loads numba, which is slow to import

        expected = self.expected_ones(rows) * len(samples)
        ends = np.zeros(len(samples) * rows.size + 1, dtype=np.int64)
        # Before they draw a row, the loops require room for everything that it could still receive.
        every_entry = self._law.method == EVERY_ENTRY
        longest = self.entries[rows] if every_entry else self.starts[rows + 1] - self.starts[rows]
        capacity = int(expected + 12.0 * math.sqrt(expected)) + int(longest.max(initial=0)) + 4096
        while True:
            out = np.empty(capacity, dtype=self.positions.dtype)
            total = draw_bits(out, ends[1:], *self.loop_arguments(role, samples, rows))
            if total >= 0:
                return ends, out[:total]
            capacity *= 2

    def loop_arguments(self, role: Role, samples: range, rows: IntArray) -> LoopArguments:
        """The arguments of a compiled loop that draws the rows."""
        data = _unwritable(BitRows(self.starts, self.positions, self.entries))
        law = _unwritable(self._law)
        return self.stream.words(role), sample_bounds(samples), _view(rows), data, law, scratch_for(law)

    def draw_kept(self, role: Role, samples: range, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """For each sample, which of the given non-zeros of row 0 survive; valid only with p_plus = 0.

        Exactly these non-zeros survive in a draw of the whole row.
        """
        from flipproof.noise.sampling.bit_kernels import draw_kept_numbers  # loads numba

        ends = np.zeros(len(samples) + 1, dtype=np.int64)
        out = np.empty(len(samples) * numbers.size, dtype=np.int64)
        stream = self.stream.words(role)
        total = draw_kept_numbers(out, ends[1:], stream, sample_bounds(samples), numbers, self._law.p_minus)
        return ends, out[:total]


def _unwritable(values: Any) -> Any:
    """A named tuple with read-only views of its arrays.

    Numba compiles a loop once per array type, and writability is part of the type. Workers receive all arrays as
    writable, so without read-only views every worker would compile the loops again.
    """
    return type(values)._make(_view(value) if isinstance(value, np.ndarray) else value for value in values)


def _view(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.setflags(write=False)
    return view


def sample_bounds(samples: range) -> tuple[int, int]:
    """The bounds of consecutive sample numbers. Numbers past the limit would reuse the words of another role."""
    if samples.step != 1 or samples.start < 0 or samples.stop > SAMPLE_LIMIT:
        raise InvalidInputError(f"expected consecutive samples from [0, {SAMPLE_LIMIT}), got {samples!r}")
    return samples.start, samples.stop


def _check_rows(rows: int) -> None:
    """Refuses more rows than the counter can tell apart."""
    if rows > ROW_LIMIT:
        raise TooLargeError(f"expected at most {ROW_LIMIT} rows, got {rows}")


@dataclass(frozen=True, slots=True, eq=False)
class ValueSampler:
    """Draws noisy copies of rows of small integers, with a coin for every entry.

    Entry j of row r flips by `noises[law_of[r, j]]`, and never flips where `law_of` is -1. If all rows flip alike,
    `law_of` has a single row.
    """

    values: NDArray[Any]
    law_of: NDArray[np.int16]
    noises: Sequence[FlipNoise]
    stream: Stream

    def __post_init__(self) -> None:
        _check_rows(self.rows)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.values.shape[0])

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return Fraction(0)

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[Any]:
        """One noisy row per (sample, row), ordered by sample."""
        from flipproof.noise.sampling.value_kernels import CleanValues, draw_values  # loads numba

        laws = [FlipNoise(0.0, 0.0), *self.noises]  # the first is that of entries that never flip
        clean = CleanValues(
            self.values, self.law_of + np.int16(1), _digit_table([law.p_plus for law in laws]),
            _digit_table([law.p_minus for law in laws]), np.array([law.categories for law in laws], np.uint64),
        )  # fmt: skip
        out = np.empty((len(samples) * rows.size, self.values.shape[1]), dtype=self.values.dtype)
        draw_values(out, self.stream.words(role), sample_bounds(samples), rows, _unwritable(clean))
        return out


def _digit_table(probabilities: Sequence[float]) -> NDArray[np.uint64]:
    """The digits of several probabilities as one array, padded with zeros."""
    table = np.zeros((len(probabilities), 34), dtype=np.uint64)
    for row, probability in zip(table, probabilities, strict=True):
        digits = digits_of(probability)
        row[: digits.size] = digits
    return table
