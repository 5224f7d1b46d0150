"""Ablation: noise that keeps a fixed number of an input's entries and hides all others (Levine and Feizi 2020)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from flipproof.base.values import IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role, Stream, register_sampler, sample_bounds
from flipproof.noise.spaces.graph import Graph
from flipproof.noise.spaces.noisy_graphs import GraphSampler
from flipproof.noise.spaces.rows import DenseRows, SparseRows, ones_at
from flipproof.noise.spaces.space import Space
from flipproof.noise.spaces.tokens import Tokens
from flipproof.theory.base_law import Law, register_law

HIDDEN = -1
"""The value that replaces a hidden entry in a dense row."""
MOST_ENTRIES = 2**31


@register_law("ablation")
@dataclass(frozen=True, slots=True)
class AblationNoise(Law):
    """Keeps exactly `kept` of an input's `entries`; every set of this size is equally likely.

    `flipproof.baselines.ablation` computes certificates for this law.

    Example:
        >>> AblationNoise(entries=784, kept=45)
        AblationNoise(entries=784, kept=45)
    """

    entries: int
    kept: int

    def __post_init__(self) -> None:
        for name in ("entries", "kept"):
            object.__setattr__(self, name, checked_count(getattr(self, name), name))
        if not 1 <= self.kept <= self.entries <= MOST_ENTRIES:
            raise InvalidInputError(
                f"expected 1 <= kept <= entries <= {MOST_ENTRIES}, got kept = {self.kept}, entries = {self.entries}"
            )

    def record(self) -> dict[str, Any]:
        """The fields of the law as JSON values."""
        return {"ablation": {"entries": self.entries, "kept": self.kept}}

    def without_noise(self) -> AblationNoise:
        """The ablation that keeps every entry."""
        return AblationNoise(self.entries, self.entries)

    @property
    def short_words(self) -> str:
        """The share of entries that is kept, in words."""
        return f"{self.kept / self.entries:.3g} kept"


def _ablated_sparse_rows(rows: SparseRows, noise: AblationNoise, seed: int) -> AblatedBits:
    _check_entries(noise, rows.columns, "columns")
    return AblatedBits(KeptEntries(rows.starts, noise, Stream(seed)), rows.positions, rows.columns)


def _ablated_dense_rows(rows: DenseRows, noise: AblationNoise, seed: int) -> AblatedValues:
    _check_entries(noise, rows.entries, "entries in a row")
    return AblatedValues(KeptEntries.of_all(len(rows.values), noise, Stream(seed)), rows.values, HIDDEN)


def _ablated_tokens(tokens: Tokens, noise: AblationNoise, seed: int) -> AblatedValues:
    if tokens.mask is None:
        _refuse(tokens, noise, seed)
    _check_entries(noise, tokens.values.shape[1], "positions")
    return AblatedValues(KeptEntries.of_all(len(tokens.values), noise, Stream(seed)), tokens.values, tokens.mask)


def _refuse(space: Space, noise: AblationNoise, seed: int) -> NoReturn:
    raise InvalidInputError(
        "expected rows, tokens with a mask, or a graph with noisy attributes of zeros and ones for an ablation, got "
        f"{type(space).__name__}"
    )


def entries_of(space: Space) -> int | None:
    """The number of entries that an ablation chooses from in each input; None if the space has no ablation.

    Example:
        >>> entries_of(DenseRows([[0, 3, 1], [2, 2, 0]]))
        3
    """
    if isinstance(space, Graph):
        rows = space.attributes
        return rows.inputs * rows.columns if space.noisy == "attributes" and isinstance(rows, SparseRows) else None
    if isinstance(space, Tokens):
        return None if space.mask is None else int(space.values.shape[1])
    if isinstance(space, SparseRows):
        return space.columns
    return space.entries if isinstance(space, DenseRows) else None


def _check_entries(noise: AblationNoise, entries: int, name: str) -> None:
    if noise.entries != entries:
        raise InvalidInputError(f"expected an ablation of the {entries} {name}, got one of {noise.entries}")


def _ablated_graph(graph: Graph, noise: AblationNoise, seed: int) -> GraphSampler:
    """Treats all attributes of all nodes as one input: a fixed number of entries of the whole matrix is kept."""
    if graph.noisy != "attributes" or not isinstance(graph.attributes, SparseRows):
        raise InvalidInputError("expected a graph whose attributes, zeros and ones, get the noise, got another one")
    rows = graph.attributes
    _check_entries(noise, rows.inputs * rows.columns, "attributes of all nodes")
    kept = KeptEntries(np.array([0, rows.ones], np.int64), noise, Stream(seed, part=1))
    return GraphSampler(graph, structure=None, attributes=AblatedMatrix(kept, rows))


@dataclass(frozen=True, slots=True, eq=False)
class KeptEntries:
    """Draws which of the listed entries of each row are kept; row r has starts[r + 1] - starts[r] listed entries."""

    starts: IntArray
    noise: AblationNoise
    stream: Stream

    @classmethod
    def of_all(cls, rows: int, noise: AblationNoise, stream: Stream) -> KeptEntries:
        """Draws from rows whose entries are all listed."""
        return cls(np.arange(rows + 1, dtype=np.int64) * noise.entries, noise, stream)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.starts.size - 1)

    def bytes_per_row(self, rows: int) -> int:
        """Approximate memory for the kept entries of each of `rows` rows: numbers, indices, ones and a copy."""
        return int(24 * self.noise.kept / self.noise.entries * self.starts[-1] / max(1, rows)) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Starts and numbers of the kept entries of every (sample, row), ordered by sample; each row counts from 0."""
        from flipproof.noise.sampling.value_kernels import draw_kept_entries  # loads numba

        listed = np.minimum(np.diff(self.starts)[rows], self.noise.kept)
        out = np.empty(int(listed.sum()) * len(samples) + 1, np.int64)
        ends = np.zeros(len(samples) * rows.size + 1, np.int64)
        total = draw_kept_entries(
            out, ends[1:], self.stream.words(role), sample_bounds(samples), rows, self.starts, self.noise.entries,
            self.noise.kept,
        )  # fmt: skip
        return ends, out[:total]


