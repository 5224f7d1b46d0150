"""Fingerprints: short texts that identify a model or a dataset, so that no run is resumed with another one.

A value is taken apart into simpler values until only numbers, texts and bytes are left; the digests of the parts
are hashed together with a tag and their lengths.
"""

from __future__ import annotations

import copyreg
import dataclasses
import enum
import functools
import hashlib
import struct
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from flipproof.base.values import ADDED_LATER, DESCRIPTIVE
from flipproof.errors import InvalidInputError
from flipproof.smoothing.fingerprint.boosters import booster_contents, is_booster
from flipproof.smoothing.fingerprint.contents import (
    Contents,
    class_contents,
    code_contents,
    every_member,
    function_contents,
    is_library,
    is_tensor,
    is_torch_module,
    module_contents,
    note_class,
    note_modules,
    public_module,
    qualified,
    tensor_contents,
    torch_module_contents,
    without_contents,
)

FINGERPRINTS_VERSION = 2
"""Changes when the same values begin to have other fingerprints. In version 1, ours were named by their files."""


def fingerprint(value: object) -> str:
    """A sha256 hex digest of a value's contents: equal in every process, and different for different contents.

    Data are compared by type and contents, not by memory layout; functions by their code and the values it refers to;
    a `torch.nn.Module` by its class, structure, settings, weights and code; other objects by their state as
    `pickle` sees it, or by their own `fingerprint` attribute if that is a text. Code of libraries is identified by
    its name, code of the user's own modules by its source, and ours by its public name, such as `flipproof.Graph`,
    wherever in the package it is.

    Example:
        >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
        True
        >>> fingerprint(["ab"]) == fingerprint(["a", "b"])
        False
        >>> fingerprint(lambda x: x > 1) == fingerprint(lambda x: x > 2)
        False
    """
    try:
        return _ContentHasher().digest(value).hex()
    except RecursionError:
        raise InvalidInputError(
            f"expected contents that are not nested too deeply, got {type(value).__name__}"
        ) from None


