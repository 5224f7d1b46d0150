"""Estimators as plain arrays: the labels of scikit-learn, without it; files that lie are refused."""

import re
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

import flipproof as fp
from flipproof.models.fitted.estimators import classifier_of_arrays, fitted
from flipproof.models.fitted.forest_rows import ForestRows
from flipproof.models.fitted.linear_rows import LinearRows
from flipproof.models.training.train import fit_estimator
from flipproof.models.weights import arrays_bytes, read_arrays

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (300, 12))
Y = np.array([7, 3, 5])[(X[:, 0] + X[:, 1] + (RNG.random(300) < 0.2)) % 3]
NOISY = RNG.integers(0, 4, (2000, 12)).astype(np.uint8)
ESTIMATORS = {
    "logistic": LogisticRegression(max_iter=300),
    "logistic without intercept": LogisticRegression(fit_intercept=False, max_iter=300),
    "tree": DecisionTreeClassifier(random_state=0),
    "pruned tree": DecisionTreeClassifier(ccp_alpha=0.004, random_state=0),
    "best leaves first": RandomForestClassifier(4, max_leaf_nodes=9, random_state=0),
    "forest": RandomForestClassifier(8, random_state=0),
    "weighted forest": RandomForestClassifier(6, class_weight="balanced", max_depth=5, random_state=0),
    "extra trees": ExtraTreesClassifier(7, random_state=0),
}


def unsorted(matrix):
    """The same rows with their columns backwards."""
    rows = sp.csr_array(matrix, dtype=np.float32)
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        rows.indices[start:end] = rows.indices[start:end][::-1]
        rows.data[start:end] = rows.data[start:end][::-1]
    rows.has_sorted_indices = False
    return rows


@pytest.fixture(params=ESTIMATORS, scope="module")
def estimator(request):
    return ESTIMATORS[request.param].fit(X, Y)


def numbers(estimator, rows):
    return np.searchsorted(estimator.classes_, estimator.predict(rows))


def test_labels_are_the_estimators(estimator):
    classifier, expected = fitted(estimator), numbers(estimator, NOISY)
    assert (classifier.classes, classifier.columns) == (3, 12)
    assert (classifier(NOISY) == expected).all()
    assert (classifier(NOISY.reshape(-1, 2, 6).astype(np.int64)) == expected).all()
    assert (classifier(unsorted(NOISY)) == expected).all()
    assert classifier(NOISY[:0]).shape == (0,)


@pytest.mark.parametrize("rows", [0.0, 0.15, 0.6])
def test_two_classes_of_wide_sparse_rows(rows):
    """Deep trees, whose chains of questions are jumped along."""
    rng = np.random.default_rng(1)
    words = sp.random_array((600, 400), density=0.04, rng=rng, format="csr", dtype=np.float32)
    words.data[:] = rng.choice([1.0, 1.0, 2.0, -1.0], words.nnz)
    truth = rng.integers(0, 2, 600)
    noisy = words.copy()
    noisy.data[rng.random(noisy.nnz) >= rows] = 0.0
    noisy = unsorted(noisy)
    forest = RandomForestClassifier(9, random_state=0).fit(words, truth)
    assert max(tree.get_depth() for tree in forest.estimators_) > 20
    for model in (forest, LogisticRegression().fit(words, truth)):
        assert (fitted(model)(noisy) == model.predict(noisy)).all()
        assert (fitted(model)(noisy.toarray()) == model.predict(noisy)).all()


def test_means_that_are_equal_after_rounding():
    """Thirds: what is added up first decides the last bit, and what is equal then is decided by the order of labels."""
    rows = np.array([[0], [0], [0], [1], [1], [1]])
    for seed in range(20):
        forest = RandomForestClassifier(9, max_depth=1, random_state=seed).fit(rows, [0, 1, 2, 2, 1, 0])
        assert fitted(forest)(rows).tolist() == forest.predict(rows).tolist()


def test_it_travels_through_a_file_and_to_workers(estimator):
    classifier = fitted(estimator)
    content = arrays_bytes(classifier.arrays())
    assert content == arrays_bytes(fitted(estimator).arrays())
    for copy in (
        classifier_of_arrays(read_arrays(content, "file")),
        cloudpickle.loads(cloudpickle.dumps(classifier)),
    ):
        assert copy.fingerprint == classifier.fingerprint
        assert (copy(NOISY) == classifier(NOISY)).all()
        assert not any(array.flags.writeable for array in copy.arrays().values())
    assert classifier.fingerprint != fitted(LogisticRegression().fit(X[:100], Y[:100])).fingerprint


