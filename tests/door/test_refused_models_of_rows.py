"""Models of rows that give no labels are refused with the reason and what to do, and doing it works."""

import numpy as np
import pytest

import flipproof as fp
from tests.door.row_boosters import catboost_settings, lightgbm_booster, logistic, xgboost_booster
from tests.door.row_functions import (
    CATEGORIES,
    COLUMNS,
    Formed,
    Frames,
    Sentences,
    lightgbm_booster_of_categories,
    lightgbm_of_categories,
)
from tests.door.row_modules import bert, network
from tests.door.row_pairs import BITS, DATA, FEWER, FLIPS, NUMBERS, OF_BITS, THREE, TWO, WORDS, X

pytest.importorskip("sklearn")
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import LocalOutlierFactor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def refused(words, model, data=None, noise=FLIPS, **options):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.vote(model, DATA if data is None else data, noise, 5, 5, progress=False, **options)


def taken(model, data=None, noise=FLIPS, **options):
    return fp.vote(model, DATA if data is None else data, noise, 5, 5, progress=False, **options)


@pytest.mark.parametrize(
    "make",
    [
        LogisticRegression,
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: GridSearchCV(LogisticRegression(), {"C": [1, 2]}, cv=2),
        lambda: pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=2, verbose=-1),
        lambda: pytest.importorskip("xgboost").XGBClassifier(n_estimators=2),
        lambda: pytest.importorskip("catboost").CatBoostClassifier(**catboost_settings()),
    ],
)
def test_what_was_not_fitted_is_to_be_fitted(make):
    refused("that was not fitted; call fit first", make())
    refused("that was not fitted; call fit first", make().predict)
    taken(make().fit(X, TWO))


def test_a_class_is_to_be_an_instance():
    refused(r"got the class BernoulliNB; give an instance of it: BernoulliNB\(...\).fit\(X, y\)", BernoulliNB)
    torch = pytest.importorskip("torch")
    refused(r"got the class Linear; give an instance of it: a trained Linear\(...\)", torch.nn.Linear)

    class Known:
        classes = 2

        def __call__(self, batch):
            return batch[:, 0] > 1

    refused("got the class Known; give an instance of it", Known)
    taken(Known())


def test_a_regression_has_no_labels():
    words = "LinearRegression, a regression: its predictions are numbers, and .* say from where on: threshold="
    model = LinearRegression().fit(X, X[:, 0])
    refused(words, model)
    taken(model, threshold=1.5)
    several = LinearRegression().fit(X, X[:, :2])
    refused(r"LinearRegression with several .*multi-output", several, threshold=1.5)
    taken(several, call=lambda model, rows: model.predict(rows)[:, 0], threshold=1.5)
    lightgbm = pytest.importorskip("lightgbm")
    refused("LGBMRegressor, a regression", lightgbm.LGBMRegressor(n_estimators=2, verbose=-1).fit(X, X[:, 0]))


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_a_booster_of_numbers_has_no_labels(library):
    module = pytest.importorskip(library)
    model = {
        "lightgbm": lambda: lightgbm_booster("regression", TWO),
        "xgboost": lambda: xgboost_booster("reg:squarederror", TWO)[0],
        "catboost": lambda: module.CatBoost(catboost_settings()).fit(X, TWO / 3),
    }[library]()
    refused(f"got the booster of {library} trained for .*, which gives numbers; .* threshold=...", model)
    taken(model, threshold=0.2)


def test_a_booster_of_several_labels_is_certified_one_at_a_time():
    xgboost = pytest.importorskip("xgboost")
    model, _ = xgboost_booster("binary:logistic", (X[:, :2] > 1).astype(int))
    refused(r"with several .multi-output.; .*DMatrix\(rows\)\)\[:, 0\], threshold=0.5", model)
    taken(model, call=lambda model, rows: model.predict(xgboost.DMatrix(rows))[:, 0], threshold=0.5)


def test_clusters_are_no_classes_unless_the_user_says_so():
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    refused(r"KMeans, which finds clusters.*: call=lambda model, rows: model.predict\(rows\), classes=", model)
    taken(model, call=lambda model, rows: model.predict(rows), classes=2)


def test_outliers_are_told_by_a_decision():
    model = IsolationForest(n_estimators=5, random_state=0).fit(X)
    refused(r"IsolationForest, which finds outliers.*model.decision_function\(rows\), threshold=0", model)
    taken(model, call=lambda model, rows: model.decision_function(rows), threshold=0)


