"""Values in one short line, for their `repr`: what they are and how large, and no arrays."""

from __future__ import annotations

from typing import Any

from flipproof.errors import one_line

LONGEST_REPR = 200


def short_repr(value: object, *facts: str) -> str:
    """The class of a value with some facts about it, on one line of at most 200 characters; empty facts are left out.

    Example:
        >>> short_repr((1, 2), amount(2, "number"), "", "sorted")
        'tuple(2 numbers, sorted)'
    """
    line = one_line(f"{type(value).__name__}({', '.join(fact for fact in facts if fact)})")
    return line if len(line) <= LONGEST_REPR else f"{line[: LONGEST_REPR - 5]} ...)"


def amount(number: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> amount(1, "row"), amount(3000, "row"), amount(2, "class")
        ('1 row', '3,000 rows', '2 classes')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}{'es' if noun.endswith('s') else 's'}"


def shape_words(array: Any) -> str:
    """The lengths of an array.

    Example:
        >>> import numpy as np
        >>> shape_words(np.zeros((3000, 2)))
        '3,000 x 2'
    """
    return " x ".join(f"{length:,}" for length in array.shape)


def model_words(model: Any) -> str:
    """The class of a model, or the name of a function; of a torch module also the number of its parameters."""
    name = getattr(model, "__name__", type(model).__name__)
    parameters = getattr(model, "parameters", None)
    if not (callable(parameters) and hasattr(model, "state_dict")):
        return str(name)
    return f"{name} with {amount(sum(each.numel() for each in parameters()), 'parameter')}"
