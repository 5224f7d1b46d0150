"""A model of your own in PyTorch Geometric: how many edges must an attacker delete to turn a node's label?

Usage: python examples/nodes_votes.py [SAMPLES]. Needs the extra "graphs": pip install "flipproof[graphs]".
"""

import sys

import torch
from torch_geometric.nn import SAGEConv

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
noise = fp.FlipNoise(p_plus=0.0, p_minus=0.4)  # edges disappear, none appear


class Net(torch.nn.Module):
    """Two layers of GraphSAGE."""

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(features, 32), SAGEConv(32, classes)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)


# Digits as nodes, each joined to the five that look most alike, pixels as attributes.
data = fp.datasets.load("digits-graph")
graph, split = data.graph("structure"), fp.Split.per_class(data.labels, seed=0)

torch.manual_seed(0)
classifier = fp.NodeClassifier(Net(data.features, data.classes), classes=data.classes, hops=2)
fp.train(classifier, graph, data.labels, split, noise, fp.TrainingSettings(learning_rate=0.01))

votes = fp.vote(classifier, graph, noise, n_select=samples // 10, n_estimate=samples, targets=split.test[:400])
certificates = fp.certify(votes, alpha=0.01)
radii, labels = certificates.max_radius("delete"), data.labels[split.test[:400]]
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(labels):.3f}")
print(f"edges that may be deleted anywhere: mean {radii.mean():.2f}, largest {radii.max()}")
