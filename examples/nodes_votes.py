"""A graph neural network in PyTorch Geometric: how many edges must an attacker delete to turn a node's label?

Usage: python examples/nodes_votes.py [SAMPLES]. Needs the extra "graphs": pip install "flipproof[graphs]".
"""

import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph
from torch_geometric.nn import GCNConv

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
noise = fp.FlipNoise(p_plus=0.0, p_minus=0.4)  # edges disappear, none appear


class GCN(torch.nn.Module):
    """Two convolutions."""

    def __init__(self, attributes: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(attributes, 32), GCNConv(32, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


# Digits as nodes, each joined to the five that look most alike, pixels as attributes.
digits = load_digits()
attributes, labels = (digits.data[:600] > 7).astype(np.float32), digits.target[:600]
neighbours = kneighbors_graph(attributes, 5)
graph = fp.Graph.from_scipy(neighbours.maximum(neighbours.T), attributes, noisy="structure")

torch.manual_seed(0)
model, clean, train = GCN(64, 10), graph.clean(), np.arange(200)
x, edge_index = torch.tensor(clean.attributes), torch.tensor(clean.edge_index)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(100):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x, edge_index)[train], torch.tensor(labels[train])).backward()
    optimizer.step()

classifier = fp.NodeClassifier(model, classes=10, hops=2)
votes = fp.vote(classifier, graph, noise, n_select=samples // 10, n_estimate=samples, targets=range(200, 600))

certificates = fp.certify(votes, alpha=0.01)
radii = certificates.max_radius("delete")
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels[200:]):.3f}")
print(f"edges that may be deleted anywhere: mean {radii.mean():.2f}, largest {radii.max()}")
