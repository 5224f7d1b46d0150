"""Models of rows go in as they are: votes count the labels that each model itself gives to the same noisy inputs."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.noise.laws import sampler_of, space_of
from flipproof.noise.sampling.samplers import Role, as_given
from flipproof.noise.spaces.rows import DenseRows, only_noise

pytest.importorskip("sklearn")
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (80, 6))
THREE = np.array(["cat", "ant", "dog"])[(X[:, 0] + X[:, 1] > 3) + (X[:, 2] + X[:, 3] > 4).astype(int)]
NUMBERS = np.searchsorted(np.unique(THREE), THREE)
TWO = (X[:, 0] + X[:, 1] > X[:, 2] + 1).astype(int)
BITS = sp.csr_array((RNG.random((80, 12)) < 0.3).astype(np.float32))
OF_BITS = np.asarray((BITS[:, :6].sum(axis=1) > BITS[:, 6:].sum(axis=1)).astype(int)).ravel()
DATA, FLIPS = X[:5], fp.FlipNoise(0.3, 0.3, 4)
WORDS, FEWER = BITS[:5], fp.FlipNoise(0.05, 0.4)
SELECT, ESTIMATE = 20, 100


@dataclass
class Pair:
    """A model, data and a noise; `own` gives the model's own labels of noisy inputs, as numbers."""

    model: Any
    own: Any
    data: Any = None
    noise: Any = FLIPS
    options: Any = None

    def __post_init__(self):
        self.data = DATA if self.data is None else self.data
        self.options = self.options or {}


PAIRS: dict[str, Any] = {}


def pair(function):
    PAIRS[function.__name__] = function
    return function


def counted(pair, labels_of, role, samples):
    """How often each label is given to each input, by calling the model on the noisy inputs of the sampler."""
    space = space_of(pair.data)
    sampler = sampler_of(space, pair.noise, 0)
    drawn = as_given(sampler, sampler.draw(role, range(samples), np.arange(sampler.rows)))
    drawn = drawn.astype(np.int64) if isinstance(drawn, np.ndarray) and drawn.dtype.kind == "u" else drawn
    labels = np.asarray(labels_of(drawn)).astype(int).reshape(samples, sampler.rows)
    return labels


def vote(pair, **options):
    return fp.vote(
        pair.model, pair.data, pair.noise, SELECT, ESTIMATE, progress=False, **{**pair.options, **options}
    )


# scikit-learn


def places(estimator, batch):
    """The own predictions of an estimator as places in its classes_."""
    names = list(estimator.classes_)
    return [names.index(name) for name in np.asarray(estimator.predict(batch)).ravel()]


def estimator_pair(estimator, labels=THREE):
    estimator.fit(X, labels)
    return Pair(estimator, lambda batch: places(estimator, batch))


def sparse_pair(estimator, fitted_on=BITS):
    estimator.fit(fitted_on, OF_BITS)
    return Pair(estimator, lambda batch: places(estimator, type(fitted_on)(batch)), WORDS, FEWER)


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


# Boosted trees


def lightgbm_booster(objective, labels, **options):
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": objective, "verbose": -1, "min_data_in_leaf": 2, "num_threads": 1, **options}
    return lightgbm.train(settings, lightgbm.Dataset(X, labels), 4)


def xgboost_booster(objective, labels, **options):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.train({"objective": objective, "nthread": 1, **options}, xgboost.DMatrix(X, labels), 4)
    return booster, lambda batch, **how: booster.predict(xgboost.DMatrix(batch), **how)


def catboost_settings():
    return {"iterations": 4, "verbose": False, "allow_writing_files": False, "thread_count": 1, "random_seed": 0}


@pair
def lightgbm_of_three_classes():
    lightgbm = pytest.importorskip("lightgbm")
    return estimator_pair(lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1))


@pair
def lightgbm_on_sparse_rows():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1)
    return sparse_pair(model, sp.csr_matrix(BITS))


@pair
def lightgbm_booster_of_two_classes():
    model = lightgbm_booster("binary", TWO)
    return Pair(model, lambda batch: model.predict(batch) > 0.5)


