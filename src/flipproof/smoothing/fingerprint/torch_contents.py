"""What torch's tensors and modules consist of, for fingerprints. Never imports torch: who has a tensor, has done so."""

from __future__ import annotations

import enum
import functools
import re
import sys
import types
from typing import Any

from flipproof.smoothing.fingerprint.code_contents import Contents, Names, class_contents, names_of, without_contents

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
    """Type, shape and bytes, wherever the tensor is and however it lies there."""
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
    """Structure, weights, and every part's class, code and settings; neither training flag nor caches."""
    structure = re.sub(r" at 0x[0-9a-f]+", "", repr(module))
    weights = dict(module.state_dict()) | dict(module.named_buffers(remove_duplicate=False))
    parts = {name: _part(part) for name, part in module.named_modules(remove_duplicate=False)}
    return "torch module", structure, weights, parts


def _part(part: Any) -> Contents:
    """Settings are what the code reads and does not write, and what looks like an option."""
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
