"""Train, vote and certify on a run folder: repeated, resumed, extended, forced, and refused."""

import json
import shutil
import socket
from dataclasses import replace

import numpy as np
import pytest

import flipproof as fp
from flipproof.pipeline import steps
from flipproof.pipeline.reopened import reopened
from flipproof.pipeline.steps import Machine, Samples, certify_run, open_run, train_run, vote_run
from flipproof.report.summary import summary_of
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.split import Inputs
from flipproof.run_folder.task import ModelSpec, PerClass, Task, TrainingSettings
from flipproof.smoothing.certify import PromiseSettings

FEW = Samples(n_select=50, n_estimate=200)
OWN_MODEL = """
import torch
from torch_geometric.nn import SAGEConv

class Net(torch.nn.Module):
    def __init__(self, features, classes, hidden=16):
        super().__init__()
        self.first, self.second = SAGEConv(features, hidden), SAGEConv(hidden, classes)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)
"""


@pytest.fixture(scope="module")
def task(planted):
    return Task(
        kind="nodes",
        dataset=str(planted),
        model=ModelSpec("gcn", hidden=8),
        noisy="attributes",
        noise=fp.FlipNoise(0.02, 0.3),
        training=TrainingSettings(epochs=60),
        split=PerClass(5, 5),
    )


@pytest.fixture(scope="module")
def finished(task, tmp_path_factory):
    """A run with votes and certificates; copy it before changing it."""
    path = tmp_path_factory.mktemp("runs") / "finished"
    train_run(path, task)
    vote_run(path, FEW)
    certify_run(path)
    return path


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def contents(path):
    """All files but the checkpoint, which may be written more compactly when it is opened."""
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != "votes.checkpoint"}


@pytest.mark.parametrize("noisy", ["structure", "attributes", "both"])
@pytest.mark.parametrize("model", ["gcn", "gat", "appnp"])
def test_every_model_under_every_noise(task, tmp_path, model, noisy):
    one = fp.FlipNoise(0.01, 0.3)
    noise = fp.JointNoise(structure=one, attributes=one) if noisy == "both" else one
    path = tmp_path / "run"
    train_run(path, replace(task, model=ModelSpec(model), noisy=noisy, noise=noise))
    votes = vote_run(path, FEW)
    assert votes.estimation.shape == (90, 3)
    certificates = certify_run(path)
    summary = summary_of(open_run(path, certificates))
    assert summary.smoothed_accuracy > 0.8
    assert summary.inputs == 90
    assert summary.test_inputs == 60
    axes = [f"{part}.{kind}" for part in ("structure", "attributes") for kind in ("add", "delete")]
    assert list(summary.axes) == (axes if noisy == "both" else ["add", "delete"])
    assert json.loads(json.dumps(summary.to_record()))["inputs"] == 90


def test_the_task_survives_as_json(task):
    joint = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.2), attributes=fp.FlipNoise(0.0, 0.5))
    for each in (task, replace(task, noisy="both", noise=joint, model=ModelSpec("a.py:B", dropout=0.1), seed=5)):
        assert Task.from_record(json.loads(json.dumps(each.to_record()))) == each


def test_the_same_task_gives_the_same_run(task, finished, tmp_path):
    path = tmp_path / "again"
    train_run(path, task)
    vote_run(path, FEW, Machine(workers=2))
    certify_run(path)
    assert np.array_equal(
        fp.Votes.load(path / "votes.npz").estimation, fp.Votes.load(finished / "votes.npz").estimation
    )
    for name in ("weights.safetensors", "inputs.npz", "certificates.npz"):
        assert (path / name).read_bytes() == (finished / name).read_bytes()


def test_another_seed_is_another_run(task, finished, tmp_path):
    folder = train_run(tmp_path / "run", replace(task, seed=1))
    assert folder.weights_file.read_bytes() != (finished / "weights.safetensors").read_bytes()
    mine, theirs = (Inputs.load(path / "inputs.npz") for path in (folder.path, finished))
    assert mine.split.train.tolist() != theirs.split.train.tolist()


def test_steps_that_are_done_are_not_repeated(task, run):
    before = contents(run)
    train_run(run, task)
    votes = vote_run(run, FEW)
    assert votes.run.drawn == 0
    certify_run(run)
    assert contents(run) == before