@pytest.mark.parametrize(
    "make", [lambda: RandomForestClassifier(2), lambda: OneVsRestClassifier(LogisticRegression()), MLPClassifier]
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")  # a network that is not trained to the end
def test_several_labels_are_certified_one_at_a_time(make):
    model = make().fit(X, (X[:, :3] > 1).astype(int))
    refused(r"with several \(multi-label or multi-output\); .*model.predict\(rows\)\[:, 0\], classes=2", model)
    taken(model, call=lambda model, rows: model.predict(rows)[:, 0], classes=2)


def test_what_cannot_predict_is_not_asked_to():
    refused("AgglomerativeClustering, which has no predict", AgglomerativeClustering(2).fit(X))
    refused("LocalOutlierFactor, which has no predict", LocalOutlierFactor(5).fit(X))
    refused("LocalOutlierFactor, which finds outliers", model := LocalOutlierFactor(5, novelty=True).fit(X))
    taken(model, call=lambda model, rows: model.decision_function(rows), threshold=0)


@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")  # LightGBM says that these are raw scores
def test_predictions_that_are_scores():
    """LightGBM predicts them after training for an objective of the user."""
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"n_estimators": 2, "verbose": -1, "min_child_samples": 2}
    model = lightgbm.LGBMClassifier(objective=logistic, **settings).fit(X, TWO)
    refused(
        r"among classes_, got .* from LGBMClassifier; .*: call=lambda model, rows: model.predict\(rows\), threshold=0",
        model,
    )
    taken(model, call=lambda model, rows: model.predict(rows), threshold=0)

    def gradient(labels, scores):
        return scores - np.eye(3)[labels.astype(int)], np.ones_like(scores)

    model = lightgbm.LGBMClassifier(objective=gradient, **settings).fit(X, NUMBERS)
    refused(r"among classes_, got .* from LGBMClassifier; .*: call=lambda model, rows: model.predict\(rows\)$", model)
    assert taken(model, call=lambda model, rows: model.predict(rows)).estimation.shape == (5, 3)


def test_a_booster_of_labels_has_no_threshold():
    model, _ = xgboost_booster("multi:softmax", TWO, num_class=2)
    refused(r"'multi:softmax', which predicts labels; .*set_param\(.*multi:softprob", model, threshold=0.5)
    model.set_param({"objective": "multi:softprob"})
    taken(model, threshold=0.5)


def test_labels_need_their_number():
    refused(r"how many labels <lambda> can return, .*: classes=...", lambda rows: rows[:, 0])
    taken(lambda rows: rows[:, 0], classes=4)


def test_names_of_classes_are_to_be_mapped():
    names, model = ["even", "odd"], lambda rows: np.array(["even", "odd"])[rows[:, 0] % 2]
    words = r"got 'odd'; map names of classes to 0, 1, ...: call=lambda model, batch: np.array\(\[names.index\(name\) "
    refused(words, model, [[1, 0]])
    votes = taken(model, call=lambda model, batch: np.array([names.index(name) for name in model(batch)]), classes=2)
    assert votes.estimation.shape == (5, 2)


def test_names_that_a_model_predicts_are_to_be_mapped():
    class Named:
        def predict(self, rows):
            return np.array(["even", "odd"])[rows[:, 0] % 2]

    names = ["even", "odd"]
    refused(r"np.array\(\[names.index\(name\) for name in model.predict\(batch\)\]\), classes=len\(names\)", Named())
    taken(Named(), call=lambda model, batch: np.array([names.index(name) for name in model.predict(batch)]), classes=2)
    refused(r"return integers: .astype\(int\)", lambda rows: rows[:, 0].astype(object))


def test_a_pipeline_of_hugging_face_names_its_labels():
    transformers = pytest.importorskip("transformers")

    class Mood(transformers.Pipeline):
        """A pipeline without a tokenizer on disk."""

        def __init__(self):
            pass

        def __call__(self, texts):
            return [{"label": "good" if "great" in text else "bad", "score": 0.9} for text in texts]

        _sanitize_parameters = preprocess = _forward = postprocess = None

    names, texts = ["bad", "good"], Formed(DATA, Sentences())
    refused(r"names.index\(name\['label'\]\) for name in model.predict\(batch\)\]", Mood(), texts)
    call = {"call": lambda model, batch: np.array([names.index(name["label"]) for name in model.predict(batch)])}
    taken(Mood(), texts, **call, classes=2)


def test_one_number_per_row_is_a_score_or_a_label():
    refused("one float64 per row; .* threshold=0.5 for a probability, .*astype.int", lambda rows: rows.mean(axis=1))
    taken(lambda rows: rows.mean(axis=1), threshold=1)
    taken(lambda rows: rows[:, 0].astype(float).astype(int), classes=4)


