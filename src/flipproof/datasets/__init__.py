"""Datasets: files to arrays, with checksums and cards. `load("cora_ml")`, `load("mine.npz")`, `from_pyg(data)`.

`cards` describe datasets, `fetching` finds or downloads their files, `readers` read them, and `kinds` define the
resulting values. Other packages take these values from here. This package imports `noise` and everything below it.
"""

from flipproof.datasets.cards.catalogue import Card, card, cards, names
from flipproof.datasets.fetching.data_file import MissingDataError
from flipproof.datasets.kinds.frame_dataset import FrameDataset
from flipproof.datasets.kinds.graph_dataset import GraphDataset
from flipproof.datasets.kinds.image_dataset import ImageDataset
from flipproof.datasets.kinds.node_dataset import NodeDataset
from flipproof.datasets.kinds.table_dataset import TableDataset
from flipproof.datasets.kinds.text_dataset import TextDataset, Vocabulary
from flipproof.datasets.loading import load
from flipproof.datasets.user_graphs import from_networkx, from_pyg, from_scipy

PUBLIC = (
    "cards", "cards.catalogue", "fetching.data_file", "kinds.image_dataset", "kinds.labels", "loading",
)  # fmt: skip
"""The modules that other packages may import."""

__all__ = [
    "Card",
    "FrameDataset",
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
