"""Datasets: files to arrays, with checksums and cards. `load("cora_ml")`, `load("mine.npz")`, `from_pyg(data)`."""

from flipproof.datasets.catalogue import card, cards, names
from flipproof.datasets.data_file import MissingDataError
from flipproof.datasets.dataset_card import Card
from flipproof.datasets.graph_dataset import GraphDataset
from flipproof.datasets.image_dataset import ImageDataset
from flipproof.datasets.loading import load
from flipproof.datasets.node_dataset import NodeDataset
from flipproof.datasets.own import from_networkx, from_pyg, from_scipy
from flipproof.datasets.table_dataset import TableDataset
from flipproof.datasets.text_dataset import TextDataset
from flipproof.datasets.vocabulary import Vocabulary

__all__ = [
    "Card",
    "GraphDataset",
    "ImageDataset",
    "MissingDataError",
    "NodeDataset",
    "TableDataset",
    "TextDataset",
    "Vocabulary",
    "card",
    "cards",
    "from_networkx",
    "from_pyg",
    "from_scipy",
    "load",
    "names",
]