def test_integers_in_two_dimensions_are_scores_or_several_labels():
    refused(r"if these are scores, return floats: .astype\(float\)", lambda rows: rows[:, :3])
    taken(lambda rows: rows[:, :3].astype(float))


def test_a_function_of_one_row_becomes_one_of_a_batch():
    def function(row):
        return int(row[0] > row[1])

    refused("got TypeError: only 0-dim.*; it is called with a batch of inputs", function, classes=2)
    refused(r"got shape \(\); a function of one row becomes", lambda row: 1, classes=2)
    taken(lambda rows: np.array([function(row) for row in rows]), classes=2)


@pytest.mark.parametrize("threshold", [0.5, 0])
def test_a_threshold_needs_two_classes(threshold):
    refused("threshold only with two classes", LogisticRegression().fit(X, THREE), threshold=threshold)
    refused("threshold only with two classes", lambda rows: rows[:, :3] * 1.0, threshold=threshold)
    refused(
        "threshold only with two classes", lightgbm_booster("multiclass", NUMBERS, num_class=3), threshold=threshold
    )
    refused("threshold only with scores", lambda rows: rows[:, 0] > 1, threshold=threshold)
    refused("threshold only with one score per row", network(lambda nn: nn.Linear(6, 3)), threshold=threshold)
    hard = VotingClassifier([("a", LogisticRegression()), ("b", BernoulliNB())]).fit(X, TWO)
    refused("threshold only with a model that has scores, got VotingClassifier", hard, threshold=threshold)
    taken(hard)


def test_a_threshold_of_a_probability_is_one():
    refused(r"threshold to be a probability in \[0, 1\], got 3", LogisticRegression().fit(X, TWO), threshold=3)
    refused(r"threshold to be a probability in \[0, 1\], got 3", lightgbm_booster("binary", TWO), threshold=3)


def test_other_numbers_of_classes_are_refused():
    refused(
        "expected classes=3, as LogisticRegression has, got classes=5", LogisticRegression().fit(X, THREE), classes=5
    )
    refused("expected classes=3, as Linear gives 3 scores", network(lambda nn: nn.Linear(6, 3))[0], classes=5)
    taken(LogisticRegression().fit(X, THREE), classes=3)


def test_a_logit_may_look_like_a_probability():
    module = network(lambda nn: nn.Linear(6, 1))[0]
    module.weight.data[:], module.bias.data[:] = 0.01, 0.2
    refused(r"got outputs in \[0, 1\] only, .*threshold=0 for a logit, threshold=0.5 for a probability", module)
    assert taken(module, threshold=0).estimation[:, 1].min() == 5
    assert taken(module, threshold=0.5).estimation[:, 0].min() == 5


def test_several_sigmoids_are_several_questions():
    module = network(lambda nn: nn.Linear(6, 3), lambda nn: nn.Sigmoid())
    refused(r"several sigmoids \(multi-label\).*model\(rows\)\[:, 0\], threshold=0.5; or", module)
    taken(module, call=lambda model, rows: model(rows)[:, 0], threshold=0.5)
    assert taken(module, call=lambda model, rows: model(rows)).estimation.shape == (5, 3)


def test_images_need_their_channels():
    module, images = (
        network(lambda nn: nn.Conv2d(1, 2, 2), lambda nn: nn.Flatten(), lambda nn: nn.Linear(8, 2)),
        X[:, :3],
    )
    images = np.stack([images[:5], images[5:10], images[10:15]], axis=1)
    refused(r"\[inputs, channels, height, width\]: images\[:, None\]", module, images)
    taken(module, images[:, None])
    refused(r"channels first, .*: images.transpose\(0, 3, 1, 2\)", module, images[:, :, :, None])
    taken(module, images[:, :, :, None].transpose(0, 3, 1, 2))
    flat = network(lambda nn: nn.Linear(9, 2))
    refused(r"make one row of each input: call=lambda model, rows: model\(rows.flatten\(1\)\)", flat, images)
    taken(flat, images, call=lambda model, rows: model(rows.flatten(1)))


def test_a_model_of_graphs_needs_a_graph():
    pyg = pytest.importorskip("torch_geometric.nn")
    refused("a model of graphs needs a graph: fp.vote", pyg.GCN(6, 4, 1, 2))


def test_logits_of_another_shape_are_to_be_picked():
    module = network(lambda nn: nn.Linear(6, 4), lambda nn: nn.Unflatten(1, (2, 2)))
    refused(r"got shape \(5, 2, 2\); call it in its own way: call=", module)
    taken(module, call=lambda model, rows: model(rows)[:, 0])


