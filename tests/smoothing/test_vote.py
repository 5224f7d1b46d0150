"""The voting engine on every kind of input, with a classifier that looks at every entry in integers.

Its labels do not depend on the batch: whatever changes the noise, loses a sample or counts it twice changes the votes.
"""

import functools
import gc
import os
import pty
import re
import resource
import subprocess
import sys
import termios
import threading
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import threadpoolctl

import flipproof as fp
from flipproof.noise.laws import space_of
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.voting.drawn_samples import SampleRanges

CLASSES = 3
FLIP = fp.FlipNoise(0.1, 0.3)
JOINT = fp.JointNoise(structure=fp.FlipNoise(0.05, 0.4), attributes=fp.FlipNoise(0.1, 0.3))


def labels(batch):
    """A label for every row, node or graph, of all entries in it."""
    if not hasattr(batch, "shape") and not hasattr(batch, "graph_of_node"):
        return np.stack([node_codes(graph.nodes, graph.edge_index, graph.attributes) for graph in batch]) % CLASSES
    if hasattr(batch, "graph_of_node"):
        own = batch.graph_of_node
        places = np.arange(batch.nodes) - np.searchsorted(own, own)
        heads, tails = batch.edge_index
        codes = node_codes(batch.nodes, (places[heads], tails), batch.attributes)
        return np.bincount(own, codes * (places + 1), batch.graphs).astype(np.int64) % CLASSES
    rows = batch if sp.issparse(batch) else batch.reshape(batch.shape[0], -1).astype(np.int64)
    return np.asarray(rows @ (np.arange(rows.shape[1]) ** 2 + 1)).astype(np.int64) % CLASSES


def node_codes(nodes, edge_index, attributes):
    heads, tails = edge_index
    codes = np.bincount(tails, (heads + 1) ** 2, nodes).astype(np.int64)
    if attributes is not None:
        codes += np.asarray(attributes @ (np.arange(attributes.shape[1]) + 1)).astype(np.int64)
    return codes


CLASSIFIER = fp.FunctionClassifier(labels, CLASSES)


def graph(seed, nodes, noisy):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((nodes, nodes)) < 0.4, 1)
    attributes = sp.csr_array((rng.random((nodes, 12)) < 0.3).astype(np.float32))
    return fp.Graph.from_edge_index(np.stack((upper | upper.T).nonzero()), nodes, attributes, noisy=noisy)


def inputs():
    """By name: a space, a noise, and the number of its outputs."""
    rng = np.random.default_rng(0)
    tokens = np.where(np.arange(6) < rng.integers(2, 7, (5, 1)), rng.integers(0, 4, (5, 6)), 9)
    table = fp.Table(rng.integers(0, 2, (4, 5)), [2, 3, 2, 4, 2])
    return {
        "vectors": (rng.integers(0, 2, (7, 8)), FLIP, 7),
        "images": (rng.integers(0, 3, (4, 2, 5)), fp.FlipNoise(0.1, 0.3, 3), 4),
        "tokens": (fp.Tokens(tokens, padding=9), fp.FlipNoise(0.2, 0.2, 4), 5),
        "table": (table, table.noise(0.1, 0.3), 4),
        "sparse rows": (sp.csr_array((rng.random((6, 300)) < 0.05).astype(np.float32)), fp.FlipNoise(0.01, 0.6), 6),
        "structure": (graph(1, 6, "structure"), fp.FlipNoise(0.05, 0.4), 6),
        "attributes": (graph(1, 6, "attributes"), FLIP, 6),
        "both": (graph(1, 6, "both"), JOINT, 6),
        "graphs": (fp.Graphs([graph(seed, 3 + seed, "both") for seed in range(4)]), JOINT, 4),
    }


INPUTS = inputs()


@pytest.fixture(params=INPUTS)
def kind(request):
    return request.param


def vote(name, n_select=30, n_estimate=100, classifier=CLASSIFIER, **options):
    space, noise, _ = INPUTS[name]
    return fp.vote(classifier, space, noise, n_select, n_estimate, **({"seed": 5, "chunk_size": 16} | options))


def counts(votes):
    return votes.selection.tolist(), votes.estimation.tolist()


def counted(name, role, samples, seed=5):
    """The same votes without the engine: draw everything at once and count."""
    space, noise, outputs = INPUTS[name]
    sampler = space_of(space).sampler(noise, seed)
    given = labels(sampler.draw(role, samples, np.arange(sampler.rows))).reshape(len(samples), outputs)
    return np.stack([(given == label).sum(axis=0) for label in range(CLASSES)], axis=1).tolist()