def test_more_samples_are_added(finished, run):
    old = fp.Votes.load(run / "votes.npz")
    new = vote_run(run, Samples(50, 300))
    assert new.run.drawn == 100
    assert (new.estimation >= old.estimation).all()
    assert np.array_equal(new.selection, old.selection)
    assert fp.Votes.load(run / "votes.npz").n_estimate == 300
    certify_run(run)  # certificates of fewer votes make way without being asked


def test_fewer_samples_need_force(run):
    before = contents(run)
    with pytest.raises(
        fp.InvalidInputError, match=r"expected at least the 200 samples .* got 100; .*flipproof vote --force"
    ):
        vote_run(run, Samples(50, 100))
    assert contents(run) == before
    assert vote_run(run, Samples(50, 100), force=True).n_estimate == 100
    assert not (run / "certificates.json").exists()


def test_another_task_needs_force(task, run):
    before = contents(run)
    other = replace(task, noise=fp.FlipNoise(0.02, 0.4))
    with pytest.raises(fp.OutputError, match=r"it has noise\.p_minus 0\.3 instead of 0\.4; name another folder, or"):
        train_run(run, other)
    assert contents(run) == before
    train_run(run, other, force=True)
    assert not (run / "votes.npz").exists()
    with pytest.raises(fp.FileFormatError, match="to have its votes, got none; run flipproof vote first"):
        certify_run(run)


def test_another_promise_needs_force(run):
    before = contents(run)
    with pytest.raises(fp.OutputError, match=r"they have alpha 0\.01 instead of 0\.05; flipproof certify --force"):
        certify_run(run, PromiseSettings(alpha=0.05))
    assert contents(run) == before
    assert certify_run(run, PromiseSettings(alpha=0.05), force=True).alpha == 0.05
    assert json.loads((run / "certificates.json").read_text())["promise"]["alpha"] == 0.05


def test_interrupted_training_leaves_nothing_that_stands_in_the_way(task, tmp_path):
    RunFolder.prepare(tmp_path / "run")
    with pytest.raises(fp.FileFormatError, match=r"without run\.json; see flipproof train"):
        vote_run(tmp_path / "run", FEW)
    assert "training" in train_run(tmp_path / "run", task).record()


def test_votes_lost_before_they_were_saved_are_in_the_checkpoint(run):
    saved = fp.Votes.load(run / "votes.npz")
    (run / "votes.npz").unlink()
    assert vote_run(run, FEW).run.drawn == 0
    assert np.array_equal(fp.Votes.load(run / "votes.npz").estimation, saved.estimation)


def test_other_weights_are_noticed(run):
    weights = run / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\0")
    with pytest.raises(fp.FileFormatError, match=r"as run\.json knows it, got another"):
        vote_run(run, FEW)


def test_other_data_are_noticed(run, planted, tmp_path):
    data = fp.datasets.load(planted)
    labels = data.labels.copy()
    labels[0] = 2
    other = tmp_path / "other.npz"
    replace(data, labels=labels).save(other)
    record = json.loads((run / "run.json").read_text())
    record["task"]["dataset"] = str(other)
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(
        fp.InvalidInputError, match=r"expected the data that .* was trained on, got others: fingerprint"
    ):
        vote_run(run, FEW)


def test_a_task_without_sense_is_refused(run):
    record = json.loads((run / "run.json").read_text())
    record["task"]["model"] = 3
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(fp.FileFormatError, match=r"expected a run\.json written by flipproof"):
        vote_run(run, FEW)


def test_the_accuracies_are_those_of_the_test_nodes(finished, task):
    folder = RunFolder.open(finished)
    inputs, certificates = Inputs.load(folder.inputs_file), certify_run(finished)
    trained = reopened(folder)
    base = trained.classifier([trained.prepared.certified.space.clean()])[0]
    assert np.array_equal(base, inputs.base_label)
    summary = summary_of(open_run(finished, certificates))
    test = inputs.split.test
    right = (certificates.label == trained.prepared.certified.labels) & ~certificates.abstained
    assert summary.base_accuracy == np.mean((base == trained.prepared.certified.labels)[test])
    assert summary.smoothed_accuracy == np.mean(right[test])
    along = summary.axes["delete"]
    assert along.mean == certificates.max_radius("delete").mean()
    assert along.mean_test == certificates.max_radius("delete")[test].mean()
    for radius, ratio, accuracy in zip(along.radii, along.ratio, along.accuracy, strict=True):
        certified = certificates.max_radius("delete") >= radius
        assert ratio == np.mean(certified & ~certificates.abstained)
        assert accuracy == np.mean((certified & right)[test])


