"""The cards of datasets that are tables of categories."""

from __future__ import annotations

from flipproof.datasets.cards.dataset_card import Card, Form
from flipproof.datasets.readers.built_in_tables import breast_cancer

TABLE_CARDS = (
    Card(
        name="breast-cancer",
        kind="tables",
        what="Thirty measurements of tumours, each cut into two to four categories: 212 malignant, 357 benign.",
        inputs=569,
        classes=2,
        nodes=None,
        edges=None,
        features=30,
        ones=None,
        binary=None,
        licence="CC BY 4.0 (UCI); comes with scikit-learn (BSD)",
        origin="scikit-learn's load_breast_cancer; columns cut at quantiles into 2, 3, 4, 2, 3, 4, ... categories",
        citation="W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast cancer Wisconsin (diagnostic), UCI 1993",
        forms=(Form((), breast_cancer),),
    ),
)
