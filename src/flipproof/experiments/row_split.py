"""Which inputs are for what, where each is an input of its own."""

from __future__ import annotations

from flipproof.errors import InvalidInputError
from flipproof.experiments.task import Shares, Task
from flipproof.smoothing.split import Split
from flipproof.theory.arrays import IntArray


def split_of(task: Task, labels: IntArray) -> Split:
    """Shares of every class for training, validation and testing."""
    shares = shares_of(task)
    split = Split.by_share(labels, shares.test, shares.validation, task.seed)
    check_parts(labels.size, validation=split.validation, test=split.test)
    return split


def check_parts(inputs: int, **parts: IntArray) -> None:
    """Refuses a split with an empty part."""
    for name, part in parts.items():
        if not part.size:
            raise InvalidInputError(
                f"expected some of {inputs} inputs for {name}, got none; raise the share (--{name}-share)"
            )


def shares_of(task: Task) -> Shares:
    """The shares that a task asks for."""
    if not isinstance(task.split, Shares):
        raise InvalidInputError(f"expected Shares for {task.kind}, got {task.split!r}")
    return task.split


def tested(task: Task, test: IntArray) -> IntArray:
    """The first test inputs, as many as are to be certified."""
    return test if task.inputs is None else test[: task.inputs]