def test_weights_from_elsewhere(task, finished, tmp_path):
    folder = train_run(tmp_path / "run", task, weights=finished / "weights.safetensors")
    assert folder.weights_file.read_bytes() == (finished / "weights.safetensors").read_bytes()
    assert folder.section("training")["epochs"] == 0
    train_run(tmp_path / "run", task, weights=finished / "weights.safetensors")
    with pytest.raises(fp.OutputError, match="it has weights"):
        train_run(tmp_path / "run", task)
    wrong = replace(task, model=ModelSpec("gcn", hidden=9))
    with pytest.raises(fp.FileFormatError, match=r"expected weights that fit GCN, got .* size mismatch"):
        train_run(tmp_path / "other", wrong, weights=finished / "weights.safetensors")
    with pytest.raises(fp.FileFormatError, match=r"expected a file of weights, got .*No such file"):
        train_run(tmp_path / "other", task, weights=tmp_path / "nothing")


def test_a_model_of_your_own(task, tmp_path):
    code = tmp_path / "net.py"
    code.write_text(OWN_MODEL)
    name = f"{code}:Net"
    path = tmp_path / "run"
    train_run(path, replace(task, model=ModelSpec(name)))
    with pytest.raises(fp.InvalidInputError, match=r"expected --model, because .* has a model of your own"):
        vote_run(path, FEW)
    one = vote_run(path, FEW, model=name)
    two = vote_run(path, FEW, Machine(workers=2), model=name, force=True)
    assert np.array_equal(one.estimation, two.estimation)
    code.write_text(OWN_MODEL.replace(".relu()", ".tanh()"))
    with pytest.raises(
        fp.InvalidInputError,
        match=r"expected the model that .* was trained with, got another: net.py has changed since: put it back, or "
        "flipproof train --force starts over",
    ):
        vote_run(path, Samples(50, 300), model=name)
    code.write_text(OWN_MODEL)
    assert vote_run(path, Samples(50, 300), model=name).n_estimate == 300


def test_a_model_whose_files_nobody_noted(task, finished, tmp_path):
    """Older runs have none."""
    path = shutil.copytree(finished, tmp_path / "run")
    record = json.loads((path / "run.json").read_text())
    assert record["training"].pop("files") == {}
    (path / "run.json").write_text(json.dumps(record))
    reopened(RunFolder.open(path))
    record["training"]["model"] = "ab" * 32
    (path / "run.json").write_text(json.dumps(record))
    with pytest.raises(fp.InvalidInputError, match="got another: its code or its settings differ; flipproof train"):
        reopened(RunFolder.open(path))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gatt", "got 'gatt'; did you mean gat"),
        ("missing.py:Net", "No such file"),
        ("flipproof.nothing:Net", "No module named"),
        ("flipproof.run_folder.split:Nothing", "has no attribute"),
        ("flipproof.run_folder.split:Split", "expected a model that is made by"),
    ],
)
def test_models_that_are_not_there(task, tmp_path, name, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        train_run(tmp_path / "run", replace(task, model=ModelSpec(name)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"dataset": "coraml"}, "did you mean cora_ml"),
        ({"dataset": "digits"}, "expected nodes, got digits, which is something else"),
        ({"split": PerClass(20, 20)}, r"expected more than 40 inputs of every class .*, got 30 of class 0"),
        ({"model": ModelSpec("flipproof.models.networks.node_modules:Attention")}, "expected a model that is made by"),
    ],
)
def test_bad_tasks_leave_no_folder(task, tmp_path, change, words):
    with pytest.raises(fp.FlipproofError, match=words):
        train_run(tmp_path / "run", replace(task, **change))
    assert not (tmp_path / "run").exists()


