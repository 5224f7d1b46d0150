"""Training a GCN so that more of its labels can be certified by `gcn_attributes` (Zügner and Günnemann, KDD 2019).

The certificate is a lower bound on margins, and its gradient reaches the weights. The robust hinge loss asks for a
bound of at least log(90/10) for nodes with known labels. For all other nodes it asks for at least log(60/40), for the
margin of their predicted label: they have no label to learn, but a decision to make robust (Sec. 5 of the paper).
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from flipproof.base.threads import single_threaded
from flipproof.base.values import IntArray, checked_count
from flipproof.baselines.checked_arguments import checked_gcn, graph_of
from flipproof.baselines.gcn.attribute_bounds import BitThreat, Scene, Weights
from flipproof.baselines.gcn.attribute_margins import margin_bounds
from flipproof.baselines.gcn.attributes import scene_of, threat_of
from flipproof.datasets import NodeDataset
from flipproof.errors import InvalidInputError
from flipproof.extras import require
from flipproof.models.adapters.tensors import AttributeForm, attribute_tensor, edge_tensor
from flipproof.models.networks.node_modules import GCN
from flipproof.models.training.fitting import TrainingError, checked_targets
from flipproof.noise.sampling.samplers import Stream
from flipproof.noise.spaces.graph import Graph
from flipproof.run_folder.split import Split

require("torch")
import torch  # noqa: E402

_MOST = 1e30


@dataclass(frozen=True, slots=True)
class RobustSettings:
    """Settings for training a GCN with the robust hinge loss.

    Attributes:
        total: the total number of flips that the bounds cover.
        local: the number of flips per node; by default a hundredth of its attributes, at least one.
        known_margin: the bound required where the label is known.
        other_margin: the bound required elsewhere, for the predicted label.
        batch_size: how many nodes of the whole graph enter the bounds of a step.
        steps: the number of steps of Adam.
        learning_rate: learning rate of Adam.
        weight_decay: weight decay of Adam.
    """

    total: int = 12
    local: int | None = None
    known_margin: float = math.log(90 / 10)
    other_margin: float = math.log(60 / 40)
    batch_size: int = 20
    steps: int = 500
    learning_rate: float = 1e-3
    weight_decay: float = 1e-5

    def __post_init__(self) -> None:
        for name in ("total", "local", "batch_size", "steps"):
            count = getattr(self, name)
            if not (name == "local" and count is None) and checked_count(count, name) < 1:
                raise InvalidInputError(f"expected {name} to be at least 1, got {count}")
        for name in ("known_margin", "other_margin", "learning_rate", "weight_decay"):
            number = getattr(self, name)
            real = isinstance(number, numbers.Real) and not isinstance(number, bool)
            if not real or not 0.0 <= number <= _MOST:
                raise InvalidInputError(f"expected {name} to be a number from 0 to {_MOST:g}, got {number!r}")
            object.__setattr__(self, name, float(number))


def robust_loss(bounds: torch.Tensor, margins: torch.Tensor) -> torch.Tensor:
    """The robust hinge loss: how far lower bounds on margins [nodes, rivals] are below each node's required margin.

    The loss is summed over rivals and averaged over nodes. `attribute_margins.margin_bounds` gives the bounds.

    Example:
        >>> robust_loss(torch.tensor([[3.0, 1.5], [-1.0, 2.0]]), torch.tensor([2.0, 1.0]))
        tensor(1.2500)
    """
    return (margins.unsqueeze(1) - bounds).clamp(min=0.0).sum(dim=1).mean()


def train_robustly(
    model: Any,
    data: NodeDataset | Graph,
    labels: Any,
    split: Split,
    settings: RobustSettings | None = None,
    seed: int = 0,
) -> list[float]:
    """Trains a GCN in place with cross-entropy plus robust hinge loss, and returns the loss of every step.

    Training starts from the module's current weights; those from `train` are a good start. The same seed gives the same
    weights on the same machine; torch's global generator keeps its state.

    Args:
        model: a `GCN`, or a `NodeClassifier` of one.
        data: the clean graph with binary attributes.
        labels: class numbers, one per node; only those of training nodes are used.
        split: the roles of the nodes.
        settings: the training settings, see `RobustSettings`.
        seed: seed for dropout and for the choice of each step's nodes.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> attributes = np.repeat(np.eye(2, dtype=int), 2, axis=0)
        >>> graph = Graph.from_edge_index([[0, 1, 2, 3], [1, 0, 3, 2]], attributes=attributes, noisy="attributes")
        >>> split = Split(train=[0, 2], validation=[1, 3], test=[])
        >>> settings = RobustSettings(total=1, batch_size=4, steps=20, learning_rate=0.05)
        >>> losses = train_robustly(GCN(2, 2, dropout=0.0), graph, [0, 0, 1, 1], split, settings)
        >>> len(losses), losses[-1] < losses[0]
        (20, True)
    """
    settings = RobustSettings() if settings is None else settings
    if not isinstance(settings, RobustSettings):
        raise InvalidInputError(f"expected RobustSettings, got {type(settings).__name__}")
    with torch.inference_mode(False), torch.enable_grad():
        return _trained(checked_gcn(model), graph_of(data, "attributes"), labels, split, settings, seed)


def _trained(module: GCN, graph: Graph, labels: Any, split: Split, settings: RobustSettings, seed: int) -> list[float]:
    known = checked_targets(labels, graph.nodes, split, module.second_bias.numel(), "nodes")
    scene = scene_of(module, graph)
    threat = threat_of(scene, settings.local, [settings.total])
    lesson = _Lesson(module, graph, scene, threat, split.train, known, settings)
    trained = [weights for weights in module.parameters() if weights.requires_grad and not weights.is_inference()]
    if not trained:
        raise InvalidInputError("expected a GCN with weights that require gradients, got one whose weights are frozen")
    optimizer = torch.optim.Adam(trained, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    Stream(seed)  # refuses an invalid seed
    rng, losses = np.random.Generator(np.random.Philox(seed)), []
    with single_threaded(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(seed))
        for _ in range(settings.steps):
            batch = np.sort(rng.choice(graph.nodes, min(settings.batch_size, graph.nodes), replace=False))
            loss: Any = lesson.loss(batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
            if not math.isfinite(losses[-1]):
                raise TrainingError(f"expected a finite loss, got {losses[-1]}; lower learning_rate")
    module.eval()
    return losses


class _Lesson:
    """A graph with some known labels, and the margins required of its nodes."""

    def __init__(
        self, module: GCN, graph: Graph, scene: Scene, threat: BitThreat, train: IntArray, known: IntArray,
        settings: RobustSettings,
    ) -> None:  # fmt: skip
        clean = graph.clean()
        self._module, self._scene, self._threat = module, scene, threat
        self._x = attribute_tensor(clean, AttributeForm.SPARSE, "cpu")
        self._structure = module.structure(edge_tensor(clean, "cpu"), graph.nodes)
        self._train, self._labels = torch.tensor(train), torch.from_numpy(known)
        self._margins = torch.full((graph.nodes,), settings.other_margin, dtype=torch.float64)
        self._margins[self._train] = settings.known_margin

    def loss(self, batch: IntArray) -> torch.Tensor:
        """The cross-entropy of all known labels plus the robust hinge loss of the batch."""
        self._module.train()
        learned = self._logits()[self._train]
        entropy = torch.nn.functional.cross_entropy(learned, self._labels[self._train])
        bounds = margin_bounds(
            Weights.of(self._module), self._scene, self._threat, batch, self._decisions()[torch.from_numpy(batch)]
        )
        return entropy + robust_loss(bounds, self._margins[torch.from_numpy(batch)])

    def _logits(self) -> torch.Tensor:
        return self._module.combine(self._module.features(self._x), self._structure)

    def _decisions(self) -> torch.Tensor:
        """The known labels of training nodes, and predicted labels elsewhere."""
        self._module.eval()
        with torch.no_grad():
            decided = self._logits().argmax(dim=1)
        decided[self._train] = self._labels[self._train]
        return decided
