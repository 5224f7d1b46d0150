"""Sequences of tokens, one input per row: noise replaces tokens, hides them, or deletes them and closes the gaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.short_repr import shape_words, short_repr
from flipproof.base.values import (
    ADDED_LATER,
    BoolArray,
    IntArray,
    as_array,
    as_integers,
    first_place,
    one_of,
    place_words,
    read_only,
)
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Role, Stream, ValueSampler
from flipproof.noise.spaces.rows import DenseSampler, only_noise
from flipproof.noise.spaces.sequences import DeletingSampler, KeptTokens, PaddedSampler, Sequences
from flipproof.noise.spaces.space import PartCounts, check_categories, value_counts
from flipproof.noise.spaces.words import edit_words, sequence_words
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.scope import Scope, only_deletes

KEPT, CLOSED = "kept", "closed"
"""What becomes of the places of tokens that noise takes away."""


@dataclass(frozen=True, slots=True, eq=False)
class MaskedSampler:
    """Draws noisy copies of sequences, as one array [samples * rows, length] with `mask` wherever no token is kept."""

    kept: ValueSampler
    tokens: IntArray
    mask: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.kept.rows

    @property
    def distance(self) -> Fraction:
        """Zero: the samples follow the law exactly."""
        return self.kept.distance

    @property
    def bytes_per_row(self) -> int:
        """The kept positions, the clean tokens, the noisy tokens, and a copy for the classifier."""
        return int(self.tokens.shape[1]) * (2 + 3 * self.tokens.itemsize) + 64

    def draw(self, role: Role, samples: range, rows: IntArray) -> IntArray:
        """One noisy row per (sample, row), ordered by sample."""
        length = self.tokens.shape[1]
        kept = self.kept.draw(role, samples, rows).reshape(len(samples), rows.size, length)
        return np.where(kept, self.tokens[rows], self.mask).reshape(len(samples) * rows.size, length)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Sequences of tokens with padding, one sequence per row.

    Without `mask` the tokens are 0, 1, ..., K - 1, and noise with K categories replaces them by one another. Noise
    never changes the padding.

    With `mask` noise hides tokens: an entry is a bit, "this token stands at this position", and `FlipNoise(0.0, p)`
    turns it off with probability p. A noisy copy has `mask` wherever no token is left: in place of hidden tokens, of
    padding, and of values that already were `mask`. No classifier can tell these apart. So `Radii(add=1)` covers one
    token written into an empty position, `Radii(delete=1)` one token removed, and `Radii(add=1, delete=1)` one token
    replaced by any other, even one that the data lack (Levine and Feizi 2020, with independent positions).

    With `gaps="closed"` noise deletes tokens, and the gaps close: `FlipNoise(0.0, p)` deletes each token with
    probability p. `Radii(add=1)` covers one token inserted anywhere, `Radii(delete=1)` one token deleted, and
    `certificates.max_edit_distance()` counts insertions, deletions and replacements in all (docs/theory.md, statement
    27). Tokens are any numbers from 0 on, and a sequence may be empty. A model gets

    - with `padding`, an array as wide as `values`, whatever is drawn, with `padding` behind each sequence. The width is
      part of the classifier whose predictions are certified: keep it, or use a model whose answer does not depend on
      how much padding there is. A sequence that an attacker has made longer than `values` may be cut to the width, or
      get as much width as it needs, as long as that depends on the noisy sequence alone;
    - without `padding`, a list with one array per sequence.

    Args:
        values: integers [sequences, length]; every sequence has at least one token, unless gaps close.
        padding: the number that marks padding. Without `mask` it must not be one of the K tokens: otherwise an attacker
            could turn a token into padding, which noise never changes and no certificate covers.
        mask: the number that replaces a hidden token. It may equal `padding`.
        gaps: "closed" if noise deletes tokens and what is left moves together; by default all tokens keep their places.

    Example:
        >>> Tokens([[5, 2, 9], [7, 9, 9]], padding=9).lengths
        array([2, 1])
        >>> sampler = Tokens([[5, 2, 9]], mask=9).sampler(FlipNoise(0.0, 0.5), seed=7)
        >>> sampler.draw(Role.ESTIMATE, range(3), np.arange(1))
        array([[5, 2, 9],
               [9, 9, 9],
               [5, 9, 9]])
    """

    values: NDArray[Any]
    padding: int | None = None
    mask: int | None = None
    gaps: str = field(default=KEPT, metadata={ADDED_LATER: True})
    is_padding: BoolArray = field(init=False, repr=False)
    """True at positions without a token: padding and `mask`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "gaps", CLOSED if one_of((KEPT, CLOSED), self.gaps, "gaps") == CLOSED else KEPT)
        given = as_array(self.values, "tokens")
        if given.ndim != 2:
            raise InvalidInputError(f"expected tokens of shape [sequences, length], got shape {given.shape}")
        is_padding = np.zeros(given.shape, dtype=bool)
        for name in ("padding", "mask"):
            number = _checked_number(getattr(self, name), name)
            object.__setattr__(self, name, number)
            if number is not None:
                is_padding |= given == number
        as_integers(np.where(is_padding, 0, given), "tokens")
        if self.gaps == CLOSED:
            _check_closed(is_padding, self.mask)
        else:
            _check_not_empty(is_padding)
        object.__setattr__(self, "values", read_only(given.astype(np.int64)))
        object.__setattr__(self, "is_padding", read_only(is_padding))

    def __repr__(self) -> str:
        return short_repr(
            self,
            shape_words(self.values),
            *(f"{name}={getattr(self, name)!r}" for name in ("padding", "mask") if getattr(self, name) is not None),
            f"gaps={self.gaps!r}",
        )

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("tokens",)

    @property
    def lengths(self) -> IntArray:
        """The number of tokens in each sequence."""
        return np.asarray((~self.is_padding).sum(axis=1))

    def sampler(self, noise: Noise, seed: int) -> DenseSampler | MaskedSampler | PaddedSampler:
        """A sampler that replaces tokens, deletes them if gaps close, or hides them if there is a mask."""
        part = only_noise(noise, self.parts)
        if self.gaps == CLOSED:
            return self._deleting(noise, part, Stream(seed))
        if self.mask is not None:
            return self._hiding(part, Stream(seed), self.mask)
        return self._replacing(part, Stream(seed))

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: noise that replaces tokens keeps padding; other noise treats it as empty."""
        empty = self.values.shape[1] - self.lengths
        if self.gaps == CLOSED:
            return Scope(np.zeros_like(empty)[:, None], self.lengths[:, None], closes_gaps=True)
        if self.mask is not None:
            return Scope(empty[:, None], self.lengths[:, None], makes_room=True)
        nonzeros = np.count_nonzero(np.where(self.is_padding, 0, self.values), axis=1)
        fixed = () if self.padding is None else ("the padding",)  # an attacker could write it over a token
        return Scope((self.lengths - nonzeros)[:, None], nonzeros[:, None], fixed)

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any]:
        """The words for changes, as fields of a report's subject; `entries` is the user's word for entries."""
        if self.gaps == CLOSED:
            return edit_words(entries or "tokens")
        return sequence_words(self.mask is not None, entries or "tokens", "token 0")

    def counts(self) -> PartCounts:
        """The number of tokens, and the number of nonzero ones: all tokens if noise hides or deletes them."""
        tokens = self.values[~self.is_padding]
        replaced = self.mask is None and self.gaps == KEPT
        return {"tokens": value_counts(tokens) if replaced else (int(tokens.size), int(tokens.size))}

    def _deleting(self, noise: Noise, part: FlipNoise, stream: Stream) -> PaddedSampler:
        if not only_deletes(noise):
            raise InvalidInputError(
                f"expected FlipNoise(0.0, p), which deletes tokens, for gaps='closed', got {noise}; "
                "noise that replaces tokens keeps their places: leave out gaps="
            )
        starts = np.concatenate([[0], np.cumsum(self.lengths)])
        clean = Sequences(starts, self.values[~self.is_padding])
        kept = KeptTokens.of(clean, np.ones(clean.codes.size, dtype=bool), part, stream)
        return PaddedSampler(DeletingSampler(clean, kept), self.values.shape[1], self.padding)

    def _hiding(self, noise: FlipNoise, stream: Stream, mask: int) -> MaskedSampler:
        """A sampler with one bit per position, that of its token: bits that are off never show in a copy."""
        if noise.p_plus != 0.0 or noise.categories != 2:
            raise InvalidInputError(
                f"expected noise with p_plus = 0 and 2 categories for tokens with a mask, got {noise}; "
                "noise that replaces tokens needs no mask"
            )
        bits = np.where(self.is_padding, 0, 1).astype(np.uint8)
        law_of = np.zeros((1, bits.shape[1]), np.int16)
        return MaskedSampler(ValueSampler(bits, law_of, [noise], stream), self.values, mask)

    def _replacing(self, noise: FlipNoise, stream: Stream) -> DenseSampler:
        check_categories(np.where(self.is_padding, 0, self.values), noise.categories, "tokens")
        if self.padding is not None and 0 <= self.padding < noise.categories:
            raise InvalidInputError(
                f"expected padding outside the {noise.categories} tokens, got {self.padding}; "
                f"mark it with {noise.categories} here, and give a model the numbers it knows with transform="
            )
        law_of = np.where(self.is_padding, -1, 0).astype(np.int16)
        return DenseSampler(ValueSampler(self.values, law_of, [noise], stream), self.values.shape[1:])


def _check_not_empty(is_padding: BoolArray) -> None:
    empty = first_place(np.asarray(is_padding.all(axis=1)))
    if empty is not None:
        raise InvalidInputError(f"expected a token in every sequence, got none in {place_words(empty)}")


def _check_closed(is_padding: BoolArray, mask: int | None) -> None:
    """Refuses padding in front of tokens, which would not be put back, and a mask, which would never be seen."""
    if mask is not None:
        raise InvalidInputError("expected a mask, which keeps tokens in their places, or gaps='closed', got both")
    early = first_place(is_padding[:, :-1] & ~is_padding[:, 1:])
    if early is not None:
        raise InvalidInputError(
            f"expected padding behind the tokens for gaps='closed', got one behind padding in {place_words(early)}; "
            "leave the padding in front to the function that calls the model"
        )


def _checked_number(given: Any, name: str) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or not -(2**63) <= given < 2**63:
        raise InvalidInputError(f"expected {name} to be a 64-bit integer or None, got {given!r}")
    return int(given)