def test_a_tuple_of_results_is_to_be_picked_from():
    torch = pytest.importorskip("torch")

    class Pairs(torch.nn.Module):
        def forward(self, rows):
            return rows[:, :2], rows

    refused(r"got tuple; pick them: call=lambda model, rows: model\(rows\)\[0\]", Pairs())
    taken(Pairs(), call=lambda model, rows: model(rows)[0])
    named = network(lambda nn: nn.Linear(6, 2))
    named.forward = lambda rows: {"scores": rows[:, :2]}
    refused(r"got dict; pick them: call=lambda model, rows: model\(rows\)\['scores'\]", named)
    taken(named, call=lambda model, rows: model(rows)["scores"])


def test_several_results_of_a_function_are_to_be_picked_from():
    refused(r"got a tuple of 2; pick them: call=.*\[0\]", lambda rows: (rows * 1.0, rows))
    taken(lambda rows: (rows * 1.0, rows), call=lambda model, batch: model(batch)[0])
    refused(r"got a dict of 1; pick them: call=.*\['a'\]", lambda rows: {"a": rows * 1.0})
    taken(lambda rows: {"a": rows * 1.0}, call=lambda model, batch: model(batch)["a"])


def test_hugging_face_may_not_be_a_classifier():
    refused("BertForSequenceClassification, a regression", bert(num_labels=1))
    taken(bert(num_labels=1), call=lambda model, rows: model(rows.long()).logits[:, 0], threshold=0.1)
    several = bert(problem_type="multi_label_classification")
    refused("for several .multi-label.; .*logits", several)
    taken(several, call=lambda model, rows: model(rows.long()).logits[:, 0], threshold=0)


def test_nobody_classifies_texts_by_a_module_alone():
    module = network(lambda nn: nn.Linear(6, 2), lambda nn: nn.Dropout())
    refused(
        r"got texts; say how to encode and call: call=lambda model, batch: model\(enc",
        module,
        Formed(DATA, Sentences()),
    )
    taken(module.train(), Formed(DATA, Sentences()), call=by_lengths)


def by_lengths(model, texts):
    """Six numbers for each text, for a network that would be random if it were not told to evaluate."""
    import torch

    lengths = torch.tensor([[len(text) % number for number in range(2, 8)] for text in texts], dtype=torch.float32)
    return model(lengths)


def test_rows_may_have_to_be_dense():
    model = HistGradientBoostingClassifier(max_iter=2).fit(BITS.toarray(), OF_BITS)
    refused(
        r"give dense rows if it takes no sparse ones: fp.vote\(model, matrix.toarray\(\), noise\)", model, WORDS, FEWER
    )
    taken(model, WORDS.toarray().astype(int), FEWER)


def frame_models():
    yield LogisticRegression().fit(Frames(COLUMNS)(X), TWO)
    for name in ("lightgbm", "xgboost", "catboost"):
        module = pytest.importorskip(name)
        if name == "lightgbm":
            yield module.LGBMClassifier(n_estimators=2, verbose=-1).fit(Frames(COLUMNS)(X), TWO)
            yield module.train({"objective": "binary", "verbose": -1}, module.Dataset(Frames(COLUMNS)(X), TWO), 2)
        elif name == "xgboost":
            yield module.XGBClassifier(n_estimators=2).fit(Frames(COLUMNS)(X), TWO)
            yield module.train({"objective": "binary:logistic"}, module.DMatrix(Frames(COLUMNS)(X), TWO), 2)
        else:
            yield module.CatBoostClassifier(**catboost_settings()).fit(Frames(COLUMNS)(X), TWO)


def test_a_model_of_a_data_frame_gets_it_or_is_refused():
    pytest.importorskip("pandas")
    for model in frame_models():
        refused(r"a, b, c, d, e and 1 more, .* fp.vote\(model, df, noise\)", model)
        refused("in their order, got f, a, .* select them: ", model, Formed(DATA, Frames(tuple("fabcde"))))
        refused("there is no a, b, c: give the data frame", model, Formed(DATA, Frames(tuple("xyzdef"))))
        taken(model, Formed(DATA, Frames(COLUMNS)))


def test_codes_of_categories_are_not_what_a_booster_was_fitted_on():
    """LightGBM would take them, and be another model."""
    pytest.importorskip("lightgbm")
    for model in (lightgbm_of_categories().model, lightgbm_booster_of_categories().model):
        refused(r"give the data frame it was fitted on: fp.vote\(model, df, noise\)", model)
        taken(model, Formed(DATA, CATEGORIES))


def test_what_is_no_model_at_all_is_refused():
    refused("expected a classifier, got str; give a trained model or a function of a batch", "model")
    refused("expected a classifier, got NoneType", None)
    refused("got StandardScaler, which transforms data|StandardScaler without predict", StandardScaler().fit(X))
