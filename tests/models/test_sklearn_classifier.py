"""Scikit-learn estimators: the labels are theirs, as numbers."""

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import flipproof as fp
from flipproof.models.adapters.sklearn_classifier import SklearnClassifier

NAMES = np.array(["zebra", "ant", "mole"])
X = np.random.default_rng(0).integers(0, 3, (60, 12))
Y = NAMES[(X[:, 0] + X[:, 1]) % 3]
NOISY = np.random.default_rng(1).integers(0, 3, (25, 12)).astype(np.uint8)

ESTIMATORS = [
    LogisticRegression(),
    RandomForestClassifier(5, random_state=0),
    MultinomialNB(),
    KNeighborsClassifier(3, algorithm="brute"),
    make_pipeline(MaxAbsScaler(), LogisticRegression()),
]


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def estimator(request):
    return request.param.fit(X, Y)


def test_labels_are_the_estimators(estimator):
    classifier = SklearnClassifier(estimator)
    labels = classifier(NOISY)
    assert classifier.classes == 3
    assert labels.dtype == np.int64
    assert (estimator.classes_[labels] == estimator.predict(NOISY)).all()
    assert (classifier(NOISY.reshape(25, 2, 3, 2)) == labels).all()


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_sparse_rows_in_any_order(estimator, make, dtype):
    rows = make(NOISY.astype(dtype))
    backwards = rows.copy()
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        backwards.indices[start:end] = rows.indices[start:end][::-1]
        backwards.data[start:end] = rows.data[start:end][::-1]
    backwards.has_sorted_indices = False
    classifier = SklearnClassifier(estimator)
    expected = np.searchsorted(estimator.classes_, estimator.predict(NOISY))
    assert (classifier(rows) == expected).all()
    assert (classifier(backwards) == expected).all()


def test_it_travels_and_keeps_its_fingerprint(estimator):
    classifier = SklearnClassifier(estimator)
    copy = cloudpickle.loads(cloudpickle.dumps(classifier))
    assert (copy(NOISY) == classifier(NOISY)).all()
    assert copy.fingerprint == classifier.fingerprint == SklearnClassifier(estimator).fingerprint
    other = SklearnClassifier(BernoulliNB().fit(X > 0, Y))
    assert other.fingerprint != classifier.fingerprint


class Fixed:
    def __init__(self, classes, predictions):
        self.classes_, self.predictions = classes, np.array(predictions)

    def predict(self, _):
        return self.predictions


def test_classes_may_be_in_any_order():
    assert SklearnClassifier(Fixed(np.array([5, 1, 3]), [1, 3, 5, 5]))(X[:4]).tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (LogisticRegression(), "got LogisticRegression without classes_: call fit"),
        (make_pipeline(MaxAbsScaler(), LogisticRegression()), "got Pipeline without classes_: call fit"),
        (GridSearchCV(LogisticRegression(), {"C": [1, 2]}), "got GridSearchCV without (predict|classes_): call fit"),
        (LinearRegression().fit(X, X[:, 0]), "got LinearRegression without classes_"),
        (KMeans(2, n_init=1).fit(X), "got KMeans without classes_"),
        (lambda rows: rows, "got function without predict"),
        (LogisticRegression, "without classes_: call fit"),
        (RandomForestClassifier(2).fit(X, X[:, :2]), "one label per row, got RandomForestClassifier with several"),
    ],
)
def test_what_is_no_fitted_classifier_is_refused(estimator, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        SklearnClassifier(estimator)


def test_predictions_must_be_classes():
    with pytest.raises(fp.InvalidInputError, match=r"expected predictions among classes_, got .*7"):
        SklearnClassifier(Fixed(np.array([1, 3]), [1, 7]))(X[:2])
    with pytest.raises(fp.InvalidInputError, match=r"expected predictions among classes_, got .*dog"):
        SklearnClassifier(Fixed(np.array(["ant", "cat"]), ["cat", "dog"]))(X[:2])
    with pytest.raises(fp.InvalidInputError, match=r"expected predictions of shape \(2,\), got \(3,\)"):
        SklearnClassifier(Fixed(np.array([1, 3]), [1, 1, 1]))(X[:2])
