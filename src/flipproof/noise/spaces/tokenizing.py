"""From texts to tokens: what counts as a list of texts, the tokenizer that is used by default, and users' own."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from flipproof.errors import InvalidInputError, reason_of

Tokenizer = Callable[[str], Sequence[str]]
"""Cuts a text into tokens."""

_LISTS = {"pandas": "tolist", "polars": "to_list", "pyarrow": "to_pylist"}
"""Libraries whose columns of texts are taken, and the method that makes a list of such a column."""
_SAMPLE = 60
_TWICE = 10
"""How many texts are cut twice, to find tokenizers that are random or remember."""


def texts_in(inputs: Any) -> tuple[str, ...] | None:
    """The texts in a list, an array or a column of texts; None if these are other data.

    Example:
        >>> texts_in(["free prize", "see you"]), texts_in([[0, 1]])
        (('free prize', 'see you'), None)
    """
    if isinstance(inputs, str | bytes):
        raise InvalidInputError(
            f"expected a list of texts, got a single text {inputs[:_SAMPLE]!r}; put it into a list: [text]"
        )
    items = _items(inputs)
    _refuse_other_texts(items)
    if items is None or isinstance(items, range) or not any(isinstance(item, str) for item in items):
        return None
    for number, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInputError(
                f"expected texts, got {item!r} in row {number}; give a missing text as the empty text ''"
            )
    return tuple(str(item) for item in items)


def _refuse_other_texts(items: Sequence[Any] | None) -> None:
    """Refuses bytes, and lists of tokens in the place of texts."""
    first = items[0] if items else None
    if isinstance(first, bytes):
        raise InvalidInputError(
            f"expected texts, got {first[:_SAMPLE]!r}; decode them: [text.decode() for text in ...]"
        )
    if isinstance(first, list | tuple) and first and all(isinstance(token, str) for token in first):
        raise InvalidInputError(
            f"expected a text in each row, got a list of {len(first)}, the first of them {first[0]!r}; if these are "
            "tokens, join them: [' '.join(tokens) for tokens in ...], with tokenizer=str.split; if they are cells of a "
            "table, give a data frame: pandas.DataFrame(...)"
        )


def _items(inputs: Any) -> Sequence[Any] | None:
    """The items of whatever may be a list of texts; None for anything else."""
    if isinstance(inputs, Sequence):
        return inputs
    if isinstance(inputs, np.ndarray):
        return inputs.tolist() if inputs.ndim == 1 and inputs.dtype.kind in "UOTS" else None
    method = _LISTS.get(type(inputs).__module__.partition(".")[0])
    if method is None or not hasattr(inputs, method) or hasattr(inputs, "columns"):
        return None
    items: Sequence[Any] = getattr(inputs, method)()
    return items


def split_words(text: str) -> list[str]:
    r"""The default tokenizer: words, and every punctuation mark and every emoji by itself; spaces only divide.

    A word is a run of letters and digits of any script, with their accents and with apostrophes inside. An emoji is one
    token, however many characters it has: flags, skin tones, families.

    Example:
        >>> split_words("Don't miss it!! 3.5€ \U0001f44d\U0001f3fd")
        ["Don't", 'miss', 'it', '!', '!', '3', '.', '5', '€', '👍🏽']
    """
    return _pattern().findall(text)


@functools.cache
def _pattern() -> re.Pattern[str]:
    """The pattern of a token. Every character that is no space belongs to some token."""
    marks = _marks()
    # A character with an emoji's look after it is no part of a word, though it may be a digit or a letter.
    letter = rf"(?!.\ufe0f|.\u20e3)[^\W_][{marks}\u200c\u200d]*"
    word = rf"{letter}(?:['\u2019]?{letter})*"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    after = rf"[{marks}\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
    symbol = rf"\S{after}(?:\u200d[^\w\s]{after})*"
    return re.compile(rf"{word}|{flag}|{symbol}", re.DOTALL)


def _marks() -> str:
    """All combining marks, as the inside of a character class."""
    found = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M"]
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in [*_runs(found), (0xE0100, 0xE01EF)])


def _runs(codes: list[int]) -> list[tuple[int, int]]:
    """Sorted numbers as runs without gaps."""
    ends = [i for i in range(len(codes)) if i + 1 == len(codes) or codes[i + 1] > codes[i] + 1]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [(codes[start], codes[end]) for start, end in zip(starts, ends, strict=True)]


def tokenizer_of(given: Any) -> Tokenizer:
    """A function from a text to its tokens, for a function or for a tokenizer of Hugging Face.

    Example:
        >>> tokenizer_of(str.split)("free  prize")
        ['free', 'prize']
    """
    if given is None:
        return split_words
    if hasattr(given, "tokenize"):  # transformers
        return given.tokenize  # type: ignore[no-any-return]
    if hasattr(given, "encode_batch"):  # tokenizers
        for name in ("truncation", "padding"):
            if getattr(given, name, None) is not None:  # a word that is inserted would push out or replace another
                raise InvalidInputError(f"expected a tokenizer that gives all tokens, got {name}: call no_{name}()")
        return lambda text: given.encode(text, add_special_tokens=False).tokens
    if callable(given):
        return given  # type: ignore[no-any-return]
    raise InvalidInputError(
        f"expected tokenizer to be a function from a text to a list of tokens, got {type(given).__name__}; "
        "tokenizer=str.split cuts at spaces"
    )


def tokens_of(text: str, tokenizer: Tokenizer, number: int) -> list[str]:
    """The tokens of a text, each one text object, as equal tokens recur; refuses what is no list of texts."""
    try:
        tokens = tokenizer(text)
    except Exception as error:  # a tokenizer of the user's may raise anything
        raise _no_tokens(f"{reason_of(error)} for text {number}") from error
    if isinstance(tokens, str) or not isinstance(tokens, Sequence | np.ndarray):
        raise _no_tokens(f"{type(tokens).__name__} for text {number}")
    wrong = next((token for token in tokens if not isinstance(token, str)), None)
    if wrong is not None:
        raise _no_tokens(f"one with {wrong!r} for text {number}")
    if number < _TWICE and list(tokenizer(text)) != list(tokens):
        raise InvalidInputError(
            f"expected a tokenizer that cuts a text in the same way each time, got other tokens for text {number} the "
            "second time: switch its dropout or sampling off"
        )
    return [sys.intern(str(token)) for token in tokens]


def _no_tokens(got: str) -> InvalidInputError:
    return InvalidInputError(
        f"expected the tokenizer to return a list of texts, got {got}; "
        "give a function such as lambda text: [str(token) for token in tokenizer(text)]"
    )
