"""Spaces of rows, each row an input of its own: vectors and images, token sequences, tables, sparse bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.noise.sampling import BitSampler, Role, Stream, ValueSampler
from flipproof.noise.space import as_array, as_integers, check_categories, noise_of_parts
from flipproof.theory.arrays import BoolArray, IntArray, read_only, read_only_csr
from flipproof.theory.law import FlipNoise, JointNoise, Noise


@dataclass(frozen=True, slots=True, eq=False)
class DenseSampler:
    """Noisy copies of dense rows, as one array [samples * rows, ...] with the shape of the clean rows."""

    values: ValueSampler
    shape: tuple[int, ...]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.values.rows

    @property
    def distance(self) -> Fraction:
        """Nothing is rounded."""
        return self.values.distance

    @property
    def bytes_per_row(self) -> int:
        """The values, and the same as floats for the classifier."""
        return int(self.values.values.shape[1]) * (self.values.values.itemsize + 8) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[Any]:
        """Every (sample, row), samples first."""
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
        values = as_integers(self.values, "values")
        if values.ndim < 2:
            raise InvalidInputError(f"expected values of shape [inputs, entries, ...], got shape {values.shape}")
        object.__setattr__(self, "values", read_only(values))

    @property
    def parts(self) -> tuple[str, ...]:
        """There is one part."""
        return ("values",)

    @property
    def entries(self) -> int:
        """How many entries a row has."""
        return int(np.prod(self.values.shape[1:], dtype=np.int64))

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """Flips every entry."""
        return self.sampler_of_part(_only_noise(noise, self.parts), Stream(seed))

    def sampler_of_part(self, noise: FlipNoise, stream: Stream) -> DenseSampler:
        """The same for these rows as a part of something larger."""
        check_categories(self.values, noise.categories, "values")
        return _dense_sampler(self.values, np.zeros((1, self.entries), np.int16), [noise], stream)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Sequences of tokens 0, 1, ..., K - 1 with padding, one sequence per row. Noise never touches the padding.

    Args:
        values: integers [sequences, length].
        padding: the number that marks padding. It must not be one of the K tokens: an attacker could then turn a token
            into something that noise never touches, which no certificate covers.

    Example:
        >>> Tokens([[5, 2, 9], [7, 9, 9]], padding=9).lengths
        array([2, 1])
    """

    values: NDArray[Any]
    padding: int | None = None
    is_padding: BoolArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        given = as_array(self.values, "tokens")
        if given.ndim != 2:
            raise InvalidInputError(f"expected tokens of shape [sequences, length], got shape {given.shape}")
        is_padding = np.zeros(given.shape, dtype=bool) if self.padding is None else given == self.padding
        as_integers(np.where(is_padding, 0, given), "tokens")
        object.__setattr__(self, "values", read_only(given.astype(np.int64)))
        object.__setattr__(self, "is_padding", read_only(is_padding))

    @property
    def parts(self) -> tuple[str, ...]:
        """There is one part."""
        return ("tokens",)

    @property
    def lengths(self) -> IntArray:
        """How many tokens each sequence has."""
        return np.asarray((~self.is_padding).sum(axis=1))

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """Flips every token that is not padding."""
        part = _only_noise(noise, self.parts)
        check_categories(np.where(self.is_padding, 0, self.values), part.categories, "tokens")
        if self.padding is not None and 0 <= self.padding < part.categories:
            raise InvalidInputError(
                f"expected padding outside the {part.categories} tokens, got {self.padding}; "
                f"mark it with {part.categories} here, and give a model the numbers it knows with transform="
            )
        law_of = np.where(self.is_padding, -1, 0).astype(np.int16)
        return DenseSampler(ValueSampler(self.values, law_of, [part], Stream(seed)), self.values.shape[1:])


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of categories, one input per row; column j has the values 0, 1, ..., categories[j] - 1.

    Columns belong to named parts with a noise and radii of their own, since how an entry flips depends on its number
    of categories. By default the columns with K categories form the part "kK"; `columns` may name the part of
    each column instead. `noise` makes the noise that fits.

    Example:
        >>> table = Table([[0, 2, 1], [1, 0, 1]], categories=[2, 3, 2])
        >>> table.noise(p_plus=0.1, p_minus=0.3).parts["k3"]
        FlipNoise(p_plus=0.1, p_minus=0.3, categories=3)
    """

    values: NDArray[Any]
    categories: Sequence[int]
    columns: Sequence[str] | None = None

    def __post_init__(self) -> None:
        values = as_integers(self.values, "values")
        if values.ndim != 2:
            raise InvalidInputError(f"expected a table of shape [inputs, columns], got shape {values.shape}")
        if not isinstance(self.categories, Sequence | np.ndarray):
            raise InvalidInputError(f"expected categories to be a list, one number per column, got {self.categories!r}")
        categories = tuple(FlipNoise(0.0, 0.0, count).categories for count in self.categories)
        columns = tuple(f"k{count}" for count in categories) if self.columns is None else tuple(self.columns)
        for name, given in (("categories", categories), ("columns", columns)):
            if len(given) != values.shape[1]:
                raise InvalidInputError(f"expected {name} for {values.shape[1]} columns, got {len(given)}")
        for j, count in enumerate(categories):
            check_categories(values[:, j], count, f"column {j}")
        object.__setattr__(self, "values", read_only(values))
        object.__setattr__(self, "categories", categories)
        object.__setattr__(self, "columns", columns)
        self._categories_of_parts()

    @property
    def _column_parts(self) -> tuple[str, ...]:
        return tuple(self.columns or ())

    def _categories_of_parts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for part, count in zip(self._column_parts, self.categories, strict=True):
            if found.setdefault(part, count) != count:
                raise InvalidInputError(
                    f"expected the columns of part {part!r} to have equal categories, got {found[part]} and {count}"
                )
        return found

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts, in the order of their first columns."""
        return tuple(self._categories_of_parts())

    def noise(self, p_plus: float, p_minus: float) -> Noise:
        """The same probabilities for all columns, each with its number of categories."""
        parts = {name: FlipNoise(p_plus, p_minus, count) for name, count in self._categories_of_parts().items()}
        return next(iter(parts.values())) if len(parts) == 1 else JointNoise(**parts)

    def sampler(self, noise: Noise, seed: int) -> DenseSampler:
        """Flips every entry of the columns whose part has a noise."""
        noises = noise_of_parts(noise, self.parts)
        for part, count in self._categories_of_parts().items():
            if part in noises and noises[part].categories != count:
                raise InvalidInputError(
                    f"expected noise with {count} categories for {part!r}, got {noises[part].categories}"
                )
        index = {part: number for number, part in enumerate(noises)}
        law_of = np.array([[index.get(part, -1) for part in self._column_parts]], dtype=np.int16)
        return _dense_sampler(self.values, law_of, list(noises.values()), Stream(seed))


