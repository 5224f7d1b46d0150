"""What was certified once stays certified: votes on digits, written by format version 1, and their radii."""

import csv
from pathlib import Path

import flipproof as fp

HERE = Path(__file__).parent


def test_labels_and_radii_of_old_votes():
    certificates = fp.certify(fp.Votes.load(HERE / "digits_votes.npz"), alpha=0.01)
    with open(HERE / "digits_certificates.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["label"]) for row in rows] == certificates.label.tolist()
    assert [int(row["max_add"]) for row in rows] == certificates.max_radius("add").tolist()
    assert [int(row["max_delete"]) for row in rows] == certificates.max_radius("delete").tolist()
