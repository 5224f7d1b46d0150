"""Networks that the certificates of a GCN are not about, and numbers that float32 cannot hold."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.baselines import gcn_attributes, gcn_structure

CERTIFICATES = {"attributes": gcn_attributes.certify, "structure": gcn_structure.certify}


def path(noisy="attributes"):
    return fp.Graph.from_edge_index(
        [[0, 1, 1, 2], [1, 0, 2, 1]], attributes=sp.csr_array(np.eye(3, 2, dtype=int)), noisy=noisy
    )


def changed(how):
    torch.manual_seed(0)
    module = fp.GCN(features=2, classes=2, hidden=2)
    {
        "hook on a layer": lambda: module.first.register_forward_hook(lambda _, __, out: 4 * out),
        "hook before a layer": lambda: module.second.register_forward_pre_hook(lambda _, given: given),
        "another layer": lambda: setattr(module, "second", torch.nn.Linear(2, 2)),
        "a sequence": lambda: setattr(module, "first", torch.nn.Sequential(torch.nn.Linear(2, 2))),
        "another step": lambda: setattr(module, "combine", lambda *_: torch.zeros(3, 2)),
        "another forward": lambda: setattr(module, "forward", lambda *_: torch.zeros(3, 2)),
        "double": module.double,
        "not finite": lambda: module.first.weight.data.fill_(torch.nan),
    }[how]()
    return module


@pytest.mark.parametrize("noisy", CERTIFICATES)
@pytest.mark.parametrize(
    "how",
    ["hook on a layer", "hook before a layer", "another layer", "a sequence", "another step", "another forward",
     "double", "not finite"],
)  # fmt: skip
def test_networks_that_compute_something_else_are_refused(noisy, how):
    with pytest.raises(fp.InvalidInputError, match=r"expected (a flipproof\.GCN|finite weights of float32)"):
        CERTIFICATES[noisy](changed(how), path(noisy))


class Wrapper:
    def __init__(self, module):
        self.module = module


@pytest.mark.parametrize("noisy", CERTIFICATES)
def test_what_merely_holds_a_network_is_refused(noisy):
    with pytest.raises(fp.InvalidInputError, match=r"expected a flipproof\.GCN.*, got Wrapper"):
        CERTIFICATES[noisy](Wrapper(fp.GCN(2, 2)), path(noisy))
    assert len(CERTIFICATES[noisy](fp.NodeClassifier(fp.GCN(2, 2), classes=2), path(noisy))) == 3


def test_a_hidden_layer_that_overflows_proves_nothing():
    """In exact arithmetic the label stays; in float32 one more attribute makes it infinite."""
    module = fp.GCN(features=2, classes=2, hidden=1).eval()
    with torch.no_grad():
        for parameter, values in zip(
            (module.first.weight, module.second.weight, module.first_bias, module.second_bias),
            ([[3e38], [3e38]], [[-1e-37, 1e-37]], [0.0], [500.0, 0.0]),
            strict=True,
        ):
            parameter.copy_(torch.tensor(values))
    alone = fp.Graph.from_edge_index(
        np.zeros((2, 0), int), attributes=sp.csr_array(np.array([[1, 0]])), noisy="attributes"
    )
    assert gcn_attributes.certify(module, alone, local=2, budgets=[1, 2]).radius.tolist() == [0]


def test_a_label_that_float32_does_not_give_abstains():
    torch.manual_seed(0)
    found = 0
    for _ in range(40):
        module = fp.GCN(features=2, classes=2, hidden=4).eval()
        with torch.no_grad():
            module.second.weight[:, 1] = module.second.weight[:, 0] * (1 + 2e-7)
        proofs = gcn_structure.certify(module, path("structure"), budgets=[1])
        own = fp.NodeClassifier(module, classes=2)([path("structure").clean()])[0]
        assert (proofs.label == own)[~proofs.abstained].all()
        found += int((proofs.label != own).sum())
    assert found > 0


def test_budgets_beyond_all_edges_cost_no_more():
    torch.manual_seed(1)
    module = fp.GCN(features=2, classes=2, hidden=4)
    few, many = (gcn_structure.certify(module, path("structure"), budgets=[n]).radius > 0 for n in (2, 10**6))
    assert (few == many).all()


COSTS_OF_MANY_SIZES = """
import numpy as np, scipy.sparse as sp
from flipproof.baselines.walks.page_rank import PageRank, Threat, worst_margins
H = np.array([
    [9.1913479362966429e-13, 1.8762134408204360e-07, 4.4243510004914524e-06],
    [-7.3684682513919563e09, 8.1258377110533610e-05, -1.1360947510669409e08],
    [1.6455122693543999e-02, 2.0580695204614141e-02, 1.7467027603189579e10],
])
model = PageRank(sp.csr_array([[1, 1, 1], [1, 0, 0], [1, 0, 0]]), H, 0.5)
print(np.shape(worst_margins(model, Threat([[2], [1]], 1, 1), 0, 2)))
"""


def test_a_program_that_made_the_solver_crash():
    done = subprocess.run([sys.executable, "-c", COSTS_OF_MANY_SIZES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(3,)\n", "")
