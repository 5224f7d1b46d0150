"""Reads arrays from the pickles of older datasets, without running anything that the pickles name.

A pickle is a program: it names functions, which an ordinary reader imports and calls. Here a small machine interprets
the operations instead. It imports nothing and calls nothing that a file names: names stay names, and the few kinds of
objects in such files become values of this module that only store their state. So the worst that a file can do is
contain wrong data.
"""

from __future__ import annotations

import math
import pickletools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from flipproof.datasets.readers.sparse_arrays import checked_csr
from flipproof.errors import FileFormatError, reason_of

_PLAIN_TYPES = ("f4", "f8", "i4", "i8")


class _TypeOfNumbers:
    """A stand-in for numpy.dtype: the code of a plain type of numbers."""

    def __init__(self, code: Any, *_: Any) -> None:
        if not isinstance(code, str) or code not in _PLAIN_TYPES:
            raise FileFormatError(f"expected an array of plain numbers, got type {_shown(code)}")
        self.code = "<" + code

    def set_state(self, state: Any) -> None:
        """Checks the byte order in the state."""
        if state[1] != "<":
            raise FileFormatError(f"expected numbers in little-endian order, got {_shown(state[1])}")


class _Stored:
    """A stand-in that only stores its complete state."""

    _state: Any = None

    def set_state(self, state: Any) -> None:
        """Stores the complete state."""
        self._state = state


class _Array(_Stored):
    """A stand-in for numpy.ndarray. It becomes an array only on request: a program may create very many."""

    def __init__(self, *_: Any) -> None:
        """Whatever it is made with does not matter: the state has everything."""

    @property
    def result(self) -> NDArray[Any]:
        """An array of plain numbers."""
        _, shape, numbers, by_columns, content = self._state
        if not isinstance(shape, tuple) or len(shape) > 2 or not all(type(length) is int for length in shape):
            raise FileFormatError("expected an array of one or two dimensions, got another")
        values = np.frombuffer(content.encode("latin1"), dtype=numbers.code)
        if math.prod(shape) != values.size:
            raise FileFormatError(f"expected {math.prod(shape)} numbers in an array, got {values.size}")
        return values.reshape(shape, order="F" if by_columns else "C")


class _SparseMatrix(_Stored):
    """A stand-in for scipy's csr_matrix: its state becomes a checked sparse matrix."""

    @property
    def result(self) -> Any:
        """A sparse matrix whose arrays fit together."""
        data, indices, starts = (self._state[name].result for name in ("data", "indices", "indptr"))
        return checked_csr("the pickled matrix", data, indices, starts, np.array(self._state["_shape"]))


