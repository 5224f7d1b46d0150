"""Functions of a batch, and models that get data frames or texts."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from flipproof.noise.spaces.rows import DenseRows, only_noise
from tests.door.row_boosters import catboost_settings
from tests.door.row_pairs import DATA, THREE, TWO, Pair, X, pair, places

pytest.importorskip("sklearn")
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


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
    categories: tuple[str, ...] = ()
    bytes_per_row: int = 1_000

    def __call__(self, drawn):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(drawn.astype(np.int64), columns=list(self.columns))
        if not self.categories:
            return frame
        names = np.array(self.categories)
        return frame.apply(lambda column: pandas.Categorical(names[column], categories=self.categories))


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


CATEGORIES = Frames(COLUMNS, ("low", "mid", "high", "top"))


@pair
def lightgbm_of_categories():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=4, min_child_samples=2, min_data_per_group=1, verbose=-1, n_jobs=1)
    model.fit(CATEGORIES(X), TWO)
    return Pair(model, lambda batch: places(model, batch), Formed(DATA, CATEGORIES))


@pair
def lightgbm_booster_of_categories():
    model = lightgbm_of_categories().model.booster_
    return Pair(model, lambda batch: model.predict(batch) > 0.5, Formed(DATA, CATEGORIES))


@pair
def xgboost_booster_of_categories():
    xgboost = pytest.importorskip("xgboost")
    matrix = xgboost.DMatrix(CATEGORIES(X), TWO, enable_categorical=True)
    model = xgboost.train({"objective": "binary:logistic"}, matrix, 4)
    return Pair(
        model,
        lambda batch: model.predict(xgboost.DMatrix(batch, enable_categorical=True)) > 0.5,
        Formed(DATA, CATEGORIES),
    )


@pair
def catboost_of_strings():
    catboost = pytest.importorskip("catboost")
    model = catboost.CatBoostClassifier(**catboost_settings(), cat_features=list(COLUMNS)).fit(CATEGORIES(X), TWO)
    return Pair(model, lambda batch: places(model, batch), Formed(DATA, CATEGORIES))


@pair
def a_pipeline_of_strings():
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(CATEGORIES(X), TWO)
    return Pair(model, lambda batch: places(model, batch), Formed(DATA, CATEGORIES))


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


@pair
def a_function_that_squeezes_its_scores():
    return Pair(lambda rows: (rows[:, :3] * 1.0).squeeze(), lambda batch: batch[:, :3].argmax(axis=1))