def test_no_sklearn_is_needed_afterwards(tmp_path):
    estimator = ESTIMATORS["forest"].fit(X, Y)
    path = tmp_path / "forest.safetensors"
    path.write_bytes(arrays_bytes(fitted(estimator).arrays()))
    code = (
        "import sys, numpy as np\n"
        "from pathlib import Path\n"
        "from flipproof.models.fitted.estimators import classifier_of_arrays\n"
        "from flipproof.models.weights import read_arrays\n"
        f"classifier = classifier_of_arrays(read_arrays(Path({str(path)!r}).read_bytes(), 'file'))\n"
        "print(classifier(np.ones((1, 12), int))[0], 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(numbers(estimator, np.ones((1, 12)))[0]), "False"]


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (BernoulliNB().fit(X, Y), "RandomForestClassifier or ExtraTreesClassifier, got BernoulliNB"),
        (LogisticRegression(), "expected a fitted LogisticRegression, got one without classes_: call fit"),
        (RandomForestClassifier(2).fit(X, X[:, :2]), "expected one label per row, got RandomForestClassifier with sev"),
    ],
)
def test_what_cannot_be_made_into_arrays(estimator, words):
    with pytest.raises(fp.InvalidInputError, match=re.escape(words)):
        fitted(estimator)


def test_rows_of_another_width():
    for name in ("forest", "logistic"):
        with pytest.raises(fp.InvalidInputError, match="expected rows with 12 columns, got 11"):
            fitted(ESTIMATORS[name].fit(X, Y))(NOISY[:, :11])


STUMP = {
    "starts": [0, 3],
    "left": [1, 1, 2],
    "right": [2, 1, 2],
    "features": [4, 0, 0],
    "thresholds": [0.5, 0.0, 0.0],
    "values": [[0.0, 0.0], [0.9, 0.1], [0.2, 0.8]],
    "width": [5],
}
LINEAR = {"coefficients": [[1.0, 2.0]], "intercepts": [0.5]}


def test_a_stump_by_hand():
    stump = classifier_of_arrays({name: np.array(array) for name, array in STUMP.items()})
    assert isinstance(stump, ForestRows)
    assert stump(np.eye(5, dtype=int)).tolist() == stump(unsorted(np.eye(5))).tolist() == [0, 0, 0, 0, 1]
    linear = classifier_of_arrays({name: np.array(array) for name, array in LINEAR.items()})
    assert isinstance(linear, LinearRows)
    assert linear(np.array([[0, 0], [0, 1]])).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arrays", "change", "reason"),
    [
        (STUMP, {"left": [0, 1, 2]}, "node 0 whose child 0 does not come after it in its tree"),
        (STUMP, {"left": [1, 0, 2]}, "node 1 whose child 0 does not"),
        (STUMP, {"right": [3, 1, 2]}, "node 0 whose child 3 does not"),
        (STUMP, {"right": [-1, 1, 2]}, "node 0 whose child -1 does not"),
        (STUMP, {"right": [2, 2, 2]}, "node 1 whose child 1 does not"),
        (STUMP, {"right": [1, 1, 2]}, "node 1 with another number of parents than one"),
        (STUMP, {"left": [2, 1, 2]}, "node 1 with another number of parents than one"),
        (STUMP, {"starts": [0, 2, 3]}, "node 0 whose child 2 does not"),
        (STUMP, {"starts": [0, 0, 3]}, "3 starts that do not divide 3 nodes into trees"),
        (STUMP, {"starts": [1, 3]}, "2 starts that do not"),
        (STUMP, {"starts": [0, 4]}, "2 starts that do not"),
        (STUMP, {"starts": []}, "expected starts to be a list of integers, got float64 [0]"),
        (STUMP, {"starts": np.zeros(0, np.int64)}, "0 starts that do not"),
        (STUMP, {"features": [5, 0, 0]}, "node 0 with column 5"),
        (STUMP, {"features": [0, 0, -(2**62)]}, "node 2 with column -4611686018427387904"),
        (STUMP, {"features": [4, 0]}, "arrays for different numbers of nodes"),
        (
            STUMP,
            {"features": np.array([2**63, 0, 0], np.uint64)},
            "expected features to be a list of integers, got uint64 [3]",
        ),
        (STUMP, {"width": [0]}, "width [0]"),
        (STUMP, {"width": [2**31]}, "width [2147483648]"),
        (STUMP, {"width": [5, 5]}, "width [5, 5]"),
        (STUMP, {"thresholds": [np.nan, 0, 0]}, "expected thresholds to be finite numbers of 1 dimensions"),
        (STUMP, {"values": np.zeros((3, 0))}, "no classes"),
        (STUMP, {"values": np.zeros((2, 2))}, "arrays for different numbers of nodes"),
        (STUMP, {"values": np.full((3, 2), np.inf)}, "expected values to be finite numbers of 2 dimensions"),
        (
            STUMP,
            {"values": np.full((3, 2), "a")},
            "expected values to be finite numbers of 2 dimensions, got <U1 [3, 2]",
        ),
        (STUMP, {"more": [1]}, "expected the arrays of a linear model or of trees, got bad.safetensors with features"),
        (LINEAR, {"intercepts": [0.5, 0.5]}, "an intercept per score, got [1, 2] and 2 intercepts"),
        (LINEAR, {"coefficients": [[np.nan, 1.0]]}, "expected coefficients to be finite numbers of 2 dimensions"),
        (LINEAR, {"coefficients": np.zeros((1, 0))}, "got [1, 0] and 1 intercepts"),
        ({}, {}, "expected the arrays of a linear model or of trees, got bad.safetensors with nothing"),
    ],
)
def test_arrays_that_lie_are_refused(arrays, change, reason):
    given = {name: np.array(array) for name, array in {**arrays, **change}.items()}
    with pytest.raises(fp.FileFormatError, match=re.escape(reason)):
        classifier_of_arrays(given, "bad.safetensors")


