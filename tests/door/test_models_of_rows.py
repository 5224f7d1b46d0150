"""Models of rows go in as they are: votes count the labels that each model itself gives to the same noisy inputs."""

import itertools
import math
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.fingerprint.fingerprints import fingerprint
from tests.door.row_boosters import catboost_settings
from tests.door.row_modules import network
from tests.door.row_pairs import DATA, ESTIMATE, FLIPS, PAIRS, SELECT, THREE, TWO, Pair, X, counted, vote

pytest.importorskip("sklearn")
from sklearn.linear_model import LogisticRegression

from tests.door import row_boosters, row_estimators, row_functions, row_modules  # noqa: F401


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


ON_WORKERS = [
    "pipeline", "lightgbm_booster_of_two_classes", "xgboost_booster_that_predicts_labels",
    "catboost_of_three_classes_which_it_predicts_as_a_column", "one_logit",
    "hugging_face_with_padding_that_is_not_in_its_vocabulary", "names_mapped_by_a_call", "a_pipeline_of_texts",
]  # fmt: skip


@pytest.mark.parametrize("name", ON_WORKERS)
def test_workers_count_the_same_votes(name):
    pair = PAIRS[name]()
    here, elsewhere = vote(pair), vote(pair, workers=2)
    assert elsewhere.estimation.tolist() == here.estimation.tolist()
    assert elsewhere.run.identity == here.run.identity


# Fingerprints

FINGERPRINTS = """
from tests.door import row_boosters, row_estimators, row_functions, row_modules
from tests.door.row_pairs import PAIRS, vote

for name in {names!r}:
    print(vote(PAIRS[name](), check=False).run.identity["model"])
"""
KEPT = [
    "lightgbm_of_three_classes", "lightgbm_booster_of_two_classes", "xgboost_of_three_classes",
    "xgboost_booster_that_predicts_labels", "catboost_of_categories", "catboost_without_labels_of_its_own",
    "only_probabilities", "probabilities_with_a_threshold", "one_logit", "a_module_called_in_its_own_way",
]  # fmt: skip


def model_identity(name, **options):
    return vote(PAIRS[name](), **options).run.identity["model"]


def test_fingerprints_are_those_of_another_process_that_trains_again():
    code = FINGERPRINTS.format(names=KEPT)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert said.stdout.split() == [model_identity(name, check=False) for name in KEPT]
    assert len(set(said.stdout.split())) == len(KEPT)


def small_booster(library, labels, native):
    module = pytest.importorskip(library)
    if library == "lightgbm":
        model = module.LGBMClassifier(n_estimators=3, min_child_samples=2, verbose=-1).fit(X, labels)
        return model.booster_ if native else model
    if library == "xgboost":
        model = module.XGBClassifier(n_estimators=3).fit(X, labels)
        return model.get_booster() if native else model
    settings = {**catboost_settings(), "loss_function": "Logloss"}
    return (module.CatBoost(settings) if native else module.CatBoostClassifier(**settings)).fit(X, labels)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_other_trees_of_the_same_settings_are_another_model(library, native):
    others = TWO.copy()
    others[:4] = 1 - others[:4]
    one, again, other = (small_booster(library, labels, native) for labels in (TWO, TWO, others))
    assert fingerprint(one) == fingerprint(again) == fingerprint(pickle.loads(pickle.dumps(one)))
    assert fingerprint(one) != fingerprint(other)


def test_the_rule_of_decision_is_part_of_the_fingerprint():
    model = LogisticRegression().fit(X, TWO)
    rules = [
        {},
        {"threshold": 0.5},
        {"threshold": 0.4},
        {"call": lambda model, rows: model.predict(rows), "classes": 2},
    ]
    known = {fp.vote(model, DATA, FLIPS, 5, 5, progress=False, **rule).run.identity["model"] for rule in rules}
    assert len(known) == len(rules)


def test_bare_models_and_their_explicit_adapters_give_the_same_votes():
    model = LogisticRegression().fit(X, THREE)
    bare, explicit = (vote(Pair(each, None)) for each in (model, fp.SklearnClassifier(model)))
    assert bare.run.identity == explicit.run.identity
    module = network(lambda nn: nn.Linear(6, 3))
    bare, explicit = (vote(Pair(each, None)) for each in (module, fp.TorchClassifier(module, classes=3)))
    assert bare.estimation.tolist() == explicit.estimation.tolist()


def test_a_cut_is_exact():
    probabilities = np.array([[1 - p, p] for p in (0.1, 0.25, np.nextafter(0.25, 0), 0.5)])

    class Fixed:
        def predict_proba(self, rows):
            return probabilities[rows[:, 0]]

    rows, still = np.array([[0], [1], [2], [3]]), fp.FlipNoise(0.0, 0.0, 4)
    assert fp.vote(Fixed(), rows, still, 1, 1, threshold=0.25, progress=False).estimation.argmax(1).tolist() == [
        0,
        1,
        0,
        1,
    ]
    assert fp.vote(Fixed(), rows, still, 1, 1, progress=False).estimation.argmax(1).tolist() == [0, 0, 0, 0]


WHOLE = np.array(list(itertools.product((0, 1), repeat=5)))
"""All inputs of five bits."""


def smoothed_exactly(labels, noise):
    """The exact probability of label 1 after noise, for each of all inputs."""
    kept = {0: Fraction(noise.p_plus), 1: Fraction(noise.p_minus)}  # that a bit with this value flips

    def probability(clean, noisy):
        return math.prod(kept[a] if a != b else 1 - kept[a] for a, b in zip(clean, noisy, strict=True))

    rows = WHOLE.tolist()
    return [sum(probability(clean, rows[i]) for i in np.flatnonzero(labels)) for clean in rows]


def test_no_input_in_the_ball_of_a_certified_one_changes_its_label():
    model = lightgbm_on_bits()
    noise = fp.FlipNoise(0.05, 0.3)
    certificates = fp.certify(fp.vote(model, WHOLE, noise, 100, 5_000, progress=False), alpha=1e-6)
    label = certificates.predictions.label
    exact = smoothed_exactly(model.predict(WHOLE) > 0.5, noise)
    compared = 0
    for add, delete in itertools.product(range(3), repeat=2):
        certified = certificates.certified(fp.Radii(add=add, delete=delete))
        for i, j in itertools.product(np.flatnonzero(certified), range(len(WHOLE))):
            added, deleted = ((WHOLE[j] > WHOLE[i]).sum(), (WHOLE[j] < WHOLE[i]).sum())
            if added <= add and deleted <= delete:
                assert (exact[j] > Fraction(1, 2)) == bool(label[i])
                compared += 1
    assert compared > 100


def lightgbm_on_bits():
    lightgbm = pytest.importorskip("lightgbm")
    bits = np.random.default_rng(0).integers(0, 2, (300, 5))
    labels = bits[:, 0] + bits[:, 1] + bits[:, 2] > bits[:, 3] + 1
    settings = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 2, "num_threads": 1}
    return lightgbm.train(settings, lightgbm.Dataset(bits, labels), 10)


def test_a_function_needs_none_of_the_libraries():
    code = (
        "import sys, flipproof as fp\n"
        "fp.vote(lambda rows: rows * 1.0, [[0, 1], [1, 1]], fp.FlipNoise(0.1, 0.1), 5, 5, progress=False)\n"
        "print({'torch', 'sklearn', 'pandas', 'polars', 'lightgbm', 'xgboost', 'catboost'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "set()\n"
