"""Graph models as they are: every pair of a model and data takes three lines, and votes are the model's own answers."""

import subprocess
import sys
import types

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import sampler_of, space_for
from flipproof.noise.sampling.samplers import Role

torch, pyg = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
nx, nn = pytest.importorskip("networkx"), pytest.importorskip("torch_geometric.nn")

LINES = "import flipproof as fp\nvotes = fp.vote(model, data, noise, 20, 40{})\ncertificates = fp.certify(votes)"
DELETING = fp.JointNoise(structure=fp.FlipNoise(0.0, 0.3), attributes=fp.FlipNoise(0.05, 0.2))
ADDING = fp.JointNoise(structure=fp.FlipNoise(0.05, 0.3), attributes=fp.FlipNoise(0.05, 0.2))


def random_data(seed, nodes=24, x=None, **carried):
    random = torch.Generator().manual_seed(seed)
    pairs = (torch.rand(nodes, nodes, generator=random) < 0.15).triu(1).nonzero().T
    edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
    edges = edge_index.shape[1]
    shapes = {"edge_attr": (edges, 3), "edge_weight": (edges,)}
    made = {name: torch.rand(shapes[name], generator=random) for name in carried if name in shapes}
    if "edge_type" in carried:
        made["edge_type"] = torch.randint(0, 2, (edges,), generator=random)
    x = (torch.rand(nodes, 6, generator=random) < 0.3).float() if x is None else x
    masks = {"train_mask": torch.arange(nodes) < 8, "test_mask": torch.arange(nodes) >= 12}
    return pyg.Data(x=x, edge_index=edge_index, y=torch.zeros(nodes), **masks, **made)


def molecules(**carried):
    return [random_data(seed, nodes=5 + seed % 4, **carried) for seed in range(6)]


class Conv(torch.nn.Module):
    """One layer of PyG and a head; `forward` is put in by each pair."""

    def __init__(self, forward, conv=None, outputs=3, wide=6):
        super().__init__()
        torch.manual_seed(1)
        self.conv = nn.GCNConv(wide, 8) if conv is None else conv
        self.head = torch.nn.Linear(8, outputs)
        self.forward = types.MethodType(forward, self)


def two(self, x, edge_index):
    return self.head(self.conv(x, edge_index).relu())


def weighted(self, x, edge_index, edge_weight):
    return self.head(self.conv(x, edge_index, edge_weight).relu())


def maybe_weighted(self, x, edge_index, edge_weight=None):
    return self.head(self.conv(x, edge_index, edge_weight).relu())


def with_attr(self, x, edge_index, edge_attr):
    return self.head(self.conv(x, edge_index, edge_attr).relu())


def typed(self, x, edge_index, edge_type):
    return self.head(self.conv(x, edge_index, edge_type).relu())


def turned(self, edge_index, x):
    return self.head(self.conv(x, edge_index).relu())


def of_data(self, data):
    return self.head(self.conv(data.x, data.edge_index, data.edge_weight).relu()).log_softmax(dim=-1)


def of_adj_t(self, x, adj_t):
    return self.head(self.conv(x, adj_t).relu())


def with_logits(self, x, edge_index):
    return types.SimpleNamespace(logits=self.head(self.conv(x, edge_index).relu()))


def pooled(self, x, edge_index, batch):
    return self.head(nn.global_mean_pool(self.conv(x, edge_index).relu(), batch))


def pooled_maybe(self, x, edge_index, edge_attr=None, batch=None):
    return self.head(nn.global_add_pool(self.conv(x, edge_index, edge_attr).relu(), batch))


def pooled_data(self, data):
    hidden = self.conv(data.x, data.edge_index, data.edge_attr).relu()
    return self.head(nn.global_mean_pool(hidden, data.batch, data.num_graphs))


def one_graph(self, x, edge_index):
    return self.head(self.conv(x, edge_index).relu()).mean(dim=0, keepdim=True)


def one_graph_flat(self, x, edge_index):
    return self.head(self.conv(x, edge_index).relu()).mean(dim=0)


