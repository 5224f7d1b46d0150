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
"""What stands in the place of a hidden value of a dense row."""
MOST_ENTRIES = 2**31


@register_law("ablation")
@dataclass(frozen=True, slots=True)
class AblationNoise(Law):
    """Keeps exactly `kept` of the `entries` of an input, every set of this size with the same probability.

    Certificates for it come from `flipproof.baselines.ablation`.

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
        """Its fields."""
        return {"ablation": {"entries": self.entries, "kept": self.kept}}

    def without_noise(self) -> AblationNoise:
        """Nothing is hidden."""
        return AblationNoise(self.entries, self.entries)

    @property
    def short_words(self) -> str:
        """The share that is kept."""
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
    """How many entries of each input an ablation chooses from; None if there is no ablation of such a space.

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
    """All attributes of all nodes are one input: a fixed number of the whole matrix is kept."""
    if graph.noisy != "attributes" or not isinstance(graph.attributes, SparseRows):
        raise InvalidInputError("expected a graph whose attributes, zeros and ones, get the noise, got another one")
    rows = graph.attributes
    _check_entries(noise, rows.inputs * rows.columns, "attributes of all nodes")
    kept = KeptEntries(np.array([0, rows.ones], np.int64), noise, Stream(seed, part=1))
    return GraphSampler(graph, structure=None, attributes=AblatedMatrix(kept, rows))


@dataclass(frozen=True, slots=True, eq=False)
class KeptEntries:
    """Draws which of some listed entries of every row are kept; starts[r + 1] - starts[r] are listed of row r."""

    starts: IntArray
    noise: AblationNoise
    stream: Stream

    @classmethod
    def of_all(cls, rows: int, noise: AblationNoise, stream: Stream) -> KeptEntries:
        """With all entries listed."""
        return cls(np.arange(rows + 1, dtype=np.int64) * noise.entries, noise, stream)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.starts.size - 1)

    def bytes_per_row(self, rows: int) -> int:
        """About how much memory the kept ones take in each of `rows` rows: numbers, indices, ones, and a copy."""
        return int(24 * self.noise.kept / self.noise.entries * self.starts[-1] / max(1, rows)) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Starts and numbers of the kept ones of every (sample, row), samples first; numbers count from 0 in each."""
        from flipproof.noise.sampling.ablation_kernels import draw_kept_entries  # which loads numba

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
    """What all samplers here have in common."""

    kept: KeptEntries

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.kept.rows

    @property
    def distance(self) -> Fraction:
        """Nothing is rounded."""
        return Fraction(0)

    @property
    def bytes_per_row(self) -> int:
        """Indices and ones, twice: a classifier may well copy them."""
        return self.kept.bytes_per_row(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class AblatedBits(_Ablated):
    """Sparse rows of which hidden entries are zero: one CSR matrix [samples * rows, columns] of float32 ones."""

    positions: NDArray[np.int32]
    columns: int

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """Every (sample, row), samples first."""
        starts, numbers = self.kept.draw(role, samples, rows)
        first = np.tile(self.kept.starts[rows], len(samples))
        columns = self.positions[numbers + np.repeat(first, np.diff(starts))]
        return ones_at(starts, columns, self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class AblatedMatrix(_Ablated):
    """A sparse matrix, one row per node, of which a fixed number of entries is kept; hidden ones are zero."""

    matrix: SparseRows

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.matrix.inputs

    def draw(self, role: Role, samples: range, rows: IntArray) -> sp.csr_array:
        """Every (sample, row), samples first. The whole matrix is drawn, whichever rows of it are wanted."""
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
    """Dense rows or sequences in which `hidden` stands for what was not kept: one array [samples * rows, ...]."""

    values: NDArray[Any]
    hidden: int

    @property
    def bytes_per_row(self) -> int:
        """Which are kept, the values, and the same as floats for the classifier."""
        return int(self.kept.noise.entries) * 25 + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> NDArray[Any]:
        """Every (sample, row), samples first."""
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
