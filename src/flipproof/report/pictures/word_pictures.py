"""Sequences of tokens and bags of words as arrays for a page, each with the first noisy copies that were voted on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import BoolArray, IntArray
from flipproof.noise.spaces.rows import SparseRows
from flipproof.noise.spaces.space import noise_of_parts
from flipproof.noise.spaces.tokens import Tokens
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.pictures.pictures import (
    COPIES,
    PICTURE_BYTES,
    Pictures,
    drawn_rows,
    first_texts,
    packed,
    pictures_of,
)

_VOCABULARY_BYTES = 1_000_000
_MOST_ADDED = 30
"""At most this many added words of a copy are listed; the others are counted."""
_MOST_DRAWN = 5_000_000
"""All noisy copies together may have this many words when they are drawn."""


@pictures_of.register
def _(tokens: Tokens, certified: CertifiedInputs) -> Pictures:
    words = certified.described.vocabulary
    return {} if words is None else {"sequences": sequences(certified, tokens, words)}


@pictures_of.register
def _(rows: SparseRows, certified: CertifiedInputs) -> Pictures:
    words = None if certified.described.image_shape is not None else certified.described.vocabulary
    return {} if words is None else {"bags": bags(certified, rows, words)}


def sequences(certified: CertifiedInputs, tokens: Tokens, vocabulary: tuple[str, ...]) -> dict[str, Any]:
    """The first sequences, as many as fit in a page. A word is its number in the vocabulary plus one; 0 is no word."""
    rows, length = tokens.values.shape
    count = min(rows, PICTURE_BYTES // (4 * max(1, length) * (1 + COPIES)))
    numbers, noisy = drawn_rows(certified, tokens, count, length)
    return {
        "words": first_texts(vocabulary, _VOCABULARY_BYTES),
        "count": count,
        "hides": tokens.mask is not None,
        "copies": numbers,
        "clean": packed(_numbered(tokens, tokens.values[:count]), "u4"),
        "noisy": packed(_numbered(tokens, noisy), "u4"),
    }


def _numbered(tokens: Tokens, values: NDArray[Any]) -> IntArray:
    empty = [mark for mark in (tokens.padding, tokens.mask) if mark is not None]
    return np.where(np.isin(values, empty), 0, values + 1)


def bags(certified: CertifiedInputs, rows: SparseRows, vocabulary: tuple[str, ...]) -> dict[str, Any]:
    """The first bags, as many as fit in a page: their words, which of them noisy copies keep, and which these add.

    Of many added words, only the first are listed.
    """
    count = _count_of_bags(certified, rows)
    starts = rows.starts[: count + 1]
    clean = rows.positions[: starts[-1]].astype(np.int64)
    samples = certified.voted_samples[:COPIES]
    codes = np.repeat(np.arange(count), np.diff(starts)) * rows.columns + clean
    copies = [_noisy_bag(certified, rows, range(each, each + 1), count) for each in samples]
    added = [copy[~_among(codes, copy)] for copy in copies]
    owners = [each // rows.columns for each in added]
    counts = np.array([np.bincount(each, minlength=count) for each in owners]).reshape(len(samples), count)
    listed = [each[_places(owner) < _MOST_ADDED] for each, owner in zip(added, owners, strict=True)]
    return {
        "words": first_texts(vocabulary, _VOCABULARY_BYTES),
        "count": count,
        "copies": list(samples),
        "starts": packed(starts, "u4"),
        "clean": packed(clean, "u4"),
        "kept": packed(np.array([_among(copy, codes) for copy in copies]).reshape(len(samples), codes.size), "u1"),
        "added_counts": packed(counts, "u4"),
        "added_starts": packed(np.cumsum([0, *np.minimum(counts, _MOST_ADDED).ravel()]), "u4"),
        "added": packed(np.concatenate([codes[:0], *listed]) % max(1, rows.columns), "u4"),
    }


def _count_of_bags(certified: CertifiedInputs, rows: SparseRows) -> int:
    """The number of bags that fit in the page and can be drawn in little memory."""
    sizes = np.diff(rows.starts)
    (noise,) = noise_of_parts(certified.noise, rows.parts).values()
    packed_bytes = 4 + 4 * sizes + COPIES * (sizes + 8 + 4 * _MOST_ADDED)
    ones = COPIES * (sizes + noise.p_plus * rows.columns)
    fits = (np.cumsum(packed_bytes) <= PICTURE_BYTES) & (np.cumsum(ones) <= _MOST_DRAWN)
    return int(fits.sum())


def _noisy_bag(certified: CertifiedInputs, rows: SparseRows, sample: range, count: int) -> IntArray:
    """The words of one copy of the first bags, in order: bag times number of columns, plus column."""
    copy = certified.drawn(rows, sample, np.arange(count))
    owner = np.repeat(np.arange(count), np.diff(copy.indptr))
    return np.sort(owner * rows.columns + copy.indices.astype(np.int64))


def _among(known: IntArray, wanted: IntArray) -> BoolArray:
    """Which of the wanted numbers are known; both arrays are sorted."""
    if not known.size:
        return np.zeros(wanted.size, dtype=bool)
    return np.equal(known[np.minimum(np.searchsorted(known, wanted), known.size - 1)], wanted)


def _places(owners: IntArray) -> IntArray:
    """The position of each word within its bag."""
    return np.arange(owners.size) - np.searchsorted(owners, owners)
