"""Attributes of nodes: checked, wrapped if they get noise, and as models take them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.values import as_array, read_only, read_only_csr
from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.rows import DenseRows, SparseRows

STRUCTURE = "structure"


def plain_attributes(attributes: Any) -> Any:
    """Attributes as models take them: a CSR matrix, an array, or None."""
    if isinstance(attributes, SparseRows):
        return attributes.matrix
    return attributes.values if isinstance(attributes, DenseRows) else attributes


def rows_of_attributes(attributes: Any) -> int:
    """The number of rows of attributes that may be given in any form."""
    plain = plain_attributes(attributes)
    return len(as_array(plain, "attributes")) if not hasattr(plain, "shape") else int(plain.shape[0])


def checked_attributes(given: Any, nodes: int, noisy: str) -> Any:
    """Wraps attributes that get noise; copies attributes without noise unchanged."""
    if given is None:
        if noisy != STRUCTURE:
            raise InvalidInputError(f"expected attributes, since noisy is {noisy!r}, got none")
        return None
    try:
        attributes = given if isinstance(given, SparseRows | DenseRows) else _wrapped(given, noisy)
    except InvalidInputError as error:
        if noisy == STRUCTURE:
            raise
        hint = (
            "noise on attributes needs zeros and ones or categories; noisy='structure' takes any attributes, as in "
            "Graph.from_pyg(data, noisy='structure')"
        )
        raise InvalidInputError(f"{error} ({hint})") from error
    plain = plain_attributes(attributes)
    if plain.ndim != 2 or plain.shape[0] != nodes:
        raise InvalidInputError(f"expected attributes of shape [{nodes} nodes, ...], got shape {plain.shape}")
    return attributes


def _wrapped(given: Any, noisy: str) -> Any:
    if noisy == STRUCTURE:
        if sp.issparse(given):
            return read_only_csr(sp.csr_array(given, dtype=np.float32, copy=True))
        return read_only(as_array(given, "attributes"))
    if sp.issparse(given):
        return SparseRows(given)
    array = as_array(given, "attributes")
    binary = array.ndim == 2 and (array.size == 0 or array.max() <= 1)
    return SparseRows(sp.csr_array(array)) if binary else DenseRows(array)
