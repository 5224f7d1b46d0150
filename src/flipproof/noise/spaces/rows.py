"""Spaces in which each row is one input: vectors, images and sparse bits."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.short_repr import amount, shape_words, short_repr
from flipproof.base.values import IntArray, as_array, as_integers, place_words, read_only, read_only_csr
from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling.samplers import BitSampler, Form, Role, Stream, ValueSampler
from flipproof.noise.spaces.space import PartCounts, check_categories, noise_of_parts, value_counts
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.scope import Scope


@dataclass(frozen=True, slots=True, eq=False)
class DenseSampler:
    """Draws noisy copies of dense rows, as one array [samples * rows, ...] with the shape of the clean rows."""

    values: ValueSampler
    shape: tuple[int, ...]
    form: Form | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.values.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.values.distance

    @property
    def bytes_per_row(self) -> int:
        """The values, and a float copy of them for the classifier."""
        drawn = int(self.values.values.shape[1]) * (self.values.values.itemsize + 8) + 64
        return drawn + (0 if self.form is None else self.form.bytes_per_row)

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[Any]:
        """One noisy row per (sample, row), ordered by sample."""
        return self.values.draw(role, samples, rows).reshape(len(samples) * rows.size, *self.shape)


@dataclass(frozen=True, slots=True, eq=False)
class DenseRows:
    """A batch of vectors or images with entries 0, 1, ..., K - 1; each row (first axis) is an input.

    Example:
        >>> DenseRows([[0, 1, 1], [1, 0, 0]]).entries
        3
    """

    values: NDArray[Any]

    def __post_init__(self) -> None:
        values = as_array(self.values, "values")
        if values.ndim < 2:
            raise InvalidInputError(f"expected values of shape [inputs, entries, ...], got shape {values.shape}")
        object.__setattr__(self, "values", read_only(as_integers(values, "values")))

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.values))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("values",)

    @property
    def entries(self) -> int:
        """The number of entries in a row."""
        return int(np.prod(self.values.shape[1:], dtype=np.int64))

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """A sampler that may flip every entry."""
        return self.sampler_of_part(only_noise(noise, self.parts), Stream(seed))

    def sampler_of_part(self, noise: FlipNoise, stream: Stream) -> DenseSampler:
        """A sampler that may flip every entry of these rows, which are part of a larger space."""
        check_categories(self.values, noise.categories, "values")
        return dense_sampler(self.values, np.zeros((1, self.entries), np.int16), [noise], stream)

    def nonzeros(self) -> IntArray:
        """The number of nonzero entries in each row."""
        return np.asarray(np.count_nonzero(self.values.reshape(len(self.values), self.entries), axis=1))

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: every entry."""
        return _whole_scope(self.entries, self.nonzeros())

    def counts(self) -> PartCounts:
        """The number of entries in all rows together, and the number of nonzero entries."""
        return {"values": value_counts(self.values)}