SPACES = {
    "sparse": (fp.SparseRows(sp.csr_array(X > 1)), fp.FlipNoise(0.05, 0.3)),
    "dense": (fp.DenseRows(X.reshape(-1, 3, 4)), fp.FlipNoise(0.2, 0.2, categories=4)),
    "table": (fp.Table(np.minimum(X, [1, 2, 3] * 4), [2, 3, 4] * 4), None),
    "tokens": (fp.Tokens(X, padding=3 + 1), fp.FlipNoise(0.3, 0.3, categories=4)),
    "masked": (fp.Tokens(X, mask=9), fp.FlipNoise(0.0, 0.3)),
}


class Recorder:
    """Keeps what it is to be fitted to."""

    def fit(self, rows, labels):
        self.rows = rows.toarray() if sp.issparse(rows) else rows
        self.labels = labels


@pytest.mark.parametrize("name", SPACES)
def test_fitting_to_noisy_copies(name):
    space, noise = SPACES[name]
    noise = space.noise(0.1, 0.3) if noise is None else noise
    chosen = np.array([5, 2, 250])
    clean, noisy, again, other = (
        fit_estimator(Recorder(), space, Y, chosen, noise, copies, seed)
        for copies, seed in ((0, 0), (40, 0), (40, 0), (40, 1))
    )
    expected = (X > 1) if name == "sparse" else np.minimum(X, [1, 2, 3] * 4) if name == "table" else X
    assert (clean.rows == expected[chosen]).all()
    assert clean.labels.tolist() == Y[chosen].tolist()
    assert noisy.labels.tolist() == Y[chosen].tolist() * 40
    assert (noisy.rows == again.rows).all()
    assert (noisy.rows != other.rows).any()
    changed = (noisy.rows != np.tile(clean.rows, (40, 1))).mean()
    assert 0.03 < changed < 0.4


@pytest.mark.parametrize(
    ("estimator", "rows", "options", "reason"),
    [
        (object(), [0], {}, "expected an estimator with fit, got object"),
        (Recorder(), [], {}, "expected a list of row numbers, got float64 of shape [0]"),
        (Recorder(), [300], {}, "expected rows from 0 to 299, got 300 to 300"),
        (Recorder(), [4, 4], {}, "expected labels of at least two classes among rows, got 1"),
        (Recorder(), [0], {"copies": -1}, "copies"),
        (Recorder(), [0], {"memory_limit": 100}, "expected a memory limit of at least"),
    ],
)
def test_what_cannot_be_fitted(estimator, rows, options, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        fit_estimator(estimator, X, Y, rows, fp.FlipNoise(0.1, 0.1, 4), **options)