@dataclass(frozen=True, slots=True, eq=False)
class _Ablated:
    """The base of the samplers in this module."""

    kept: KeptEntries

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.kept.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return Fraction(0)

    @property
    def bytes_per_row(self) -> int:
        """Indices and ones, counted twice because a classifier may copy them."""
        return self.kept.bytes_per_row(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class AblatedBits(_Ablated):
    """Sparse rows whose hidden entries become zero: one CSR matrix [samples * rows, columns] of float32 ones."""

    positions: NDArray[np.int32]
    columns: int

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """One noisy row per (sample, row), ordered by sample."""
        starts, numbers = self.kept.draw(role, samples, rows)
        first = np.tile(self.kept.starts[rows], len(samples))
        columns = self.positions[numbers + np.repeat(first, np.diff(starts))]
        return ones_at(starts, columns, self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class AblatedMatrix(_Ablated):
    """A sparse matrix, one row per node, that keeps a fixed number of its entries; hidden entries become zero."""

    matrix: SparseRows

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.matrix.inputs

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """One noisy row per (sample, row), ordered by sample. Always draws the whole matrix, then selects the rows."""
        starts, numbers = self.kept.draw(role, samples, np.zeros(1, np.int64))
        row_of = np.searchsorted(self.matrix.starts, numbers, side="right") - 1
        row_of += np.repeat(np.arange(len(samples)) * self.rows, np.diff(starts))
        ends = np.searchsorted(row_of, np.arange(len(samples) * self.rows + 1))
        whole = ones_at(ends, self.matrix.positions[numbers], self.matrix.columns)
        if rows.size == self.rows and (rows == np.arange(self.rows)).all():
            return whole
        wanted = (np.arange(len(samples))[:, None] * self.rows + rows).ravel()
        return sp.csr_array(whole[wanted])


@dataclass(frozen=True, slots=True, eq=False)
class AblatedValues(_Ablated):
    """Dense rows or sequences in which `hidden` replaces entries not kept: one array [samples * rows, ...]."""

    values: NDArray[Any]
    hidden: int

    @property
    def bytes_per_row(self) -> int:
        """The kept entries, the values, and a float copy of the values for the classifier."""
        return int(self.kept.noise.entries) * 25 + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[Any]:
        """One noisy row per (sample, row), ordered by sample."""
        starts, numbers = self.kept.draw(role, samples, rows)
        clean = self.values.reshape(len(self.values), -1)[rows].astype(np.int64)
        noisy = np.full((len(samples) * rows.size, clean.shape[1]), self.hidden, np.int64)
        row_of = np.repeat(np.arange(len(noisy)), np.diff(starts))
        noisy[row_of, numbers] = clean[row_of % rows.size, numbers]
        return noisy.reshape(len(noisy), *self.values.shape[1:])


register_sampler(AblationNoise, Graph, _ablated_graph)
register_sampler(AblationNoise, SparseRows, _ablated_sparse_rows)
register_sampler(AblationNoise, DenseRows, _ablated_dense_rows)
register_sampler(AblationNoise, Tokens, _ablated_tokens)
register_sampler(AblationNoise, object, _refuse)
