"""A user's own files: which of them a model is made of, and what is said when one of them has changed."""

import hashlib
import importlib
import sys

import numpy as np
import pytest

import flipproof as fp
from flipproof.smoothing.fingerprint.identity import changed_files, run_differences
from flipproof.smoothing.voting.checkpoint import CheckpointMismatchError
from flipproof.smoothing.voting.vote_task import model_identity

ROWS = np.random.default_rng(0).integers(0, 2, (4, 6))
WHAT_TO_DO = "put it back, or draw anew into another file (flipproof vote --force)"
NET = """
from {package}.parts import first
from {package} import {package}_helpers

class Net:
    classes = 2

    def __call__(self, rows):
        return first(rows)
"""
PARTS = "def first(rows):\n    return rows[:, 0]\n"


@pytest.fixture
def package(tmp_path, monkeypatch, request):
    """A package of the user's, of a name that no other test has."""
    name = f"user_{hashlib.sha256(request.node.name.encode()).hexdigest()[:8]}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / f"{name}_helpers.py").write_text("LIMIT = 3\n")
    (folder / "parts.py").write_text(PARTS)
    (folder / "net.py").write_text(NET.format(package=name))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield folder
    forget(name)


def forget(package):
    for module in [each for each in sys.modules if each.partition(".")[0] == package]:
        del sys.modules[module]
    importlib.invalidate_caches()


def loaded(folder, module="net", name="Net"):
    """What a module has, as it is on the disk now."""
    forget(folder.name)
    return getattr(importlib.import_module(f"{folder.name}.{module}"), name)


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def vote(classifier, **changes):
    call = {"inputs": ROWS, "noise": fp.FlipNoise(0.1, 0.3), "n_select": 10, "n_estimate": 30}
    return fp.vote(classifier, **(call | changes))


def test_the_files_of_a_class_are_its_own_and_those_it_imports(package):
    files = vote(loaded(package)()).run.identity["files"]
    names = ("net.py", "parts.py", f"{package.name}_helpers.py")
    assert files == {f"{package.name}/{name}": sha256(package / name) for name in names}


def test_the_file_of_a_function_is_known_too(package):
    classifier = fp.FunctionClassifier(loaded(package, "parts", "first"), classes=2)
    name = f"{package.name}/parts.py"
    assert model_identity(classifier)["files"] == {name: sha256(package / "parts.py")}


def test_what_has_a_fingerprint_of_its_own_has_no_files(package):
    function = loaded(package, "parts", "first")
    assert model_identity(fp.FunctionClassifier(function, 2, fingerprint="v1"))["files"] == {}
    from sklearn.naive_bayes import BernoulliNB

    estimator = BernoulliNB().fit(ROWS, ROWS[:, 0])
    assert model_identity(fp.SklearnClassifier(estimator))["files"] == {}


def test_the_file_that_was_edited_is_named(package, tmp_path):
    path = tmp_path / "run.ckpt"
    vote(loaded(package)(), checkpoint=path)
    (package / "parts.py").write_text(PARTS.replace("0", "1"))
    with pytest.raises(CheckpointMismatchError) as refusal:
        vote(loaded(package)(), checkpoint=path, n_estimate=40)
    words = f"{package.name}/parts.py has changed since: {WHAT_TO_DO}"
    assert str(refusal.value).endswith(f"; {words}")
    assert str(tmp_path) not in str(refusal.value)
    (package / "parts.py").write_text(PARTS)
    assert vote(loaded(package)(), checkpoint=path, n_estimate=40).n_estimate == 40


def test_a_file_that_does_not_matter_may_change(package, tmp_path):
    """Of a function its code counts, not what else is in its file."""
    path = tmp_path / "run.ckpt"
    vote(fp.FunctionClassifier(loaded(package, "parts", "first"), classes=2), checkpoint=path)
    (package / "parts.py").write_text(PARTS + "# and nothing else\n")
    classifier = fp.FunctionClassifier(loaded(package, "parts", "first"), classes=2)
    more = vote(classifier, checkpoint=path, n_estimate=40)
    assert more.run.identity["files"] == {f"{package.name}/parts.py": sha256(package / "parts.py")}
    assert more.merged(vote(classifier, n_select=0, n_estimate=range(40, 50))).n_estimate == 50


def test_several_files_and_other_differences_are_said_together():
    found = {"model": "ab", "seed": 0, "files": {"a.py": "1", "b.py": "1", "c.py": "1", "gone.py": "1"}}
    wanted = {"model": "cd", "seed": 0, "files": {"a.py": "2", "b.py": "2", "c.py": "1", "new.py": "1"}}
    assert run_differences(found, wanted) == (
        "model ab instead of cd; a.py, b.py have changed since: put them back, or draw anew into another file "
        "(flipproof vote --force)"
    )
    assert run_differences(found, wanted | {"model": "ab"}) == ""
    assert run_differences(found, wanted | {"model": "ab", "seed": 1}) == "seed 0 instead of 1"


@pytest.mark.parametrize("hostile", [None, [], "a.py", 3, {"a.py": None}, {"a.py": {}}])
def test_files_that_a_stranger_wrote_do_no_harm(hostile):
    assert changed_files(hostile, {"a.py": "1"}) in ([], ["a.py"])
    assert changed_files({"a.py": "1"}, hostile) in ([], ["a.py"])
