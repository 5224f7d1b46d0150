"""Weights of modules: draws them from a seed, writes them as bytes and reads them back. Reading runs no code."""

from __future__ import annotations

import io
import pickle
import warnings
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flipproof.errors import FileFormatError, reason_of
from flipproof.extras import MissingExtraError, require
from flipproof.models.adapters.torch_modules import torch


def seeded_module(make: Callable[..., Any], options: Mapping[str, Any], seed: int) -> Any:
    """A new module whose initial weights depend only on the seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make(**options)


def weights_bytes(module: torch.nn.Module) -> bytes:
    """The state of a module in the safetensors format; the same state gives the same bytes."""
    state = {name: weights.detach().cpu().contiguous().clone() for name, weights in module.state_dict().items()}
    content: bytes = require("safetensors.torch").save(state)
    return content


def load_weights(module: torch.nn.Module, content: bytes, name: str) -> None:
    """Loads weights into a module from safetensors, or from a state dict that `torch.save` wrote.

    Args:
        module: the module that receives the weights, which must fit exactly.
        content: the content of the file.
        name: the name of the file, for messages.
    """
    try:
        module.load_state_dict(_checked_state(content))
    except MissingExtraError:
        raise
    except pickle.UnpicklingError as error:  # torch's own message suggests reading it anyway
        raise FileFormatError(f"expected nothing but weights, got {name}, which holds other objects too") from error
    except Exception as error:  # a damaged file or another model can make torch raise anything
        raise FileFormatError(
            f"expected weights that fit {type(module).__name__}, got {name}: {reason_of(error)}"
        ) from error
    wrong = next((each for each, weights in module.state_dict().items() if not weights.isfinite().all()), None)
    if wrong is not None:
        raise FileFormatError(f"expected finite weights, got {name} with NaN or infinity in {wrong}")


def _checked_state(content: bytes) -> dict[str, Any]:
    """The plain tensors of a file by name. Other tensors, such as sparse ones, may be inconsistent inside."""
    state = _state(content)
    if not isinstance(state, dict):
        raise FileFormatError(f"it holds a {type(state).__name__}, not a state dict")
    for name, tensor in state.items():
        plain = isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided and tensor.device.type == "cpu"
        if not plain or tensor.is_quantized or tensor.is_complex():
            raise FileFormatError(f"{name} is not a plain tensor")
    return state


def _state(content: bytes) -> Any:
    if content[8:9] == b"{":  # safetensors: a length of eight bytes, then JSON
        return require("safetensors.torch").load(content)
    if content[:2] == b"PK":
        _refuse_compressed(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about pickles of other versions; unreadable files raise errors
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)


def _refuse_compressed(content: bytes) -> None:
    """Refuses compressed content: `torch.save` never compresses, and a compressed file may be a zip bomb."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        packed = next((each for each in archive.infolist() if each.file_size != each.compress_size), None)
    if packed is not None:
        raise FileFormatError(f"{packed.filename} is compressed, which torch.save never does")


def arrays_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Plain arrays in the safetensors format; the same arrays give the same bytes.

    Example:
        >>> content = arrays_bytes({"numbers": np.array([1, 2])})
        >>> read_arrays(content, "a file")
        {'numbers': array([1, 2])}
    """
    content: bytes = require("safetensors.numpy").save({name: np.ascontiguousarray(arrays[name]) for name in arrays})
    return content


def read_arrays(content: bytes, name: str) -> dict[str, NDArray[Any]]:
    """The arrays in the content of a safetensors file; `name` is the file's name, for messages."""
    try:
        arrays: dict[str, NDArray[Any]] = require("safetensors.numpy").load(content)
    except MissingExtraError:
        raise
    except Exception as error:  # a damaged file can make safetensors raise anything
        raise FileFormatError(f"expected arrays in the safetensors format, got {name}: {reason_of(error)}") from error
    return arrays
