"""The numbers of inputs stay with their votes, claims, tables and files."""

import csv
import dataclasses
import json
import zipfile

import numpy as np
import pytest

import flipproof as fp
from flipproof.smoothing.vote import vote_again

NOISE = fp.FlipNoise(0.05, 0.1)
ROWS = np.eye(8, dtype=int)
COUNTS = [[0, 100], [90, 10], [100, 0]]


def first_is_one(rows):
    return rows[:, 0]


def voted(targets=None):
    return fp.vote(fp.FunctionClassifier(first_is_one, classes=2), ROWS, NOISE, 20, 200, targets=targets)


def counted(ids=None, inputs=None):
    return fp.Votes.from_counts(selection=COUNTS, estimation=COUNTS, noise=NOISE, ids=ids, inputs=inputs)


def test_all_inputs_are_numbered_from_zero():
    votes = voted()
    assert (votes.ids.tolist(), votes.ids.dtype, votes.in_order) == (list(range(8)), np.int64, True)
    with pytest.raises(ValueError, match="read-only"):
        votes.ids[0] = 3


def test_rows_and_ids_are_in_the_order_of_the_targets():
    everyone, some = voted(), voted([5, 0, 3])
    assert (some.ids.tolist(), some.in_order) == ([5, 0, 3], False)
    assert some.estimation.tolist() == everyone.estimation[[5, 0, 3]].tolist()
    mask = np.isin(np.arange(8), [5, 0, 3])
    assert voted(mask).ids.tolist() == [0, 3, 5]


def test_votes_on_targets_can_be_drawn_again():
    votes, classifier = voted([5, 0, 3]), fp.FunctionClassifier(first_is_one, classes=2)
    again = vote_again(
        classifier, ROWS, votes, {"select": (), "estimate": votes.vote_counts.estimate.pieces}, progress=False
    )
    assert again.estimate.counts.tolist() == votes.estimation.tolist()
    unknown = dataclasses.replace(votes, ids=None)  # as in a file of version 1
    with pytest.raises(
        fp.InvalidInputError, match="expected the model and the data of the votes, got a difference: targets"
    ):
        vote_again(
            classifier, ROWS, unknown, {"select": (), "estimate": votes.vote_counts.estimate.pieces}, progress=False
        )


def test_nodes_keep_their_numbers():
    graph = fp.Graph.from_edge_index([[0, 1], [1, 0]], nodes=4)
    degrees = fp.FunctionClassifier(
        lambda graphs: np.array([np.bincount(each.edge_index[0], minlength=each.nodes) > 0 for each in graphs]) + 0, 2
    )
    everyone = fp.vote(degrees, graph, NOISE, 5, 50)
    some = fp.vote(degrees, graph, NOISE, 5, 50, targets=[3, 1])
    assert some.ids.tolist() == [3, 1]
    assert some.estimation.tolist() == everyone.estimation[[3, 1]].tolist()


def test_what_is_selected_keeps_its_ids():
    votes = voted([5, 0, 3])
    assert votes.selected([2, 0]).ids.tolist() == [3, 5]
    certificates = fp.certify(votes)
    assert certificates.selected([2, 0]).votes.ids.tolist() == [3, 5]
    assert certificates.selected([2, 0]).selected([1]).votes.ids.tolist() == [5]


def test_claims_and_tables_speak_of_ids(tmp_path):
    certificates = fp.certify(counted(ids=[17, 4, 9]))
    assert [certificates.claim(row).input for row in range(3)] == [17, 4, 9]
    assert [certificates.claim(row, along).input for row, along in ((0, "any"), (2, "delete"))] == [17, 9]
    assert certificates.to_columns()["input"].tolist() == [17, 4, 9]
    certificates.to_csv(tmp_path / "certificates.csv")
    with open(tmp_path / "certificates.csv", newline="") as stream:
        assert [row["input"] for row in csv.DictReader(stream)] == ["17", "4", "9"]


def test_ids_survive_a_file(tmp_path):
    votes = voted([5, 0, 3])
    votes.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").ids.tolist() == [5, 0, 3]
    with zipfile.ZipFile(tmp_path / "votes.npz") as archive:
        assert json.loads(archive.read("metadata.json"))["version"] == 2
        assert "ids.npy" in archive.namelist()


def rewritten(path, version, without=()):
    """The same file, said to be of another version and without some of its members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name not in without}
    description = json.loads(members["metadata.json"]) | {"version": version}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (members | {"metadata.json": json.dumps(description).encode()}).items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("targets", [None, [5, 0, 3]])
def test_files_of_version_1_number_their_inputs_from_zero(tmp_path, targets):
    votes = voted(targets)
    votes.save(tmp_path / "votes.npz")
    loaded = fp.Votes.load(rewritten(tmp_path / "votes.npz", 1, without=["ids.npy"]))
    assert loaded.ids.tolist() == list(range(len(votes)))
    assert loaded.estimation.tolist() == votes.estimation.tolist()


def test_other_versions_and_missing_ids_are_refused(tmp_path):
    path = tmp_path / "votes.npz"
    counted().save(path)
    with pytest.raises(fp.FileFormatError, match="it has version 3, this flipproof reads 2"):
        fp.Votes.load(rewritten(path, 3))
    with pytest.raises(fp.FileFormatError, match="it has no array ids"):
        fp.Votes.load(rewritten(path, 2, without=["ids.npy"]))


def test_only_votes_on_the_same_inputs_are_merged():
    classifier = fp.FunctionClassifier(first_is_one, classes=2)
    first = fp.vote(classifier, ROWS, NOISE, range(10), range(100), targets=[5, 0])
    rest = fp.vote(classifier, ROWS, NOISE, range(10, 20), range(100, 200), targets=[5, 0])
    assert first.merged(rest).ids.tolist() == [5, 0]
    assert first.merged(rest).estimation.tolist() == voted([5, 0]).estimation.tolist()
    with pytest.raises(fp.InvalidInputError, match="expected votes on inputs of the same ids, got other ids"):
        first.merged(dataclasses.replace(rest, ids=np.array([0, 5])))


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([1, 2], r"expected ids to be 3 integers, got int64 of shape \(2,\)"),
        ([1.0, 2.0, 3.0], "expected ids to be 3 integers, got float64"),
        ([True, False, True], "expected ids to be 3 integers, got bool"),
        ([-1, 0, 1], r"expected ids from 0 to 2\*\*53 - 1, got -1 to 1"),
        ([0, 1, 2**53], r"expected ids from 0 to 2\*\*53 - 1"),
        ("abc", "expected ids to be 3 integers"),
    ],
)
def test_other_ids_are_refused(ids, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        counted(ids=ids)
