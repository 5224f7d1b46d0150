"""Which engine evaluates, that it is part of a run, and that fused votes do not depend on how they were cut."""

import shutil

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.pipeline.steps import Machine, train_run
from flipproof.run_folder.task import ModelSpec, PerClass, Task, TrainingSettings
from flipproof.smoothing.classifier import check_engine
from flipproof.smoothing.voting.checkpoint import CheckpointMismatchError
from flipproof.smoothing.voting.evaluation import Engine, engine_for

NODES, WORDS, CLASSES = 25, 60, 4
FLIP = fp.FlipNoise(0.02, 0.4)
NOISES = {"attributes": FLIP, "structure": FLIP, "both": fp.JointNoise(structure=FLIP, attributes=FLIP)}


def graph(noisy):
    rng = np.random.default_rng(5)
    upper = np.triu(rng.random((NODES, NODES)) < 0.15, 1)
    words = rng.random((NODES, WORDS)) < 0.2
    return fp.Graph.from_scipy(sp.csr_array((upper | upper.T).astype(int)), sp.csr_array(words), noisy=noisy)


def gcn(seed=0, model=fp.GCN):
    torch.manual_seed(seed)
    return fp.NodeClassifier(model(WORDS, CLASSES), CLASSES)


def vote(noisy="attributes", classifier=None, **changes):
    call = {"n_select": 30, "n_estimate": 150, "seed": 9, "progress": False} | changes
    return fp.vote(gcn() if classifier is None else classifier, graph(noisy), NOISES[noisy], **call)


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


def constant(graphs):
    return np.zeros((len(graphs), NODES), dtype=int)


FUNCTION = fp.FunctionClassifier(constant, CLASSES)


@pytest.mark.parametrize("name", ["x", "", "Fused", 3, True, b"fused"])
def test_engines_that_there_are_not(name):
    for refuse in (
        lambda: check_engine(name),
        lambda: engine_for(gcn(), graph("attributes").sampler(FLIP, 0), name),
        lambda: vote(engine=name),
        lambda: vote(engine=name, classifier=FUNCTION),
        lambda: Machine(engine=name),
    ):
        with pytest.raises(fp.InvalidInputError, match="expected engine to be one of fused, torch, got") as error:
            refuse()
        assert "\n" not in str(error.value)


def test_the_fastest_one_is_chosen():
    sampler = graph("attributes").sampler(FLIP, 0)
    assert [engine_for(gcn(), sampler, asked).name for asked in (None, "fused", "torch")] == ["fused", "fused", "torch"]
    assert engine_for(gcn(), sampler, "torch").fused is None
    assert engine_for(FUNCTION, sampler, None) == Engine(None, None)
    edges = graph("structure").sampler(FLIP, 0)
    assert engine_for(gcn(model=fp.GAT), sampler, None).name == "fused"
    assert engine_for(gcn(model=fp.GAT), edges, None) == Engine("torch", None)


@pytest.mark.parametrize("asked", ["fused", "torch"])
def test_functions_have_no_engine(asked):
    words = {
        "torch": "expected a classifier that is a torch module for engine='torch', got FunctionClassifier",
        "fused": "expected a network that the fused engine can evaluate, got another: .*, not for FunctionClassifier",
    }
    with pytest.raises(fp.InvalidInputError, match=words[asked]):
        vote(classifier=FUNCTION, engine=asked)
    assert vote(classifier=FUNCTION).run.engine is None


def test_rows_have_no_fused_evaluation():
    module = torch.nn.Linear(8, 2)
    rows, classifier = np.eye(8, dtype=int), fp.TorchClassifier(module, 2)
    with pytest.raises(fp.InvalidInputError, match=r"can evaluate, got another: .*, not for TorchClassifier"):
        fp.vote(classifier, rows, FLIP, 5, 5, engine="fused")
    one, other = (fp.vote(classifier, rows, FLIP, 5, 5, engine=engine) for engine in (None, "torch"))
    assert (one.run.engine, other.run.engine) == ("torch", "torch")
    assert counts(one) == counts(other)