@dataclass(frozen=True, slots=True, eq=False)
class SparseSampler:
    """Noisy copies of sparse rows, as one CSR matrix [samples * rows, columns] of float32 ones, columns unsorted."""

    bits: BitSampler
    columns: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.bits.rows

    @property
    def distance(self) -> Fraction:
        """Total variation distance of one sample of all rows."""
        return self.bits.distance

    @property
    def bytes_per_row(self) -> int:
        """Indices and ones, twice: a classifier may well copy them."""
        return int(16 * self.bits.expected_ones(np.arange(self.rows)) / max(1, self.rows)) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """Every (sample, row), samples first."""
        starts, columns = self.bits.draw(role, samples, rows)
        if starts[-1] < 2**31:
            starts = starts.astype(np.int32)
        ones = np.ones(columns.size, dtype=np.float32)
        matrix = sp.csr_array((ones, columns, starts), shape=(starts.size - 1, self.columns))
        matrix.has_sorted_indices = False
        return matrix


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

    @property
    def inputs(self) -> int:
        """How many rows there are."""
        return int(self.matrix.shape[0])

    @property
    def columns(self) -> int:
        """How many entries a row has."""
        return int(self.matrix.shape[1])

    @property
    def ones(self) -> int:
        """How many entries are one."""
        return int(self.positions.size)

    @property
    def parts(self) -> tuple[str, ...]:
        """There is one part."""
        return ("bits",)

    def sampler(self, noise: Noise, seed: int) -> SparseSampler:
        """Flips every entry, in time proportional to ones and flips."""
        return self.sampler_of_part(_only_noise(noise, self.parts), Stream(seed))

    def sampler_of_part(self, noise: FlipNoise, stream: Stream) -> SparseSampler:
        """The same for these rows as a part of something larger."""
        if noise.categories != 2:
            raise InvalidInputError(
                f"expected noise with 2 categories for a sparse matrix of zeros and ones, got {noise.categories}; "
                "wrap categories that happen to be 0 and 1 in DenseRows"
            )
        entries = np.full(self.inputs, self.columns, dtype=np.int64)
        return SparseSampler(BitSampler(self.starts, self.positions, entries, noise, stream), self.columns)


def binary_csr(matrix: Any, name: str) -> tuple[IntArray, NDArray[np.int32]]:
    """Row starts and sorted columns of a sparse matrix of zeros and ones; explicit zeros are zeros."""
    if not sp.issparse(matrix) or matrix.ndim != 2:
        raise InvalidInputError(f"expected {name} to be a sparse matrix, got {type(matrix).__name__}")
    if matrix.shape[1] >= 2**31:
        raise TooLargeError(f"expected {name} to have fewer than {2**31} columns, got {matrix.shape[1]}")
    csr = sp.csr_array(matrix, copy=True)
    stored = matrix.nnz if matrix.format == "coo" else csr.nnz  # a COO matrix adds up duplicates as it is converted
    csr.sum_duplicates()
    if csr.nnz < stored:
        raise InvalidInputError(
            f"expected {name} to hold every entry once, got {stored - csr.nnz} duplicates; "
            "call sum_duplicates() if adding them up is meant"
        )
    csr.eliminate_zeros()
    wrong = csr.data[csr.data != 1]
    if wrong.size:
        raise InvalidInputError(f"expected {name} to hold zeros and ones, got {wrong[0]}; binarise it first")
    return csr.indptr.astype(np.int64), csr.indices.astype(np.int32)


def _only_noise(noise: Noise, parts: tuple[str, ...]) -> FlipNoise:
    return noise_of_parts(noise, parts)[parts[0]]


def _dense_sampler(
    values: NDArray[Any], law_of: NDArray[np.int16], noises: list[FlipNoise], stream: Stream
) -> DenseSampler:
    """Makes room for every value that the noise can give."""
    most = max([int(values.max(initial=0)), *(noise.categories - 1 for noise in noises)])
    flat = np.ascontiguousarray(values.reshape(values.shape[0], law_of.shape[1]), dtype=np.min_scalar_type(most))
    return DenseSampler(ValueSampler(flat, law_of, noises, stream), values.shape[1:])
