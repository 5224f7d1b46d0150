"""One call: every kind of model and data, what the summary says, and what is refused before anything is drawn."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

import flipproof as fp
from flipproof.errors import InvalidInputError
from flipproof.report.robustness import numbers_of_classes

ROOT = Path(__file__).parent.parent.parent
DIGITS = load_digits()
BITS = (DIGITS.data > 7).astype(np.uint8)
BY_BITS = BernoulliNB().fit(BITS[:1500], DIGITS.target[:1500])
BY_LEVELS = BernoulliNB(binarize=7).fit(DIGITS.data[:1500], DIGITS.target[:1500])
TEXTS = ["free prize call now", "win a free prize", "see you at home", "call me at home", "you are home"] * 8
TOPICS = np.array(["spam", "spam", "ham", "ham", "ham"] * 8)
BY_WORDS = make_pipeline(CountVectorizer(), LogisticRegression()).fit(TEXTS, TOPICS)
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"job": RNG.choice(["cook", "smith", "clerk"], 60), "owner": RNG.choice([True, False], 60)})
GRADES = np.where((FRAME["job"] == "cook") & FRAME["owner"], 2, 1)
BY_CELLS = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(FRAME, GRADES)


class Net(torch.nn.Module):
    """Two layers on a graph."""

    def __init__(self, features):
        super().__init__()
        self.layer = GCNConv(features, 2)

    def forward(self, x, edge_index):
        return self.layer(x, edge_index)


def cliques():
    """Two groups of nodes, each with words of its own and edges within; and a model that tells them apart."""
    group = torch.arange(30) // 15
    index = torch.tensor([[u, v] for u in range(30) for v in range(30) if u != v and group[u] == group[v]]).T
    x = torch.zeros(30, 8)
    x[torch.arange(30), 4 * group + torch.arange(30) % 4] = 1
    net = Net(8).eval()
    with torch.no_grad():
        net.layer.lin.weight.copy_(torch.tensor([[1.0] * 4 + [0.0] * 4, [0.0] * 4 + [1.0] * 4]))
    return net, Data(x=x, edge_index=index, y=group)


def ask(model, data, **options):
    return fp.robustness(model, data, **{"samples": 300, "progress": False, **options})


NET, NODES = cliques()
ASKED = {
    "pixels": lambda **more: ask(BY_BITS, BITS[1500:1520].reshape(-1, 8, 8), labels=DIGITS.target[1500:1520], **more),
    "levels": lambda **more: ask(BY_LEVELS, DIGITS.images[:9].astype(int), labels=DIGITS.target[:9], **more),
    "frame": lambda **more: ask(BY_CELLS, FRAME[:20], labels=GRADES[:20], **more),
    "texts": lambda **more: ask(BY_WORDS, TEXTS[:10], labels=TOPICS[:10], **more),
    "tokenized": lambda **more: ask(BY_WORDS, TEXTS[:5], labels=TOPICS[:5], tokenizer=str.split, **more),
    "nodes": lambda **more: ask(NET, NODES, labels=NODES.y, **more),
    "some nodes": lambda **more: ask(NET, NODES, labels=NODES.y, targets=[20, 3], **more),
}  # fmt: skip
UNITS = {
    "pixels": "20 images", "levels": "9 images", "frame": "20 rows", "texts": "10 texts", "tokenized": "5 texts",
    "nodes": "30 nodes", "some nodes": "2 nodes",
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_one_call_is_vote_and_certify_with_the_noise_that_it_names(name):
    result = ASKED[name]()
    named = ASKED[name](noise=result.usual.law)
    assert result.votes.n_estimate == 300
    assert result.votes.n_select == 30
    assert np.array_equal(result.votes.estimation, named.votes.estimation)
    assert named.usual is None
    again = fp.certify(result.votes, alpha=0.01)
    assert np.array_equal(result.certificates.p_lower, again.p_lower)
    text = result.summary()
    argument = re.search(r"noise=(fp\..*?), usual for", " ".join(text.split()))[1]
    assert eval(argument) == result.usual.law
    assert "usual for" not in named.summary()
    assert repr(result) == text
    assert result._repr_html_() == f"<pre>{html.escape(text)}</pre>"
    assert max(map(len, text.splitlines())) <= 80
    assert len(text.splitlines()) <= 28
    assert f"of {UNITS[name]}" in text
    assert "accuracy  base" in text


@pytest.mark.parametrize("name", ["pixels", "levels", "frame", "texts", "nodes", "some nodes"])
def test_every_result_has_a_page(name, tmp_path):
    result = ASKED[name]()
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "robustness" in page
    assert result.usual.limits in page
    with pytest.raises(fp.InvalidInputError, match="expected"):
        result.report(3)


def test_a_result_as_a_data_frame():
    result = ASKED["texts"]()
    assert result.to_pandas().equals(result.certificates.to_pandas())


def test_votes_are_those_of_vote():
    result = ASKED["texts"](seed=5, n_select=40, workers=2)
    votes = fp.vote(BY_WORDS, TEXTS[:10], fp.FlipNoise(0.0, 0.85), 40, 300, seed=5, progress=False)
    assert np.array_equal(result.votes.selection, votes.selection)
    assert np.array_equal(result.votes.estimation, votes.estimation)
    assert result.votes.run.identity == votes.run.identity


def test_the_summary_leads_with_the_threat():
    threat = fp.Radii(add=1, delete=2)
    result = ask(NET, NODES, noise=fp.JointNoise(attributes=fp.FlipNoise(0.01, 0.6)), labels=NODES.y,
                 threat={"attributes": threat})  # fmt: skip
    held = result.certificates.certified({"attributes": threat})
    right = (result.certificates.label == NODES.y.numpy()) & ~result.certificates.abstained
    text = " ".join(result.summary().split())
    assert text.startswith(f"threat {held.sum()} of 30 nodes ({100 * held.sum() // 30} %) withst")
    assert "any attacker who adds up to 1 attribute and deletes up to 2, with the edges left alone; " in text
    assert f"; {(held & right).sum()} ({100 * (held & right).sum() // 30} %)" in text
    nothing = ask(BY_BITS, BITS[:3], threat=fp.Radii())
    assert "any attacker who changes nothing." in nothing.summary().splitlines()[0]


def test_accuracies_are_those_of_the_certificates():
    result, labels = ASKED["pixels"](), DIGITS.target[1500:1520]
    rows = dict(re.findall(r"^(add|delete)(?: +[\d.]+)+\n  and right +(.*)$", result.summary(), flags=re.MULTILINE))
    for axis in ("add", "delete"):
        expected = [result.certificates.certified_accuracy(labels, **{axis: count}) for count in (0, 1)]
        assert [float(cell) for cell in rows[axis].split()[:2]] == pytest.approx(expected, abs=1e-3)
    assert result.base_accuracy == (BY_BITS.predict(BITS[1500:1520]) == labels).mean()


def test_a_constant_answer_is_no_robustness():
    result = ask(lambda batch: np.zeros(len(batch), dtype=int), BITS[:10], classes=2, labels=np.arange(10) % 2)
    cautions = re.findall(r"^caution +(.*)$", result.summary(), flags=re.MULTILINE)
    assert cautions[0].startswith("The smoothed classifier answers 0 for every row")
    assert "The smoothed classifier is right for 0.500" in " ".join(cautions)


def test_noise_that_the_user_names_may_drown_the_data():
    result = ask(BY_BITS, np.eye(64, dtype=int)[:5], noise=fp.FlipNoise(0.3, 0.3))
    assert "Noise drowns the input" in result.summary()
    assert "Noise drowns" not in ask(BY_BITS, np.eye(64, dtype=int)[:5]).summary()


def test_values_that_lack_are_said_not_to_be_covered():
    assert "Only changes to numbers from 0 to 16 are covered" in " ".join(ASKED["levels"]().summary().split())


@pytest.mark.parametrize(
    ("given", "names", "numbers"),
    [
        ([1, 0, 1], None, [1, 0, 1]),
        ([True, False], None, [1, 0]),
        ([1.0, 0.0], None, [1, 0]),
        (["1", "0"], None, [1, 0]),
        (["spam", "ham"], ("ham", "spam"), [1, 0]),
        ([1, 0], ("ham", "spam"), [1, 0]),
        ([2, 1], ("1", "2"), [1, 0]),
        ([True, False], ("False", "True"), [1, 0]),
        ([1.0, 0.0], ("0.0", "1.0"), [1, 0]),
    ],
)
def test_labels_are_classes_of_the_model_or_their_numbers(given, names, numbers):
    assert numbers_of_classes(np.array(given), names, 2).tolist() == numbers


@pytest.mark.parametrize(
    ("given", "names", "text"),
    [
        ([0, 2], None, "expected labels among the classes 0, 1, got 2"),
        ([0.5, 1.0], None, "expected labels among the classes 0, 1, got 0.5"),
        (["eggs"], ("ham", "spam"), "expected labels among the classes 0, 1, got 'eggs'"),
        (["ham", "eggs"], ("ham", "spam"), "expected labels among the classes ham, spam, got 'eggs'"),
        ([0, 1], ("1", "2"), "expected labels among the classes 1, 2, got 0"),
    ],
)
def test_labels_that_are_no_classes_are_refused(given, names, text):
    with pytest.raises(InvalidInputError, match=re.escape(text)):
        numbers_of_classes(np.array(given), names, 2)


def never(batch):
    raise AssertionError("nothing is drawn for arguments that are refused")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"alpha": 2}, "expected alpha"),
        ({"samples": -1}, "expected samples"),
        ({"threat": fp.Radii(change=1)}, "expected change = 0 for noise with 2 categories, got change = 1; the noise "
         "is noise=fp.FlipNoise(0.1, 0.2): name another one"),
        ({"threat": {"a": fp.Radii()}, "noise": fp.FlipNoise(0.1, 0.1)}, "expected Radii for a FlipNoise"),
        ({"labels": [1, 0]}, "expected 3 labels, one for each input of the data, got int64 of shape (2,)"),
        ({"labels": [1, 0, 5]}, "expected labels among the classes 0, 1, got 5"),
        ({"tokenizer": str.split}, "expected a tokenizer only with a list of texts"),
        ({"targets": [7]}, "expected one or more targets from 0 to 2"),
        ({"noise": fp.AblationNoise(64, 3)}, "expected a FlipNoise or a JointNoise"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_before_anything_is_drawn(options, text):
    with pytest.raises(InvalidInputError, match=re.escape(text)):
        ask(fp.FunctionClassifier(never, 2), BITS[:3], **options)


def test_errors_are_those_of_vote():
    with pytest.raises(InvalidInputError) as one:
        ask(LogisticRegression(), BITS[:3])
    with pytest.raises(InvalidInputError) as other:
        fp.vote(LogisticRegression(), BITS[:3], fp.FlipNoise(0.1, 0.2))
    assert str(one.value) == str(other.value)


def test_ctrl_c_is_passed_on_and_a_checkpoint_continues(tmp_path):
    left = [40]

    def interrupted(batch):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return (batch.sum(axis=1) > 20).astype(int)

    def run(function):
        model = fp.FunctionClassifier(function, 2, fingerprint="more than 20 pixels")
        return ask(model, BITS[:600], checkpoint=tmp_path / "run.ckpt")

    with pytest.raises(KeyboardInterrupt):
        run(interrupted)
    result = run(lambda batch: (batch.sum(axis=1) > 20).astype(int))
    assert 0 < result.votes.run.drawn < 330
    assert result.votes.n_estimate == 300


def test_the_first_example_prints_what_the_readme_says(capsys):
    readme = (ROOT / "README.md").read_text()
    code, shown = re.search(
        r"```python\n([^`]*fp\.robustness[^`]*)```\n.*?```text\n(.*?)```", readme, re.DOTALL
    ).groups()
    found = {}
    exec(compile(code, "README.md", "exec"), found)
    capsys.readouterr()
    assert found["result"].summary().split("\n") == [line.rstrip() for line in shown.rstrip("\n").split("\n")]
