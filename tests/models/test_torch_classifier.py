"""Torch modules on rows: the labels are those of the module in evaluation mode, and nothing else changes."""

import threading

import cloudpickle
import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.models.adapters.torch_modules import evaluating


def images():
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(), torch.nn.Flatten()]
    return torch.nn.Sequential(*layers, torch.nn.Dropout(0.5), torch.nn.Linear(4 * 36, 5))


class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.last = torch.nn.Embedding(10, 6), torch.nn.Linear(6, 3)

    def forward(self, tokens):
        return self.last(self.table(tokens).mean(dim=1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int64, bool])
def test_labels_are_the_largest_logits(dtype, rng):
    module, pixels = images(), rng.integers(0, 2, (20, 1, 8, 8)).astype(dtype)
    pixels.setflags(write=False)
    labels = TorchClassifier(module, classes=5)(pixels)
    with torch.no_grad():
        expected = module.eval()(torch.tensor(pixels.astype(np.float32))).argmax(1)
    assert labels.dtype == np.int64
    assert len(set(labels.tolist())) > 1
    assert (labels == expected.numpy()).all()


def test_tokens_need_integers(rng):
    tokens = rng.integers(0, 10, (20, 7)).astype(np.uint8)
    labels = TorchClassifier(Words(), classes=3, dtype="int64")(tokens)
    assert (labels == Words()(torch.tensor(tokens.astype(np.int64))).argmax(1).numpy()).all()


def test_sparse_rows_become_dense(rng):
    torch.manual_seed(0)
    module, rows = torch.nn.Linear(9, 4), (rng.random((15, 9)) < 0.3).astype(np.uint8)
    classifier = TorchClassifier(module, classes=4)
    for make in (sp.csr_array, sp.csr_matrix):
        assert (classifier(make(rows)) == classifier(rows)).all()


