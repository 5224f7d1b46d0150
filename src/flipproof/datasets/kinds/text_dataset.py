"""Short texts with labels, as they were written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from flipproof.base.short_repr import amount, short_repr
from flipproof.base.values import IntArray, checked_count, checked_texts
from flipproof.datasets.kinds.labels import checked_labels, checked_names
from flipproof.errors import InvalidInputError


@dataclass(frozen=True, slots=True, eq=False)
class TextDataset:
    """Messages and their labels.

    Example:
        >>> data = TextDataset("two", ("See you at six.", "You won!"), [0, 1], ("ham", "spam"))
        >>> len(data), data.class_names[data.labels[1]]
        (2, 'spam')
    """

    name: str
    messages: tuple[str, ...] = field(repr=False)
    labels: IntArray
    class_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        messages = checked_messages(self.messages)
        labels = checked_labels(self.labels, len(messages), "message")
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __repr__(self) -> str:
        return short_repr(self, repr(self.name), amount(len(self.messages), "message"), amount(self.classes, "class"))

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    def distinct(self) -> TextDataset:
        """Every text once, with the label of its first occurrence.

        Otherwise a message that appears twice could be both learned from and certified.

        Example:
            >>> TextDataset("three", ("Ok.", "You won!", "Ok."), [0, 1, 0]).distinct().messages
            ('Ok.', 'You won!')
        """
        first = dict(zip(reversed(self.messages), range(len(self) - 1, -1, -1), strict=True))
        return self._some(sorted(first.values()))

    def with_words(self) -> TextDataset:
        """The messages that have at least one word; messages without words cannot be read as sequences.

        Example:
            >>> TextDataset("two", (":-)", "You won!"), [0, 1]).with_words().messages
            ('You won!',)
        """
        return self._some([number for number, message in enumerate(self.messages) if words_of(message)])

    def _some(self, numbers: list[int]) -> TextDataset:
        if not numbers:
            raise InvalidInputError("expected messages with words, got none with any")
        messages = tuple(self.messages[number] for number in numbers)
        return TextDataset(self.name, messages, self.labels[numbers], self.class_names)


OTHER = "(other)"
"""The name for words that a vocabulary lacks. No message can contain it as a word."""
_LONGEST = 2**24
_WORD = re.compile(r"[^\W\d_]+|\d+|[£$!?]")


def words_of(message: str) -> list[str]:
    """The words of a message in their order: runs of letters, runs of digits, and each of £ $ ! ?, in lower case.

    Letters and digits of all scripts count.

    Example:
        >>> words_of("URGENT! You won £900.")
        ['urgent', '!', 'you', 'won', '£', '900']
        >>> words_of("Größe: À_bientôt")
        ['größe', 'à', 'bientôt']
    """
    return _WORD.findall(message.lower())


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """K words with the numbers 0 to K - 1. Number 0 stands for any word that is not in the vocabulary.

    Attributes:
        words: one name per number; the first is "(other)".

    Example:
        >>> vocabulary = Vocabulary.learned(["Call now!", "call me", "me now"], least=2)
        >>> vocabulary.words
        ('(other)', 'call', 'me', 'now')
        >>> vocabulary.tokens(["Call me today!", "Now"], length=4)
        array([[1, 2, 0, 0],
               [3, 4, 4, 4]])
        >>> vocabulary.bags(["Call me today!", "Now"]).toarray().astype(int)
        array([[0, 1, 1, 0],
               [0, 0, 0, 1]])
    """

    words: tuple[str, ...] = field(repr=False)
    _numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        words = checked_texts(self.words, "words")
        if len(words) < 2 or words[0] != OTHER:
            raise InvalidInputError(f"expected {OTHER!r} and at least one word, got {words[:3]}")
        wrong = next((word for word in words[1:] if words_of(word) != [word]), None)
        if wrong is not None:
            raise InvalidInputError(
                f"expected words of lower-case letters, of digits, or one of £ $ ! ?, got {wrong!r}"
            )
        numbers = {word: number for number, word in enumerate(words)}
        if len(numbers) < len(words):
            twice = next(word for number, word in enumerate(words) if numbers[word] != number)
            raise InvalidInputError(f"expected every word once, got {twice!r} twice")
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "_numbers", numbers)

    def __repr__(self) -> str:
        return short_repr(self, amount(len(self.words), "word"))

    @classmethod
    def learned(cls, messages: Iterable[str], least: int = 5, most: int | None = None) -> Vocabulary:
        """The words that occur in at least `least` messages, ordered by falling frequency, then alphabetically.

        Args:
            messages: the messages to learn from; leave out those to be certified.
            least: the number of messages that a word must occur in.
            most: the largest number of words, not counting word 0, which stands for all other words.
        """
        counts = Counter(word for message in checked_messages(messages) for word in set(words_of(message)))
        limit = None if most is None else checked_count(most, "most")
        kept = sorted((-count, word) for word, count in counts.items() if count >= checked_count(least, "least"))
        if not kept or limit == 0:
            raise InvalidInputError(f"expected a word that is in at least {least} messages, got none")
        return cls((OTHER, *(word for _, word in kept[:limit])))

    def __len__(self) -> int:
        return len(self.words)

    def bags(self, messages: Iterable[str]) -> sp.csr_array:
        """The words of each message as zeros and ones [messages, K]. Unknown words do not count: column 0 is empty."""
        rows = [sorted(set(self._known(message)) - {0}) for message in checked_messages(messages)]
        starts = np.cumsum([0, *map(len, rows)])
        columns = np.array([number for row in rows for number in row], dtype=np.int32)
        return sp.csr_array((np.ones(columns.size, np.float32), columns, starts), shape=(len(rows), len(self)))

    def tokens(self, messages: Iterable[str], length: int) -> IntArray:
        """The numbers of the first words of each message [messages, length]. The number K marks empty positions.

        Raises:
            InvalidInputError: a message has no word; `TextDataset.with_words` leaves such messages out.
        """
        if not 1 <= checked_count(length, "length") <= _LONGEST:
            raise InvalidInputError(f"expected length from 1 to {_LONGEST}, got {length}")
        texts = checked_messages(messages)
        sequences = np.full((len(texts), length), len(self), dtype=np.int64)
        for number, (sequence, text) in enumerate(zip(sequences, texts, strict=True)):
            known = self._known(text)[:length]
            if not known:
                raise InvalidInputError(
                    f"expected messages with words, got message {number} without any: {text[:40]!r}"
                )
            sequence[: len(known)] = known
        return sequences

    def _known(self, message: str) -> list[int]:
        return [self._numbers.get(word, 0) for word in words_of(message)]


def checked_messages(given: Iterable[str]) -> tuple[str, ...]:
    """Returns the messages as a tuple, and refuses a single text."""
    return checked_texts(given, "messages")