@dataclass(frozen=True, slots=True, eq=False)
class SparseSampler:
    """Draws noisy copies of sparse rows: one CSR matrix [samples * rows, columns] of float32 ones, columns sorted."""

    bits: BitSampler
    columns: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.bits.rows

    @property
    def distance(self) -> Fraction:
        """Total variation distance of one sample of all rows."""
        return self.bits.distance

    @property
    def bytes_per_row(self) -> int:
        """Indices and ones, counted twice because a classifier may copy them."""
        return int(16 * self.bits.expected_ones(np.arange(self.rows)) / max(1, self.rows)) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """One noisy row per (sample, row), ordered by sample."""
        starts, columns = self.bits.draw(role, samples, rows)
        return ones_at(starts, columns, self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """A sparse matrix of zeros and ones, one input per row: bags of words, sets, fingerprints.

    Example:
        >>> rows = SparseRows(sp.csr_array([[0, 1, 1], [1, 0, 0]]))
        >>> rows.inputs, rows.columns, rows.ones
        (2, 3, 3)
    """

    matrix: Any
    starts: IntArray = field(init=False, repr=False)
    positions: NDArray[np.int32] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts, positions = binary_csr(self.matrix, "the matrix")
        object.__setattr__(self, "starts", read_only(starts))
        object.__setattr__(self, "positions", read_only(positions))
        ones = np.ones(positions.size, dtype=np.float32)
        matrix = sp.csr_array((ones, positions, starts), shape=self.matrix.shape)
        object.__setattr__(self, "matrix", read_only_csr(matrix))

    def __repr__(self) -> str:
        return short_repr(self, shape_words(self.matrix), amount(self.matrix.nnz, "one"))

    @property
    def inputs(self) -> int:
        """The number of rows."""
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> int:
        """The number of entries in a row."""
        return int(self.matrix.shape[1])

    @property
    def ones(self) -> int:
        """The number of entries that are one."""
        return int(self.positions.size)

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("bits",)

    def sampler(self, noise: Noise, seed: int) -> SparseSampler:
        """A sampler that may flip every entry, in time proportional to ones and flips."""
        return self.sampler_of_part(only_noise(noise, self.parts), Stream(seed))

    def sampler_of_part(self, noise: FlipNoise, stream: Stream) -> SparseSampler:
        """A sampler that may flip every entry of these rows, which are part of a larger space."""
        if noise.categories != 2:
            raise InvalidInputError(
                f"expected noise with 2 categories for a sparse matrix of zeros and ones, got {noise.categories}; "
                "wrap categories that happen to be 0 and 1 in DenseRows"
            )
        entries = np.full(self.inputs, self.columns, dtype=np.int64)
        return SparseSampler(BitSampler(self.starts, self.positions, entries, noise, stream), self.columns)

    def nonzeros(self) -> IntArray:
        """The number of ones in each row."""
        return np.diff(self.starts)

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: every entry."""
        return _whole_scope(self.columns, self.nonzeros())

    def counts(self) -> PartCounts:
        """The number of entries in all rows together, and the number of ones."""
        return {"bits": (self.inputs * self.columns, self.ones)}


def _whole_scope(entries: int, nonzeros: IntArray) -> Scope:
    return Scope((entries - nonzeros)[:, None], nonzeros[:, None])


def ones_at(starts: IntArray, columns: NDArray[Any], width: int) -> sp.csr_array:
    """A CSR matrix with float32 ones in the given columns, which must be sorted in every row."""
    if starts[-1] < 2**31:
        starts = starts.astype(np.int32)
    matrix = sp.csr_array((np.ones(columns.size, np.float32), columns, starts), shape=(starts.size - 1, width))
    matrix.has_sorted_indices = True
    return matrix


def binary_csr(matrix: Any, name: str) -> tuple[IntArray, NDArray[np.int32]]:
    """Row starts and sorted columns of a sparse matrix of zeros and ones; explicit zeros count as zeros."""
    if not sp.issparse(matrix) or matrix.ndim != 2:
        raise InvalidInputError(f"expected {name} to be a sparse matrix, got {type(matrix).__name__}")
    if matrix.shape[1] >= 2**31:
        raise TooLargeError(f"expected {name} to have fewer than {2**31} columns, got {matrix.shape[1]}")
    csr = sp.csr_array(matrix, copy=True)
    stored = matrix.nnz if matrix.format == "coo" else csr.nnz  # converting a COO matrix sums its duplicates
    csr.sum_duplicates()
    if csr.nnz < stored:
        raise InvalidInputError(
            f"expected {name} to hold every entry once, got {stored - csr.nnz} duplicates; "
            "call sum_duplicates() if adding them up is meant"
        )
    csr.eliminate_zeros()
    wrong = np.flatnonzero(csr.data != 1)
    if wrong.size:
        first = int(wrong[0])
        row = int(np.searchsorted(csr.indptr, first, side="right")) - 1
        place = place_words((row, int(csr.indices[first])), "column")
        raise InvalidInputError(
            f"expected {name} to hold zeros and ones, got {csr.data[first]}; binarise it first (that is at {place})"
        )
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32)


def rows_between(drawn: Any, begin: int, stop: int) -> Any:
    """Rows `begin` to `stop` of a sampler's draw; they share its memory, unlike slices in scipy."""
    if not sp.issparse(drawn):
        return drawn[begin:stop]
    first, last = drawn.indptr[begin], drawn.indptr[stop]
    parts = drawn.data[first:last], drawn.indices[first:last], drawn.indptr[begin : stop + 1] - first
    rows = sp.csr_array(parts, shape=(stop - begin, drawn.shape[1]))
    rows.has_sorted_indices = True
    return rows


def only_noise(noise: Noise, parts: tuple[str, ...]) -> FlipNoise:
    """The noise of the first part, for data with a single part."""
    return noise_of_parts(noise, parts)[parts[0]]


def dense_sampler(
    values: NDArray[Any],
    law_of: NDArray[np.int16],
    noises: list[FlipNoise],
    stream: Stream,
    form: Form | None = None,
) -> DenseSampler:
    """A sampler of dense values, whose integer type can hold every value that the noise can produce."""
    most = max([int(values.max(initial=0)), *(noise.categories - 1 for noise in noises)])
    flat = np.ascontiguousarray(values.reshape(values.shape[0], law_of.shape[1]), dtype=np.min_scalar_type(most))
    return DenseSampler(ValueSampler(flat, law_of, noises, stream), values.shape[1:], form)
