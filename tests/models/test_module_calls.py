"""Modules that take something else than they get, and weights of another type than the input."""

import numpy as np
import pytest

import flipproof as fp

torch = pytest.importorskip("torch")

GRAPH = fp.Graph.from_edge_index([[0, 1], [1, 0]], attributes=np.eye(2), noisy="structure")
NOISE = fp.FlipNoise(0.1, 0.2)


class OfData(torch.nn.Module):
    def forward(self, data):
        return data.x.index_add(0, data.edge_index[1], data.x[data.edge_index[0]])


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x, edge_index, batch=None):
        logits = self.linear(x)
        return logits if batch is None else logits.new_zeros(int(batch.max()) + 1, 2).index_add(0, batch, logits)


class Doubled(Linear):
    def forward(self, x, edge_index):
        return self.linear(x.double())


def test_a_module_that_takes_a_whole_data_is_refused_with_the_wrapper():
    with pytest.raises(
        fp.InvalidInputError, match=r"got OfData with forward\(data\).*model\(Data\(x=x, edge_index=edge"
    ):
        fp.NodeClassifier(OfData(), classes=2)
    with pytest.raises(fp.InvalidInputError, match=r"Data\(x=x, edge_index=edge_index, batch=batch\)"):
        fp.GraphClassifier(OfData(), classes=2)


def test_the_wrapper_of_the_message_votes():
    from torch_geometric.data import Data

    class Wrapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = OfData()

        def forward(self, x, edge_index):
            return self.model(Data(x=x, edge_index=edge_index))

    assert fp.vote(fp.NodeClassifier(Wrapped(), classes=2), GRAPH, NOISE, 5, 5).estimation.sum() == 10


def test_too_many_arguments_are_refused():
    class Weighted(torch.nn.Module):
        def forward(self, x, edge_index, edge_weight):
            return x

    with pytest.raises(fp.InvalidInputError, match=r"expected a module with forward\(x, edge_index\), got Weighted"):
        fp.NodeClassifier(Weighted(), classes=2)


@pytest.mark.parametrize(
    ("classifier", "inputs"),
    [
        (fp.NodeClassifier(Linear().double(), classes=2), GRAPH),
        (fp.GraphClassifier(Linear().double(), classes=2), fp.Graphs((GRAPH, GRAPH))),
        (fp.TorchClassifier(torch.nn.Linear(2, 2).double(), classes=2), [[0, 1]]),
    ],
)
def test_weights_of_another_type_say_what_to_do(classifier, inputs):
    with pytest.raises(fp.ClassifierError, match=r"float32, got float64 \(.*\); call module.float\(\) first"):
        fp.vote(classifier, inputs, NOISE, 5, 5)
    classifier.module.float()
    fp.vote(classifier, inputs, NOISE, 5, 5)


def test_a_module_that_converts_by_itself_is_taken():
    fp.vote(fp.NodeClassifier(Doubled().double(), classes=2), GRAPH, NOISE, 5, 5)
    rows = fp.TorchClassifier(torch.nn.Linear(2, 2).double(), classes=2, dtype="float64")
    fp.vote(rows, [[0, 1]], NOISE, 5, 5)


def test_other_failures_stay_what_they_are():
    with pytest.raises(fp.ClassifierError, match="RuntimeError: mat1 and mat2 shapes"):
        fp.vote(fp.TorchClassifier(torch.nn.Linear(3, 2), classes=2), [[0, 1]], NOISE, 5, 5)
