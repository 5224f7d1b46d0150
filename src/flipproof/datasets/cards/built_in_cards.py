"""The cards of the datasets that need no download."""

from __future__ import annotations

from flipproof.datasets.cards.dataset_card import Card, Form
from flipproof.datasets.readers.built_in import digits, digits_graph, digits_grey

_BINARY = "pixel > 7 of 16"
_LICENCE = "CC BY 4.0 (UCI); comes with scikit-learn (BSD)"
_CITATION = "E. Alpaydin, C. Kaynak: Optical recognition of handwritten digits, UCI 1998"

BUILT_IN_CARDS = (
    Card(
        name="digits",
        kind="images",
        what="Handwritten digits of 8 x 8 black and white pixels: 1437 to learn from, 360 to test.",
        inputs=1797,
        classes=10,
        nodes=None,
        edges=None,
        features=64,
        ones=37_151,
        binary=_BINARY,
        licence=_LICENCE,
        origin="scikit-learn's load_digits",
        citation=_CITATION,
        forms=(Form((), digits),),
    ),
    Card(
        name="digits-grey",
        kind="images",
        what="Handwritten digits of 8 x 8 pixels with 17 grey levels: 1437 to learn from, 360 to test.",
        inputs=1797,
        classes=10,
        nodes=None,
        edges=None,
        features=64,
        ones=None,
        binary=None,
        licence=_LICENCE,
        origin="scikit-learn's load_digits",
        citation=_CITATION,
        forms=(Form((), digits_grey),),
    ),
    Card(
        name="digits-graph",
        kind="nodes",
        what="Handwritten digits, each joined to the five that look most like it, with black pixels as attributes.",
        inputs=1797,
        classes=10,
        nodes=1797,
        edges=6_309,
        features=64,
        ones=37_151,
        binary=_BINARY,
        licence=_LICENCE,
        origin="scikit-learn's load_digits; neighbours by squared distance of grey levels, ties by number",
        citation=_CITATION,
        forms=(Form((), digits_graph),),
    ),
)
