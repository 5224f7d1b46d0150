"""Tables of the user's own on the command line, with the user's own estimators, splits and targets."""

import json
import shlex

import numpy as np
import pytest

import flipproof as fp
from flipproof.cli.values import repeating_command
from flipproof.run_folder.split import Inputs

pd = pytest.importorskip("pandas")
pytest.importorskip("lightgbm")

MODELS = """
import os

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from xgboost import XGBClassifier

PLAIN = ["job", "home"]


def encoded(model):
    columns = make_column_transformer((OneHotEncoder(), PLAIN), (SimpleImputer(), ["amount", "age"]), remainder="drop")
    return make_pipeline(columns, model)


def lightgbm():
    return encoded(LGBMClassifier(n_estimators=5, verbose=-1))


def xgboost():
    return encoded(XGBClassifier(n_estimators=5))


forest = encoded(RandomForestClassifier(5))
read = pd.read_csv("mine.csv")
rows = read.drop(columns=["id", "fraud"], errors="ignore")
fitted = encoded(LogisticRegression(max_iter=1000)).fit(rows, read["fraud"])
others = encoded(LogisticRegression(max_iter=1000)).fit(rows, read["fraud"].map({"no": "good", "yes": "bad"}))
more = encoded(LogisticRegression(max_iter=1000)).fit(read, read["fraud"])
few = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows[PLAIN], read["fraud"])
regression = encoded(Ridge())
nothing = 3


class Restless(BernoulliNB):
    def fit(self, rows, labels):
        self.alpha = 1 + int.from_bytes(os.urandom(6), "big")
        return super().fit(rows.notna(), labels)

    def predict(self, rows):
        return super().predict(rows.notna())


try:
    import torch
except ImportError:
    pass
else:

    class Net(torch.nn.Sequential):
        def __init__(self, features, classes):
            super().__init__(torch.nn.Linear(features, classes))
"""
ASKED = ["--dataset", "mine.csv", "--label", "fraud", "--drop", "id", "--bins", "amount=4", "--fixed", "age"]
FEW = ["--samples", 100, "--select-samples", 20, "--noisy-samples", 2]


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder to work in, with a table as people have them and a file of models."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(8)
    rows = 120
    frame = pd.DataFrame(
        {
            "id": [f"c{i:04}" for i in range(rows)],
            "job": draw.choice(["cook", "smith", None], rows),
            "home": draw.choice(["rent", "own"], rows),
            "amount": draw.exponential(100, rows).round(2),
            "age": draw.integers(18, 80, rows),
        }
    )
    frame.loc[draw.random(rows) < 0.1, "amount"] = np.nan
    frame["fraud"] = np.where((frame["job"] == "cook") | (frame["amount"] > 150), "yes", "no")
    frame.to_csv("mine.csv", index=False)
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def record_of(folder):
    return json.loads((folder / "run.json").read_text())


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "forest"])
def test_estimators_are_fitted_to_noisy_frames(run, mine, name):
    code, out, err = run(
        "run", *ASKED, "--model", f"models.py:{name}", "--out", "run", *FEW, "--inputs", 12, "--no-report"
    )
    assert (code, err) == (0, "")
    frame = pd.read_csv("mine.csv")
    counts = frame["fraud"].value_counts().to_dict()
    assert f"labels    column 'fraud': no ({counts['no']}), yes ({counts['yes']})" in out
    record = record_of(mine / "run")
    assert (record["dataset"]["label_column"], record["dataset"]["class_counts"]) == ("fraud", counts)
    assert record["task"]["reading"] == {
        "threshold": None, "one_hot": False, "label": "fraud", "drop": ["id"], "fixed": ["age"], "bins": {"amount": 4}
    }  # fmt: skip
    assert record["training"]["base_accuracy"] > 0.5
    votes = fp.Votes.load(mine / "run" / "votes.npz")
    assert "the column 'age'" in votes.scope.fixed
    again = ["vote", "run", "--samples", 150, "--select-samples", 20]
    assert "expected --model, because run has a model of your own" in run(*again)[2]
    assert run(*again, "--model", f"models.py:{name}")[0] == 0
    assert run("certify", "run")[0] == 0
    assert "40 certificates" not in run("verify", "run")[1]
    assert run("verify", "run", "--resample", 1, "--model", f"models.py:{name}")[0] == 0


