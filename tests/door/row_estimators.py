"""Estimators of scikit-learn, and models that look like them."""

import numpy as np
import pytest

from tests.door.row_pairs import NUMBERS, PAIRS, THREE, TWO, Pair, X, estimator_pair, pair, places, sparse_pair

pytest.importorskip("sklearn")
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

ESTIMATORS = {
    "logistic regression with names of classes": lambda: estimator_pair(LogisticRegression()),
    "random forest": lambda: estimator_pair(RandomForestClassifier(5, random_state=0)),
    "histogram boosting": lambda: estimator_pair(HistGradientBoostingClassifier(max_iter=3, random_state=0)),
    "pipeline": lambda: estimator_pair(make_pipeline(StandardScaler(), LogisticRegression())),
    "grid search": lambda: estimator_pair(GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2)),
    "support vectors, one against one": lambda: estimator_pair(SVC(decision_function_shape="ovo")),
    "support vectors of four classes, one against one": lambda: estimator_pair(
        SVC(decision_function_shape="ovo"), X[:, 0]
    ),
    "nearest neighbours": lambda: estimator_pair(KNeighborsClassifier(3)),
    "calibrated": lambda: estimator_pair(CalibratedClassifierCV(LinearSVC(), cv=2)),
    "hard votes of several": lambda: estimator_pair(
        VotingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier(3))])
    ),
    "ridge": lambda: estimator_pair(RidgeClassifier()),
    "one against the rest": lambda: estimator_pair(OneVsRestClassifier(LogisticRegression())),
    "a network of scikit-learn": lambda: estimator_pair(MLPClassifier((4,), max_iter=5000, random_state=0)),
    "truth values": lambda: estimator_pair(LogisticRegression(), TWO.astype(bool)),
    "negative labels": lambda: estimator_pair(Perceptron(), TWO * 2 - 1),
    "labels with gaps": lambda: estimator_pair(RandomForestClassifier(3, random_state=0), NUMBERS**2 * 3 + 7),
    "sparse naive bayes": lambda: sparse_pair(BernoulliNB()),
    "sparse support vectors": lambda: sparse_pair(LinearSVC()),
}
PAIRS.update(ESTIMATORS)


class OnlyProbabilities:
    """A model of somebody's own, without `predict` and `classes_`."""

    def predict_proba(self, rows):
        scores = np.exp(rows[:, :3] - rows[:, 3:])
        return scores / scores.sum(axis=1, keepdims=True)


class OnlyDecisions:
    def __init__(self, weights):
        self.weights = weights

    def decision_function(self, rows):
        return rows @ self.weights


@pair
def only_probabilities():
    model = OnlyProbabilities()
    return Pair(model, lambda batch: model.predict_proba(batch).argmax(axis=1))


@pair
def only_decisions():
    model = OnlyDecisions(np.array([1.0, 1, -1, -1, 0.5, -0.5]))
    return Pair(model, lambda batch: model.decision_function(batch) > 0)


@pair
def decisions_with_a_threshold():
    model = OnlyDecisions(np.array([1.0, 1, -1, -1, 0, 0]))
    return Pair(model, lambda batch: model.decision_function(batch) >= 1, options={"threshold": 1})


@pair
def probabilities_with_a_threshold():
    model = LogisticRegression().fit(X, TWO)
    return Pair(model, lambda batch: model.predict_proba(batch)[:, 1] >= 0.2, options={"threshold": 0.2})


@pair
def the_bound_method_predict():
    model = RandomForestClassifier(3, random_state=0).fit(X, THREE)
    return Pair(model.predict, lambda batch: places(model, batch))


@pair
def the_bound_method_predict_proba():
    model = RandomForestClassifier(3, random_state=0).fit(X, THREE)
    return Pair(model.predict_proba, lambda batch: model.predict_proba(batch).argmax(axis=1))


@pair
def a_regression_with_a_threshold():
    model = LinearRegression().fit(X, X[:, 0] - X[:, 1])
    return Pair(model, lambda batch: model.predict(batch) >= 0.5, options={"threshold": 0.5})


class Cautious(OnlyProbabilities):
    """A model of somebody's own that does not predict the most probable class."""

    def predict(self, rows):
        return (self.predict_proba(rows)[:, 2] > 0.2) * 2


@pair
def own_predictions_that_are_not_the_largest_probability():
    model = Cautious()
    return Pair(model, model.predict)


@pair
def own_predictions_beside_decisions():
    model = OnlyDecisions(np.array([1.0, 1, -1, -1, 0.5, -0.5]))
    model.predict = lambda rows: model.decision_function(rows) > 1
    return Pair(model, model.predict)


class OwnNames:
    classes_ = ("dog", "cat", "ant")

    def predict(self, rows):
        return [self.classes_[int(row[0] + row[1]) % 3] for row in rows]


@pair
def classes_in_a_list():
    model = OwnNames()
    return Pair(model, lambda batch: places(model, batch))


@pair
def a_tuned_threshold():
    return estimator_pair(TunedThresholdClassifierCV(LogisticRegression(), cv=2, random_state=0), TWO)


@pair
def a_fixed_threshold_of_the_first_class():
    return estimator_pair(FixedThresholdClassifier(LogisticRegression(), threshold=0.8, pos_label=0), TWO)


@pair
def stacked():
    return estimator_pair(StackingClassifier([("a", LogisticRegression()), ("b", KNeighborsClassifier(3))], cv=2))


@pair
def columns_transformed():
    columns = ColumnTransformer([("kinds", OneHotEncoder(handle_unknown="ignore"), [0, 1])], remainder="passthrough")
    return estimator_pair(make_pipeline(FunctionTransformer(np.sqrt), columns, LogisticRegression()))
