"""Runs on data with a split of their own, and weights from elsewhere with and without one."""

import json

import numpy as np
import pytest

import flipproof as fp
from flipproof.datasets import GraphDataset, load
from flipproof.pipeline.kinds.kind import prepared_task
from flipproof.pipeline.steps import Samples, certify_run, open_run, train_run, vote_run
from flipproof.report.page.content import content
from flipproof.report.section import run_section
from flipproof.report.summary import summary_of
from flipproof.run_folder.split import Inputs
from flipproof.run_folder.task import ModelSpec, PerClass, Shares, Task, TrainingSettings

FEW, SMALL = Samples(n_select=20, n_estimate=100), PerClass(5, 5)
REASON = "it is not known which inputs the weights were trained on"


@pytest.fixture(scope="module")
def masked(planted, tmp_path_factory):
    """The planted graph with a split: every third node is for training, every third for validation."""
    data, third = load(planted), np.arange(90) % 3
    split = fp.Split.from_masks(third == 0, third == 1, third == 2)
    path = tmp_path_factory.mktemp("masked") / "masked.npz"
    fp.datasets.from_scipy(data.adjacency, data.attributes, data.labels, split=split).save(path)
    return path


def task_on(path, **options):
    return Task(
        "nodes",
        str(path),
        ModelSpec("gcn", hidden=8),
        "attributes",
        fp.FlipNoise(0.02, 0.3),
        training=TrainingSettings(epochs=20),
        **options,
    )


@pytest.fixture(scope="module")
def weights(masked, tmp_path_factory):
    """Trained somewhere."""
    return train_run(tmp_path_factory.mktemp("elsewhere") / "run", task_on(masked)).weights_file


def test_a_run_keeps_the_split_of_the_data(masked, tmp_path):
    prepared = prepared_task(task_on(masked))
    assert prepared.learned.split.train.tolist() == list(range(0, 90, 3))
    folder = train_run(tmp_path / "run", task_on(masked))
    inputs, training = Inputs.load(folder.inputs_file), folder.section("training")
    assert inputs.split.test.tolist() == list(range(2, 90, 3))
    assert training["split"] == "given"
    assert training["base_accuracy"] == np.mean((inputs.base_label == inputs.labels)[2::3])


def test_a_drawn_split_says_so(planted, tmp_path):
    folder = train_run(tmp_path / "run", task_on(planted, split=SMALL))
    assert folder.section("training")["split"] == "drawn"


def test_another_split_than_that_of_the_data_is_refused(masked, tmp_path):
    with pytest.raises(fp.InvalidInputError, match=r"split of .*masked.npz to be kept, got PerClass\(train=5, valid"):
        train_run(tmp_path / "run", task_on(masked, split=SMALL))
    assert not (tmp_path / "run").exists()


def test_a_split_without_test_inputs_is_refused(planted, tmp_path):
    data = load(planted)
    split = fp.Split(np.arange(50), np.arange(50, 90), [])
    fp.datasets.from_scipy(data.adjacency, data.attributes, data.labels, split=split).save(tmp_path / "all.npz")
    with pytest.raises(fp.InvalidInputError, match=r"expected nodes for testing in the split of .*, got none"):
        train_run(tmp_path / "run", task_on(tmp_path / "all.npz"))


def test_another_split_makes_other_data(masked, planted):
    theirs = prepared_task(task_on(planted, split=SMALL)).record.fingerprint
    assert prepared_task(task_on(masked)).record.fingerprint != theirs


def test_weights_from_elsewhere_are_judged_on_the_test_inputs_of_the_data(masked, weights, tmp_path):
    folder = train_run(tmp_path / "run", task_on(masked), weights=weights)
    vote_run(folder.path, FEW)
    summary = summary_of(open_run(folder.path, certify_run(folder.path)))
    assert (folder.section("training")["split"], summary.test_inputs) == ("given", 30)
    assert 0.0 < summary.base_accuracy <= 1.0


