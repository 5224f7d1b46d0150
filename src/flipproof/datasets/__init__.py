"""Datasets: files to arrays, with checksums and cards. `load("cora_ml")`, `load("mine.npz")`, `from_pyg(data)`."""

from flipproof.datasets.catalogue import card, cards, names
from flipproof.datasets.data_file import MissingDataError
from flipproof.datasets.dataset_card import Card
from flipproof.datasets.graph_dataset import GraphDataset
from flipproof.datasets.image_dataset import ImageDataset
from flipproof.datasets.loading import load
from flipproof.datasets.node_dataset import NodeDataset
from flipproof.datasets.own import from_networkx, from_pyg, from_scipy
from flipproof.datasets.text_dataset import TextDataset

__all__ = [
    "Card",
    "GraphDataset",
    "ImageDataset",
    "MissingDataError",
    "NodeDataset",
    "TextDataset",
    "card",
    "cards",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "load",
    "names",
]