def test_noise_that_does_not_fit_in_memory_is_refused_with_the_estimate(task, tmp_path):
    large = replace(task, noisy="structure", noise=fp.FlipNoise(0.9, 0.1))
    with pytest.raises(
        fp.TooLargeError, match=r"expected a memory limit of at least .*MB for one noisy input, got 100KB"
    ):
        train_run(tmp_path / "run", large, Machine(memory_limit="100KB"))
    train_run(tmp_path / "run", task)  # what was refused does not stand in the way


def test_graphs_with_isolated_nodes_and_one_class(task, tmp_path, planted):
    data = fp.datasets.load(planted)
    adjacency = data.adjacency.toarray().copy()
    adjacency[:3] = 0
    adjacency[:, :3] = 0
    import scipy.sparse as sp

    fp.datasets.from_scipy(sp.csr_array(adjacency), data.attributes, data.labels).save(tmp_path / "isolated.npz")
    train_run(tmp_path / "run", replace(task, dataset=str(tmp_path / "isolated.npz")))
    assert len(vote_run(tmp_path / "run", FEW)) == 90
    fp.datasets.from_scipy(data.adjacency, data.attributes, data.labels * 0).save(tmp_path / "one.npz")
    with pytest.raises(fp.InvalidInputError, match="expected labels of at least two classes, got 1"):
        train_run(tmp_path / "other", replace(task, dataset=str(tmp_path / "one.npz")))


def test_votes_of_another_run_are_not_certified(run, task, tmp_path):
    other = tmp_path / "other"
    train_run(other, replace(task, seed=1))
    vote_run(other, FEW)
    shutil.copy(other / "votes.npz", run / "votes.npz")
    before = contents(run)
    with pytest.raises(fp.FileFormatError, match=r"votes\.npz as run\.json knows it, got another; run flipproof vote"):
        certify_run(run)
    assert contents(run) == before
    vote_run(run, FEW)  # the checkpoint still has the right ones
    certify_run(run)


def test_inputs_of_another_run_are_noticed(run, task, tmp_path):
    other = train_run(tmp_path / "other", replace(task, seed=1))
    shutil.copy(other.inputs_file, run / "inputs.npz")
    with pytest.raises(fp.FileFormatError, match=r"inputs\.npz as run\.json knows it, got another"):
        summary_of(open_run(run, certify_run(run)))


def test_a_checkpoint_of_another_run_is_not_continued(run, task, tmp_path):
    other = tmp_path / "other"
    train_run(other, replace(task, seed=1))
    vote_run(other, FEW)
    shutil.copy(other / "votes.checkpoint", run / "votes.checkpoint")
    with pytest.raises(fp.FlipproofError, match="seed 1 instead of 0"):
        vote_run(run, Samples(50, 300))


def test_votes_that_were_complete_when_the_plug_was_pulled(run, monkeypatch):
    """The checkpoint has more samples than votes.npz: the next call saves them."""
    with monkeypatch.context() as patched:
        patched.setattr(fp.Votes, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            vote_run(run, Samples(50, 300))
    assert fp.Votes.load(run / "votes.npz").n_estimate == 200
    vote_run(run, Samples(50, 300))
    assert fp.Votes.load(run / "votes.npz").n_estimate == 300
    assert certify_run(run).votes.n_estimate == 300


@pytest.mark.parametrize(
    "refused",
    [
        lambda run, task: train_run(run, task, weights=run / "inputs.npz", force=True),
        lambda run, task: train_run(run, task, Machine(memory_limit=1000), force=True),
        lambda run, task: train_run(run, replace(task, dataset="coraml"), force=True),
        lambda run, task: vote_run(run, Samples(50, -5), force=True),
        lambda run, task: vote_run(run, FEW, Machine(workers=0), force=True),
        lambda run, task: vote_run(run, FEW, model="gat", force=True),
        lambda run, task: certify_run(run, PromiseSettings(alpha=2), force=True),
    ],
)
def test_what_is_refused_destroys_nothing(task, run, refused):
    before = contents(run)
    with pytest.raises(fp.FlipproofError):
        refused(run, task)
    assert contents(run) == before


def test_time_is_added_up(run):
    first = json.loads((run / "run.json").read_text())["votes"]
    vote_run(run, Samples(50, 300))
    both = json.loads((run / "run.json").read_text())["votes"]
    assert (first["drawn"], both["drawn"]) == (250, 350)
    assert both["seconds"] > first["seconds"]


def test_state_outside_the_weights_is_noticed(task, tmp_path):
    code = tmp_path / "hidden.py"
    code.write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self, features, classes):\n"
        "        super().__init__()\n"
        "        self.linear = torch.nn.Linear(features, classes)\n"
        "        self.register_buffer('sign', torch.ones(()), persistent=False)\n"
        "    def forward(self, x, edge_index):\n"
        "        if self.training:\n"
        "            self.sign.fill_(-1)\n"
        "        return self.linear(x) * self.sign\n"
    )
    with pytest.raises(fp.InvalidInputError, match="all that training changes must be in its state_dict"):
        train_run(tmp_path / "run", replace(task, model=ModelSpec(f"{code}:Net")))


