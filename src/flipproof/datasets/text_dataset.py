"""Short texts with labels, as they were written."""

from __future__ import annotations

from dataclasses import dataclass, field

from flipproof.datasets.labels import checked_labels, checked_names
from flipproof.errors import InvalidInputError
from flipproof.theory.arrays import IntArray


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
        messages = tuple(self.messages)
        wrong = next((message for message in messages if not isinstance(message, str)), None)
        if isinstance(self.messages, str) or wrong is not None:
            got = self.messages if isinstance(self.messages, str) else wrong
            raise InvalidInputError(f"expected messages to be texts, got {got!r}")
        labels = checked_labels(self.labels, len(messages), "message")
        object.__setattr__(self, "messages", messages)
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "class_names", checked_names(self.class_names, labels))

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)