class _ContentHasher:
    """One walk through a value and its parts, which visits every part once.

    Parts that are being visited are open and numbered. A value that leads back to an open part refers to it by
    the difference of their numbers. A part that leads to nothing open outside itself is closed: its digest is final.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[int, object]] = {}  # holds the values too, so that no id is used twice
        self._closed: dict[int, tuple[bytes, object]] = {}
        self._lowest = 0

    def digest(self, value: object) -> bytes:
        encode = _ATOMS.get(type(value))
        if encode is not None:
            return _hash(type(value).__name__, encode(value))
        if id(value) in self._closed:
            return self._closed[id(value)][0]
        if id(value) in self._open:
            number = self._open[id(value)][0]
            self._lowest = min(self._lowest, number)
            return _hash("again", (len(self._open) - number).to_bytes(8, "little"))
        return self._visit(value)

    def _visit(self, value: object) -> bytes:
        number, before = len(self._open), self._lowest
        self._open[id(value)] = number, value
        self._lowest = number
        digest = self._digest_of_parts(value)
        if self._lowest == number:
            self._forget(number)
            self._closed[id(value)] = digest, value
        self._lowest = min(before, self._lowest)
        return digest

    def _digest_of_parts(self, value: Any) -> bytes:
        if type(value) in (set, frozenset):
            return _hash(type(value).__name__, *sorted(self._alone(member) for member in value))
        if type(value) is dict:
            by_key = sorted(((self._alone(key), value[key]) for key in value), key=lambda pair: pair[0])
            return _hash("dict", *sorted(key + self.digest(entry) for key, entry in by_key))
        tag, *parts = _contents(value)
        return _hash(tag, *[self.digest(part) for part in parts])

    def _alone(self, value: object) -> bytes:
        """A digest of a value that does not depend on the siblings that were visited before it."""
        number = len(self._open)
        digest = self.digest(value)
        self._forget(number)
        return digest

    def _forget(self, number: int) -> None:
        while len(self._open) > number:
            self._open.popitem()


def _hash(tag: str, *parts: bytes | memoryview) -> bytes:
    total = hashlib.sha256()
    for part in (tag.encode(), *parts):
        total.update(struct.pack("<Q", memoryview(part).nbytes))
        total.update(part)
    return total.digest()


def _contents(value: Any) -> Contents:
    if type(value) in _TYPES:
        return _TYPES[type(value)](value)
    for belongs, contents in _KINDS:
        if belongs(value):
            return contents(value)
    return _object(value)


def _array(array: NDArray[Any]) -> Contents:
    if array.dtype.names:  # field by field: what lies between the fields is no content
        return "records", array.shape, *((name, array[name]) for name in array.dtype.names)
    if array.dtype.hasobject:
        return "objects", array.shape, array.ravel().tolist()
    if array.dtype.char in "gG":  # long doubles have unused bytes
        return "array", array.dtype.str, array.shape, array.astype(str)
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    content = plain.reshape(-1).view(np.uint8).data if plain.nbytes else memoryview(b"")
    return "array", plain.dtype.str, array.shape, content


def _sparse(matrix: Any) -> Contents:
    entries = matrix.tocoo(copy=True)
    entries.sum_duplicates()  # which sorts them
    return "sparse", entries.shape, *(index.astype(np.int64) for index in entries.coords), entries.data


def _object(value: Any) -> Contents:
    try:
        registered = copyreg.dispatch_table.get(type(value))
        reduced = value.__reduce_ex__(4) if registered is None else registered(value)
    except Exception as error:  # whatever a class raises to say that it can't be stored
        raise without_contents(value) from error
    if isinstance(reduced, str):
        return "named", qualified(type(value)), public_module(getattr(value, "__module__", None)), reduced
    make, arguments, state, members, pairs = [*reduced, None, None, None][:5]
    if isinstance(state, dict):
        state = {name: part for name, part in state.items() if name not in _ADDRESSES}
    made_by = qualified(make) if isinstance(make, type | types.FunctionType) else make
    contents = (arguments, state, list(members or ()), dict(pairs or ()))
    return "object", type(value), class_contents(type(value)), made_by, *contents


def _dataclass(value: Any) -> Contents:
    names = [
        field.name
        for field in dataclasses.fields(value)
        if hasattr(value, field.name)
        and not field.metadata.get(DESCRIPTIVE)
        and not (field.metadata.get(ADDED_LATER) and getattr(value, field.name) is field.default)
    ]
    fields = {name: getattr(value, name) for name in names}
    return "dataclass", type(value), class_contents(type(value)), fields


def _with_own_fingerprint(value: Any) -> Contents:
    note_class(type(value))
    return "fingerprint", qualified(type(value)), value.fingerprint


def _function(function: types.FunctionType) -> Contents:
    note_modules([function.__module__])
    return function_contents(function)


def _module(module: types.ModuleType) -> Contents:
    note_modules([module.__name__])
    return module_contents(module.__name__)


def _class(kind: type) -> Contents:
    note_class(kind)
    homes = sorted({owner.__module__ for owner in kind.__mro__ if not is_library(owner.__module__)})
    return "class", qualified(kind), every_member(kind), [module_contents(home) for home in homes]


def _method(method: types.MethodType) -> Contents:
    owner = method.__self__
    return "method", owner, method.__func__, class_contents(type(owner), [method.__name__])


_ATOMS: dict[type, Callable[[Any], bytes | memoryview]] = {
    types.NoneType: lambda _: b"",
    bool: lambda value: bytes([value]),
    int: lambda value: value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True),
    float: lambda value: struct.pack("<d", value),
    complex: lambda value: struct.pack("<dd", value.real, value.imag),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: lambda value: value,
    bytearray: bytes,
    memoryview: lambda value: value if value.c_contiguous else value.tobytes(),
}
_TYPES: dict[type, Callable[[Any], Contents]] = {
    list: lambda value: ("list", *value),
    tuple: lambda value: ("tuple", *value),
    np.ndarray: _array,
    np.memmap: _array,
    functools.partial: lambda value: ("partial", value.func, value.args, value.keywords),
    types.FunctionType: _function,
    types.CodeType: code_contents,
    types.MethodType: _method,
    types.BuiltinFunctionType: lambda value: ("builtin", qualified(value), value.__self__),
    types.ModuleType: _module,
}
_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Contents]], ...] = (
    (lambda value: isinstance(value, type), _class),
    (lambda value: isinstance(value, enum.Enum), lambda value: ("enum", qualified(type(value)), value.value)),
    (lambda value: isinstance(value, np.generic), lambda value: ("numpy scalar", np.asarray(value))),
    (scipy.sparse.issparse, _sparse),
    (lambda value: isinstance(getattr(value, "fingerprint", None), str), _with_own_fingerprint),
    (is_tensor, tensor_contents),
    (is_torch_module, torch_module_contents),
    (is_booster, booster_contents),
    (dataclasses.is_dataclass, _dataclass),
    (
        lambda value: isinstance(getattr(value, "__wrapped__", None), types.FunctionType),
        lambda value: ("wrapper", qualified(type(value)), value.__wrapped__),
    ),
)
_ADDRESSES = {"_stop_words_id"}
"""Attributes that hold addresses in memory, as scikit-learn's vectorizers have them."""
