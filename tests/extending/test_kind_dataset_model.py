"""A kind of data, a dataset and a model, each one file outside of the package, through `flipproof run`."""

import numpy as np
import pytest

import flipproof as fp
from tests.extending import toy_dataset, toy_kind, toy_model

FEW = ("--samples", 200, "--select-samples", 20)


@pytest.fixture
def panels(tmp_path):
    """A file of panels: the label says whether the first three dials are turned up."""
    toy_kind.register()
    toy_model.register()
    positions = np.random.default_rng(3).integers(0, 4, (200, 6))
    labels = (positions[:, :3].sum(axis=1) > 4).astype(int)
    np.savetxt(tmp_path / "mine.dial", np.column_stack([labels, positions]), fmt="%d")
    return tmp_path / "mine.dial"


def test_a_kind_with_its_files_and_its_model(run, tmp_path, panels):
    code, out, err = run("run", "--dataset", panels, "--out", tmp_path / "run", *FEW)
    assert code == 0, err
    assert "mine: 200 panels, 6 dials" in out
    assert "noise     on dials" in out
    page = (tmp_path / "run" / "report.html").read_text()
    assert "panel" in page
    assert "dials" in page
    assert f"flipproof run --dataset {panels}" in page
    assert fp.verify(tmp_path / "run").confirmed
    code, out, err = run("report", tmp_path / "run")
    assert code == 0, err


def test_the_kind_refuses_what_it_cannot_have(run, tmp_path, panels):
    code, _, err = run("run", "--dataset", panels, "--out", tmp_path / "run", "--noise", "pixels")
    assert code == 2
    assert "expected --noise to be one of dials, got 'pixels'" in err
    code, _, err = run("run", "--dataset", panels, "--out", tmp_path / "run", "--model", "gcn")
    assert code == 2
    assert "expected model to be one of dial-net, FILE.py:NAME, got 'gcn'" in err


def test_a_dataset_with_a_card(run, tmp_path):
    toy_dataset.register()
    code, out, err = run("run", "--dataset", "toy-coins", "--out", tmp_path / "run", *FEW)
    assert code == 0, err
    assert "toy-coins: 120 rows, 9 columns" in out
    assert (tmp_path / "run" / "report.html").exists()
    assert "Nine coins" in run("datasets", "toy-coins")[1]


def test_a_model_in_a_file(run, tmp_path, panels):
    model = f"{toy_model.__file__}:DialNet"
    code, out, err = run("run", "--dataset", panels, "--model", model, "--out", tmp_path / "run", *FEW)
    assert code == 0, err
    assert "DialNet" in out
