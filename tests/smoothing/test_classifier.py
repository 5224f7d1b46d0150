"""What functions and estimators get: rows whose differences do not wrap around."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.noise.spaces.rows import DenseRows

ROWS = np.array([[0, 1, 2], [2, 2, 0]])
NOISE = fp.FlipNoise(0.2, 0.3, categories=3)


def below_one(rows):
    """Whether the first entry is 0, by a difference."""
    return (rows - 1 < 0)[:, 0].astype(int)


def drawn():
    return DenseRows(ROWS).sampler(NOISE, 0).draw(Role.ESTIMATE, range(50), np.arange(2))


def test_the_batches_of_the_sampler_do_wrap_around():
    assert drawn().dtype == np.uint8
    assert not below_one(drawn()).any()


def test_a_function_may_subtract():
    votes = fp.vote(fp.FunctionClassifier(below_one, classes=2), ROWS, NOISE, 0, 50)
    zeros = (drawn()[:, 0] == 0).reshape(50, 2).sum(axis=0)
    assert votes.estimation[:, 1].tolist() == zeros.tolist()
    assert zeros.min() > 0


def test_an_estimator_may_subtract():
    pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
    tree = pytest.importorskip("sklearn.tree").DecisionTreeClassifier(random_state=0)
    model = pipeline.make_pipeline(preprocessing.FunctionTransformer(lambda rows: rows - 1), tree)
    model.fit(np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]]), [1, 0, 0])
    zeros = model.predict(drawn().astype(np.int64)).reshape(50, 2).sum(axis=0)
    votes = fp.vote(fp.SklearnClassifier(model), ROWS, NOISE, 0, 50)
    assert votes.estimation[:, 1].tolist() == zeros.tolist()
    assert zeros.min() > 0


def test_what_is_not_unsigned_stays_as_it_is():
    seen = []
    classifier = fp.FunctionClassifier(lambda batch: seen.append(batch) or np.zeros(len(batch), int), classes=1)
    given = np.zeros((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.int8)
    for batch in given:
        classifier(batch)
    assert all(one is other for one, other in zip(seen, given, strict=True))
