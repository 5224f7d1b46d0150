"""Randomized ablation: exact binomials, votes of real spaces, files, and what must not be mixed up."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.baselines import ablation
from flipproof.baselines.proofs import bounds_of
from flipproof.noise.ablation import AblationNoise
from flipproof.statistics.bounds import Rule


@pytest.mark.parametrize(("entries", "kept"), [(1, 1), (7, 7), (10, 1), (10, 3), (784, 45), (2879, 576), (50_000, 2)])
def test_seen_changes_are_just_above_the_exact_ones(entries, kept):
    seen = ablation.seen_changes(AblationNoise(entries, kept))
    for r in {0, 1, 2, 3, len(seen) // 2, len(seen) - 1} & set(range(len(seen))):
        exact = 1 - Fraction(comb(entries - r, kept), comb(entries, kept))
        assert exact <= Fraction(float(seen[r])) <= exact + Fraction(1, 10**10)
    after = 1 - Fraction(comb(max(0, entries - len(seen)), kept), comb(entries, kept))
    assert len(seen) > entries or after > Fraction(1, 2) - Fraction(1, 10**10)
    assert (np.diff(seen) > 0).all()


def test_the_largest_radius_is_that_of_the_definition(rng):
    noise = AblationNoise(60, 4)
    lower = rng.uniform(0.4, 1, 300)
    upper = rng.uniform(0, 1, 300) * (1 - lower)
    found = ablation.largest_radius(noise, lower, upper)
    for a, b, radius in zip(lower, upper, found, strict=True):
        gaps = [
            Fraction(float(a)) - Fraction(float(b)) > 2 * (1 - Fraction(comb(60 - r, 4), comb(60, 4)))
            for r in range(60)
        ]
        assert radius == max(0, sum(gaps) - 1)


def majority(rows):
    values = rows.toarray() if sp.issparse(rows) else np.where(rows == 1, 1, 0)
    return (values.reshape(len(values), -1).sum(axis=1) > 1).astype(int)


def test_from_a_classifier_to_radii():
    rows = sp.csr_array(np.array([[1] * 20 + [0] * 20, [0] * 40]))
    votes = fp.vote(fp.FunctionClassifier(majority, 2), rows, AblationNoise(40, 10), 100, 2000)
    proofs, (found, _) = ablation.certify(votes), bounds_of(votes, 0.01, Rule.MULTI_CLASS)
    assert proofs.label.tolist() == [1, 0]
    assert proofs.radius.tolist() == ablation.largest_radius(votes.noise, found.p_lower, found.p_upper).tolist()
    assert proofs.radius.min() >= 1
    assert proofs.promise.system == "Levine and Feizi 2020"


def test_votes_do_not_depend_on_workers_and_are_kept(tmp_path):
    values = np.random.default_rng(0).integers(0, 2, (3, 4, 4))
    asked = (fp.FunctionClassifier(majority, 2), values, AblationNoise(16, 6), 20, 300)
    votes = fp.vote(*asked)
    again = fp.vote(*asked, workers=2, checkpoint=tmp_path / "votes")
    assert (votes.estimation == again.estimation).all()
    again.save(tmp_path / "votes.npz")
    loaded = fp.Votes.load(tmp_path / "votes.npz")
    assert loaded.noise == AblationNoise(16, 6)
    assert (loaded.estimation == votes.estimation).all()


def test_what_a_classifier_makes_of_hidden_rows_counts_for_the_memory():
    class Dense(fp.FunctionClassifier):
        bytes_per_entry = 4

    rows, asked = sp.csr_array((3, 200_000)), (AblationNoise(200_000, 100), 1, 1)
    with pytest.raises(fp.TooLargeError, match="expected a memory limit of at least"):
        fp.vote(Dense(majority, 2), rows, *asked, memory_limit="1MB")
    fp.vote(Dense(majority, 2), rows, *asked, memory_limit="8MB")


def test_the_table_ends_where_nobody_looks():
    assert ablation.seen_changes(AblationNoise(2**31, 1)).size < 2**22


def test_votes_under_one_noise_are_not_certified_for_another():
    counts = [[100, 0]]
    ablated = fp.Votes.from_counts(selection=counts, estimation=counts, noise=AblationNoise(10, 2))
    with pytest.raises(fp.InvalidInputError, match=r"got AblationNoise\(.*\); see flipproof\.baselines"):
        fp.certify(ablated)
    flipped = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.1, 0.1))
    with pytest.raises(fp.InvalidInputError, match="expected votes under an AblationNoise, got votes under FlipNoise"):
        ablation.certify(flipped)


def test_inputs_without_votes_abstain():
    votes = fp.Votes.from_counts(
        selection=[[0, 0], [9, 1]], estimation=[[100, 0], [50, 50]], noise=AblationNoise(10, 2), n_select=10
    )
    assert ablation.certify(votes).abstained.tolist() == [True, True]


def test_a_graph_network_that_is_trained_on_what_it_will_see():
    """On the built-in graph of digits: better than chance by far, and certified."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    data = fp.datasets.load("digits-graph")
    graph = data.graph("attributes")
    noise = AblationNoise(graph.nodes * data.features, graph.nodes * data.features // 3)
    torch.manual_seed(0)
    classifier = fp.NodeClassifier(fp.GCN(data.features, data.classes, hidden=16), classes=data.classes)
    split = fp.Split.per_class(data.labels, 20, 20, seed=0)
    fp.train(
        classifier, graph, data.labels, split, noise, fp.TrainingSettings(epochs=60, learning_rate=0.02), progress=False
    )
    votes = fp.vote(classifier, graph, noise, 20, 200, progress=False)
    proofs = ablation.certify(votes)
    assert votes.run.engine == "torch"
    assert (proofs.label == data.labels)[split.test].mean() > 0.7
    assert proofs.radius.max() >= 1


def test_an_estimator_that_is_fitted_to_what_it_will_see():
    from sklearn.naive_bayes import BernoulliNB

    rng = np.random.default_rng(0)
    topic = rng.integers(0, 2, 60)
    words = sp.csr_array(rng.random((60, 40)) < np.where((np.arange(40) < 20) == (topic[:, None] == 0), 0.6, 0.05))
    noise = AblationNoise(40, 15)
    model = fp.fit_estimator(BernoulliNB(), words, topic, np.arange(30), noise, copies=5)
    votes = fp.vote(fp.SklearnClassifier(model), words, noise, 20, 300, progress=False)
    proofs = ablation.certify(votes)
    assert (proofs.label == topic)[30:].mean() > 0.9
    assert np.median(proofs.radius) >= 1
