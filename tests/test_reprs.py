"""What people see of a value in a terminal is one short line: what it is and how large, and no arrays."""

import inspect

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import flipproof as fp
from flipproof.base.short_repr import LONGEST_REPR

NOISE = fp.FlipNoise(0.05, 0.3)
MANY_PARTS = fp.JointNoise(**{f"a_part_with_a_long_name_{i}": fp.FlipNoise(0.1, 1 / 3) for i in range(9)})
BITS = np.random.default_rng(0).integers(0, 2, (300, 40))


def of_torch(make):
    pytest.importorskip("torch")
    return make()


def a_graph(**more):
    edges = list(nx.gnp_random_graph(80, 0.1, seed=0).edges)
    both = np.array(edges + [edge[::-1] for edge in edges]).T
    return fp.Graph.from_edge_index(both, nodes=80, attributes=np.eye(80, dtype=int), **more)


def an_estimator():
    steps = [FunctionTransformer() for _ in range(9)]
    return make_pipeline(*steps, LogisticRegression(max_iter=5000)).fit(BITS, BITS[:, 0])


def votes(noise=NOISE, inputs=300):
    counts = np.full((inputs, 5), 2)
    names = [f"a name that is long and has a number, {i}" for i in range(inputs)]
    return fp.Votes.from_counts(selection=counts, estimation=counts * 9, noise=noise, input_names=names)


def drawn():
    return fp.vote(an_estimator(), BITS, NOISE, 5, 50, progress=False)


def a_check(folder):
    fp.certify(drawn()).save(folder / "certificates.json")
    return fp.verify(folder / "certificates.json")


PUBLIC = {
    "AblationNoise": lambda: fp.AblationNoise(10_000, 300),
    "APPNP": lambda: of_torch(lambda: fp.APPNP(1433, 7)),
    "Certificates": lambda: fp.certify(votes()),
    "CNN": lambda: of_torch(lambda: fp.CNN((28, 28), 10)),
    "DenseRows": lambda: fp.DenseRows(BITS),
    "FlipNoise": lambda: fp.FlipNoise(1 / 3, 0.1234567890123456, 256),
    "FunctionClassifier": lambda: fp.FunctionClassifier(lambda rows: rows[:, 0], 2),
    "GAT": lambda: of_torch(lambda: fp.GAT(1433, 7)),
    "GaussianNoise": lambda: fp.GaussianNoise(0.25),
    "GCN": lambda: of_torch(lambda: fp.GCN(1433, 7)),
    "GIN": lambda: of_torch(lambda: fp.GIN(7, 2)),
    "Graph": a_graph,
    "GraphClassifier": lambda: of_torch(lambda: fp.GraphClassifier(fp.GIN(80, 2), 2)),
    "Graphs": lambda: fp.Graphs(tuple(a_graph() for _ in range(30))),
    "Images": lambda: fp.Images(np.zeros((20, 28, 28), dtype=np.uint8)),
    "JointNoise": lambda: fp.JointNoise(structure=NOISE, attributes=NOISE),
    "NodeClassifier": lambda: of_torch(lambda: fp.NodeClassifier(fp.GCN(80, 7), 7)),
    "Radii": lambda: fp.Radii(add=1, delete=2),
    "RealRows": lambda: fp.RealRows(BITS / 3),
    "Regions": lambda: fp.regions(NOISE, fp.Radii(30, 40)),
    "Run": lambda: drawn().run,
    "SklearnClassifier": lambda: fp.SklearnClassifier(an_estimator()),
    "SparseRows": lambda: fp.SparseRows(sp.csr_array(BITS)),
    "Split": lambda: fp.Split(np.arange(100), np.arange(100, 200), np.arange(200, 300)),
    "Table": lambda: fp.Table.from_pandas(pd.DataFrame(BITS).astype(bool).rename(columns=str)),
    "Texts": lambda: fp.Texts(["a text with words " * 30] * 40, mask="[MASK]"),
    "Tokens": lambda: fp.Tokens(BITS + 1, padding=0, mask=9),
    "TorchClassifier": lambda: of_torch(lambda: fp.TorchClassifier(fp.CNN((8, 8), 2), 2)),
    "TrainingSettings": lambda: of_torch(fp.TrainingSettings),
    "Votes": votes,
    "WordMean": lambda: of_torch(lambda: fp.WordMean(10_000, 2)),
}
OTHERS = {
    "votes under many parts": lambda: votes(MANY_PARTS),
    "votes of a run": drawn,
    "certificates under many parts": lambda: fp.certify(votes(MANY_PARTS, inputs=2)),
    "no votes": lambda: votes(inputs=0),
    "bounds": lambda: fp.certify(votes()).bounds,
    "bounded inputs": lambda: fp.certify(votes()).bounded,
    "a scope": lambda: drawn().scope,
    "portions": lambda: drawn().vote_counts,
    "counts": lambda: votes().estimation_counts,
    "a claim": lambda: fp.certify(drawn()).claim(0),
    "a promise": lambda: fp.certify(votes()).promise,
    "a directed graph": lambda: a_graph(directed=True),
    "edges": lambda: a_graph().edges,
    "a noisy graph": lambda: a_graph().clean(),
    "noisy graphs": lambda: fp.Graphs((a_graph(), a_graph())).clean(),
    "edge features": lambda: a_graph(edge_features=lambda source, target: source + target).edge_features,
    "proofs": lambda: fp.baselines.ablation.certify(votes(fp.AblationNoise(100, 10))),
    "proofs of Lee": lambda: fp.baselines.lee.certify(votes(fp.FlipNoise(0.2, 0.2))),
    "a card": lambda: fp.datasets.card("cora_ml"),
    "images": lambda: fp.datasets.load("digits"),
}


@pytest.mark.parametrize("name", [*PUBLIC, *OTHERS])
def test_a_value_is_shown_as_one_short_line(name):
    value = {**PUBLIC, **OTHERS}[name]()
    shown = repr(value)
    assert "\n" not in shown
    assert len(shown) <= LONGEST_REPR, shown
    assert "array(" not in shown
    assert type(value).__name__ in shown


def test_a_check_is_shown_as_one_short_line(tmp_path):
    shown = repr(a_check(tmp_path))
    assert shown.startswith("Check(300 of 300 inputs confirmed, arithmetic of evidence, 1 objections, such as 'no ev")
    assert len(shown) <= LONGEST_REPR


def test_every_public_class_is_in_the_list():
    classes = {name for name in fp.__all__ if inspect.isclass(getattr(fp, name))}
    errors = {name for name in classes if issubclass(getattr(fp, name), Exception)}
    # A protocol has no values of its own, and a result prints as its summary.
    assert set(PUBLIC) == classes - errors - {"Classifier", "Robustness"}
    for name, make in PUBLIC.items():
        assert type(make()).__name__ == name


def test_votes_and_certificates_say_what_they_are():
    certificates = fp.certify(votes(inputs=10))
    assert repr(votes(inputs=10)) == (
        "Votes(10 inputs, 5 classes, 10 + 90 samples, FlipNoise(p_plus=0.05, p_minus=0.3, categories=2))"
    )
    assert repr(certificates) == (
        "Certificates(10 inputs, 10 abstained, alpha=0.01, for each input by itself, multi-class, "
        "FlipNoise(p_plus=0.05, p_minus=0.3, categories=2))"
    )


def test_a_split_of_few_inputs_is_rebuilt_by_what_is_shown():
    split = fp.Split([0, 3], [1], [2])
    again = eval(repr(split), {"Split": fp.Split})
    assert [again.train.tolist(), again.validation.tolist(), again.test.tolist()] == [[0, 3], [1], [2]]