# Which samples


def test_votes_are_the_counts_of_labels_on_all_samples(kind):
    votes = vote(kind)
    assert counts(votes) == (counted(kind, Role.SELECT, range(30)), counted(kind, Role.ESTIMATE, range(100)))
    assert (votes.n_select, votes.n_estimate, votes.classes) == (30, 100, CLASSES)
    assert (votes.selection.sum(axis=1) == 30).all()
    assert (votes.estimation.sum(axis=1) == 100).all()


def test_another_seed_and_another_role_are_other_samples(kind):
    votes = vote(kind, 100, 100)
    assert counts(votes) != counts(vote(kind, 100, 100, seed=6))
    assert votes.selection.tolist() != votes.estimation.tolist()


@pytest.mark.parametrize("size", [1, 7, 16, 1000, None])
def test_any_chunk_size_gives_the_votes_of_a_classifier_that_does_not_mind(kind, size):
    assert counts(vote(kind, chunk_size=size)) == counts(vote(kind))


def test_parts_of_a_run_add_up_to_the_whole(kind):
    """Ranges that no chunk size divides, put together in another order."""
    parts = [
        vote(kind, range(11), range(3)),
        vote(kind, range(20, 30), range(50, 100)),
        vote(kind, range(11, 20), range(3, 50)),
    ]
    whole, together = vote(kind), parts[1].merged(parts[0]).merged(parts[2])
    assert counts(together) == counts(whole)
    assert (together.n_select, together.n_estimate) == (30, 100)
    assert (together.run.select, together.run.estimate) == (whole.run.select, whole.run.estimate)
    assert together.run.identity == whole.run.identity
    assert together.sampling_error >= whole.sampling_error


def test_votes_grow_through_a_checkpoint(kind, tmp_path):
    path = tmp_path / "run.ckpt"
    first = vote(kind, 10, 37, checkpoint=path)
    second = vote(kind, 30, 100, checkpoint=path, chunk_size=None)
    assert counts(first) == counts(vote(kind, 10, 37))
    assert counts(second) == counts(vote(kind))
    assert (first.run.drawn, second.run.drawn) == (47, 83)


def test_the_classifier_sees_whole_chunks_only():
    """Their size may decide the last bits of what a model computes, so it is the same for every sample."""
    seen = []

    def noting(batch):
        seen.append(batch.shape[0])
        return labels(batch)

    vote("vectors", range(3, 5), range(14, 90), fp.FunctionClassifier(noting, CLASSES), check=False)
    assert seen == [7 * 16] * (1 + 6)


def test_rows_in_several_calls_give_the_same_votes():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (900, 50))
    sizes = []

    def noting(batch):
        sizes.append(batch.shape[0])
        return labels(batch)

    together, apart = (
        fp.vote(
            fp.FunctionClassifier(noting, CLASSES), rows, FLIP, 10, 20, chunk_size=4, memory_limit=limit, check=False
        )
        for limit in ("2GB", "1MB")
    )
    assert counts(apart) == counts(together)
    assert (together.run.identity["rows per call"], sizes[0]) == (900, 3600)
    assert apart.run.identity["rows per call"] < 100
    assert max(sizes[-8:]) < 400


@pytest.mark.parametrize("name", ["vectors", "sparse rows", "both"])
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_give_the_same_votes(name, workers):
    votes, alone = vote(name, workers=workers), vote(name)
    assert counts(votes) == counts(alone)
    assert votes.run.identity == alone.run.identity


def test_no_inputs_are_inputs():
    votes = fp.vote(CLASSIFIER, np.zeros((0, 5), int), FLIP, 10, 10)
    assert votes.selection.shape == votes.estimation.shape == (0, CLASSES)


def test_one_role_may_have_no_samples(kind):
    votes = vote(kind, 0, 100)
    assert votes.estimation.tolist() == vote(kind).estimation.tolist()
    assert votes.n_select == votes.selection.sum() == 0


# Targets


def test_targets_have_the_votes_of_a_full_run(kind):
    outputs = INPUTS[kind][2]
    whole = vote(kind)
    for targets in ([outputs - 1, 0, 2], np.array([1], np.uint8), list(range(outputs))):
        some = vote(kind, targets=targets)
        assert counts(some) == (whole.selection[targets].tolist(), whole.estimation[targets].tolist())