@pair
def lightgbm_booster_of_three_classes():
    model = lightgbm_booster("multiclass", NUMBERS, num_class=3)
    return Pair(model, lambda batch: model.predict(batch).argmax(axis=1))


@pair
def lightgbm_booster_with_a_threshold():
    model = lightgbm_booster("binary", TWO)
    return Pair(model, lambda batch: model.predict(batch) >= 0.4, options={"threshold": 0.4})


@pair
def lightgbm_booster_on_sparse_rows():
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 2}
    model = lightgbm.train(settings, lightgbm.Dataset(sp.csr_matrix(BITS), OF_BITS), 4)
    return Pair(model, lambda batch: model.predict(sp.csr_matrix(batch)) > 0.5, WORDS, FEWER)


@pair
def xgboost_of_three_classes():
    xgboost = pytest.importorskip("xgboost")
    return estimator_pair(xgboost.XGBClassifier(n_estimators=4, n_jobs=1), NUMBERS)


@pair
def xgboost_on_sparse_rows():
    xgboost = pytest.importorskip("xgboost")
    return sparse_pair(xgboost.XGBClassifier(n_estimators=4, n_jobs=1))


@pair
def xgboost_booster_of_two_classes():
    model, predict = xgboost_booster("binary:logistic", TWO)
    return Pair(model, lambda batch: predict(batch) > 0.5)


@pair
def xgboost_booster_of_logits():
    model, predict = xgboost_booster("binary:logitraw", TWO)
    return Pair(model, lambda batch: predict(batch) > 0)


@pair
def xgboost_booster_that_predicts_two_labels():
    model, predict = xgboost_booster("binary:hinge", TWO)
    return Pair(model, predict)


@pair
def xgboost_booster_that_predicts_labels():
    model, predict = xgboost_booster("multi:softmax", NUMBERS, num_class=3)
    return Pair(model, predict)


@pair
def xgboost_booster_of_three_classes():
    model, predict = xgboost_booster("multi:softprob", NUMBERS, num_class=3)
    return Pair(model, lambda batch: predict(batch).argmax(axis=1))


@pair
def catboost_of_two_classes():
    catboost = pytest.importorskip("catboost")
    return estimator_pair(catboost.CatBoostClassifier(**catboost_settings()), TWO)


@pair
def catboost_of_three_classes_which_it_predicts_as_a_column():
    catboost = pytest.importorskip("catboost")
    return estimator_pair(catboost.CatBoostClassifier(**catboost_settings()))


@pair
def catboost_of_categories():
    catboost = pytest.importorskip("catboost")
    return estimator_pair(catboost.CatBoostClassifier(**catboost_settings(), cat_features=[0, 3]))


@pair
def catboost_on_sparse_rows():
    catboost = pytest.importorskip("catboost")
    return sparse_pair(catboost.CatBoostClassifier(**catboost_settings()), sp.csr_matrix(BITS))


@pair
def catboost_without_labels_of_its_own():
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoost({**catboost_settings(), "loss_function": "MultiClass"}).fit(X, NUMBERS)
    return Pair(model, lambda batch: model.predict(batch, prediction_type="Class").ravel())


# torch


def network(*layers):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch.nn.Sequential(*(make(torch.nn) for make in layers))


def asked(module, dtype="float32", read=lambda logits: logits.argmax(dim=1)):
    """The own labels of a module, in evaluation mode."""
    import torch

    def own(batch):
        module.eval()
        with torch.no_grad():
            return read(module(torch.tensor(batch, dtype=getattr(torch, dtype))))

    return own


@pair
def a_network_with_dropout_left_on():
    module = network(lambda nn: nn.Linear(6, 8), lambda nn: nn.ReLU(), lambda nn: nn.Dropout(), lambda nn: nn.Linear(8, 3))
    return Pair(module.train(), asked(module))


@pair
def a_network_in_float64():
    module = network(lambda nn: nn.Linear(6, 8), lambda nn: nn.ReLU(), lambda nn: nn.Linear(8, 3)).double()
    return Pair(module, asked(module, "float64"))