def one_graph_data(self, data):
    return self.head(self.conv(data.x, data.edge_index).relu()).mean(dim=0, keepdim=True)


def of_edges(self, edge_index):
    return self.head(self.conv(self.conv.lin.weight.new_ones(24, 6), edge_index))


def named(self, x, *, edge_index, edge_weight):
    return self.head(self.conv(x, edge_index, edge_weight).relu())


def other_names(self, edges, nodes):
    return self.head(self.conv(nodes, edges).relu())


def squeezed(self, x, edge_index, batch):
    return self.head(nn.global_mean_pool(self.conv(x, edge_index).relu(), batch)).squeeze()


def truth(self, x, edge_index):
    return self.head(self.conv(x, edge_index).relu())[:, 0] > self.head.bias[0]


def kinds(self, x, edge_index):
    return self.head(self.conv(torch.nn.functional.one_hot(x[:, 0], 6).float(), edge_index).relu())


def seeded(make):
    torch.manual_seed(3)
    return make()


def basic(kind, **options):
    return seeded(lambda: kind(6, 8, 2, 3, **options))


def nnconv():
    return seeded(lambda: nn.NNConv(6, 8, torch.nn.Linear(3, 48)))


def gine():
    return seeded(lambda: nn.GINEConv(torch.nn.Linear(6, 8), edge_dim=3))


PLAIN = lambda model, data: model(data.x, data.edge_index)  # noqa: E731
WEIGHT = lambda model, data: model(data.x, data.edge_index, data.edge_weight)  # noqa: E731
ATTR = lambda model, data: model(data.x, data.edge_index, data.edge_attr)  # noqa: E731
POOL = lambda model, data: model(data.x, data.edge_index, data.batch)  # noqa: E731
WHOLE = lambda model, data: model(data)  # noqa: E731
REAL = torch.randn(24, 6, generator=torch.Generator().manual_seed(5))
STRUCTURE = fp.JointNoise(structure=fp.FlipNoise(0.02, 0.3))