class Steps:
    """Nodes within `reach` steps are counted; remembers how many nodes the graphs had."""

    classes = 5

    def __init__(self, reach, hops):
        self.reach, self.hops, self.nodes = reach, hops, set()

    def __call__(self, batch):
        self.nodes |= {graph.nodes for graph in batch}
        return np.stack([self._reached(graph) for graph in batch]) % self.classes

    def _reached(self, graph):
        heads, tails = graph.edge_index
        step = np.zeros((graph.nodes, graph.nodes), np.int64)
        step[tails, heads] = 1
        reached = np.eye(graph.nodes, dtype=np.int64)
        for _ in range(self.reach):
            reached = np.minimum(1, reached + step @ reached)
        own = 1 if graph.attributes is None else np.asarray(graph.attributes.sum(axis=1)).astype(np.int64) + 1
        return (reached * own).sum(axis=1)


def ring(nodes, noisy, directed=False):
    around = np.arange(nodes)
    index = np.stack([around, (around + 1) % nodes])
    if not directed:
        index = np.concatenate([index, index[::-1]], axis=1)
    bits = (np.random.default_rng(0).random((nodes, 9)) < 0.4).astype(np.float32)
    return fp.Graph.from_edge_index(index, nodes, sp.csr_array(bits), noisy=noisy, directed=directed)


DELETING = fp.FlipNoise(0.0, 0.3)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    ("noisy", "noise"),
    [("attributes", FLIP), ("structure", DELETING), ("both", fp.JointNoise(structure=DELETING, attributes=FLIP))],
)
def test_only_the_neighbourhood_is_drawn_where_noise_cannot_enlarge_it(noisy, noise, directed):
    whole, some, space = Steps(2, hops=2), Steps(2, hops=2), ring(30, noisy, directed)
    full = fp.vote(whole, space, noise, 20, 50)
    part = fp.vote(some, space, noise, 20, 50, targets=[17, 4], check=False)
    assert counts(part) == (full.selection[[17, 4]].tolist(), full.estimation[[17, 4]].tolist())
    assert whole.nodes == {30}
    assert some.nodes == {14}  # two targets, three steps in both directions from each


@pytest.mark.parametrize(
    ("noisy", "noise", "hops"),
    [
        ("structure", fp.FlipNoise(1e-9, 0.3), 2),
        ("both", fp.JointNoise(structure=fp.FlipNoise(0.05, 0.3), attributes=FLIP), 2),
        ("attributes", FLIP, None),
        ("structure", DELETING, None),
    ],
)
def test_the_whole_graph_is_drawn_where_an_edge_may_come_from_anywhere(noisy, noise, hops):
    """Also if the classifier does not say how far it looks: this one looks at every node."""
    space, some = ring(12, noisy), Steps(12, hops)
    full = fp.vote(Steps(12, hops), space, noise, 20, 50)
    part = fp.vote(some, space, noise, 20, 50, targets=[7, 4])
    assert counts(part) == (full.selection[[7, 4]].tolist(), full.estimation[[7, 4]].tolist())
    assert some.nodes == {12}


