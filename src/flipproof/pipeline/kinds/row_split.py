"""Which inputs are for what, where each is an input of its own."""

from __future__ import annotations

from flipproof.base.arrays import IntArray
from flipproof.errors import InvalidInputError
from flipproof.pipeline.task import Shares, Task
from flipproof.run_folder.split import Split


def split_of(task: Task, labels: IntArray, given: Split | None = None) -> Split:
    """The split of the data if they have one; else shares of every class for training, validation and testing."""
    shares = shares_of(task)
    if given is not None:
        return kept_split(task, given)
    split = Split.by_share(labels, shares.test, shares.validation, task.seed)
    check_parts(labels.size, validation=split.validation, test=split.test)
    return split


def kept_split(task: Task, given: Split) -> Split:
    """The split of the data, if the task asks for no other and it leaves something to judge."""
    if task.split != type(task.split)():
        raise InvalidInputError(
            f"expected the split of {task.dataset} to be kept, got {task.split}; leave out the flags and settings of "
            "the split, or save the data without theirs"
        )
    if not given.test.size:
        raise InvalidInputError(f"expected {task.kind} for testing in the split of {task.dataset}, got none")
    return given


def split_parts(given: Split | None) -> tuple[IntArray, ...]:
    """What the fingerprint of data has of their split."""
    return () if given is None else (given.train, given.validation, given.test)


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
