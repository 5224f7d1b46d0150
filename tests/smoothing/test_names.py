"""Names of inputs and classes travel with votes, and are no part of what is proved."""

import csv
import io
import zipfile

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import flipproof as fp
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from flipproof.smoothing.names import LONGEST_NAME, names_as_array

NOISE = fp.FlipNoise(0.05, 0.3)
FRAME = pd.DataFrame(
    {"job": ["cook", "smith", "cook", "smith"], "urgent": [True, False, False, True]}, index=["Ann", "Bob", "Cy", "Di"]
)


def votes_on_frame(frame=FRAME, **options):
    model = DecisionTreeClassifier(random_state=0).fit(FRAME[["urgent"]], ["yes", "no", "no", "yes"])
    return fp.vote(model, frame[["urgent"]], NOISE, 20, 200, progress=False, **options)


def named(**names):
    return fp.Votes.from_counts(selection=[[9, 1], [1, 9]], estimation=[[90, 10], [5, 95]], noise=NOISE, **names)


def test_rows_of_a_frame_and_labels_of_an_estimator_have_their_names():
    votes = votes_on_frame()
    assert votes.input_names == ("Ann", "Bob", "Cy", "Di")
    assert votes.class_names == ("no", "yes")


def test_targets_have_their_own_names():
    assert votes_on_frame(targets=[3, 1]).input_names == ("Di", "Bob")


def test_numbers_are_no_names():
    votes = votes_on_frame(FRAME.reset_index(drop=True))
    assert votes.input_names is None
    rows = np.eye(4, dtype=int)
    votes = fp.vote(LogisticRegression().fit(rows, [0, 1, 0, 1]), rows, NOISE, 5, 50, progress=False)
    assert (votes.input_names, votes.class_names) == (None, None)
    votes = fp.vote(LogisticRegression().fit(rows, [1, 2, 1, 2]), rows, NOISE, 5, 50, progress=False)
    assert votes.class_names == ("1", "2")


def test_scores_with_a_threshold_keep_the_names_of_classes():
    assert votes_on_frame(threshold=0.7).class_names == ("no", "yes")


def test_nodes_and_graphs_of_networkx_have_their_names():
    path = nx.path_graph(["a", "b", "c"])
    by_degree = fp.FunctionClassifier(lambda graphs: [np.zeros(graph.nodes, dtype=int) for graph in graphs], classes=2)
    votes = fp.vote(by_degree, fp.Graph.from_networkx(path), fp.FlipNoise(0.0, 0.2), 5, 50, targets=[2, 0])
    assert votes.input_names == ("c", "a")
    first, second = nx.path_graph(3, create_using=nx.Graph), nx.star_graph(3)
    first.name = "path"
    of_graphs = fp.FunctionClassifier(lambda union: np.zeros(union.graphs, dtype=int), classes=2)
    votes = fp.vote(of_graphs, [first, second], fp.FlipNoise(0.0, 0.2), 5, 50, progress=False)
    assert votes.input_names == ("path", "1")


def test_names_are_no_part_of_the_data():
    one, other = nx.path_graph(["a", "b", "c"]), nx.path_graph(3)
    assert fingerprint(fp.Graph.from_networkx(one)) == fingerprint(fp.Graph.from_networkx(other))
    assert votes_on_frame().run.identity == votes_on_frame(FRAME.reset_index(drop=True)).run.identity
    first, second = (fp.Graphs((fp.Graph.from_networkx(other),), names) for names in (None, ("it",)))
    assert fingerprint(first) == fingerprint(second)


def test_selected_and_merged_votes_keep_names():
    votes = votes_on_frame()
    assert votes.selected(np.array([2, 0])).input_names == ("Cy", "Ann")
    assert votes.with_more_samples(3).input_names == votes.input_names
    with_names = votes.merged(later())
    assert (with_names.input_names, with_names.class_names) == (votes.input_names, votes.class_names)


def later():
    model = DecisionTreeClassifier(random_state=0).fit(FRAME[["urgent"]], ["yes", "no", "no", "yes"])
    return fp.vote(model, FRAME[["urgent"]], NOISE, 0, range(200, 300), progress=False)


def test_names_survive_a_file(tmp_path):
    votes = named(input_names=["Zoë", ""], class_names=["ham & eggs", "<b>spam</b>"])
    votes.save(tmp_path / "votes.npz")
    again = fp.Votes.load(tmp_path / "votes.npz")
    assert (again.input_names, again.class_names) == (votes.input_names, votes.class_names)
    named().save(tmp_path / "plain.npz")
    plain = fp.Votes.load(tmp_path / "plain.npz")
    assert (plain.input_names, plain.class_names) == (None, None)
    with np.load(tmp_path / "plain.npz") as archive:
        assert "input_names" not in archive.files


def test_names_are_cleaned_when_they_are_given():
    votes = named(input_names=["two\nlines", "\x1b[2J" + "x" * 10_000], class_names=["\ud800", "b"])
    assert all(name.isprintable() and len(name) <= LONGEST_NAME for name in votes.input_names)
    assert votes.input_names[0] == "two lines"
    assert votes.class_names == (" ", "b")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"input_names": ["a"]}, "expected input_names to be 2 names, got 1"),
        ({"class_names": ["a", "b", "c"]}, "expected class_names to be 2 names, got 3"),
        ({"class_names": "ab"}, "expected class_names to be a list of texts"),
        ({"input_names": [1, 2]}, "expected input_names to be a list of texts, got one with 1"),
    ],
)
def test_wrong_names_are_refused(names, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        named(**names)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3),
        np.zeros((2, 2), dtype=np.uint8),
        np.frombuffer(b"a\nb", dtype=np.uint8),
        np.frombuffer(b"a\n\xff\n", dtype=np.uint8),
        names_as_array(("a",)),
        names_as_array(("a", "\x1b[2J")),
        names_as_array(("a", "x" * (LONGEST_NAME + 1))),
        names_as_array(("a", "\u202e")),
        names_as_array(("a", "b", "c")),
    ],
)
@pytest.mark.parametrize("name", ["input_names", "class_names"])
def test_hostile_names_in_a_file_are_refused(tmp_path, name, array):
    path = tmp_path / "votes.npz"
    named(input_names=["a", "b"], class_names=["a", "b"]).save(path)
    rewrite(path, name, array)
    with pytest.raises(fp.FileFormatError) as refused:
        fp.Votes.load(path)
    assert "\n" not in str(refused.value)


def rewrite(path, name, array):
    with zipfile.ZipFile(path) as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    text = io.BytesIO()
    np.lib.format.write_array(text, array)
    members[f"{name}.npy"] = text.getvalue()
    with zipfile.ZipFile(path, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)


def test_tables_have_the_names(tmp_path):
    certificates = fp.certify(named(input_names=["Ann", "Bob"], class_names=["no", "yes"]))
    columns = certificates.to_columns()
    assert columns["name"].tolist() == ["Ann", "Bob"]
    assert columns["label_name"].tolist() == ["no", "yes"]
    plain = fp.certify(named()).to_columns()
    assert set(columns) - set(plain) == {"name", "label_name"}
    certificates.to_csv(tmp_path / "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["name"], row["label_name"]) for row in rows] == [("Ann", "no"), ("Bob", "yes")]
    certificates.save(tmp_path / "certificates.json")
    assert fp.verify(tmp_path / "certificates.json", arithmetic_only=True).confirmed