@pytest.mark.parametrize("noisy", NOISES)
def test_the_engine_is_part_of_the_run(noisy, tmp_path):
    by_itself, fused, plain = (vote(noisy, engine=engine) for engine in (None, "fused", "torch"))
    assert [votes.run.engine for votes in (by_itself, fused, plain)] == ["fused", "fused", "torch"]
    assert by_itself.run.identity == fused.run.identity
    assert fused.run.identity["engine"] == "fused"
    differing = {key for key in fused.run.identity if fused.run.identity[key] != plain.run.identity[key]}
    assert differing == {"engine", "engine version"}
    assert counts(by_itself) == counts(fused) == counts(plain)  # no ties with these weights
    fused.save(tmp_path / "votes.npz")
    assert fp.Votes.load(tmp_path / "votes.npz").run.engine == "fused"


@pytest.mark.parametrize("engines", [("fused", "torch"), ("torch", "fused")])
def test_a_checkpoint_of_one_engine_is_refused_by_the_other(engines, tmp_path):
    path = tmp_path / "run.ckpt"
    first = vote(engine=engines[0], checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(CheckpointMismatchError, match=f"of another: engine {engines[0]} instead of ") as error:
        vote(engine=engines[1], checkpoint=path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before
    again = vote(engine=engines[0], checkpoint=path)
    assert counts(again) == counts(first)
    assert again.run.drawn == 0


@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_a_checkpoint_goes_on_with_its_engine(engine, tmp_path):
    vote(engine=engine, checkpoint=tmp_path / "run.ckpt")
    again = vote(checkpoint=tmp_path / "run.ckpt", n_estimate=170)
    assert again.run.engine == engine
    assert again.run.drawn > 0


@pytest.mark.parametrize("offer", [True, None, "fused"])
def test_attributes_with_these_names_are_not_engines(offer):
    """A classifier of somebody who has never heard of engines."""
    classifier = fp.FunctionClassifier(lambda rows: rows[:, 0], classes=2)
    other = type(
        "Other", (), {"fused": offer, "engine": offer, "classes": 2, "__call__": lambda self, rows: rows[:, 0]}
    )()
    sampler = fp.DenseRows(np.eye(3, dtype=int)).sampler(FLIP, 0)
    assert engine_for(other, sampler, None) == engine_for(classifier, sampler, None) == Engine(None, None)


def test_votes_of_two_engines_are_not_merged():
    one, other = vote(engine="fused"), vote(engine="torch", n_select=0, n_estimate=range(150, 200))
    with pytest.raises(fp.InvalidInputError, match="engine"):
        one.merged(other)


@pytest.mark.parametrize("noisy", NOISES)
def test_fused_votes_do_not_depend_on_chunks(noisy):
    expected = counts(vote(noisy, engine="fused"))
    for size in (1, 7, 64):
        assert counts(vote(noisy, engine="fused", chunk_size=size)) == expected


def test_ranges_of_samples_add_up():
    whole = vote(engine="fused")
    parts = [vote(engine="fused", n_select=0, n_estimate=part) for part in (range(70), range(70, 71), range(71, 150))]
    assert (sum(part.estimation for part in parts) == whole.estimation).all()
    parts = [vote(engine="fused", n_estimate=0, n_select=part) for part in (range(11), range(11, 30))]
    assert (sum(part.selection for part in parts) == whole.selection).all()


def test_a_run_that_was_extended_is_the_run_at_once(tmp_path):
    path = tmp_path / "run.ckpt"
    vote(engine="fused", n_select=3, n_estimate=41, checkpoint=path)
    assert counts(vote(engine="fused", checkpoint=path)) == counts(vote(engine="fused"))


@pytest.mark.parametrize("noisy", ["attributes", "structure"])
def test_targets_have_the_votes_that_they_have_among_all(noisy):
    noise = FLIP if noisy == "attributes" else fp.FlipNoise(0.0, 0.4)
    targets = [20, 3, 7]
    whole = fp.vote(gcn(), graph(noisy), noise, 30, 150, engine="fused")
    some = fp.vote(gcn(), graph(noisy), noise, 30, 150, engine="fused", targets=targets)
    assert (some.estimation == whole.estimation[targets]).all()
    assert some.run.engine == "fused"


def test_workers_have_the_same_votes():
    """Of attributes and edges, in other processes: what they get was made here."""
    one, two = (vote("both", engine="fused", chunk_size=16, workers=workers) for workers in (1, 2))
    assert counts(one) == counts(two)
    assert one.run.identity == two.run.identity


@pytest.mark.parametrize("noisy", NOISES)
def test_one_noisy_input_must_fit_into_memory(noisy):
    with pytest.raises(fp.TooLargeError, match=r"expected a memory limit of at least .* got 4KB"):
        vote(noisy, engine="fused", memory_limit="4KB")


def test_chunks_must_fit_into_memory():
    """As with torch: a chunk is evaluated in full, even for the sake of one sample."""
    for engine in ("torch", "fused"):
        with pytest.raises(
            fp.TooLargeError, match=r"expected chunk_size of at most [0-9]+ for a memory limit of [0-9]+"
        ):
            vote(engine=engine, n_select=1, n_estimate=1, chunk_size=1000, memory_limit=400_000)
    with pytest.raises(fp.InvalidInputError, match="expected chunk_size to be at least 1, got 0"):
        vote(engine="fused", chunk_size=0)


def test_small_limits_give_small_chunks_and_the_same_votes():
    large, small = vote("structure", engine="fused"), vote("structure", engine="fused", memory_limit=200_000)
    assert small.run.identity["chunk size"] < large.run.identity["chunk size"] == 64
    assert counts(small) == counts(large)


def test_errors_name_the_samples():
    classifier = gcn()
    with torch.no_grad():
        classifier.module.first_bias.fill_(1e3)
        classifier.module.second.weight.mul_(1e38)
    with pytest.raises(
        fp.ClassifierError, match=r"failed on select samples 0 to 29 \(chunk range\(0, 64\)\): expected l"
    ):
        vote(engine="fused", classifier=classifier)


def test_samples_past_the_limit_are_refused():
    fused = gcn().fused(graph("both").sampler(NOISES["both"], 0))
    for samples in (range(-1, 1), range(2**62, 2**62 + 1), range(0, 4, 2)):
        with pytest.raises(fp.InvalidInputError, match="expected consecutive samples"):
            fused(Role.SELECT, samples)


# The program


@pytest.fixture(scope="module")
def trained(planted, tmp_path_factory):
    """A folder with a network that was trained a little, without votes."""
    path = tmp_path_factory.mktemp("engines") / "run"
    task = Task(
        kind="nodes",
        dataset=str(planted),
        model=ModelSpec("gcn", hidden=8),
        noisy="attributes",
        noise=fp.FlipNoise(0.02, 0.3),
        training=TrainingSettings(epochs=20),
        split=PerClass(5, 5),
    )
    train_run(path, task)
    return path


@pytest.mark.parametrize("engine", ["fused", "torch"])
def test_the_engine_of_a_command(run, trained, tmp_path, engine):
    path = shutil.copytree(trained, tmp_path / "run")
    code, out, err = run("vote", path, "--samples", 100, "--select-samples", 20, "--engine", engine)
    assert (code, err) == (0, "")
    assert f"per s, {engine} engine" in out
    other = {"fused": "torch", "torch": "fused"}[engine]
    code, out, err = run("vote", path, "--samples", 200, "--select-samples", 20, "--engine", other)
    assert (code, out) == (2, "")
    assert f"engine {engine} instead of {other}" in err
    assert err.count("\n") == 1
    code, out, err = run("vote", path, "--samples", 200, "--select-samples", 20, "--engine", other, "--force")
    assert (code, err) == (0, "")
    assert f"per s, {other} engine" in out


def test_a_wrong_engine_is_one_line(run, trained):
    code, out, err = run("vote", trained, "--engine", "fuse")
    assert (code, out) == (2, "")
    assert "engine to be one of fused, torch, got 'fuse'" in err
    assert err.count("\n") == 1
