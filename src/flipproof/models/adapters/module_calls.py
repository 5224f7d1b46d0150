"""Calling a user's module: whether it takes what it gets, and what to do if its numbers are of another type."""

from __future__ import annotations

import inspect
from typing import Any

from flipproof.errors import InvalidInputError


def check_takes(module: Any, *names: str) -> None:
    """Refuses a module that cannot be called with these, such as one that takes a whole `Data`."""
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):  # one without a signature, such as a compiled module: its calls will tell
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        wanted, kind = ", ".join(names), type(module).__name__
        graph = ", ".join(f"{name}={name}" for name in names)
        does = f"returns model(Data({graph}))" if len(signature.parameters) == 1 else "calls it as it is meant"
        raise InvalidInputError(
            f"expected a module with forward({wanted}), got {kind} with forward{signature}; give a small module whose "
            f"forward(self, {wanted}) {does}"
        ) from error


def called(module: Any, *inputs: Any) -> Any:
    """What the module makes of tensors. If that fails and no weight has the type of the first, says what to do."""
    try:
        return module(*inputs)
    except RuntimeError as error:
        types = {weight.dtype for weight in module.parameters() if weight.is_floating_point()}
        own = getattr(inputs[0], "dtype", None)  # a transform may return anything
        if own is None or not own.is_floating_point or not types or own in types:
            raise
        given, found = _name(own), " and ".join(sorted(map(_name, types)))
        convert = "module.float()" if given == "float32" else f"module.to(torch.{given})"
        reason = " ".join(str(error).split())
        raise InvalidInputError(
            f"expected weights of the type of the input, {given}, got {found} ({reason}); call {convert} first"
        ) from error


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")