NODES = {
    "PyG GCN": (basic(nn.models.GCN), random_data(0), ADDING, PLAIN),
    "PyG GCN, weights": (
        basic(nn.models.GCN), random_data(0, edge_weight=1), DELETING,
        lambda model, data: model(data.x, data.edge_index, edge_weight=data.edge_weight),
    ),
    "PyG GAT": (basic(nn.models.GAT), random_data(1), ADDING, PLAIN),
    "PyG GAT, edge_attr": (
        basic(nn.models.GAT, edge_dim=3), random_data(1, edge_attr=1), DELETING,
        lambda model, data: model(data.x, data.edge_index, edge_attr=data.edge_attr),
    ),
    "PyG GraphSAGE": (basic(nn.models.GraphSAGE), random_data(2), ADDING, PLAIN),
    "PyG GraphSAGE without edge_attr": (basic(nn.models.GraphSAGE), random_data(2, edge_attr=1), DELETING, PLAIN),
    "PyG GIN": (basic(nn.models.GIN), random_data(3), ADDING, PLAIN),
    "own GCN": (seeded(lambda: fp.GCN(6, 3)), random_data(4), ADDING, PLAIN),
    "(x, edge_index)": (Conv(two), random_data(5), ADDING, PLAIN),
    "(edge_index, x)": (Conv(turned), random_data(5), ADDING, lambda model, data: model(data.edge_index, data.x)),
    "edge_weight": (Conv(weighted), random_data(6, edge_weight=1), DELETING, WEIGHT),
    "edge_weight=None": (Conv(maybe_weighted), random_data(7), ADDING, PLAIN),
    "edge_weight given": (Conv(maybe_weighted), random_data(7, edge_weight=1), DELETING, WEIGHT),
    "NNConv": (Conv(with_attr, nnconv()), random_data(8, edge_attr=1), DELETING, ATTR),
    "TransformerConv": (
        Conv(with_attr, seeded(lambda: nn.TransformerConv(6, 8, edge_dim=3))), random_data(9, edge_attr=1), DELETING,
        ATTR,
    ),
    "RGCNConv": (
        Conv(typed, seeded(lambda: nn.RGCNConv(6, 8, 2))), random_data(10, edge_type=1), DELETING,
        lambda model, data: model(data.x, data.edge_index, data.edge_type),
    ),
    "(x, *, edge_index, edge_weight)": (
        Conv(named), random_data(6, edge_weight=1), DELETING,
        lambda model, data: model(data.x, edge_index=data.edge_index, edge_weight=data.edge_weight),
    ),
    "(edges, nodes)": (
        Conv(other_names), random_data(5), ADDING, lambda model, data: model(data.edge_index, data.x)
    ),
    "(edge_index)": (Conv(of_edges), random_data(5), ADDING, lambda model, data: model(data.edge_index)),
    "the method forward": (basic(nn.models.GCN).forward, random_data(5), ADDING, PLAIN),
    "ChebConv": (Conv(two, seeded(lambda: nn.ChebConv(6, 8, 3))), random_data(5), ADDING, PLAIN),
    "jumping knowledge": (basic(nn.models.GIN, jk="lstm"), random_data(5), ADDING, PLAIN),
    "norm and dropout": (
        basic(nn.models.GAT, norm="batch_norm", dropout=0.5).train(), random_data(5), ADDING, PLAIN
    ),
    "compiled": (torch.compile(Conv(two), backend="eager"), random_data(5), ADDING, PLAIN),
    "in parallel": (torch.nn.DataParallel(Conv(two)), random_data(5), ADDING, PLAIN),
    "a bare layer": (seeded(lambda: nn.GATConv(6, 3)), random_data(11), ADDING, PLAIN),
    "(data), log_softmax": (Conv(of_data), random_data(12, edge_weight=1), DELETING, WHOLE),
    "adj_t": (Conv(of_adj_t), random_data(13), ADDING, PLAIN),
    ".logits": (Conv(with_logits), random_data(14), ADDING, lambda model, data: model(data.x, data.edge_index).logits),
    "real attributes": (Conv(two), random_data(15, x=REAL), STRUCTURE, PLAIN),
    "kinds in an embedding": (
        Conv(kinds), random_data(16, x=torch.arange(24)[:, None] % 6), STRUCTURE, PLAIN
    ),
}  # fmt: skip
GRAPHS = {
    "(x, edge_index, batch)": (Conv(pooled), molecules(), ADDING, POOL),
    "GINEConv, pooled": (
        Conv(pooled_maybe, gine()), molecules(edge_attr=1), DELETING,
        lambda model, data: model(data.x, data.edge_index, data.edge_attr, data.batch),
    ),
    "(data), pooled": (Conv(pooled_data, nnconv()), molecules(edge_attr=1), DELETING, WHOLE),
    "a Batch": (Conv(pooled), pyg.Batch.from_data_list(molecules()), ADDING, POOL),
    "squeezed": (Conv(squeezed), molecules(), ADDING, POOL),
    "own GIN": (seeded(lambda: fp.GIN(6, 3)), molecules(), ADDING, POOL),
}  # fmt: skip


def run(model, data, noise, more=""):
    """What the three lines make."""
    names = {"model": model, "data": data, "noise": noise, "nn": nn}
    lines = LINES.format(more)
    assert lines.count("\n") == 2
    exec(lines, names)
    return names["votes"], names["certificates"]


def copies_of(data, noise):
    """The noisy copies that get estimation votes, as objects of PyG."""
    space = space_for(data, noise)
    sampler = sampler_of(space, noise, 0)
    drawn = sampler.draw(Role.ESTIMATE, range(40), np.arange(sampler.rows))
    if hasattr(drawn, "graph_of_node"):
        drawn = list(drawn.cut(sampler.rows))
    name = None if space.edge_features is None else space.edge_features.name
    return [as_pyg(copy, name) for copy in drawn]