class _Dictionary(dict[Any, Any]):
    """A stand-in for collections.defaultdict: a dictionary without its default."""

    def __init__(self, _: Any) -> None:
        super().__init__()

    def set_state(self, state: Any) -> NoReturn:
        """Raises an error: such a dictionary has no state."""
        raise FileFormatError("expected a dictionary of lists, got one with a state")

    @property
    def result(self) -> dict[int, list[int]]:
        """The lists of whole numbers; each list may occur in the dictionary only once."""
        lists = dict(self)
        whole = all(type(key) is int and type(each) is list for key, each in lists.items())
        if not whole or not all(type(number) is int for each in lists.values() for number in each):
            raise FileFormatError("expected a dictionary of lists of whole numbers, got something else in it")
        if len(set(map(id, lists.values()))) < len(lists):
            raise FileFormatError("expected a dictionary of different lists, got one of them twice")
        return lists


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of something that a program would import."""

    path: str


_CALLED: dict[str, Callable[..., Any]] = {
    "numpy dtype": _TypeOfNumbers,
    "numpy.core.multiarray _reconstruct": _Array,
    "collections defaultdict": _Dictionary,
}
_MADE: dict[str, Callable[..., Any]] = {"scipy.sparse.csr csr_matrix": _SparseMatrix}
_NAMES = {*_CALLED, *_MADE, "numpy ndarray", "__builtin__ list"}

_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_WRITTEN_OUT = {"INT", "BININT", "BININT1", "BININT2", "STRING", "BINSTRING", "SHORT_BINSTRING"}
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


@dataclass(slots=True)
class _Machine:
    """Interprets a program with a stack of values, the positions of marks, and values kept for later."""

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    kept: dict[int, Any] = field(default_factory=dict)

    def step(self, operation: str, argument: Any) -> None:
        """Carries out one operation."""
        if operation in _CONSTANTS:
            self.stack.append(_CONSTANTS[operation])
        elif operation in _WRITTEN_OUT:
            self.stack.append(argument)
        elif operation in _SHORT_TUPLES:
            self.stack.append(tuple(self.last(_SHORT_TUPLES[operation])))
        else:
            _STEPS[operation](self, argument)

    def name(self, path: str) -> None:
        """Pushes a name; only a few names are known."""
        if path not in _NAMES:
            raise FileFormatError(f"expected a pickle of arrays, got one that names {path[:100].replace(' ', '.')}")
        self.stack.append(_Name(path))

    def call(self, known: Mapping[str, Callable[..., Any]]) -> None:
        """Pushes a stand-in for what an ordinary reader would get by calling a function or a class."""
        arguments, called = self.stack.pop(), self.stack.pop()
        self.stack.append(known[called.path](*arguments))

    def build(self) -> None:
        """Sets the state of the last value."""
        state = self.stack.pop()
        self.stack[-1].set_state(state)

    def last(self, count: int) -> list[Any]:
        """Takes the last values from the stack."""
        return self._popped(len(self.stack) - count)

    def since_mark(self) -> list[Any]:
        """Takes all values since the last mark: they belong together."""
        return self._popped(self.marks.pop())

    def _popped(self, start: int) -> list[Any]:
        if not 0 <= start <= len(self.stack):
            raise FileFormatError("expected a pickle of arrays, got one that takes values which are not there")
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def add_to_list(self, values: list[Any]) -> None:
        """Appends values to the list that is the last value."""
        if type(self.stack[-1]) is not list:
            raise FileFormatError("expected a pickle of arrays, got one that appends to something else than a list")
        self.stack[-1].extend(values)

    def add_to_dictionary(self, items: list[Any]) -> None:
        """Adds keys and values in turn to the dictionary that is the last value."""
        if not isinstance(self.stack[-1], dict) or not all(isinstance(key, int | str) for key in items[::2]):
            raise FileFormatError("expected a pickle of arrays, got one with another kind of dictionary")
        self.stack[-1].update(zip(items[::2], items[1::2], strict=True))


_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "STOP": lambda machine, _: None,
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.since_mark())),
    "APPEND": lambda machine, _: machine.add_to_list(machine.last(1)),
    "APPENDS": lambda machine, _: machine.add_to_list(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.add_to_dictionary(machine.last(2)),
    "SETITEMS": lambda machine, _: machine.add_to_dictionary(machine.since_mark()),
    "GLOBAL": _Machine.name,
    "REDUCE": lambda machine, _: machine.call(_CALLED),
    "NEWOBJ": lambda machine, _: machine.call(_MADE),
    "BUILD": lambda machine, _: machine.build(),
    **dict.fromkeys(("BINPUT", "LONG_BINPUT"), lambda machine, place: machine.kept.update({place: machine.stack[-1]})),
    **dict.fromkeys(("BINGET", "LONG_BINGET"), lambda machine, place: machine.stack.append(machine.kept[place])),
}
_OPERATIONS = frozenset((*_CONSTANTS, *_WRITTEN_OUT, *_SHORT_TUPLES, *_STEPS))
"""The operations that such a program may use. All others are refused, since they could do more."""


def read_inert(content: bytes) -> Any:
    r"""The array, sparse matrix or dictionary of lists in a pickle that Python 2 wrote.

    Example:
        >>> read_inert(b"cos\nsystem\n(S'echo hurt'\ntR.")
        Traceback (most recent call last):
        flipproof.errors.FileFormatError: expected a pickle of arrays, got one that names os.system
    """
    try:
        unknown = next((op.name for op, _, _ in pickletools.genops(content) if op.name not in _OPERATIONS), None)
        if unknown is not None:
            raise FileFormatError(f"expected a pickle of arrays, got one with the operation {unknown}")
        machine = _Machine()
        for operation, argument, _ in pickletools.genops(content):
            machine.step(operation.name, argument)
        root = machine.stack.pop()
        if not isinstance(root, _Array | _SparseMatrix | _Dictionary):
            raise FileFormatError(
                "expected a pickle of an array, a matrix or a dictionary of lists, got something else"
            )
        return root.result
    except FileFormatError:
        raise
    except Exception as error:  # a damaged program can make the machine raise anything
        raise FileFormatError(f"expected a pickle of arrays, got {reason_of(error)}") from error


def _shown(value: Any) -> str:
    """A text, or a description of any other value, which could be nested without end."""
    return repr(value[:40]) if isinstance(value, str) else f"a {type(value).__name__}"
