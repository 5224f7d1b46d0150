"""Checks that a network is one that the GCN certificates cover, that is, that it computes exactly their formula."""

from __future__ import annotations

from typing import Any

from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.fused.nodes import as_shipped


def checked_gcn(model: Any) -> Any:
    """Returns the given `GCN`, or a classifier's, and refuses it if more than its weights was changed."""
    from flipproof.models.networks.node_modules import GCN  # needs torch, which is optional

    torch = require("torch")
    module = model.module if isinstance(model, NodeClassifier) else model
    if type(module) is not GCN or not as_shipped(module):
        raise InvalidInputError(
            f"expected a flipproof.GCN, or a NodeClassifier of one, with no part replaced or hooked, got "
            f"{type(module).__name__}"
        )
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.dtype != torch.float32 or not bool(parameter.isfinite().all()):
                raise InvalidInputError(f"expected finite weights of float32, got others in {name}")
    return module