@pytest.mark.parametrize("hops", [-1, 1.0, "2", True])
def test_a_number_of_hops_that_is_none_is_refused(hops):
    with pytest.raises(fp.InvalidInputError, match="expected hops to be a non-negative integer, got"):
        fp.vote(Steps(2, hops), ring(12, "attributes"), FLIP, 20, 50, targets=[3])


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ([], r"expected one or more targets from 0 to 6, got \[\]"),
        ([7], r"expected one or more targets from 0 to 6, got \[7\]"),
        ([-1], r"expected one or more targets from 0 to 6, got \[-1\]"),
        ([1, 2, 1], "expected every target once, got some twice"),
        ([0.0], r"expected targets to be a list of input numbers, got float64 of shape \(1,\)"),
        ([True, False], "expected targets to be a list of input numbers, got bool"),
        ([[1]], r"got int64 of shape \(1, 1\)"),
        (3, r"got int64 of shape \(\)"),
    ],
)
def test_other_targets_are_refused(targets, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        vote("vectors", targets=targets)


# Classifiers that fail

FAILING = 3  # the chunk of the estimation samples on which they do
POISON = space_of(INPUTS["vectors"][0]).sampler(FLIP, 5).draw(
    Role.ESTIMATE, range(16 * FAILING, 16 * FAILING + 16), np.arange(7)
)  # fmt: skip


def raising(batch):
    raise RuntimeError("out of order")


FAILURES = {
    "wrong shape": (lambda batch: labels(batch)[:-1], r"expected labels of shape \[112\], got \(111,\)"),
    "logits": (lambda batch: np.ones((112, CLASSES)), r"expected labels of shape \[112\], got \(112, 3\)"),
    "floats": (lambda batch: labels(batch) / 1, "expected integer labels, got float64"),
    "NaN": (lambda batch: np.full(112, np.nan), "expected integer labels, got float64"),
    "texts": (lambda batch: ["cat"] * 112, "expected integer labels, got <U3"),
    "ragged": (lambda batch: [[0, 1], [2]], "ValueError: setting an array element"),
    "nothing": (lambda batch: None, r"expected labels of shape \[112\], got \(\)"),
    "too large": (lambda batch: labels(batch) + 1, r"expected labels in \[0, 3\), got 3"),
    "negative": (lambda batch: -labels(batch), r"expected labels in \[0, 3\), got -[12]"),
    "raising": (raising, "RuntimeError: out of order"),
}


class Failing:
    """Fails on the samples 48 to 63 only."""

    classes = CLASSES
    fingerprint = "the same model, mended"

    def __init__(self, failure):
        self.failure = failure

    def __call__(self, batch):
        return self.failure(batch) if np.array_equal(batch, POISON) else labels(batch)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_names_the_samples_and_keeps_the_votes(failure):
    wrong, words = FAILURES[failure]
    with pytest.raises(
        fp.ClassifierError, match=rf"failed on estimate samples 48 to 63 \(chunk .*\): {words}"
    ) as caught:
        vote("vectors", classifier=Failing(wrong))
    votes = caught.value.votes
    assert counts(votes) == counts(vote("vectors", 30, 48))
    assert votes.run.estimate == SampleRanges.of(range(48))
    assert votes.run.identity["model"] == Failing.fingerprint


def test_a_failure_on_a_part_of_a_chunk_names_both():
    with pytest.raises(fp.ClassifierError, match=r"failed on estimate samples 50 to 60 \(chunk range\(48, 64\)\)"):
        vote("vectors", 0, range(50, 61), Failing(raising))


def test_a_failure_on_the_first_samples_leaves_no_votes():
    with pytest.raises(fp.ClassifierError, match="failed on select samples 0 to 15") as caught:
        vote("vectors", classifier=fp.FunctionClassifier(raising, CLASSES))
    assert caught.value.votes is None
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_failure_in_a_worker_keeps_the_votes_of_all():
    with pytest.raises(fp.ClassifierError, match="failed on estimate samples 48 to 63") as caught:
        vote("vectors", 30, 400, Failing(raising), workers=2)
    kept = caught.value.votes
    assert not kept.run.estimate.overlap(SampleRanges.of(range(48, 64)))
    parts = [vote("vectors", range(*pair), 0) for pair in kept.run.select.pairs]
    parts += [vote("vectors", 0, range(*pair)) for pair in kept.run.estimate.pairs]
    assert counts(kept) == counts(functools.reduce(fp.Votes.merged, parts))
    assert any("out of order" in note for note in caught.value.__notes__)


def test_a_mended_classifier_goes_on_where_the_other_failed(tmp_path):
    path = tmp_path / "run.ckpt"
    with pytest.raises(fp.ClassifierError):
        vote("vectors", classifier=Failing(raising), checkpoint=path)
    with pytest.raises(
        fp.InvalidInputError, match=r"of another: model the same model, mended instead of [0-9a-f]{12}$"
    ):
        vote("vectors", checkpoint=path)
    mended = vote("vectors", classifier=Failing(labels), checkpoint=path)
    assert counts(mended) == counts(vote("vectors"))
    assert mended.run.drawn == 100 - 48


def test_labels_for_another_number_of_nodes_are_a_failure_too():
    """The first chunk says how many outputs there are."""
    calls = []

    def growing(batch):
        calls.append(len(batch))
        return np.zeros((len(batch), 4 + len(calls) // 4), int)

    with pytest.raises(
        fp.ClassifierError, match=r"failed on estimate samples 16 to 31: expected 4 outputs.*, got 5"
    ) as e:
        vote("structure", classifier=fp.FunctionClassifier(growing, CLASSES), check=False)
    assert (e.value.votes.n_select, e.value.votes.n_estimate) == (30, 16)


def test_a_graph_without_a_label_for_a_target_is_a_failure():
    constant = fp.FunctionClassifier(lambda batch: np.zeros((len(batch), 4), int), CLASSES)
    with pytest.raises(fp.ClassifierError, match="expected a label for every target, got 4 labels per graph"):
        vote("structure", classifier=constant, targets=[5])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_labels_are_any_integers_in_any_shape_that_fits(dtype):
    def shaped(batch):
        return labels(batch).astype(dtype).reshape(16, 7)

    of_chunks = fp.FunctionClassifier(shaped, CLASSES)
    assert counts(vote("vectors", classifier=of_chunks, check=False)) == counts(vote("vectors"))
    listing = fp.FunctionClassifier(lambda batch: labels(batch).tolist(), CLASSES)
    assert counts(vote("vectors", classifier=listing)) == counts(vote("vectors"))


# The classifier itself


def test_the_number_of_classes_may_come_from_numpy(tmp_path):
    class Own:
        classes = np.int32(3)

        def __call__(self, batch):
            return labels(batch)

    for classifier in (fp.FunctionClassifier(labels, np.int64(3)), Own()):
        votes = vote("vectors", classifier=classifier, checkpoint=tmp_path / type(classifier).__name__)
        assert type(votes.run.identity["classes"]) is int
        assert counts(votes) == counts(vote("vectors"))


@pytest.mark.parametrize("classes", [0, -1, 2.0, "3", True])
def test_other_numbers_of_classes_are_refused(classes):
    with pytest.raises(fp.InvalidInputError, match=r"expected (classes to be|at least one class)"):
        fp.FunctionClassifier(labels, classes)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (labels, r"how many labels labels can return, got labels .* \.\.\.; say how many there are: classes=\.\.\.$"),
        ("model", "expected a classifier, got str; give a trained model or a function of a batch$"),
        (None, "expected a classifier, got NoneType; give a trained model or a function of a batch$"),
    ],
)
def test_what_is_no_classifier_is_told_how_to_become_one(given, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        vote("vectors", classifier=given)


def test_a_model_without_contents_is_refused_before_anything_is_drawn():
    lock, calls = threading.Lock(), []

    def locked(batch):
        with lock:
            calls.append(batch)
            return labels(batch)

    with pytest.raises(fp.InvalidInputError, match="got lock; give the object a `fingerprint` text"):
        vote("vectors", classifier=fp.FunctionClassifier(locked, CLASSES))
    assert calls == []


class Counting:
    """Remembers something from call to call, as caches do."""

    classes = CLASSES

    def __init__(self):
        self.calls = 0

    def __call__(self, batch):
        self.calls += 1
        return labels(batch)


def test_a_model_is_what_it_was_when_the_run_began():
    first, second = (vote("vectors", 10, samples, Counting()) for samples in (20, range(20, 100)))
    other = Counting()
    other.calls = 1
    assert first.run.identity == second.run.identity
    assert first.run.identity != vote("vectors", 10, 20, other).run.identity


def test_a_fingerprint_that_is_no_text_is_none(tmp_path):
    class Strange(Counting):
        def fingerprint(self):
            return 3

    votes = vote("vectors", classifier=Strange(), checkpoint=tmp_path / "run.ckpt")
    assert len(votes.run.identity["model"]) == 64
    votes.save(tmp_path / "votes.npz")


# Other arguments


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"workers": 0}, "expected workers to be at least 1, got 0"),
        ({"workers": 1.5}, "expected workers to be a non-negative integer, got 1.5"),
        ({"seed": -1}, r"expected seed to be an integer in \[0, 2\*\*64\), got -1"),
        ({"seed": 2**64}, "expected seed to be an integer in"),
        ({"seed": 0.5}, "expected seed to be an integer in"),
        ({"chunk_size": 0}, "expected chunk_size to be at least 1, got 0"),
        ({"memory_limit": "much"}, "expected a memory limit such as '2GB'"),
        ({"n_select": -1}, "expected n_select to be a non-negative integer, got -1"),
        ({"n_estimate": range(0, 9, 2)}, "expected n_estimate to be a range of sample numbers with step 1"),
        ({"n_select": 0, "n_estimate": range(5, 5)}, "expected at least one sample to draw"),
        ({"checkpoint": 7}, "expected the path of a file, got 7"),
    ],
)
def test_other_arguments_are_refused(options, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        vote("vectors", **options)


def test_a_large_seed_is_a_seed():
    assert counts(vote("vectors", seed=2**64 - 1)) != counts(vote("vectors", seed=0))
    assert counts(vote("vectors", seed=np.uint64(2**64 - 1))) == counts(vote("vectors", seed=2**64 - 1))


def test_too_little_memory_is_refused():
    with pytest.raises(fp.TooLargeError, match=r"expected a memory limit of at least .* for one noisy input, got 100"):
        vote("vectors", memory_limit=100)
    with pytest.raises(fp.TooLargeError, match="expected chunk_size of at most"):
        vote("vectors", memory_limit=10_000, chunk_size=1000)


def test_noise_that_does_not_fit_is_refused():
    with pytest.raises(fp.InvalidInputError, match=r"expected JointNoise\(structure=..., attributes=...\)"):
        fp.vote(CLASSIFIER, INPUTS["both"][0], FLIP)
    with pytest.raises(fp.InvalidInputError, match=r"expected values in .0, 2. as the noise has 2 categories"):
        fp.vote(CLASSIFIER, [[0, 2]], FLIP)


# What a run leaves behind


def threads_in_use():
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]


