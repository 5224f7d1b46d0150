"""Attackers of a GCN: PRBCD and GRBCD of PyTorch Geometric on the edges, greedy and random flips on the attributes.

They know the weights, see through the noise (they attack the mean over noisy copies, not one clean graph), and stay
within radii that they are given. Graphs are dense arrays of zeros and ones here.
"""

import functools
import warnings
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.utils import dense_to_sparse

import flipproof as fp

with warnings.catch_warnings():
    # said whenever torch_geometric.contrib is imported, the only home of these attacks
    warnings.filterwarnings("ignore", ".torch_geometric.contrib. contains experimental code", UserWarning)
    from torch_geometric.contrib.nn import GRBCDAttack, PRBCDAttack

ATTACKS_ON_STRUCTURE = {
    # What is given here only makes PRBCD faster: graphs are small, and blocks hold nearly all pairs.
    "PRBCD": functools.partial(PRBCDAttack, epochs=15, epochs_resampling=10),
    "GRBCD": GRBCDAttack,
}


@dataclass(frozen=True)
class Bits:
    """A graph as an attacker handles it: a symmetric adjacency without loops, and attributes."""

    structure: np.ndarray
    attributes: np.ndarray

    def changes(self, other):
        """How many pairs and how many attributes of this graph are turned on and off in the other one."""
        pairs = np.triu_indices_from(self.structure, 1)
        return {
            "structure": changes(self.structure[pairs], other.structure[pairs]),
            "attributes": changes(self.attributes, other.attributes),
        }


def changes(before, after):
    return fp.Radii(add=int((after > before).sum()), delete=int((after < before).sum()))


def weighted_logits(gcn, x, adjacency):
    """Logits [..., nodes, classes] of a trained `fp.GCN`, for adjacencies [..., nodes, nodes] of any weights."""
    looped = adjacency + torch.eye(adjacency.shape[-1])
    scale = looped.sum(-1).rsqrt()
    normalised = scale[..., :, None] * looped * scale[..., None, :]
    hidden = (normalised @ (x @ gcn.first.weight) + gcn.first_bias).relu()
    return normalised @ (hidden @ gcn.second.weight) + gcn.second_bias


@dataclass(frozen=True)
class Flips:
    """Which ones and which zeros are flipped in some noisy copies, [copies, ...]; fixed, so that gradients exist."""

    ones: torch.Tensor
    zeros: torch.Tensor

    @classmethod
    def drawn(cls, noise, shape, rng, symmetric):
        uniform = rng.random(shape)
        if symmetric:
            uniform = np.triu(uniform, 1)
            uniform = uniform + np.swapaxes(uniform, 1, 2) + 2 * np.eye(shape[-1])  # nothing flips on the diagonal
        return cls(*(torch.from_numpy((uniform < p).astype(np.float32)) for p in (noise.p_minus, noise.p_plus)))

    def of(self, bits):
        """Noisy copies, linear in bits that are no longer zeros and ones."""
        return bits * (1 - self.ones) + (1 - bits) * self.zeros


class NoisyGCN(torch.nn.Module):
    """Mean probabilities (their logarithms) that a GCN gives on noisy copies, differentiable in edges and attributes.

    Without noises it is the GCN itself. Called as `module(x, edge_index, edge_weight)`; pairs that are not `movable`
    are always as in `current`.
    """

    def __init__(self, gcn, nodes, words, noises, copies=16, seed=0):
        super().__init__()
        rng = np.random.default_rng(seed)
        self.gcn = gcn
        self.pair_flips = self.word_flips = None
        if "structure" in noises:
            self.pair_flips = Flips.drawn(noises["structure"], (copies, nodes, nodes), rng, symmetric=True)
        if "attributes" in noises:
            self.word_flips = Flips.drawn(noises["attributes"], (copies, nodes, words), rng, symmetric=False)
        self.current, self.movable = torch.zeros(nodes, nodes), torch.ones(nodes, nodes, dtype=torch.bool)

    def restrict(self, current, movable):
        self.current, self.movable = torch.from_numpy(current.astype(np.float32)), torch.from_numpy(movable)

    def log_probabilities(self, x, adjacency):
        x = x if self.word_flips is None else self.word_flips.of(x)
        adjacency = adjacency if self.pair_flips is None else self.pair_flips.of(adjacency)
        probabilities = weighted_logits(self.gcn, x, adjacency).softmax(-1)
        return (probabilities.mean(0) if probabilities.ndim == 3 else probabilities).clamp_min(1e-30).log()

    def forward(self, x, edge_index, edge_weight):
        weights = torch.zeros_like(self.current).index_put(tuple(edge_index), edge_weight, accumulate=True)
        return self.log_probabilities(x, torch.where(self.movable, weights, self.current))


def attack_structure(name, model, bits, labels, node, radii, seed):
    """Deletes edges with PRBCD or GRBCD and then adds some, at most as many as the radii say."""
    adjacency, x = bits.structure, torch.from_numpy(bits.attributes.astype(np.float32))
    proper = ~np.eye(len(adjacency), dtype=bool)
    for budget, movable in ((radii.delete, bits.structure == 1), (radii.add, (bits.structure == 0) & proper)):
        budget = min(budget, int(movable.sum()) // 2)
        if budget == 0:
            continue
        model.restrict(adjacency, movable)
        # Blocks are drawn with replacement; so many numbers hit nearly every pair.
        options = {"block_size": 2 * adjacency.size, "loss": "prob_margin", "log": False}
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            index, _ = ATTACKS_ON_STRUCTURE[name](model, **options).attack(
                x,
                dense_to_sparse(torch.from_numpy(adjacency))[0],
                torch.from_numpy(np.array(labels)),
                budget,
                idx_attack=torch.tensor([node]),
            )
        found = np.zeros_like(adjacency)
        found[tuple(index.numpy())] = 1
        adjacency = np.where(movable, found, adjacency)
    return Bits(adjacency, bits.attributes)


def greedy_flips(model, bits, label, node, radii):
    """Flips one attribute after another, always the one that the gradient of the margin says is best."""
    adjacency = torch.from_numpy(bits.structure.astype(np.float32))
    attributes, left = bits.attributes.copy(), np.array([radii.add, radii.delete])
    while (allowed := (attributes == bits.attributes) & (left[attributes] > 0)).any():
        x = torch.from_numpy(attributes.astype(np.float32)).requires_grad_()
        log_probabilities = model.log_probabilities(x, adjacency)[node]
        others = torch.cat([log_probabilities[:label], log_probabilities[label + 1 :]])
        (gradient,) = torch.autograd.grad(others.max() - log_probabilities[label], x)
        gain = gradient.numpy() * (1 - 2 * attributes)
        best = np.unravel_index(np.where(allowed, gain, -np.inf).argmax(), gain.shape)
        left[attributes[best]] -= 1
        attributes[best] = 1 - attributes[best]
    return Bits(bits.structure, attributes)


def random_flips(bits, node, radii, rng):
    """Flips attributes of the node, its neighbours and theirs; elsewhere too if there are too few."""
    reach = np.linalg.matrix_power(bits.structure + np.eye(len(bits.structure), dtype=int), 2)[node] > 0
    attributes = bits.attributes.copy()
    for value, budget in ((0, radii.add), (1, radii.delete)):
        rows, words = np.nonzero(bits.attributes == value)
        order = np.lexsort((rng.random(rows.size), ~reach[rows]))[:budget]
        attributes[rows[order], words[order]] = 1 - value
    return Bits(bits.structure, attributes)