def test_a_fitted_estimator_is_taken_as_it_is(run, mine):
    asked = [*ASKED, "--model", "models.py:fitted"]
    code, out, err = run("run", *asked, "--out", "run", *FEW, "--targets", "0-29", "--no-report")
    assert (code, err) == (0, "")
    assert "models.py:fitted, trained elsewhere" in out
    assert "not reported: it is not known which inputs the weights were trained on" in out
    assert run("verify", "run")[0] == 0
    frame = pd.read_csv("mine.csv")
    table = fp.Table.from_pandas(frame.drop(columns=["id", "fraud"]), bins={"amount": 4}, fixed=["age"])
    shown = table.book.form()(table.values[:30])
    space = {}
    exec(compile(MODELS, "models.py", "exec"), space)
    own = (space["fitted"].predict(shown) == "yes").astype(int)
    assert Inputs.load(mine / "run" / "inputs.npz").base_label.tolist() == own.tolist()
    (mine / "models.py").write_text(MODELS.replace("LogisticRegression(max_iter=1000)", "LogisticRegression(C=0.01)"))
    code, _, err = run("vote", "run", "--samples", 150, "--select-samples", 20, "--model", "models.py:fitted")
    assert code == 2
    assert "models.py:fitted is not the model that the run was made with: put it back" in err


@pytest.mark.parametrize(
    ("name", "flags", "reason"),
    [
        ("others", [], "expected a model of the classes no, yes, or of their numbers from 0 in this order, got "),
        ("others", [], "got models.py:others of bad, good"),
        ("more", [], "models.py:more was fitted on columns that this table lacks: id, fraud"),
        ("fitted", ["--drop", "home"], "models.py:fitted was fitted on columns that this table lacks: home"),
        ("few", [], "models.py:few was not fitted on these columns: amount, age; leave them out with --drop"),
        ("regression", [], "expected models.py:regression to label tables, got ValueError"),
        ("nothing", [], "expected an estimator with fit, or a torch module, got models.py:nothing, which is a int"),
        ("lightgbm", ["--hidden", 3], "expected no hidden and no dropout for models.py:lightgbm, an estimator, got"),
        ("missing", [], "module 'flipproof_own_models' has no attribute 'missing'"),
        ("Restless", [], "fitting models.py:Restless again gives another model, so that it could not be opened again"),
    ],
)  # fmt: skip
def test_models_that_are_refused(run, mine, name, flags, reason):
    code, out, err = run("run", *ASKED, "--model", f"models.py:{name}", "--out", "run", *FEW, *flags)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_modules_and_forests_are_asked_with_codes(run, mine):
    pytest.importorskip("torch")
    for number, model in enumerate((["--model", "models.py:Net", "--epochs", 2], ["--model", "forest"])):
        folder = mine / f"run{number}"
        assert run("run", *ASKED, *model, "--out", folder, *FEW, "--inputs", 10, "--no-report")[0] == 0
        own = ["--model", "models.py:Net"] if number == 0 else []
        assert run("vote", folder, "--samples", 120, "--select-samples", 20, "--workers", 2, *own)[0] == 0


def test_semicolons_and_no_header(run, mine):
    frame = pd.read_csv("mine.csv")
    frame.to_csv("mine.csv", sep=";", header=False, index=False)
    asked = ["--dataset", "mine.csv", "--out", "run", *FEW, "--inputs", 10, "--no-report"]
    assert "its first line looks like data (c0000, " in run("run", *asked)[2]
    described = ["--no-header", "--label", 6, "--drop", 1, "--bins", "column 4=50,200", "--fixed", "5"]
    code, out, _ = run("run", *asked, *described)
    assert code == 0
    assert "labels    column 'column 6': no (" in out
    assert "cells are divided by ';'" in out
    words = shlex.split(repeating_command(record_of(mine / "run"), "run"))
    assert "--no-header" in words
    for flag, value in (("--label", "6"), ("--drop", "1"), ("--bins", "column 4=50,200"), ("--fixed", "5")):
        assert words[words.index(flag) + 1] == value


