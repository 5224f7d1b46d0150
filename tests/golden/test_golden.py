"""What was certified once stays certified: the built-in votes, written by format version 1, and their radii."""

import csv
from importlib.resources import as_file, files
from pathlib import Path

import flipproof as fp

GOLDEN = Path(__file__).parent / "demo_certificates.csv"


def certify_demo():
    with as_file(files("flipproof.cli") / "demo_votes.npz") as path:
        return fp.certify(fp.Votes.load(path), alpha=0.01)


def test_labels_and_radii_of_the_built_in_votes():
    certificates = certify_demo()
    with open(GOLDEN, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["label"]) for row in rows] == certificates.label.tolist()
    assert [int(row["max_add"]) for row in rows] == certificates.max_radius("add").tolist()
    assert [int(row["max_delete"]) for row in rows] == certificates.max_radius("delete").tolist()
