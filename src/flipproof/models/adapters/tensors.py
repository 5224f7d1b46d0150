"""From numpy and scipy to torch. A module may write into its input, so arrays that are reused are copied."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from flipproof.base.values import RowArray, chosen, sorted_rows
from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_modules import torch

if TYPE_CHECKING:
    from flipproof.noise.spaces.graphs import GraphUnion
    from flipproof.noise.spaces.noisy_graphs import NoisyGraph


Rows = NDArray[Any] | scipy.sparse.sparray | scipy.sparse.spmatrix
"""The values of inputs or nodes, one row for each, dense or sparse."""


class AttributeForm(StrEnum):
    """The form in which a model gets the attributes of nodes."""

    DENSE = "dense"
    SPARSE = "sparse"

    @classmethod
    def named(cls, name: str) -> AttributeForm:
        """The form with this name."""
        return chosen(cls, name, "attributes")


def dense_tensor(array: RowArray, dtype: torch.dtype, device: torch.device | str) -> torch.Tensor:
    """A tensor of the numbers in an array or a sparse matrix."""
    with torch.inference_mode(False):  # so that torch counts writes into the tensor
        if scipy.sparse.issparse(array):
            return torch.from_numpy(array.toarray()).to(device, dtype)  # type: ignore[union-attr]  # scipy is not annotated
        return torch.tensor(np.ascontiguousarray(array), dtype=dtype, device=device)


def sparse_tensor(array: RowArray, device: torch.device | str) -> torch.Tensor:
    """A sparse CSR tensor of float32 numbers with sorted columns in every row."""
    rows = sorted_rows(array if isinstance(array, scipy.sparse.csr_array) else scipy.sparse.csr_array(array))
    index_type = np.result_type(rows.indptr, rows.indices)
    _quieten_sparse_tensors()
    with torch.inference_mode(False):
        return torch.sparse_csr_tensor(
            _shared(rows.indptr.astype(index_type, copy=False)),
            _shared(rows.indices.astype(index_type, copy=False)),
            _shared(rows.data.astype(np.float32, copy=False)),
            size=rows.shape,
            device=device,
            check_invariants=False,
        )


def _shared(array: NDArray[Any]) -> torch.Tensor:
    """A tensor of an array. It shares the memory of a writable array, such as a noisy copy, which is used only once."""
    return torch.from_numpy(array) if array.flags.writeable else torch.tensor(array)


def plain_tensor(array: NDArray[Any], device: torch.device | str) -> torch.Tensor:
    """A tensor of real numbers as float32, or of integers as int64."""
    return dense_tensor(array, torch.float32 if array.dtype.kind == "f" else torch.int64, device)


def edge_tensor(graph: NoisyGraph | GraphUnion, device: torch.device | str) -> torch.Tensor:
    """The edges of a graph in the form of torch_geometric, [2, edges]."""
    edges = np.asarray(graph.edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.dtype.kind not in "iu":
        raise InvalidInputError(f"expected an integer edge_index [2, edges], got {edges.dtype} of shape {edges.shape}")
    return dense_tensor(edges, torch.int64, device)


def attribute_tensor(graph: NoisyGraph | GraphUnion, form: AttributeForm, device: torch.device | str) -> torch.Tensor:
    """The attributes of a graph, one row per node, as float32 numbers."""
    attributes = graph.attributes
    if attributes is None:
        raise InvalidInputError("expected a graph with attributes, got None")
    if len(attributes.shape) != 2 or attributes.shape[0] != graph.nodes:
        raise InvalidInputError(f"expected attributes of shape [{graph.nodes}, ...], got {tuple(attributes.shape)}")
    if form is AttributeForm.SPARSE:
        return sparse_tensor(attributes, device)
    return dense_tensor(attributes, torch.float32, device)


def adjacency_tensor(edges: torch.Tensor, weights: torch.Tensor | None, nodes: int) -> torch.Tensor:
    """The transposed adjacency matrix of a graph, as torch_geometric's `ToSparseTensor` makes it: `adj_t`."""
    order = torch.argsort(edges[1] * nodes + edges[0])
    values = edges.new_ones(edges.shape[1], dtype=torch.float32) if weights is None else weights[order]
    starts = torch.zeros(nodes + 1, dtype=torch.int64, device=edges.device)
    starts[1:] = torch.cumsum(torch.bincount(edges[1], minlength=nodes), 0)
    _quieten_sparse_tensors()
    return torch.sparse_csr_tensor(
        starts, edges[0][order], values, size=(nodes, nodes, *values.shape[1:]), check_invariants=False
    )


class TensorCache:
    """Keeps the tensors made from the last two arrays, as long as the same array objects return.

    It keeps two because training alternates between noisy copies and the clean graph. All noisy copies share one array
    for a part of a graph that noise leaves alone, and no code writes to it. A pickled cache is empty.
    """

    def __init__(self) -> None:
        self._last: list[tuple[Any, Any, Any]] = []

    def __reduce__(self) -> tuple[type[TensorCache], tuple[()]]:
        return TensorCache, ()

    def of(self, array: RowArray | None, device: torch.device | str, make: Callable[[], Any]) -> Any:
        """What `make` returns for this array on the device, from the cache if the array was one of the last two."""
        for last, where, made in self._last:
            if last is array and array is not None and where == device:
                return made
        made = make()
        self._last = [*self._last[-1:], (array, device, made)]
        return made


def check_unchanged(*tensors: torch.Tensor) -> None:
    """Refuses a module that wrote into its input, which the next graph uses again."""
    if any(tensor._version for tensor in tensors):
        raise InvalidInputError("expected a module that leaves its input as it is, got one that changes it in place")


@functools.cache
def _quieten_sparse_tensors() -> None:
    """Silences torch's warning that sparse CSR tensors are in beta: only their linear maps are used here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        none = torch.zeros(0, dtype=torch.int64)
        torch.sparse_csr_tensor(torch.zeros(1, dtype=torch.int64), none, none, size=(0, 0), check_invariants=False)
