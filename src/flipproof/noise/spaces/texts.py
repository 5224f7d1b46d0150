"""Texts, one input each: noise deletes tokens and closes the gaps, hides them, or replaces them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.base.values import IntArray, checked_index, checked_texts, read_only
from flipproof.errors import InvalidInputError
from flipproof.noise.sampling.samplers import Stream
from flipproof.noise.spaces.sequences import DeletingSampler, HidingSampler, KeptTokens, ReplacingSampler, Sequences
from flipproof.noise.spaces.space import PartCounts
from flipproof.noise.spaces.tokenizing import texts_in, tokenizer_of, tokens_of
from flipproof.noise.spaces.words import Change, text_words
from flipproof.theory.law import FlipNoise, Noise
from flipproof.theory.scope import Scope, only_deletes

Join = Callable[[Sequence[str]], str]
"""Makes a text of tokens."""

_OBJECT = 56
"""About how many bytes Python takes for a text, apart from its characters."""


@dataclass(frozen=True, slots=True, eq=False)
class TextForm:
    """Noisy copies as texts: the tokens that are drawn, joined, and nothing else of the observed text."""

    names: tuple[str, ...]
    join: Join | None
    bytes_per_row: int

    def __call__(self, drawn: Sequences, /) -> list[str]:
        """One text per noisy copy."""
        tokens = [self.names[code] for code in drawn.codes.tolist()]
        join = " ".join if self.join is None else self.join
        return [join(tokens[start:end]) for start, end in itertools.pairwise(drawn.starts.tolist())]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Texts, one input each; the entries of a text are its tokens, and models get texts.

    The noise says what happens to tokens:

    - `FlipNoise(0.0, p)` deletes each token with probability p, and the gaps close. Certificates hold against tokens
      that are inserted anywhere (`add`) and deleted (`delete`); `certificates.max_edit_distance()` counts insertions,
      deletions and replacements in all (docs/theory.md, statement 27). A text may be empty.
    - `FlipNoise(0.0, p)` with `mask` writes the mask over each token with probability p. All tokens keep their places,
      so nothing may be inserted. A replaced token is one deletion and one addition, as for `Tokens(..., mask=...)`.
    - `FlipNoise(p, p, categories=K)` replaces tokens by others of the `vocabulary` of K tokens, by default all tokens
      of these texts. Tokens that the vocabulary lacks get no noise and must stay as they are.

    A noisy copy is joined from the tokens that are left: spaces and spelling of the observed text, as far as the
    tokens lack them, are never seen by the model. The same goes for a text without noise.

    Args:
        texts: a list, an array, or a column of pandas or polars.
        tokenizer: cuts a text into tokens; by default into words, punctuation marks and emojis. A function from a text
            to a list of texts, or a tokenizer of Hugging Face.
        mask: the text that is written over tokens.
        vocabulary: the tokens that replace each other.
        join: makes a text of tokens, as `join(tokens)`; by default it puts single spaces between them.

    Example:
        >>> texts = Texts(["Free prize, call now!", "see you"])
        >>> texts.tokens_of(0), texts.lengths.tolist()
        (['Free', 'prize', ',', 'call', 'now', '!'], [6, 2])
        >>> sampler = texts.sampler(FlipNoise(0.0, 0.5), seed=7)
        >>> sampler.form(sampler.draw(1, range(2), np.arange(2)))
        ['prize !', 'you', 'prize , call !', 'you']
    """

    texts: Sequence[str]
    tokenizer: InitVar[Any] = None
    mask: str | None = None
    vocabulary: Sequence[str] | None = None
    join: Join | None = None
    names: tuple[str, ...] = field(init=False, repr=False)
    """The distinct tokens, by code: the vocabulary, or all tokens of the texts in order, then what else there is."""
    codes: NDArray[np.int64] = field(init=False, repr=False)
    starts: IntArray = field(init=False, repr=False)

    def __post_init__(self, tokenizer: Any) -> None:
        texts = texts_in(self.texts)
        if texts is None:
            raise InvalidInputError(f"expected a list of texts, got {type(self.texts).__name__}")
        if self.mask is not None and not isinstance(self.mask, str):
            raise InvalidInputError(f"expected mask to be a text such as '[MASK]', got {self.mask!r}")
        if self.mask is not None and self.vocabulary is not None:
            raise InvalidInputError("expected a mask, or a vocabulary of tokens that replace each other, got both")
        if self.join is not None and not callable(self.join):
            raise InvalidInputError(f"expected join to be a function from tokens to a text, got {self.join!r}")
        cut = tokenizer_of(tokenizer)
        tokens = [tokens_of(text, cut, number) for number, text in enumerate(texts)]
        vocabulary = _checked_vocabulary(self.vocabulary)
        names = _names(tokens, vocabulary or (), () if self.mask is None else (self.mask,))
        code_of = {name: code for code, name in enumerate(names)}
        codes = np.fromiter((code_of[token] for text in tokens for token in text), np.int64)
        object.__setattr__(self, "texts", texts)
        object.__setattr__(self, "vocabulary", vocabulary)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "codes", read_only(codes))
        object.__setattr__(self, "starts", read_only(np.cumsum([0, *map(len, tokens)])))

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        more = "".join(
            f", {name}={value!r}" for name, value in (("mask", self.mask), ("join", self.join)) if value is not None
        )
        known = "" if self.vocabulary is None else f", vocabulary of {len(self.vocabulary):,} tokens"
        return f"Texts({len(self):,} texts of {self.codes.size:,} tokens{more}{known})"

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the parts: there is one."""
        return ("tokens",)

    @property
    def lengths(self) -> IntArray:
        """The number of tokens in each text."""
        return np.diff(self.starts)

    @property
    def categories(self) -> int:
        """The number of tokens that replace each other under noise that replaces."""
        return len(self.names if self.vocabulary is None else self.vocabulary)

    def tokens_of(self, number: int) -> list[str]:
        """The tokens of a text.

        Example:
            >>> Texts(["a b a"]).tokens_of(0)
            ['a', 'b', 'a']
        """
        text = checked_index(number, len(self), "number")
        return [self.names[code] for code in self.codes[self.starts[text] : self.starts[text + 1]].tolist()]

    def sampler(self, noise: Noise, seed: int) -> DeletingSampler | HidingSampler | ReplacingSampler:
        """A sampler that deletes, hides or replaces tokens."""
        part, stream, form = _flips(noise), Stream(seed), self._form()
        change, clean = self._change(part), Sequences(self.starts, self.codes)
        if change is Change.REPLACED:
            return ReplacingSampler.of(clean, part, stream, form)
        kept = KeptTokens.of(clean, self._there, part, stream)
        if change is Change.HIDDEN:
            return HidingSampler(clean, kept, self.names.index(str(self.mask)), form)
        return DeletingSampler(clean, kept, form)

    def scope(self, noise: Noise) -> Scope:
        """What noise can change: all tokens; only those of the vocabulary if it replaces them."""
        change = self._change(_flips(noise))
        zeros, lengths = np.zeros((len(self), 1), dtype=np.int64), self.lengths[:, None]
        if change is Change.DELETED:
            return Scope(zeros, lengths, closes_gaps=True)
        if change is Change.HIDDEN:
            there = self._count(self._there)
            return Scope(lengths - there, there, makes_room=True)
        known, first = self._count(self.codes < self.categories), self._count(self.codes == 0)
        return Scope(first, known - first, ("the words outside of the vocabulary",))  # none may be written, either

    def words(self, noise: Noise, entries: str | None) -> dict[str, Any]:
        """The words for changes, as fields of a report's subject; `entries` is the user's word for entries."""
        change = self._change(_flips(noise))
        return text_words(change, entries or "words", f"{self.names[0]!r}" if self.names else "the first word")

    def counts(self) -> PartCounts:
        """The number of tokens; each is something that noise may take away."""
        return {"tokens": (int(self.codes.size), int(self._there.sum()))}

    @property
    def _there(self) -> NDArray[np.bool_]:
        """Which tokens are no mask."""
        return np.asarray(self.codes != (self.names.index(self.mask) if self.mask is not None else -1))

    def _count(self, which: NDArray[np.bool_]) -> IntArray:
        """[texts, 1]: how many tokens of each text are chosen."""
        return Sequences(self.starts, self.codes).selected(which).lengths[:, None]

    def _change(self, noise: FlipNoise) -> Change:
        """What the noise does to tokens; refuses a noise that does not fit."""
        if self.mask is not None:
            if not only_deletes(noise):
                raise InvalidInputError(
                    f"expected FlipNoise(0.0, p) for texts with a mask, got {noise}; leave out mask= to replace words"
                )
            return Change.HIDDEN
        if self.vocabulary is None and only_deletes(noise):
            return Change.DELETED
        if noise.categories != self.categories:
            what = "the tokens of these texts" if self.vocabulary is None else "the vocabulary"
            raise InvalidInputError(
                "expected FlipNoise(0.0, p), which deletes words, or, to replace them by others of "
                f"{what}, FlipNoise(p, p, categories={max(2, self.categories)}), got {noise}"
                + ("" if self.vocabulary is None else "; leave out vocabulary= to delete words")
            )
        return Change.REPLACED

    def _form(self) -> TextForm:
        size = _OBJECT + sum(len(name) for name in self.names) // max(1, len(self.names))
        return TextForm(self.names, self.join, (8 + size) * int(self.codes.size) // max(1, len(self)) + 2 * _OBJECT)


def _flips(noise: Noise) -> FlipNoise:
    """The noise, if it is one `FlipNoise`: certificates of edits have no names of parts."""
    if not isinstance(noise, FlipNoise):
        raise InvalidInputError(f"expected a FlipNoise for texts, such as FlipNoise(0.0, 0.7), got {noise!r}")
    return noise


def _checked_vocabulary(given: Any) -> tuple[str, ...] | None:
    """At least two tokens, each once, in the order in which they were given."""
    if given is None:
        return None
    vocabulary = checked_texts(given, "vocabulary")
    if len(set(vocabulary)) < max(2, len(vocabulary)):
        raise InvalidInputError(f"expected at least two tokens in vocabulary, each once, got {len(vocabulary)}")
    return vocabulary


def _names(tokens: Sequence[Sequence[str]], first: Sequence[str], last: Sequence[str]) -> tuple[str, ...]:
    """All distinct tokens: some of them first, the others in order, some of them last."""
    known = {*first, *last}
    others = sorted({token for text in tokens for token in text} - known)
    return (*first, *others, *last)
