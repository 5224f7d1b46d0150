"""Fitted estimators as arrays, and what they say about rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from flipproof.models.fitted.estimators import classifier_of_arrays
from flipproof.models.fitted.forest_rows import ForestRows
from flipproof.models.fitted.linear_rows import LinearRows
from flipproof.models.weights import arrays_bytes, read_arrays
from fuzz.target import Target
from fuzz.targets.weights import in_safetensors

_MOST_COLUMNS = 1_000
_WORDS = (
    b"F32",
    b"F64",
    b"I64",
    b"U8",
    b"BOOL",
    b"F16",
    b"BF16",
    b"coefficients",
    b"intercepts",
    b"starts",
    b"thresholds",
)


def _seeds() -> Iterator[bytes]:
    yield arrays_bytes(LinearRows([[1.0, -1.0]], [0.5]).arrays())
    yield arrays_bytes(LinearRows([[1.0, -1.0], [0.0, 2.0], [3.0, 0.0]], [0.5, 0.0, -1.0]).arrays())
    shares = [[0, 0], [0.9, 0.1], [0.2, 0.8]]
    yield arrays_bytes(ForestRows([0, 3], [1, 1, 2], [2, 1, 2], [1, 0, 0], [0.5, 0, 0], shares, [2]).arrays())
    twice = ForestRows(
        [0, 3, 6], [1, 1, 2, 4, 4, 5], [2, 1, 2, 5, 4, 5], [1, 0, 0, 0, 0, 0], [0.5, 0, 0, 1.5, 0, 0], shares * 2, [2]
    )
    yield arrays_bytes(twice.arrays())


def _read(content: bytes) -> None:
    classifier = classifier_of_arrays(read_arrays(content, "file"), "file")
    if classifier.columns <= _MOST_COLUMNS:
        rows = np.ones((2, classifier.columns), np.float32)
        labels = np.concatenate([classifier(rows), classifier(sp.csr_array(rows))])
        if not ((labels >= 0) & (labels < classifier.classes)).all():
            raise AssertionError(f"labels {labels} of {classifier.classes} classes")


TARGET = Target("fitted", _seeds, _read, in_safetensors, _WORDS)
