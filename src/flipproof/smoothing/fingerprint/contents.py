"""The contents of a fingerprint: code of functions and classes, tensors of modules, and which modules were met."""

from __future__ import annotations

import contextlib
import contextvars
import dis
import enum
import functools
import inspect
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType, GetSetDescriptorType, MemberDescriptorType, ModuleType, NoneType
from typing import Any, NamedTuple

from flipproof.errors import InvalidInputError

Contents = tuple[Any, ...]
"""A tag and the simpler values that a value consists of."""

_GLOBALS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_READS = {"LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR"}
_WRITES = {"STORE_ATTR", "DELETE_ATTR"}
ENTRIES = ("__call__", "forward", "predict", "transform")
"""The methods by which a model is called."""
_PACKAGE = "flipproof"
_PUBLIC_MODULES = ("flipproof.baselines", "flipproof.datasets")
_CONSTANTS = (bool, int, float, complex, str, bytes, NoneType)


class Names(NamedTuple):
    """The names that a code object uses, inner functions included."""

    globals: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()

    @classmethod
    def together(cls, *some: Names) -> Names:
        """The names in any of some sets of names."""
        return cls(*(frozenset[str]().union(*kind) for kind in zip(*some, strict=True)))


def without_contents(value: object) -> InvalidInputError:
    """The error for a value whose contents cannot be hashed."""
    return InvalidInputError(
        f"expected something whose contents can be hashed, got {type(value).__name__}; give the object a `fingerprint` "
        "text, or use FunctionClassifier(function, classes, fingerprint='...')"
    )


def qualified(thing: object) -> str:
    """Module and name of a class or function; a name of ours, such as `flipproof.Graph`, does not depend on its file.

    Example:
        >>> from flipproof.noise.spaces.graph import Graph
        >>> qualified(Graph), qualified(Path)
        ('flipproof.Graph', 'pathlib.Path')
    """
    module = getattr(thing, "__module__", None)
    return f"{_PACKAGE if _is_ours(module) else module}.{getattr(thing, '__qualname__', None)}"


def public_module(name: str | None) -> str | None:
    """The public name of a module: for a module of ours "flipproof", unless it is public itself.

    Example:
        >>> public_module("flipproof.noise.spaces.graph"), public_module("flipproof.datasets"), public_module("os.path")
        ('flipproof', 'flipproof.datasets', 'os.path')
    """
    if name is None or not _is_ours(name):
        return name
    return name if name in _PUBLIC_MODULES else _PACKAGE


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == _PACKAGE


@functools.cache
def is_library(module: str | None) -> bool:
    """Whether a module comes with Python or was installed; then its name stands for its code."""
    if module is None or module == "__main__":
        return False
    if module.partition(".")[0] in sys.stdlib_module_names or _is_ours(module):  # a checkout is elsewhere than a wheel
        return True
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return not {"site-packages", "dist-packages"}.isdisjoint(Path(file).parts)