class Watched(torch.nn.Module):
    """A linear map that notes how many rows it got."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.map, self.sizes = torch.nn.Linear(9, 4), []

    def forward(self, rows):
        self.sizes.append(len(rows))
        return self.map(rows)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csr_matrix, sp.coo_array, torch.tensor])
@pytest.mark.parametrize(
    ("rows_at_once", "sizes"), [(7, [7, 7, 6]), (10, [10, 10]), (1, [1] * 20), (20, [20]), (256, [20])]
)
def test_rows_come_in_slices(rows_at_once, sizes, form, rng):
    module, rows = Watched(), (rng.random((20, 9)) < 0.5).astype(np.float32)
    labels = TorchClassifier(module, classes=4, rows_at_once=rows_at_once)(form(rows))
    assert module.sizes == sizes
    with torch.no_grad():
        assert (labels == module(torch.tensor(rows)).argmax(1).numpy()).all()


def test_no_rows_have_no_labels():
    assert TorchClassifier(Watched(), classes=4)(np.zeros((0, 9))).tolist() == []


def test_undefined_logits_are_counted_over_all_slices():
    rows = np.zeros((5, 9))
    rows[[0, 3, 4], 0] = np.nan
    with pytest.raises(fp.InvalidInputError, match="got NaN for 3 of 5 rows"):
        TorchClassifier(Watched(), classes=4, rows_at_once=2)(rows)


def test_logits_are_one_call_of_the_module_as_it_is(rng):
    module, pixels = images(), rng.integers(0, 2, (6, 8, 8)).astype(np.uint8)
    classifier = TorchClassifier(module, classes=5, transform=lambda x: x.unsqueeze(1), rows_at_once=2)
    torch.manual_seed(3)
    logits = classifier.logits(pixels)
    torch.manual_seed(3)
    assert torch.equal(logits, module(torch.tensor(pixels).float().unsqueeze(1)))  # dropout and all
    logits.sum().backward()
    assert all(weights.grad is not None for weights in module.parameters())
    with torch.no_grad():
        assert not classifier.logits(pixels).requires_grad
    with pytest.raises(fp.InvalidInputError, match=r"expected logits of shape \(6, 4\), got \(6, 5\)"):
        TorchClassifier(module, classes=4, transform=lambda x: x.unsqueeze(1)).logits(pixels)


def test_the_transform_comes_first(rng):
    module, levels = images(), rng.integers(0, 256, (20, 8, 8)).astype(np.uint8)
    scaled = TorchClassifier(module, classes=5, transform=lambda x: x.unsqueeze(1) / 255)
    with torch.no_grad():
        expected = module.eval()(torch.tensor(levels).unsqueeze(1).float() / 255).argmax(1)
    assert (scaled(levels) == expected.numpy()).all()


def test_the_module_is_left_as_it_was(rng):
    module = images()
    module[1].eval()
    flags = [part.training for part in module.modules()]
    weights = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    TorchClassifier(module, classes=5)(rng.integers(0, 2, (4, 1, 8, 8)))
    assert [part.training for part in module.modules()] == flags
    assert all(torch.equal(tensor, weights[name]) for name, tensor in module.state_dict().items())
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
    with pytest.raises(fp.InvalidInputError, match="expected logits of shape"):
        TorchClassifier(module, classes=4)(rng.integers(0, 2, (4, 1, 8, 8)))
    assert [part.training for part in module.modules()] == flags


def test_the_last_thread_restores_the_training_flag():
    module, inside, leave = images(), threading.Event(), threading.Event()

    def stay():
        with evaluating(module):
            inside.set()
            leave.wait(10)

    other = threading.Thread(target=stay)
    other.start()
    inside.wait(10)
    with evaluating(module):
        assert not module.training
    assert not any(part.training for part in module.modules())
    leave.set()
    other.join()
    assert all(part.training for part in module.modules())


def test_it_travels_and_keeps_its_fingerprint(rng):
    pixels = rng.integers(0, 2, (6, 8, 8))
    classifier = TorchClassifier(images(), classes=5, transform=lambda x: x.unsqueeze(1))
    copy = cloudpickle.loads(cloudpickle.dumps(classifier))
    assert (copy(pixels) == classifier(pixels)).all()
    assert copy.fingerprint == classifier.fingerprint
    others = [
        TorchClassifier(images(), classes=5),
        TorchClassifier(images(), classes=5, transform=lambda x: x.unsqueeze(1) / 255),
        TorchClassifier(images(), classes=5, dtype="float64", transform=lambda x: x.unsqueeze(1)),
        TorchClassifier(images().double(), classes=5, transform=lambda x: x.unsqueeze(1)),
        TorchClassifier(images(), classes=5, transform=lambda x: x.unsqueeze(1), rows_at_once=64),
    ]
    assert len({each.fingerprint for each in [classifier, *others]}) == 6


class Constant(torch.nn.Module):
    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, _):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (torch.zeros(4, 3), r"expected logits of shape \(4, 2\), got \(4, 3\)"),
        (torch.zeros(4), r"expected logits of shape \(4, 2\), got \(4,\)"),
        (torch.zeros(4, 2, dtype=torch.int64), "expected a floating-point tensor of logits, got torch.int64"),
        ((torch.zeros(4, 2), None), "expected a floating-point tensor of logits, got tuple"),
        (torch.tensor([[0.0, torch.nan], [0, 1], [torch.nan, torch.nan], [1, 0]]), "got NaN for 2 of 4 rows"),
    ],
)
def test_strange_logits_are_refused(answer, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        TorchClassifier(Constant(answer), classes=2)(np.zeros((4, 1)))


def test_ties_go_to_the_first_and_infinity_is_a_number():
    answer = torch.tensor([[1.0, 1.0], [-torch.inf, 0.0], [torch.inf, 0.0]])
    assert TorchClassifier(Constant(answer), classes=2)(np.zeros((3, 1))).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"module": torch.relu}, "expected a torch.nn.Module, got builtin_function_or_method"),
        ({"module": torch.nn.Linear}, "expected a torch.nn.Module, got type"),
        ({"module": torch.nn.LazyLinear(2)}, "expected initialized weights, got none for weight: call the module once"),
        ({"classes": 0}, "expected classes to be a positive integer, got 0"),
        ({"classes": True}, "expected classes to be a positive integer, got True"),
        ({"classes": 2.0}, "expected classes to be a positive integer, got 2.0"),
        ({"dtype": "float"}, None),
        ({"dtype": "relu"}, 'expected dtype to be a name like "float32" or "int64", got \'relu\''),
        ({"dtype": torch.float32}, "expected dtype to be a name like"),
        ({"transform": 3}, "expected transform to be a function, got 3"),
        ({"rows_at_once": 0}, "expected rows_at_once to be at least 1, got 0"),
        ({"rows_at_once": 2.0}, "expected rows_at_once to be a non-negative integer, got 2.0"),
    ],
)
def test_bad_options_are_refused(options, words):
    given = {"module": torch.nn.Linear(2, 2), "classes": 2} | options
    if words is None:
        TorchClassifier(**given)
        return
    with pytest.raises(fp.InvalidInputError, match=words):
        TorchClassifier(**given)
