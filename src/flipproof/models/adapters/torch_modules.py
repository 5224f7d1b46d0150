"""Shared code for torch: loading torch, checking a module, calling it in evaluation mode, and reading its logits."""

from __future__ import annotations

import contextlib
import inspect
import operator
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from flipproof.base.values import IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.scores import with_rows

if TYPE_CHECKING:
    import torch as torch
else:

    class _Torch:
        """Loads torch on first use, because torch is optional and slow to import."""

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):  # tools ask any object for these names
                raise AttributeError(name)
            return getattr(require("torch"), name)

    torch = _Torch()

_WIDEST = 2**24
_LOCK = threading.Lock()
_IN_USE: dict[int, tuple[int, list[tuple[Any, bool]]]] = {}
"""By the id of a module: the number of threads that evaluate it, and the previous training flag of each part."""


def is_module(value: object) -> bool:
    """Whether a value is a `torch.nn.Module`; torch is not loaded to find out."""
    return "torch" in sys.modules and isinstance(value, torch.nn.Module)


def checked_module(module: Any) -> Any:
    """Returns a `torch.nn.Module` that is ready to be called."""
    if not isinstance(module, torch.nn.Module):
        raise InvalidInputError(f"expected a torch.nn.Module, got {type(module).__name__}")
    for name, parameter in module.named_parameters():
        if torch.nn.parameter.is_lazy(parameter):
            raise InvalidInputError(f"expected initialized weights, got none for {name}: call the module once")
    return module


def checked_uncached(module: Any) -> Any:
    """Returns a module that caches no graphs: a cache would keep answering for the first noisy graph."""
    for name, part in checked_module(module).named_modules():
        stored = [key for key, value in vars(part).items() if key.startswith("_cached_") and value is not None]
        if stored or getattr(part, "cached", False):
            raise InvalidInputError(
                f"expected a module that computes every graph afresh, got {type(part).__name__} {name!r} that "
                "keeps the first one: build it with cached=False and load the weights"
            )
    return module


def checked_size(size: Any, name: str) -> int:
    """Returns the width of a layer, or raises with `name` in the message."""
    if not 1 <= checked_count(size, name) <= _WIDEST:
        raise InvalidInputError(f"expected {name} from 1 to {_WIDEST}, got {size}")
    return int(size)


def checked_classes(classes: Any) -> int:
    """Returns the number of labels."""
    try:
        number = 0 if isinstance(classes, bool) else operator.index(classes)
    except TypeError:
        number = 0
    if number < 1:
        raise InvalidInputError(f"expected classes to be a positive integer, got {classes!r}")
    return number


def device_of(module: torch.nn.Module) -> torch.device:
    """The device of the weights, or the CPU if there are none."""
    for tensor in (*module.parameters(), *module.buffers()):
        return tensor.device
    return torch.device("cpu")


def checked_device(name: str) -> torch.device:
    """Returns a device that this torch can compute on.

    Example:
        >>> checked_device("cpu")
        device(type='cpu')
    """
    try:
        device = torch.device(name)
        (torch.ones(1, device=device) + 1).cpu()
    except Exception as error:  # torch raises many types: RuntimeError, AssertionError, NotImplementedError
        reason = str(error).partition("\n")[0].rstrip(".")
        raise InvalidInputError(f"expected a device that torch can use here, got {name!r}: {reason}") from error
    return device


@contextlib.contextmanager
def evaluating(module: torch.nn.Module) -> Iterator[None]:
    """Runs calls inside in evaluation mode and without gradients, and restores the training flags afterwards.

    Several threads may be inside at once. The last thread to leave restores the flags.
    """
    with _LOCK:
        users, flags = _IN_USE.get(id(module)) or (0, [(part, part.training) for part in module.modules()])
        _IN_USE[id(module)] = users + 1, flags
        if not users and any(training for _, training in flags):
            module.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        with _LOCK:
            users, flags = _IN_USE.pop(id(module))
            if users > 1:
                _IN_USE[id(module)] = users - 1, flags
            elif any(training for _, training in flags):
                for part, training in flags:  # parents before their children
                    part.train(training)


def labels_of(logits: torch.Tensor, rows: int, classes: int) -> IntArray:
    """The index of the largest logit in each row, the first one on a tie."""
    logits = checked_logits(logits, rows, classes)
    suspicious = bool(logits.sum().isnan())  # faster than checking each logit
    undefined = int(logits.isnan().any(dim=1).sum()) if suspicious else 0
    if undefined:
        raise InvalidInputError(f"expected logits without NaN, got NaN for {undefined} of {rows} rows")
    labels: IntArray = logits.argmax(dim=1).cpu().numpy()
    return labels


def checked_logits(logits: Any, rows: int, classes: int) -> Any:
    """Returns a floating-point tensor of the expected shape."""
    if not isinstance(logits, torch.Tensor) or not logits.is_floating_point():
        got = logits.dtype if isinstance(logits, torch.Tensor) else type(logits).__name__
        raise InvalidInputError(f"expected a floating-point tensor of logits, got {got}")
    logits = with_rows(logits, rows)
    if tuple(logits.shape) != (rows, classes):
        raise InvalidInputError(f"expected logits of shape {(rows, classes)}, got {tuple(logits.shape)}")
    return logits


def check_takes(module: torch.nn.Module, *names: str) -> None:
    """Refuses a module that cannot be called with these arguments, such as one that takes a whole `Data`."""
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):  # no signature, as in a compiled module: calls will show
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        wanted, kind = ", ".join(names), type(module).__name__
        graph = ", ".join(f"{name}={name}" for name in names)
        does = f"returns model(Data({graph}))" if len(signature.parameters) == 1 else "calls it as it is meant"
        raise InvalidInputError(
            f"expected a module with forward({wanted}), got {kind} with forward{signature}; give vote the module "
            f"itself, which finds out how to call it, or a small module whose forward(self, {wanted}) {does}"
        ) from error


def call_module(module: torch.nn.Module, *inputs: Any) -> Any:
    """Calls the module. If that fails and no weight has the type of the first input, the error says what to do."""
    try:
        return module(*inputs)
    except RuntimeError as error:
        explained = of_other_type(module, inputs[0], error)
        if explained is None:
            raise
        raise explained from error


def of_other_type(module: torch.nn.Module, given: Any, error: RuntimeError) -> InvalidInputError | None:
    """What to do about an error, if no weight of the module has the type of its input."""
    types = {weight.dtype for weight in module.parameters() if weight.is_floating_point()}
    given_type = getattr(given, "dtype", None)  # a transform may return anything
    if given_type is None or not given_type.is_floating_point or not types or given_type in types:
        return None
    name, found = _name(given_type), " and ".join(sorted(map(_name, types)))
    convert = "module.float()" if name == "float32" else f"module.to(torch.{name})"
    reason = " ".join(str(error).split())
    return InvalidInputError(
        f"expected weights of the type of the input, {name}, got {found} ({reason}); call {convert} first"
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