def test_a_task_that_was_edited_is_noticed(tmp_path):
    """Other inputs than those of inputs.npz would be voted on, and judged by the labels of those."""
    from flipproof.cli.task_options import TaskOptions
    from flipproof.cli.values import task_of

    options = TaskOptions("breast-cancer", tmp_path / "run", noisy_samples=1)
    train_run(tmp_path / "run", task_of(options))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    for change in ({"seed": 5}, {"inputs": 5}, {"split": {"test": 0.5, "validation": 0.1}}):
        (tmp_path / "run" / "run.json").write_text(json.dumps(record | {"task": record["task"] | change}))
        with pytest.raises(fp.InvalidInputError, match=r"expected the inputs that .* was trained for, got others"):
            vote_run(tmp_path / "run", FEW)


def test_images_without_a_test_set_are_refused_before_training(tmp_path):
    from flipproof.cli.task_options import TaskOptions
    from flipproof.cli.values import task_of

    rng = np.random.default_rng(0)
    images, labels = rng.integers(2, size=(40, 6, 6)), np.arange(40) % 2
    data = fp.datasets.ImageDataset("mine", images, labels, images[:0], labels[:0], levels=2)
    data.save(tmp_path / "mine.npz")
    with pytest.raises(fp.InvalidInputError, match="expected test images to certify, got none in mine"):
        train_run(tmp_path / "run", task_of(TaskOptions(str(tmp_path / "mine.npz"), tmp_path / "run")))
    few = fp.datasets.ImageDataset("mine", images[:4], labels[:4], images[:2], labels[:2], levels=2)
    few.save(tmp_path / "few.npz")
    with pytest.raises(fp.InvalidInputError, match=r"for validation, got none; raise the share \(--validation-share\)"):
        train_run(tmp_path / "run", task_of(TaskOptions(str(tmp_path / "few.npz"), tmp_path / "run")))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("section", ["task", "dataset", "training", "votes"])
def test_a_record_with_anything_else_in_it_is_refused(run, section):
    record = json.loads((run / "run.json").read_text())
    for name, value in record[section].items():
        wrong = {} if isinstance(value, str | int | float | list) or value is None else 3
        changed = record | {section: record[section] | {name: wrong}}
        (run / "run.json").write_text(json.dumps(changed))
        try:
            summary_of(open_run(run, certify_run(run)))
            vote_run(run, FEW)
        except fp.FlipproofError:
            continue
        # nothing depends on these
        assert name in ("versions", "loss", "validation_loss", "validation_accuracy", "weights")


def test_votes_of_another_noise_are_not_certified(run):
    record = json.loads((run / "run.json").read_text())
    record["task"]["noise"]["p_minus"] = 0.1
    (run / "run.json").write_text(json.dumps(record))
    with pytest.raises(
        fp.FileFormatError, match=r"expected the votes of the run in .*, got others: noise\.p_minus 0\.3"
    ):
        certify_run(run)


def test_what_cannot_vote_is_refused_before_training(task, tmp_path):
    attention = replace(task, model=ModelSpec("gat"), noisy="structure")
    with pytest.raises(
        fp.InvalidInputError, match=r"^expected one of gcn, appnp, gat .* got gat under noise on structure"
    ):
        steps.run(tmp_path / "run", attention, FEW, machine=Machine(engine="fused", progress=False))
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
        with pytest.raises(
            fp.InvalidInputError, match=rf"^expected a Ray cluster at {address}, got: Connection refused$"
        ):
            steps.run(tmp_path / "run", task, FEW, machine=Machine("ray", address=address, progress=False))
    assert not (tmp_path / "run").exists()