def test_a_split_and_targets(run, mine):
    (mine / "split.txt").write_text("\n".join(["train"] * 60 + ["validation"] * 20 + ["-"] * 10 + ["test"] * 30))
    (mine / "rows.txt").write_text("5\n95-97\n")
    asked = [*ASKED, "--split", "split.txt", "--out", "run", *FEW, "--no-report"]
    code, out, err = run("run", *asked, "--targets", "rows.txt")
    assert (code, err) == (0, "")
    assert "on 3 test rows" in out
    inputs, record = Inputs.load(mine / "run" / "inputs.npz"), record_of(mine / "run")
    assert (inputs.split.test.tolist(), inputs.split.train.tolist()) == ([1, 2, 3], [0])
    assert (record["task"]["targets"], record["training"]["split"]) == ([5, 95, 96, 97], "given")
    words = shlex.split(repeating_command(record, "run"))
    assert words[words.index("--targets") + 1] == "5,95-97"
    assert words[words.index("--split") + 1] == str(mine / "split.txt")
    assert run("verify", "run")[0] == 0
    (mine / "split.txt").write_text("\n".join(["train"] * 96 + ["test"] * 24))
    assert "its task was changed" in run("vote", "run", "--samples", 150, "--select-samples", 20)[2]


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--targets", "3,x"], "as numbers such as 3,17,40-60, or a file with one per line, got 3,x"),
        (["--targets", "120"], "expected targets from 0 to 119, got 120"),
        (["--targets", "5-3"], "--targets takes ascending ranges such as 40-60, got 5-3"),
        (["--targets", "5", "--inputs", 3], "expected either inputs or targets, got both"),
        (["--split", "nowhere"], "nowhere: No such file or directory"),
        (["--split", "mine.csv"], "mine.csv: it has more than 1,936 bytes"),
        (["--split", "short"], "short with 2 words"),
        (["--split", "wrong"], "wrong with 'trian' for input 1"),
        (["--split", "short", "--test-share", 0.2], "says which inputs are for what; leave out shares and numbers"),
        (["--bins", "amount"], "--bins takes NAME=COUNT or NAME=EDGE,EDGE,..., such as amount=10, got '' "),
        (["--bins", "home=1"], "expected at least 2 bins for column 'home', got 1"),
        (["--bins", "amount=5"], "--bins says twice how 'amount' is cut"),
    ],
)  # fmt: skip
def test_flags_that_are_refused(run, mine, flags, reason):
    (mine / "short").write_text("train\ntest\n")
    (mine / "wrong").write_text("train\ntrian\n")
    code, out, err = run("run", *ASKED, "--out", "run", *FEW, *flags)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_other_data_have_no_columns(run, tmp_path, mine):
    for dataset, flags, reason in (
        ("digits", ["--label", "x"], "--label is only for tables, but this dataset has images"),
        ("breast-cancer", ["--drop", "x"], "expected drop for files only, got it for breast-cancer"),
        ("digits", ["--split", "x"], "expected split for nodes, graphs, tables only, got it for images"),
    ):
        code, _, err = run("run", "--dataset", dataset, "--out", "run", *flags)
        assert (code, err.count("\n")) == (2, 1)
        assert reason in err


def test_chosen_nodes(run, tmp_path, planted):
    folder = tmp_path / "run"
    asked = ["--dataset", planted, "--epochs", 5, "--train-per-class", 5, "--validation-per-class", 5]
    code, _, err = run("run", *asked, "--out", folder, "--samples", 200, "--select-samples", 50, "--targets", "3,40-42")
    assert (code, err) == (0, "")
    votes = fp.Votes.load(folder / "votes.npz")
    assert votes.ids.tolist() == [3, 40, 41, 42]
    assert Inputs.load(folder / "inputs.npz").labels.size == 4
    assert run("verify", folder, "--resample", 1)[0] == 0