@functools.lru_cache(maxsize=4096)
def names_in(code: CodeType) -> Names:
    """The global names that the code looks up, and the attributes that it reads and writes."""
    kinds: tuple[set[str], set[str], set[str]] = (set(), set(), set())
    for step in dis.get_instructions(code):
        for kind, operations in zip(kinds, (_GLOBALS, _READS, _WRITES), strict=True):
            if step.opname in operations:
                kind.add(step.argval)
    inner = [names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return Names.together(Names(*map(frozenset, kinds)), *inner)


def names_of(member: object) -> Names:
    """The names that a function uses, decorated or not; none for anything else."""
    function = inspect.unwrap(member) if isinstance(member, FunctionType) else None
    return names_in(function.__code__) if isinstance(function, FunctionType) else Names()


def code_contents(code: CodeType) -> Contents:
    """A code object without the file and lines that it comes from, and without the files that it imports ours from."""
    signature = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (tuple(map(public_module, code.co_names)), code.co_varnames, code.co_freevars, code.co_cellvars)
    return "code", code.co_name, signature, names, code.co_consts, code.co_code, code.co_exceptiontable


def function_contents(function: FunctionType) -> Contents:
    """Code, defaults, closure and attributes of a function, and the globals it refers to."""
    return (
        "function",
        function.__qualname__,
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        [_in_cell(cell) for cell in function.__closure__ or ()],
        vars(function),
        _globals_of(function),
    )


def class_contents(kind: type, entries: Iterable[str] = ENTRIES) -> dict[str, object]:
    """The methods and constants of a class that its entries use, directly or through each other.

    They are found by name, so a few unused members may be among them. Members of libraries' classes are left out.
    """
    found: dict[str, object] = {}
    waiting = list(entries)
    while waiting:
        name = waiting.pop()
        for owner in kind.__mro__:
            key = f"{owner.__qualname__}.{name}"
            if key in found or name not in vars(owner) or is_library(owner.__module__):
                continue
            member = found[key] = _undecorated(vars(owner)[name])
            waiting += names_of(member).reads
    return found


def every_member(kind: type) -> dict[str, object]:
    """The code of all methods of a class and its simple constants, without those of a library's classes."""
    names = [
        name
        for owner in kind.__mro__
        if not is_library(owner.__module__)
        for name, member in vars(owner).items()
        if isinstance(_undecorated(member), FunctionType) or (isinstance(member, _CONSTANTS) and name[:2] != "__")
    ]
    return class_contents(kind, names)


def module_contents(name: str | None) -> Contents:
    """The source of a user's module and of those it imports; libraries and the program itself by their names."""
    module = sys.modules.get(name or "")
    if module is None or name == "__main__" or is_library(name):
        return "module", public_module(name)
    file = getattr(module, "__file__", None)
    source = Path(file).read_bytes() if file and Path(file).is_file() else None
    homes = {value.__name__ if isinstance(value, ModuleType) else _home(value) for value in vars(module).values()}
    imported = sorted(home for home in homes if home and home != name and not is_library(home))
    return "module", name, source, [sys.modules[home] for home in imported if home in sys.modules]


def _home(value: object) -> str | None:
    return value.__module__ if isinstance(value, type | FunctionType) else None


def _globals_of(function: FunctionType) -> dict[str, object]:
    """The globals of its module that a function uses; none for a library's function, as its name stands for it."""
    surroundings = function.__globals__
    if is_library(surroundings.get("__name__", function.__module__)):
        return {}
    referred = names_in(function.__code__).globals & surroundings.keys()
    return {name: surroundings[name] for name in referred}


def _in_cell(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return Ellipsis  # not filled yet


def _undecorated(member: Any) -> object:
    """The function behind a member of a class; None for a slot, which only holds an instance's value."""
    if isinstance(member, staticmethod | classmethod):
        return member.__func__
    if isinstance(member, property | functools.cached_property):
        return member.fget if isinstance(member, property) else member.func
    if isinstance(member, GetSetDescriptorType | MemberDescriptorType):
        return None
    return member


_FUNCTIONS = (functools.partial, types.FunctionType, types.MethodType, types.BuiltinFunctionType)
_OPTIONS = (bool, int, float, complex, str, bytes, types.NoneType, enum.Enum, *_FUNCTIONS)


def is_tensor(value: object) -> bool:
    """Whether a value is a `torch.Tensor`."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_torch_module(value: object) -> bool:
    """Whether a value is a `torch.nn.Module`."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def tensor_contents(tensor: Any) -> Contents:
    """Type, shape and bytes of a tensor, whatever its device and memory layout."""
    torch = sys.modules["torch"]
    try:
        plain = tensor.detach().cpu()
        if plain.layout != torch.strided:
            entries = plain.to_sparse_coo().coalesce()
            return "sparse tensor", tuple(plain.shape), entries.indices(), entries.values()
        flat = plain.as_subclass(torch.Tensor).resolve_conj().resolve_neg().contiguous().reshape(-1)
        return "tensor", str(plain.dtype), tuple(plain.shape), flat.view(torch.uint8).numpy()
    except (RuntimeError, ValueError) as error:  # without data: on the meta device, or not initialized
        raise without_contents(tensor) from error


def torch_module_contents(module: Any) -> Contents:
    """Structure and weights of a module; class, code and settings of its parts; neither training flag nor caches."""
    structure = re.sub(r" at 0x[0-9a-f]+", "", repr(module))
    weights = dict(module.state_dict()) | dict(module.named_buffers(remove_duplicate=False))
    parts = {name: _part(part) for name, part in module.named_modules(remove_duplicate=False)}
    return "torch module", structure, weights, parts


def _part(part: Any) -> Contents:
    """Class, code, settings and hooks of a part.

    Its settings are the attributes that the code reads and does not write, and those that look like options.
    """
    members = class_contents(type(part))
    names = Names.together(*map(names_of, members.values()))
    settings = {
        name: setting
        for name, setting in vars(part).items()
        if name != "training" and name not in names.writes
        if name in names.reads or (isinstance(setting, _OPTIONS) and not name.startswith("_"))
    }
    hooks = [list(part._forward_pre_hooks.values()), list(part._forward_hooks.values())]
    return type(part), members, settings, hooks


_met: contextvars.ContextVar[set[str] | None] = contextvars.ContextVar("met", default=None)


@contextlib.contextmanager
def noting_modules() -> Iterator[set[str]]:
    """Collects the names of all modules that fingerprints made inside the block depend on."""
    met: set[str] = set()
    token = _met.set(met)
    try:
        yield met
    finally:
        _met.reset(token)


def note_modules(names: Iterable[str | None]) -> None:
    """Notes modules inside a `noting_modules` block, and does nothing outside."""
    met = _met.get()
    if met is not None:
        met.update(name for name in names if name is not None)


def note_class(kind: type) -> None:
    """Notes the modules of a class and of its bases."""
    note_modules(owner.__module__ for owner in kind.__mro__)
