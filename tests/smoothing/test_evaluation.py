import cloudpickle
import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.classifier import Classifier
from flipproof.smoothing.voting.chunks import Chunk, ChunkPlan
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.evaluation import Evaluation

ROWS = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]])
NOISE = fp.FlipNoise(0.2, 0.4)
TRIANGLE = fp.Graph.from_edge_index([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]], nodes=3)


def parity(batch):
    return batch.sum(axis=1, dtype=np.int64) % 2


def degrees(batch):
    return np.stack([np.bincount(graph.edge_index[1], minlength=graph.nodes) for graph in batch])


def rows(function=parity, classes=2, plan=ChunkPlan(8, 3), chosen=(0, 1, 2)):  # noqa: B008
    sampler = fp.DenseRows(ROWS).sampler(NOISE, seed=1)
    return Evaluation(fp.FunctionClassifier(function, classes), sampler, plan, np.array(chosen, dtype=int))


def nodes(function=degrees, classes=3, outputs=None):
    return Evaluation(
        fp.FunctionClassifier(function, classes), TRIANGLE.sampler(NOISE, 1), ChunkPlan(8, 1), np.arange(1), outputs
    )


def by_hand(samples, chosen=(0, 1, 2)):
    noisy = fp.DenseRows(ROWS).sampler(NOISE, 1).draw(Role.ESTIMATE, samples, np.array(chosen))
    ones = parity(noisy).reshape(len(samples), -1).sum(axis=0)
    return np.stack([len(samples) - ones, ones], axis=1).tolist()


@pytest.mark.parametrize("samples", [range(8, 16), range(8, 9), range(11, 16), range(10, 13)])
def test_counts_are_of_the_samples_of_the_chunk_only(samples):
    assert rows()(Chunk("estimate", samples)).tolist() == by_hand(samples)


def test_the_role_decides_which_samples_they_are():
    chunk = range(8)
    assert rows()(Chunk("select", chunk)).tolist() != rows()(Chunk("estimate", chunk)).tolist()
    with pytest.raises(KeyError):
        rows()(Chunk("train", chunk))


@pytest.mark.parametrize("per_call", [1, 2, 3])
def test_rows_may_be_drawn_in_several_calls(per_call):
    sizes = []

    def noting(batch):
        sizes.append(batch.shape[0])
        return parity(batch)

    counts = rows(noting, plan=ChunkPlan(8, per_call))(Chunk("estimate", range(8, 16)))
    assert counts.tolist() == by_hand(range(8, 16))
    assert sizes == {1: [8, 8, 8], 2: [16, 8], 3: [24]}[per_call]


def test_some_rows_in_the_order_that_was_asked_for():
    assert rows(chosen=(2, 0))(Chunk("estimate", range(8))).tolist() == by_hand(range(8), (2, 0))
    assert rows(chosen=())(Chunk("estimate", range(8))).shape == (0, 2)


def test_chunks_add_up_in_any_order(rng):
    chunks = list(ChunkPlan(8, 3).chunks("estimate", range(3, 77), SampleRanges()))
    evaluation = rows()
    shuffled = [chunks[i] for i in rng.permutation(len(chunks))]
    assert sum(evaluation(chunk) for chunk in shuffled).tolist() == by_hand(range(3, 77))


def test_an_evaluation_travels():
    copy = cloudpickle.loads(cloudpickle.dumps(rows()))
    assert copy(Chunk("estimate", range(8))).tolist() == by_hand(range(8))


def test_a_graph_has_as_many_outputs_as_the_classifier_gives():
    counts = nodes()(Chunk("estimate", range(8)))
    drawn = degrees(TRIANGLE.sampler(NOISE, 1).draw(Role.ESTIMATE, range(8), np.arange(1)))
    assert counts.tolist() == [[(drawn[:, node] == label).sum() for label in range(3)] for node in range(3)]
    sizes = nodes(lambda batch: [[graph.edge_index.shape[1] // 2] for graph in batch], classes=4)
    assert sizes(Chunk("estimate", range(8))).shape == (1, 4)


def test_targets_are_picked_from_the_outputs():
    whole = nodes()(Chunk("estimate", range(8)))
    assert nodes(outputs=np.array([2, 0]))(Chunk("estimate", range(8))).tolist() == whole[[2, 0]].tolist()


@pytest.mark.parametrize(
    ("evaluation", "words"),
    [
        (rows(lambda batch: parity(batch).reshape(3, 8)), r"expected labels of shape \[24\], got \(3, 8\)"),
        (rows(lambda batch: parity(batch)[:8]), r"expected labels of shape \[24\], got \(8,\)"),
        (rows(lambda batch: parity(batch)[:, None]), r"expected labels of shape \[24\], got \(24, 1\)"),
        (nodes(lambda batch: degrees(batch)[0]), r"expected labels of shape \[8, outputs\], got \(3,\)"),
        (nodes(lambda batch: degrees(batch).T), r"expected labels of shape \[8, outputs\], got \(3, 8\)"),
        (
            nodes(lambda batch: degrees(batch)[:, :2], outputs=np.array([2])),
            "expected a label for every target, got 2 labels",
        ),
        (nodes(classes=2), r"expected labels in \[0, 2\), got 2"),
        (rows(lambda batch: parity(batch) - 1), r"expected labels in \[0, 2\), got -1"),
        (rows(lambda batch: parity(batch).astype(np.uint64) + 2**63), r"expected labels in \[0, 2\), got 9223372036"),
        (rows(lambda batch: 1 / 0), "ZeroDivisionError: division by zero"),
    ],
)
def test_labels_that_do_not_fit_are_a_failure_on_these_samples(evaluation, words):
    with pytest.raises(fp.ClassifierError, match=f"estimate samples 9 to 12 .chunk range.8, 16..: {words}"):
        evaluation(Chunk("estimate", range(9, 13)))


def test_an_interrupt_is_not_a_failure_of_the_classifier():
    def interrupted(batch):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rows(interrupted)(Chunk("estimate", range(8)))


def test_labels_may_be_a_torch_tensor():
    torch = pytest.importorskip("torch")
    tensors = rows(lambda batch: torch.tensor(parity(batch).astype(np.int64)))
    assert tensors(Chunk("estimate", range(8))).tolist() == by_hand(range(8))
    with pytest.raises(fp.ClassifierError, match="expected integer labels, got float32"):
        rows(lambda batch: torch.ones(24, requires_grad=True))(Chunk("estimate", range(8)))


def test_a_classifier_is_whatever_has_classes_and_can_be_called():
    class Own:
        classes = 2

        def __call__(self, batch):
            return parity(batch)

    assert isinstance(Own(), Classifier)
    assert isinstance(fp.FunctionClassifier(parity, 2), Classifier)
    assert not isinstance(parity, Classifier)