@pair
def convolutions_of_images():
    module = network(
        lambda nn: nn.Conv2d(1, 2, 2), lambda nn: nn.ReLU(), lambda nn: nn.Flatten(), lambda nn: nn.Linear(2 * 4, 3)
    )
    return Pair(module, asked(module), RNG.integers(0, 4, (5, 1, 3, 3)))


@pair
def one_logit():
    module = network(lambda nn: nn.Linear(6, 1))
    module[0].bias.data[:] = -0.5
    module[0].weight.data *= 5
    return Pair(module, asked(module, read=lambda logits: logits[:, 0] > 0))


@pair
def one_logit_with_a_threshold():
    module = network(lambda nn: nn.Linear(6, 1), lambda nn: nn.Flatten(0))
    return Pair(module, asked(module, read=lambda logits: logits >= -0.25), options={"threshold": -0.25})


@pair
def one_sigmoid():
    module = network(lambda nn: nn.Linear(6, 1), lambda nn: nn.Sigmoid())
    return Pair(module, asked(module, read=lambda scores: scores[:, 0] > 0.5))


@pair
def tokens_by_an_embedding():
    module = network(lambda nn: nn.EmbeddingBag(5, 3))
    return Pair(module, asked(module, "int64"), fp.Tokens(DATA, padding=4))


@pair
def a_module_called_in_its_own_way():
    module = network(lambda nn: nn.Linear(6, 3))
    return Pair(module, asked(module, read=lambda logits: logits[:, :2].argmax(dim=1)), options={"call": first_two})


def first_two(module, rows):
    return module(rows)[:, :2]


@pair
def a_module_that_is_called_for_labels():
    module = network(lambda nn: nn.Linear(6, 3))
    options = {"call": lambda model, rows: model(rows).argmax(dim=1), "classes": 3}
    return Pair(module, asked(module), options=options)


@pair
def a_method_forward():
    module = network(lambda nn: nn.Linear(6, 3))
    return Pair(module.forward, asked(module))


def bert(**settings):
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    import torch

    torch.manual_seed(0)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(
        vocab_size=8, max_position_embeddings=8, **sizes, **{"num_labels": 3, "initializer_range": 1.0, **settings}
    )
    return transformers.BertForSequenceClassification(config)


def attending(model, padding):
    """The own labels of a model of Hugging Face that does not look at padding."""
    import torch

    def own(batch):
        model.eval()
        ids = torch.tensor(batch)
        mask = (ids != padding).long()
        mask[mask.sum(dim=1) == 0] = 1
        with torch.no_grad():
            return model(input_ids=ids.where(ids != padding, 0), attention_mask=mask).logits.argmax(dim=1)

    return own


@pair
def hugging_face():
    model = bert()
    return Pair(model, attending(model, 99))


@pair
def hugging_face_with_padding_that_is_not_in_its_vocabulary():
    model, texts = bert(), np.where(np.arange(6) < [[6], [4], [3], [5], [2]], DATA, 99)
    return Pair(model, attending(model, 99), fp.Tokens(texts, padding=99))


@pair
def hugging_face_with_hidden_tokens():
    model = bert()
    return Pair(model, attending(model, 0), fp.Tokens(DATA + 1, mask=0), fp.FlipNoise(0, 0.5))


# Functions


@pair
def a_function_that_returns_scores():
    return Pair(lambda rows: rows[:, :3] * 1.0, lambda batch: batch[:, :3].argmax(axis=1))


@pair
def a_function_that_returns_labels():
    return Pair(lambda rows: rows[:, 0] + rows[:, 1], lambda batch: batch[:, 0] + batch[:, 1], options={"classes": 7})


@pair
def a_function_that_returns_truth_values():
    return Pair(lambda rows: rows.sum(axis=1) > 8, lambda batch: batch.sum(axis=1) > 8)


@pair
def a_function_with_a_threshold():
    return Pair(lambda rows: rows.mean(axis=1), lambda batch: batch.mean(axis=1) >= 1.5, options={"threshold": 1.5})


