"""Calling a graph neural network on graphs of numpy arrays, for votes and for training alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.module_calls import called
from flipproof.models.adapters.tensors import AttributeForm, Remembered, attribute_tensor, check_unchanged, edge_tensor
from flipproof.models.adapters.torch_modules import device_of

if TYPE_CHECKING:
    from flipproof.noise.spaces.noisy_graphs import NoisyGraph


def is_node_module(module: Any) -> bool:
    """Whether a module is one of ours and does what its three steps do: nothing is hooked in or overridden."""
    from flipproof.models.networks.node_modules import NodeModule

    if not isinstance(module, NodeModule) or type(module).forward is not NodeModule.forward:
        return False
    return not (module._forward_hooks or module._forward_pre_hooks)


class NodeForward:
    """Logits of graphs, one after another. What the same array was made into before is used again.

    With gradients, features are computed afresh, because the weights change from step to step; without, they
    are kept until `forget`.
    """

    def __init__(self, module: Any, form: AttributeForm) -> None:
        self._module, self._form = module, form
        self._x, self._structure, self._features = Remembered(), Remembered(), Remembered()

    def __call__(self, graph: NoisyGraph) -> Any:
        """Logits [nodes, classes]."""
        device, ours = device_of(self._module), is_node_module(self._module)
        x = self._x.of(graph.attributes, device, lambda: attribute_tensor(graph, self._form, device))
        if ours:
            structure = self._structure.of(
                graph.edge_index, device, lambda: self._module.structure(edge_tensor(graph, device), graph.nodes)
            )
            return self._module.combine(self._features_of(graph, x), structure)
        edges = self._structure.of(graph.edge_index, device, lambda: edge_tensor(graph, device))
        logits = self._called(x, edges)
        check_unchanged(x, edges)
        return logits

    def forget(self) -> None:
        """What depends on the weights of the module is forgotten."""
        self._features = Remembered()

    def _features_of(self, graph: NoisyGraph, x: Any) -> Any:
        import torch

        if torch.is_grad_enabled():
            return self._module.features(x)
        return self._features.of(graph.attributes, x.device, lambda: self._module.features(x))

    def _called(self, x: Any, edges: Any) -> Any:
        try:
            return called(self._module, x, edges)
        except RuntimeError as error:
            if self._form is AttributeForm.SPARSE and "Sparse" in str(error):
                reason = str(error).partition(".")[0]
                raise InvalidInputError(
                    f"expected a linear map first, got: {reason}; use attributes='dense'"
                ) from error
            raise
