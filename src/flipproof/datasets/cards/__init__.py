"""The cards, which describe datasets before they are loaded, and their catalogue. To add a dataset, add a card here."""

from flipproof.datasets.cards.catalogue import register_card
from flipproof.datasets.cards.graph_cards import GRAPH_CARDS
from flipproof.datasets.cards.other_cards import OTHER_CARDS

for _card in (*GRAPH_CARDS, *OTHER_CARDS):
    register_card(_card)
