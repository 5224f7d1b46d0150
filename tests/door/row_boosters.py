"""Boosted trees of LightGBM, XGBoost and CatBoost."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.door.row_pairs import BITS, FEWER, NUMBERS, OF_BITS, TWO, WORDS, Pair, X, estimator_pair, pair, sparse_pair


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


@pair
def lightgbm_that_stops_early():
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 2, "num_threads": 1, "learning_rate": 0.5}
    data, stop = lightgbm.Dataset(X[:50], TWO[:50]), lightgbm.early_stopping(2, verbose=False)
    model = lightgbm.train(settings, data, 99, [lightgbm.Dataset(X[50:], TWO[50:], data)], callbacks=[stop])
    assert model.current_iteration() < 99
    return Pair(model, lambda batch: model.predict(batch) > 0.5)


@pair
def lightgbm_with_an_objective_of_its_own():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=2, verbose=-1, n_jobs=1, objective=logistic)
    model.fit(X, TWO)
    options = {"call": lambda model, rows: model.predict(rows, raw_score=True), "threshold": 0}
    return Pair(model, lambda batch: model.predict(batch, raw_score=True) >= 0, options=options)


def logistic(labels, scores):
    probabilities = 1 / (1 + np.exp(-scores))
    return probabilities - labels, probabilities * (1 - probabilities)


@pair
def xgboost_booster_of_two_probabilities_with_a_threshold():
    model, predict = xgboost_booster("multi:softprob", TWO, num_class=2)
    return Pair(model, lambda batch: predict(batch)[:, 1] >= 0.3, options={"threshold": 0.3})


@pair
def xgboost_with_missing_values():
    xgboost = pytest.importorskip("xgboost")
    return estimator_pair(xgboost.XGBClassifier(n_estimators=4, n_jobs=1, missing=0), TWO)


@pair
def catboost_with_a_probability_threshold():
    catboost = pytest.importorskip("catboost")
    trained = catboost.CatBoostClassifier(**catboost_settings()).fit(X, TWO)
    trained.set_probability_threshold(0.45)
    native = catboost.CatBoost().load_model(blob=trained._serialize_model())
    return Pair(native, lambda batch: native.predict(batch, prediction_type="Class").ravel().astype(int))
