"""Fingerprints of tensors and modules."""

import copy

import pytest
import torch

import flipproof as fp
from flipproof.smoothing.fingerprint.fingerprints import fingerprint


def test_tensors_are_type_shape_and_numbers():
    types = [torch.float32, torch.bfloat16, torch.float8_e4m3fn, torch.int64, torch.uint8, torch.bool, torch.complex64]
    values = [torch.ones(2, 3).to(dtype) for dtype in types]
    values += [
        torch.ones(3, 2),
        torch.ones(6),
        torch.zeros(2, 3),
        torch.ones(()),
        torch.ones(0, 3),
        torch.ones(2, 3).numpy(),
    ]
    assert len({fingerprint(value) for value in values}) == len(values)
    assert [fingerprint(value) for value in values] == [fingerprint(copy.deepcopy(value)) for value in values]


def test_memory_layout_and_gradients_do_not_matter():
    numbers = torch.arange(6.0).reshape(2, 3)
    same = [numbers, numbers.T.contiguous().T, numbers.repeat_interleave(2, 1)[:, ::2], torch.nn.Parameter(numbers)]
    assert len({fingerprint(each) for each in same}) == 1
    turned = torch.tensor([1 + 2j])
    assert fingerprint(turned.conj()) == fingerprint(torch.tensor([1 - 2j]))


@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse_tensors_are_their_entries():
    numbers = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    twice = torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [1, 0, 1]]), torch.tensor([1.0, 3.0, 1.0]), (2, 2))
    same = [numbers.to_sparse_coo(), numbers.to_sparse_csr(), numbers.to_sparse_csc(), twice]
    assert len({fingerprint(each) for each in same}) == 1
    assert len({fingerprint(each) for each in (same[0], numbers, (2 * numbers).to_sparse_coo())}) == 3


def test_tensors_without_data_are_refused():
    for nothing in (torch.ones(2, device="meta"), torch.nn.LazyLinear(3)):
        with pytest.raises(
            fp.InvalidInputError,
            match=r"expected something whose contents can be hashed, got (Tensor|UninitializedParameter)",
        ):
            fingerprint(nothing)


SOURCE = """
import torch
FACTOR = 2.0
class Net(torch.nn.Module):
    def __init__(self, width=4, scale=1.0, act=torch.relu, table=(1.0, 2.0)):
        super().__init__()
        torch.manual_seed(0)
        self.inner = torch.nn.Sequential(torch.nn.Linear(3, width), torch.nn.Dropout(0.5))
        self.register_buffer("shift", torch.zeros(1), persistent=False)
        self.scale, self.act, self.table = scale, act, list(table)
        self.kept = self._seen = None
    def forward(self, x):
        if self.kept is None:
            self.kept = x
        self._seen = x
        return self.mix(self.act(self.inner(x)) + self.shift)
    def mix(self, x): return x * FACTOR * self.table[0]
    def training_step(self, x): return 1
"""


def net(source=SOURCE, **options):
    scope = {"__name__": "somewhere"}
    exec(source, scope)
    return scope["Net"](**options)


def test_modules_are_structure_settings_weights_and_code():
    other_weights, other_buffer = net(), net()
    other_weights.inner[0].bias.data[0] += 1e-6
    other_buffer.shift += 1
    different = [
        net(), net(width=5), net(scale=2.0), net(act=torch.tanh), net(act=lambda x: x), net(table=(2.0, 2.0)),
        other_weights, other_buffer, net(SOURCE.replace("2.0\nclass", "3.0\nclass")),
        net(SOURCE.replace("x * FACTOR", "x / FACTOR")),
        net(SOURCE.replace("+ self.shift", "- self.shift")), net().double(),
        net(SOURCE.replace("return 1", "return 2")),
    ]  # fmt: skip
    assert len({fingerprint(module) for module in different}) == len(different)
    assert fingerprint(net()) == fingerprint(net())


def test_hooks_are_part_of_a_module():
    modules = [net(), net(), net()]
    modules[1].register_forward_hook(lambda module, inputs, output: -output)
    modules[2].inner[0].register_forward_pre_hook(lambda module, inputs: (1 - inputs[0],))
    assert len({fingerprint(module) for module in modules}) == 3


def test_modules_are_the_same_after_use():
    module = net()
    before = fingerprint(module)
    module.eval()
    module(torch.ones(2, 3)).sum().backward()
    assert module.kept is not None
    assert fingerprint(module) == before


def test_settings_of_convolutions_count():
    conv = pytest.importorskip("torch_geometric.nn").GCNConv
    torch.manual_seed(0)
    plain = conv(3, 2)
    improved = copy.deepcopy(plain)
    improved.improved = True
    edges = torch.tensor([[0, 1], [1, 0]])
    before = fingerprint(plain)
    plain(torch.ones(2, 3), edges)
    assert fingerprint(plain) == before != fingerprint(improved)
    assert fingerprint(torch.nn.Sequential(plain)) != before


def test_a_module_may_refer_to_itself():
    module = net()
    module.forward = module.mix
    assert fingerprint(module) == fingerprint(copy.deepcopy(module)) != fingerprint(net())


def test_decorated_code_counts():
    decorated = SOURCE.replace("    def forward", "    @torch.no_grad()\n    def forward")
    assert fingerprint(net(decorated)) == fingerprint(net(decorated))
    changed = decorated.replace("+ self.shift", "- self.shift"), decorated.replace("x * FACTOR", "x / FACTOR")
    assert len({fingerprint(net(source)) for source in (SOURCE, decorated, *changed)}) == 4
