"""Fingerprints know things of ours by their public names: a file of ours may be moved, and runs go on all the same."""

import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.naive_bayes import BernoulliNB

import flipproof as fp
from flipproof.smoothing.fingerprint import contents, fingerprints
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

ELSEWHERE = "flipproof.somewhere.other"
SOURCE = Path(fp.__file__).parent
ROOMS = sorted({file.relative_to(SOURCE).parts[0].removesuffix(".py") for file in SOURCE.rglob("*.py")} - {*fp.__all__})
A_PLACE = re.compile(rb"flipproof\.(" + "|".join(ROOMS).encode() + rb")\b")
BITS = np.array([[0, 1, 1], [1, 0, 0]])
FLIPS = fp.FlipNoise(0.1, 0.3)


def a_graph():
    return fp.Graph.from_edge_index([[0, 1], [1, 0]], nodes=3, attributes=sp.csr_array(np.eye(3, dtype=int)))


def of_torch(make):
    pytest.importorskip("torch")
    return make()


SPACES = {
    "DenseRows": lambda: fp.DenseRows(BITS),
    "SparseRows": lambda: fp.SparseRows(sp.csr_array(BITS)),
    "RealRows": lambda: fp.RealRows(BITS / 2),
    "Table": lambda: fp.Table(BITS, [2, 2, 3]),
    "Tokens": lambda: fp.Tokens([[5, 2, 7]], padding=9, mask=0),
    "Graph": a_graph,
    "Graphs": lambda: fp.Graphs((a_graph(), a_graph())),
}
NOISES = {
    "FlipNoise": lambda: FLIPS,
    "JointNoise": lambda: fp.JointNoise(structure=FLIPS, attributes=FLIPS),
    "AblationNoise": lambda: fp.AblationNoise(9, 3),
    "GaussianNoise": lambda: fp.GaussianNoise(0.5),
}
MODELS = {
    "GCN": lambda: of_torch(lambda: fp.NodeClassifier(fp.GCN(3, 2), 2)),
    "GAT": lambda: of_torch(lambda: fp.NodeClassifier(fp.GAT(3, 2), 2)),
    "APPNP": lambda: of_torch(lambda: fp.NodeClassifier(fp.APPNP(3, 2), 2)),
    "GIN": lambda: of_torch(lambda: fp.GraphClassifier(fp.GIN(3, 2), 2)),
    "CNN": lambda: of_torch(lambda: fp.TorchClassifier(fp.CNN((8, 8), 2), 2)),
    "WordMean": lambda: of_torch(lambda: fp.TorchClassifier(fp.WordMean(9, 2), 2, dtype="int64")),
    "SklearnClassifier": lambda: fp.SklearnClassifier(BernoulliNB().fit(BITS, [0, 1])),
    "FunctionClassifier": lambda: fp.FunctionClassifier(lambda rows: fp.DenseRows(rows).values[:, 0], 2),
    "TrainingSettings": lambda: of_torch(fp.TrainingSettings),
}
THINGS = {**SPACES, **NOISES, **MODELS}


@pytest.fixture
def hashed(monkeypatch):
    """Everything that is hashed from now on."""
    found, hash_of = [], fingerprints._hash

    def noted(tag, *parts):
        found.extend([tag.encode(), *map(bytes, parts)])
        return hash_of(tag, *parts)

    monkeypatch.setattr(fingerprints, "_hash", noted)
    return found


@pytest.mark.parametrize("name", THINGS)
def test_no_place_of_ours_is_hashed(name, hashed):
    fingerprint(THINGS[name]())
    assert hashed
    assert [part for part in hashed if A_PLACE.search(part)] == []


@pytest.mark.parametrize("name", [*SPACES, *NOISES])
def test_things_of_ours_have_their_public_names(name, hashed):
    fingerprint(THINGS[name]())
    assert f"flipproof.{name}".encode() in hashed


@pytest.mark.parametrize("name", THINGS)
def test_a_class_may_be_moved(name, monkeypatch):
    thing = THINGS[name]()
    before = fingerprint(thing)
    for kind in {type(thing), type(getattr(thing, "module", thing))}:
        monkeypatch.setattr(kind, "__module__", ELSEWHERE)
    assert fingerprint(thing) == before


def test_a_function_that_pickle_calls_may_be_moved(monkeypatch):
    noise = THINGS["JointNoise"]()
    before, make = fingerprint(noise), noise.__reduce__()[0]
    monkeypatch.setattr(make, "__module__", ELSEWHERE)
    assert fingerprint(noise) == before


def test_modules_of_ours_are_the_package_unless_they_are_public():
    import flipproof.noise.spaces.graph
    import flipproof.noise.spaces.rows

    assert fingerprint(flipproof.noise.spaces.graph) == fingerprint(flipproof.noise.spaces.rows) == fingerprint(fp)
    assert len({fingerprint(each) for each in (fp, fp.datasets, fp.baselines, np)}) == 4


def test_imports_inside_of_functions_may_name_any_place_of_ours():
    sources = (
        f"def made(rows):\n    from {place} import DenseRows\n    return DenseRows(rows)"
        for place in ("flipproof", "flipproof.noise.spaces.rows", ELSEWHERE)
    )
    found = []
    for source in sources:
        there = {"__name__": "__main__"}
        exec(source, there)
        found.append(fingerprint(there["made"]))
    assert len(set(found)) == 1


def test_classes_of_others_are_known_by_their_modules():
    one, other = (type("Net", (), {"__module__": module}) for module in ("numpy.a", "numpy.b"))
    assert fingerprint(one) != fingerprint(other)


def test_no_other_class_has_a_public_name():
    """Else two classes would have the same name in fingerprints."""
    public = {name for name in fp.__all__ if isinstance(getattr(fp, name), type)}
    found = [
        name
        for file in SOURCE.rglob("*.py")
        for name in re.findall(r"^class (\w+)", file.read_text(), re.MULTILINE)
        if name in public
    ]
    assert sorted(found) == sorted(public)


def test_public_modules_are_known():
    assert {f"flipproof.{name}" for name in fp._MODULES} == set(contents._PUBLIC_MODULES)
