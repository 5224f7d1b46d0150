"""`in_words` knows what an input is: from the votes alone, or from the data; votes from elsewhere stay neutral."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import flipproof as fp

BITS = np.eye(4, 12, dtype=int)
DELETED, FLIPPED = fp.FlipNoise(0.0, 0.6), fp.FlipNoise(0.02, 0.6)
TEXTS = ["a b c d e f", "g h i j k"]
FRAME = pd.DataFrame({"job": ["cook", "smith"] * 3, "home": ["rent", "own", "own"] * 2})


def constant(inputs, noise, number, **options):
    """Certificates of a classifier that always gives label 0."""
    function = fp.FunctionClassifier(lambda batch: np.zeros(number(batch), dtype=int), classes=2)
    return fp.certify(fp.vote(function, inputs, noise, 50, 2_000, progress=False, **options))


def of_nodes(graph, noise):
    function = fp.FunctionClassifier(lambda copies: [np.zeros(copy.nodes, dtype=int) for copy in copies], classes=2)
    return fp.certify(fp.vote(function, graph, noise, 50, 2_000, progress=False))


def graph(**more):
    return fp.Graph.from_networkx(nx.path_graph(6), **more)


JOINT = fp.JointNoise(structure=DELETED, attributes=DELETED)
ATTRIBUTES = np.eye(6, dtype=int)
CASES = {
    "rows": lambda: (constant(BITS, FLIPPED, len), "row"),
    "sparse rows": lambda: (constant(sp.csr_array(BITS), FLIPPED, lambda batch: batch.shape[0]), "row"),
    "nodes by edges": lambda: (of_nodes(graph(), DELETED), "node", "edges"),
    "nodes by both": lambda: (of_nodes(graph(attributes=ATTRIBUTES), JOINT), "node", "edge", "attribute"),
    "nodes by attributes": lambda: (
        of_nodes(graph(attributes=ATTRIBUTES, noisy="attributes"), DELETED), "node", "attribute", "the edges alone"
    ),
    "graphs": lambda: (constant(fp.Graphs((graph(), graph())), DELETED, lambda union: union.graphs), "graph", "edges"),
    "texts": lambda: (constant(TEXTS, DELETED, len), "text", "inserts, deletes or replaces", "words"),
    "masked texts": lambda: (
        constant(fp.Texts(TEXTS, mask="#"), DELETED, len), "text", "replaces", "words", "in place"
    ),
    "masked tokens": lambda: (
        constant(fp.Tokens([[1, 2, 3, 4, 5, 6]], mask=9), DELETED, len), "sequence", "replaces", "tokens", "in place"
    ),
    "closed tokens": lambda: (
        constant(fp.Tokens([[1, 2, 3]], padding=9, gaps="closed"), DELETED, len), "sequence", "inserts", "tokens"
    ),
    "table": lambda: (constant(fp.Table([[0, 1, 2]], [3, 3, 3]), fp.FlipNoise(0.4, 0.4, 3), len), "row", "cells"),
    "frame": lambda: (
        constant(FRAME, fp.FlipNoise(0.4, 0.4), len), "row", "cells to another known value of the column",
        "the set of values that occur in each column alone",
    ),
    "images": lambda: (
        constant(fp.Images(np.zeros((2, 5, 5), dtype=np.uint8), 2), fp.FlipNoise(0.3, 0.3), len), "image", "pixel value"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_votes_know_what_an_input_is(name, tmp_path):
    certificates, unit, *words = CASES[name]()
    sentence = fp.in_words(certificates, 0)
    assert sentence.startswith("No attacker who")
    assert f"can change the prediction for this {unit} from 0 to 1." in sentence
    assert all(word in sentence or word.removesuffix("s") in sentence for word in words), sentence
    certificates.votes.save(tmp_path / "votes.npz")
    assert fp.in_words(fp.certify(fp.Votes.load(tmp_path / "votes.npz")), 0) == sentence


def test_arrays_with_three_axes_are_images_if_the_data_say_so():
    values = np.zeros((2, 4, 4), dtype=int)
    assert "for this image" in fp.in_words(constant(values, FLIPPED, len), 0, inputs=values)


def test_votes_from_elsewhere_have_neutral_words():
    counts = [[990, 10]]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=DELETED)
    sentence = fp.in_words(fp.certify(votes), 0)
    assert "entries" in sentence or "entry" in sentence
    assert "for this input from 0 to 1" in sentence


def test_what_the_caller_says_counts():
    certificates = CASES["texts"]()[0]
    sentence = fp.in_words(certificates, 0, unit="message", entries="tokens", class_names=["ham", "spam"])
    assert "token " in sentence
    assert sentence.endswith("this message from ham to spam.")


def test_names_of_classes_are_those_of_the_votes():
    counts = [[990, 10]]
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=DELETED, class_names=["ham", "spam"])
    assert fp.in_words(fp.certify(votes), 0).endswith("from ham to spam.")


def test_a_kind_that_is_none_is_neutral():
    certificates = CASES["rows"]()[0]
    votes = certificates.votes
    for kind in ("Martians", 3, None, ["Graph"]):
        run = fp.Run.from_record(votes.run.to_record() | {"space": {"kind": kind, "parts": 5}})
        other = fp.Votes(votes.selection, votes.estimation, votes.noise, votes.n_select, votes.n_estimate, run)
        assert "this input" in fp.in_words(fp.certify(other), 0)


def test_a_graph_without_parts_is_neutral():
    votes = CASES["nodes by edges"]()[0].votes
    run = fp.Run.from_record(votes.run.to_record() | {"space": {"kind": "Graph", "parts": 5}})
    other = fp.Votes(
        votes.selection, votes.estimation, votes.noise, votes.n_select, votes.n_estimate, run, scope=votes.scope
    )
    assert "entr" in fp.in_words(fp.certify(other), 0)


def test_a_report_has_the_names_of_the_votes(tmp_path):
    counts = [[990, 10], [10, 990]]
    votes = fp.Votes.from_counts(
        selection=counts, estimation=counts, noise=DELETED, class_names=["ham", "spam"], input_names=["Ann", "Bob"]
    )
    fp.write_report(tmp_path / "page.html", fp.certify(votes))
    page = (tmp_path / "page.html").read_text()
    assert all(name in page for name in ("ham", "spam", "Ann", "Bob"))
