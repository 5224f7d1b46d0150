"""All datasets that have a card, by name."""

from __future__ import annotations

from typing import Any

from flipproof.datasets.cards.dataset_card import Card
from flipproof.datasets.cards.graph_cards import GRAPH_CARDS
from flipproof.datasets.cards.other_cards import BUILT_IN_CARDS, OTHER_CARDS, TABLE_CARDS
from flipproof.errors import not_among

_CARDS = {card.name: card for card in (*GRAPH_CARDS, *OTHER_CARDS, *BUILT_IN_CARDS, *TABLE_CARDS)}


def register_card(card: Card) -> None:
    """Registers a dataset under the name on its card."""
    _CARDS[card.name] = card


def names() -> tuple[str, ...]:
    """The names that `load` knows.

    Example:
        >>> names()[:3]
        ('cora_ml', 'citeseer', 'pubmed')
    """
    return tuple(_CARDS)


def cards() -> tuple[Card, ...]:
    """The cards of all datasets."""
    return tuple(_CARDS.values())


def card(name: Any) -> Card:
    """The card of a dataset.

    Example:
        >>> card("cora_ml").edges
        7981
    """
    if isinstance(name, str) and name in _CARDS:
        return _CARDS[name]
    raise not_among("", _CARDS, name)