class Holding:
    """Every process that has called it holds a fifo open until it ends."""

    descriptors = []  # noqa: RUF012

    def __init__(self, path):
        self.path = path

    def __call__(self, batch):
        if not self.descriptors:
            self.descriptors.append(os.open(self.path, os.O_WRONLY))
        return labels(batch)

    def let_go(self):
        while self.descriptors:
            os.close(self.descriptors.pop())


class FullDisk:
    """Files of this process cannot grow inside."""

    def __enter__(self):
        self.before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400, self.before[1]))

    def __exit__(self, *_):
        resource.setrlimit(resource.RLIMIT_FSIZE, self.before)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_leaves_no_worker_and_no_limit_behind(tmp_path, workers):
    """Not even while somebody holds the error, as an interactive session does."""
    os.mkfifo(tmp_path / "fifo")
    fifo, rows = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK), np.eye(200, dtype=int)
    holding = fp.FunctionClassifier(Holding(str(tmp_path / "fifo")), CLASSES)
    with threadpoolctl.threadpool_limits(limits=2):
        before = threads_in_use()
        with FullDisk(), pytest.raises(fp.OutputError, match="File too large") as caught:
            fp.vote(holding, rows, FLIP, 10, 100, chunk_size=4, workers=workers, checkpoint=tmp_path / "run.ckpt")
        assert threads_in_use() == before
    holding.function.let_go()
    assert os.read(fifo, 1) == b""  # the end of the file: nobody holds the other side
    os.close(fifo)
    assert caught.value.__traceback__ is not None


