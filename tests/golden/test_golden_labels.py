"""The same seed gives the same noise and the same labels for ever, or another version.

When one of these fails, votes of before can't be extended or drawn again by the changed program: raise
`STREAM_VERSION` (noise) or `FUSED_VERSION` (labels), and run `python tests/golden/golden_cases.py`.
"""

import json

import pytest
from golden_cases import (
    LABELS_FILE,
    NETWORKS,
    NOISE_FILE,
    ROWS,
    SPACES,
    VERSIONS,
    fused_labels,
    noisy_copies,
    row_labels,
    smallest_gap,
)


def pinned(file):
    return json.loads(file.read_text())[str(VERSIONS[file])]


def test_every_case_is_pinned_for_the_present_version():
    assert set(pinned(NOISE_FILE)) == set(SPACES)
    assert set(pinned(LABELS_FILE)) == {*NETWORKS, *ROWS}


@pytest.mark.parametrize("name", SPACES)
def test_noisy_copies(name):
    assert noisy_copies(name) == pinned(NOISE_FILE)[name]


def test_all_copies_differ():
    """A hash of nothing would be pinned for ever, too."""
    assert len(set(pinned(NOISE_FILE).values())) == len(SPACES)


@pytest.mark.parametrize("name", NETWORKS)
def test_labels_of_the_fused_engine(name):
    assert fused_labels(name) == pinned(LABELS_FILE)[name]
    assert smallest_gap(name) > 0.01  # no processor rounds so much otherwise


@pytest.mark.parametrize("name", ROWS)
def test_labels_of_rows(name):
    assert row_labels(name) == pinned(LABELS_FILE)[name]


@pytest.mark.parametrize("name", [*NETWORKS, *ROWS])
def test_labels_depend_on_the_noise(name):
    labels = pinned(LABELS_FILE)[name]
    assert len(set(labels)) >= 3
    assert len(set("".join(labels))) == 3