def test_weights_from_elsewhere_have_no_accuracy_without_a_split(planted, weights, tmp_path):
    folder = train_run(tmp_path / "run", task_on(planted, split=SMALL), weights=weights)
    training, inputs = folder.section("training"), Inputs.load(folder.inputs_file)
    assert (training["split"], training["base_accuracy"], training["blind"]) == ("unknown", None, {})
    assert [part.size for part in (inputs.split.train, inputs.split.validation, inputs.split.test)] == [0, 0, 0]
    assert inputs.labels.size == inputs.base_label.size == 90
    vote_run(folder.path, FEW)
    certificates = certify_run(folder.path)
    summary = summary_of(open_run(folder.path, certificates))
    assert (summary.base_accuracy, summary.smoothed_accuracy, summary.test_inputs) == (None, None, 0)
    assert (summary.by_class, summary.blind) == ([], None)
    along = summary.axes["delete"]
    assert (along.accuracy, along.mean_test, along.mean) == (None, None, certificates.max_radius("delete").mean())
    assert along.ratio[0] == np.mean(~certificates.abstained) > 0
    json.dumps(summary.to_record(), allow_nan=False)


def test_the_page_says_why_there_is_no_accuracy(planted, weights, tmp_path):
    folder = train_run(tmp_path / "run", task_on(planted, split=SMALL), weights=weights)
    vote_run(folder.path, FEW)
    certify_run(folder.path)
    page = content(run_section(open_run(folder.path)))
    tiles = {each["name"]: each for each in page["numbers"]}
    assert (tiles["accuracy"]["value"], tiles["accuracy"]["note"]) == ("not reported", REASON)
    assert not [name for name in tiles if name.startswith(("clean acc", "smoothed acc", "accuracy without"))]
    assert [measure["name"] for measure in page["measures"]] == ["certified ratio"]
    assert (page["by_class"], page["table"]["part"]) == (None, None)


def test_graphs_keep_their_split(tmp_path):
    ring, path = [[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]], [[0, 1, 1, 2], [1, 0, 2, 1]]
    split = fp.Split(np.arange(12), np.arange(12, 18), [18, 23, 20])
    data = GraphDataset("g", (ring, path) * 12, ([0, 0, 1],) * 24, [0, 1] * 12, split=split)
    data.save(tmp_path / "graphs.npz")
    task = Task(
        "graphs", str(tmp_path / "graphs.npz"), ModelSpec("gin"), "structure", fp.FlipNoise(0.1, 0.2), split=Shares()
    )
    prepared = prepared_task(task)
    assert (prepared.split_given, prepared.learned.split.train.size, prepared.certified.labels.tolist()) == (
        True,
        12,
        [0, 1, 0],
    )


def test_the_program_says_it(run, planted, masked, weights, tmp_path):
    flags = ["--weights", weights, "--hidden", 8, "--p-plus", 0.02, "--p-minus", 0.3]
    drawn = ["--dataset", planted, "--train-per-class", 5, "--validation-per-class", 5]
    code, out, err = run("train", *drawn, *flags, "--out", tmp_path / "trained")
    assert (code, err) == (0, "")
    assert f"trained elsewhere, base accuracy not reported: {REASON}" in out
    few = ["--samples", 100, "--select-samples", 20]
    code, out, err = run("run", *drawn, *flags, *few, "--out", tmp_path / "unknown")
    assert (code, err) == (0, "")
    assert f"accuracy  not reported: {REASON}" in out
    assert "share of all nodes" in out
    assert "test nodes" not in out
    assert "By class" not in out
    code, out, err = run("certify", tmp_path / "unknown", "--json")
    assert json.loads(out)["summary"]["base_accuracy"] is None
    code, out, err = run("run", "--dataset", masked, *flags, *few, "--out", tmp_path / "given")
    assert (code, err) == (0, "")
    assert "on 30 test nodes" in out