def as_pyg(copy, name):
    x = copy.attributes.toarray() if hasattr(copy.attributes, "toarray") else copy.attributes
    x = torch.tensor(x.astype(np.int64)) if x.dtype.kind in "iu" else torch.tensor(x, dtype=torch.float32)
    made = pyg.Data(x=x, edge_index=torch.tensor(copy.edge_index))
    if name is not None:
        made[name] = torch.tensor(copy.edge_features)
    if hasattr(copy, "graphs"):
        made.batch, made.num_graphs = torch.tensor(copy.graph_of_node), copy.graphs
    return made


def check_votes(votes, copies, own, model, classes=3):
    getattr(model, "__self__", model).eval()
    with torch.no_grad():
        labels = np.stack([own(model, copy).argmax(dim=-1).numpy() for copy in copies])
    counts = np.stack([(labels == label).sum(axis=0) for label in range(classes)], axis=1)
    assert np.array_equal(votes.estimation, counts)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")  # of the layer that gets adj_t
@pytest.mark.parametrize("name", [*NODES, *GRAPHS])
def test_votes_are_the_models_own_answers(name):
    model, data, noise, own = (NODES | GRAPHS)[name]
    votes, certificates = run(model, data, noise)
    check_votes(votes, copies_of(data, noise), own, model)
    assert len(certificates) == len(votes)


def test_targets_are_a_mask():
    model, data, noise, _ = NODES["(x, edge_index)"]
    votes, _ = run(model, data, noise, ", targets=data.test_mask")
    assert votes.ids.tolist() == list(range(12, 24))
    split = fp.Split.from_masks(data.train_mask, ~(data.train_mask | data.test_mask), data.test_mask)
    assert split.test.tolist() == votes.ids.tolist()


@pytest.mark.parametrize("forward", [one_graph, one_graph_data, one_graph_flat])
def test_a_model_that_takes_one_graph_gets_one_at_a_time(forward):
    model, data = Conv(forward), molecules()
    votes, _ = run(model, data, ADDING)
    space = space_for(data, ADDING)
    drawn = sampler_of(space, ADDING, 0).draw(Role.ESTIMATE, range(40), np.arange(6))
    copies = [as_pyg(copy, None) for copy in drawn.cut(1)]
    own = WHOLE if forward is one_graph_data else PLAIN
    labels = np.array([int(own(model, copy).argmax()) for copy in copies]).reshape(40, 6)
    assert np.array_equal(votes.estimation[:, 1], (labels == 1).sum(axis=0))


def test_call_says_how_a_model_is_called():
    model, data = Conv(two), random_data(5)
    votes, _ = run(model, data, ADDING, ", call=lambda model, data: model(data.x * 2, data.edge_index)")
    check_votes(votes, copies_of(data, ADDING), lambda model, data: model(data.x * 2, data.edge_index), model)
    labels, _ = run(model, data, ADDING, ", classes=3, call=lambda m, data: m(data.x * 2, data.edge_index).argmax(1)")
    assert np.array_equal(votes.estimation, labels.estimation)
    other, _ = run(model, data, ADDING, ", call=lambda model, data: model(data.x * 3, data.edge_index)")
    assert len({each.run.identity["model"] for each in (votes, labels, other)}) == 3
    many, _ = run(nn.models.GCN(6, 8, 2, 3), molecules(), ADDING, POOLED)
    assert many.estimation.shape == (6, 3)


POOLED = ", call=lambda m, data: nn.global_mean_pool(m(data.x, data.edge_index), data.batch)"


@pytest.mark.parametrize("column", [True, False])
def test_one_logit_is_the_second_of_two_classes(column):
    model, data = Conv(two, outputs=1), random_data(5)
    squeeze = "" if column else ", call=lambda model, data: model(data.x, data.edge_index).squeeze(-1)"
    votes, _ = run(model, data, ADDING, squeeze)
    assert votes.classes == 2
    ones = sum((PLAIN(model, copy)[:, 0] > 0).int() for copy in copies_of(data, ADDING))
    assert np.array_equal(votes.estimation[:, 1], ones)
    raised, _ = run(model, data, ADDING, ", threshold=0.1")
    ones = sum((PLAIN(model, copy)[:, 0] >= 0.1).int() for copy in copies_of(data, ADDING))
    assert np.array_equal(raised.estimation[:, 1], ones)


