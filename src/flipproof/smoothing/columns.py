"""Certificates as columns: one per fact, with one row per input. Tables and CSV files are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from flipproof.extras import require
from flipproof.theory.certificate import ANY

if TYPE_CHECKING:
    from flipproof.smoothing.certificates import Certificates
    from flipproof.smoothing.votes import Votes

NAME, LABEL_NAME = "name", "label_name"


def columns_of(certificates: Certificates) -> dict[str, Any]:
    """All columns. Those with names are only there if the votes know names."""
    names = name_columns(certificates.votes, certificates.label)
    return {
        "input": certificates.votes.ids,
        **{name: column for name, column in names.items() if name == NAME},
        "label": certificates.label,
        **{name: column for name, column in names.items() if name == LABEL_NAME},
        "abstained": certificates.abstained,
        "reason": certificates.reason,
        "p_lower": certificates.p_lower,
        "p_upper": certificates.p_upper,
        "runner_up": certificates.bounds.runner_up,
        f"max_{ANY}": certificates.max_l0_radius(),
        **{f"max_{name}": certificates.max_radius(name) for name in certificates.axis_names},
    }


def frame_of(columns: Mapping[str, Any]) -> Any:
    """The columns as a pandas `DataFrame`, indexed by name, or by number where there are no names."""
    frame = require("pandas").DataFrame(columns)
    return frame.set_index(NAME if NAME in columns else "input")


def name_columns(votes: Votes, label: Any) -> dict[str, Any]:
    """The names of the inputs and of their predicted classes, as far as votes know them."""
    columns = {}
    if votes.input_names is not None:
        columns[NAME] = np.array(votes.input_names, dtype=object)
    if votes.class_names is not None:
        columns[LABEL_NAME] = np.array(votes.class_names, dtype=object)[label]
    return columns