def test_the_samples_are_not_kept():
    batches = []

    def noting(batch):
        batches.append(weakref.ref(batch))
        return labels(batch)

    vote("vectors", classifier=fp.FunctionClassifier(noting, CLASSES), check=False)
    gc.collect()
    assert len(batches) == 2 + 7
    assert all(batch() is None for batch in batches)


# Progress


def in_terminal(work):
    """What is shown on a terminal 120 characters wide while something is done."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (40, 120))
    shown = []

    def read():
        try:
            while content := os.read(master, 4096):
                shown.append(content)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    before, sys.stderr = sys.stderr, os.fdopen(slave, "w")
    try:
        work()
    finally:
        sys.stderr.close()
        sys.stderr = before
        reader.join()
        os.close(master)
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", b"".join(shown).decode())


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    return in_terminal


def test_a_terminal_shows_samples_speed_and_time_left(terminal):
    last = terminal(lambda: vote("vectors")).splitlines()[-2:]
    assert re.search(r"votes .* 130/130 [\d,]+ samples/s left \d:\d\d:\d\d", "".join(last))


def test_a_resumed_run_begins_where_it_was(terminal, tmp_path):
    vote("vectors", 30, 50, checkpoint=tmp_path / "run.ckpt")
    shown = terminal(lambda: vote("vectors", checkpoint=tmp_path / "run.ckpt"))
    assert re.findall(r"(\d+)/130", shown)[0] == "80"


def test_nothing_is_shown_elsewhere(terminal, capfd):
    assert terminal(lambda: vote("vectors", progress=False)) == ""
    vote("vectors")
    assert capfd.readouterr() == ("", "")


def test_a_process_without_stderr_votes_too():
    script = (
        "import sys, flipproof as fp\n"
        "assert sys.stderr is None\n"
        "zeros = fp.FunctionClassifier(lambda rows: rows[:, 0] * 0, 2)\n"
        "print(fp.vote(zeros, [[0, 1]], fp.FlipNoise(0.1, 0.1), 1, 1).estimation)"
    )
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" 2>&-', sys.executable, script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[[1 0]]\n")


def test_a_flag_of_numpy_says_whether_votes_are_checked():
    assert vote("vectors", check=np.False_).run.checked is False
