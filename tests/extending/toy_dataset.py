"""A dataset of one's own: a card with what is known about it, and a function that makes the arrays."""

import numpy as np

from flipproof.datasets import Card, TableDataset
from flipproof.datasets.cards.catalogue import StoredForm, register_card


def coins(contents):
    """Rows of nine coins; the label is what most of them show."""
    values = np.random.default_rng(5).integers(0, 2, (120, 9))
    return TableDataset("toy-coins", values, (2,) * 9, (values.sum(axis=1) > 4).astype(int), class_names=("no", "yes"))


CARD = Card(
    name="toy-coins", kind="tables", what="Nine coins in each of 120 rows.", inputs=120, classes=2, nodes=None,
    edges=None, features=9, ones=None, binary=None, licence="none needed", origin="drawn at random", citation="nobody",
    forms=(StoredForm((), coins),),
)  # fmt: skip


def register():
    """The one registration."""
    register_card(CARD)
