"""Weights as bytes and back. Reading them runs no code."""

from __future__ import annotations

import io
from typing import Any

from flipproof.errors import FileFormatError
from flipproof.models.extras import require


def weights_bytes(module: Any) -> bytes:
    """The state of a module in the safetensors format; the same state gives the same bytes."""
    state = {name: weights.detach().cpu().contiguous().clone() for name, weights in module.state_dict().items()}
    content: bytes = require("safetensors.torch").save(state)
    return content


def load_weights(module: Any, content: bytes, name: str) -> None:
    """Puts weights into a module: safetensors, or a state dict that `torch.save` wrote.

    Args:
        module: takes the weights, which must fit exactly.
        content: of the file.
        name: of the file, for messages.
    """
    try:
        module.load_state_dict(_state(content))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FileFormatError(
            f"expected weights that fit {type(module).__name__}, got {name}: {reason[:300]}"
        ) from error


def _state(content: bytes) -> Any:
    if content.startswith(b"PK"):  # a zip, as torch.save writes it
        return require("torch").load(io.BytesIO(content), map_location="cpu", weights_only=True)
    return require("safetensors.torch").load(content)