@pair
def names_mapped_by_a_call():
    names = ["ant", "cat", "dog"]
    model = RandomForestClassifier(3, random_state=0).fit(X, THREE)
    call = lambda model, batch: np.array([names.index(name) for name in model.predict(batch)])  # noqa: E731
    return Pair(model, lambda batch: places(model, batch), options={"call": call, "classes": 3})


# Forms: what the model gets is no array of numbers


@dataclass(frozen=True)
class Frames:
    """Numbers as a data frame with these columns."""

    columns: tuple[str, ...]
    bytes_per_row: int = 1_000

    def __call__(self, drawn):
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame(drawn.astype(np.int64), columns=list(self.columns))


@dataclass(frozen=True)
class Sentences:
    """Numbers as texts."""

    words: tuple[str, ...] = ("a bad", "dull", "great", "a fine")
    bytes_per_row: int = 1_000

    def __call__(self, drawn):
        return [" ".join(self.words[word] for word in row) for row in drawn]


@dataclass(frozen=True, eq=False)
class Formed:
    """Rows whose noisy copies have a form."""

    values: Any
    form: Any

    parts = ("values",)

    def sampler(self, noise, seed):
        from dataclasses import replace

        rows = DenseRows(self.values)
        return replace(rows.sampler(only_noise(noise, self.parts), seed), form=self.form)


COLUMNS = tuple("abcdef")


def frame_pair(estimator):
    estimator.fit(Frames(COLUMNS)(X), TWO)
    return Pair(estimator, lambda batch: places(estimator, batch), Formed(DATA, Frames(COLUMNS)))


@pair
def an_estimator_of_a_data_frame():
    return frame_pair(make_pipeline(StandardScaler(), LogisticRegression()))


@pair
def lightgbm_of_a_data_frame():
    lightgbm = pytest.importorskip("lightgbm")
    return frame_pair(lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1))


@pair
def xgboost_of_a_data_frame():
    xgboost = pytest.importorskip("xgboost")
    return frame_pair(xgboost.XGBClassifier(n_estimators=4, n_jobs=1))


@pair
def xgboost_booster_of_a_data_frame():
    xgboost, frames = pytest.importorskip("xgboost"), Frames(COLUMNS)
    model = xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(frames(X), TWO), 4)
    return Pair(model, lambda batch: model.predict(xgboost.DMatrix(batch)) > 0.5, Formed(DATA, frames))


@pair
def catboost_of_a_data_frame():
    catboost = pytest.importorskip("catboost")
    return frame_pair(catboost.CatBoostClassifier(**catboost_settings(), cat_features=["a"]))


@pair
def an_estimator_of_an_array_that_gets_a_data_frame():
    model = LogisticRegression().fit(X, TWO)
    return Pair(model, lambda batch: places(model, batch.to_numpy()), Formed(DATA, Frames(COLUMNS)))


@pair
def a_pipeline_of_texts():
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(Sentences()(X), TWO)
    return Pair(model, lambda batch: places(model, batch), Formed(DATA, Sentences()))


@pair
def a_function_of_texts():
    return Pair(
        lambda texts: np.array([[text.count("bad"), text.count("fine")] for text in texts]) * 1.0,
        lambda texts: [text.count("bad") < text.count("fine") for text in texts],
        Formed(DATA, Sentences()),
    )


def test_there_are_enough_pairs():
    assert len(PAIRS) >= 40


@pytest.mark.parametrize("name", PAIRS)
def test_votes_count_the_labels_of_the_model_itself(name):
    pair = PAIRS[name]()
    votes = fp.vote(pair.model, pair.data, pair.noise, SELECT, ESTIMATE, progress=False, **pair.options)
    certificates = fp.certify(votes, alpha=0.1)
    assert len(certificates) == len(votes) == votes.selection.shape[0]
    for counts, role, samples in ((votes.selection, Role.SELECT, SELECT), (votes.estimation, Role.ESTIMATE, ESTIMATE)):
        own = counted(pair, pair.own, role, samples)
        for label in range(counts.shape[1]):
            assert counts[:, label].tolist() == (own == label).sum(axis=0).tolist()