def test_truth_values_are_two_labels():
    model, data = Conv(truth), random_data(5)
    votes, _ = run(model, data, ADDING)
    assert votes.classes == 2
    assert np.array_equal(votes.estimation[:, 1], sum(PLAIN(model, copy).int() for copy in copies_of(data, ADDING)))


def test_probabilities_of_one_class_need_a_threshold():
    def forward(self, x, edge_index):
        return self.head(self.conv(x, edge_index).relu()).sigmoid()

    model, data = Conv(forward, outputs=1), random_data(5)
    with pytest.raises(fp.InvalidInputError, match=r"may be probabilities.*threshold=0.5 for probabilities"):
        run(model, data, ADDING)
    votes, _ = run(model, data, ADDING, ", threshold=0.5")
    ones = sum((PLAIN(model, copy)[:, 0] >= 0.5).int() for copy in copies_of(data, ADDING))
    assert np.array_equal(votes.estimation[:, 1], ones)


def test_a_function_gets_one_noisy_graph():
    def degrees(graph):
        return np.minimum(np.bincount(graph.edge_index[0], minlength=graph.nodes), 2)

    graph = nx.gnp_random_graph(20, 0.1, seed=0)
    noise = fp.FlipNoise(0.01, 0.3)
    votes, certificates = run(degrees, graph, noise, ", classes=3")
    assert certificates.label.shape == (20,)
    drawn = sampler_of(space_for(graph, noise), noise, 0).draw(Role.ESTIMATE, range(40), np.arange(1))
    assert np.array_equal(votes.estimation[:, 0], sum(degrees(copy) == 0 for copy in drawn))
    scores, _ = run(lambda graph: np.eye(3)[degrees(graph)], graph, noise)
    assert np.array_equal(scores.estimation, votes.estimation)

    def density(graph):
        return int(graph.edge_index.shape[1] > graph.nodes)

    many, _ = run(density, [graph, nx.path_graph(4)], noise, ", classes=2")
    assert many.estimation.shape == (2, 2)
    assert many.run.identity["model"] != votes.run.identity["model"]


def test_workers_give_the_same_votes():
    model, data, noise, _ = NODES["NNConv"]
    one, _ = run(model, data, noise)
    other, _ = run(model, data, noise, ", workers=2")
    assert np.array_equal(one.estimation, other.estimation)


@pytest.mark.parametrize("many", [False, True])
def test_a_plain_object_stands_in_where_pyg_is_not_installed(monkeypatch, many):
    call = "m(data.x, data.edge_index)"
    call = f"nn.global_mean_pool({call}, data.batch, data.num_graphs)" if many else call
    model, call = Conv(two), f", call=lambda m, data: {call}"
    graphs = fp.Graphs.from_pyg(molecules()) if many else fp.Graph.from_pyg(random_data(5))
    before, _ = run(model, graphs, ADDING, call)
    for name in ("torch_geometric", "torch_geometric.data"):
        monkeypatch.setitem(sys.modules, name, None)
    votes, _ = run(model, graphs, ADDING, call)
    assert np.array_equal(votes.estimation, before.estimation)


WITHOUT_TORCH = """
import sys
import numpy as np
import flipproof as fp

graph = fp.Graph.from_edge_index([[0, 1], [1, 0]], 3)
noise = fp.FlipNoise(0.1, 0.2)
for data in (graph, [graph, graph]):
    fp.vote(lambda graph: np.zeros(1 if hasattr(graph, "graphs") else 3, int), data, noise, 5, 5, classes=2)
assert "torch" not in sys.modules
"""


def test_functions_of_graphs_need_no_torch():
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH], check=True)
