"""Every error that models and data of graphs meet says what to do, and doing it works."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.errors import FlipproofWarning

torch, pyg = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
nx, nn = pytest.importorskip("networkx"), pytest.importorskip("torch_geometric.nn")

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
NOISE = fp.JointNoise(structure=fp.FlipNoise(0.0, 0.3), attributes=fp.FlipNoise(0.1, 0.2))
ADDING = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.3), attributes=fp.FlipNoise(0.1, 0.2))


def path(**more):
    return pyg.Data(**({"x": torch.eye(3), "edge_index": PATH} | more))


def module(forward):
    kind = type("Mine", (torch.nn.Module,), {"forward": forward})
    made = kind()
    made.layer = torch.nn.Linear(3, 2)
    return made


def votes(model, data=None, noise=NOISE, **options):
    return fp.vote(model, path() if data is None else data, noise, 5, 5, **options)


def refused(match, model, data=None, noise=NOISE, **options):
    with pytest.raises(fp.InvalidInputError, match=match):
        votes(model, data, noise, **options)


PLAIN = module(lambda self, x, edge_index: self.layer(x))
WEIGHTED = module(lambda self, x, edge_index, edge_weight: self.layer(x) * edge_weight.sum())
MAYBE = module(lambda self, x, edge_index, edge_weight=None: self.layer(x))


def test_models_and_data_of_several_kinds():
    model = module(lambda self, x_dict, edge_index_dict: x_dict)
    refused(r"one kind of nodes and edges, got forward\(x_dict, edge_index_dict\).*to_homogeneous", model)
    data = pyg.HeteroData()
    data["user"].x, data["item"].x = torch.eye(3)[:2], torch.eye(3)[2:]
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1], [0, 0]])
    refused("got HeteroData.*to_homogeneous", PLAIN, data)
    one = data.to_homogeneous(add_edge_type=False)
    votes(PLAIN, fp.Graph.from_pyg(one, directed=True))


def test_a_tuple_is_no_answer():
    model = module(lambda self, x, edge_index: (self.layer(x), x))
    refused(r"got a tuple of 2; .*call=lambda model, data: model\(data.x, data.edge_index\)\[0\]", model)
    votes(model, call=lambda model, data: model(data.x, data.edge_index)[0])
    named = module(lambda self, x, edge_index: {"scores": self.layer(x)})
    refused(r"got a dict of 1; .*\['scores'\]", named)
    votes(named, call=lambda model, data: model(data.x, data.edge_index)["scores"])


def test_arguments_that_nobody_knows():
    model = module(lambda self, x, edge_index, temperature: self.layer(x) / temperature)
    refused(r"got forward\(x, edge_index, temperature\) with temperature; say how .*call=", model)
    votes(model, call=lambda model, data: model(data.x, data.edge_index, 2.0))
    dense = module(lambda self, x, adj: self.layer(adj @ x))
    refused(r"got forward\(x, adj\) with adj; for a dense matrix: call=.*to_dense_adj\(", dense)
    from torch_geometric.utils import to_dense_adj

    votes(dense, call=lambda model, data: model(data.x, to_dense_adj(data.edge_index, max_num_nodes=data.num_nodes)[0]))


def test_labels_need_their_number():
    model = module(lambda self, x, edge_index: self.layer(x).argmax(dim=1))
    refused("got none: give classes=", model)
    assert votes(model, classes=2).classes == 2
    refused("got none: give classes=", lambda graph: np.zeros(graph.nodes, int))
    assert votes(lambda graph: np.zeros(graph.nodes, int), classes=2).classes == 2
    refused(r"expected logits of 5 classes, got 2; leave out classes=", PLAIN, classes=5)
    with pytest.raises(fp.ClassifierError, match=r"expected labels in \[0, 2\), got 7"):
        votes(lambda graph: np.full(graph.nodes, 7), classes=2)


def test_a_threshold_is_for_one_score():
    refused("a threshold only for a model with one score, got 2 logits", PLAIN, threshold=0.5)
    votes(PLAIN)


def test_edges_that_lack_what_the_model_takes():
    refused("expected a graph with edge_weight, which the model takes, got one without", WEIGHTED)
    votes(WEIGHTED, path(edge_weight=torch.ones(4)))


def test_features_under_another_name():
    data = path(edge_attr=torch.ones(4, 2))
    refused(r"carry edge_weight, as the model takes it, got edge_attr: .*call=.*edge_features=False", MAYBE, data)
    votes(MAYBE, data, call=lambda model, data: model(data.x, data.edge_index, data.edge_attr))
    votes(MAYBE, fp.Graph.from_pyg(data, edge_features=False))
    data.edge_weight, data.edge_attr = data.edge_attr[:, 0], None
    votes(MAYBE, data)


def test_weights_under_the_name_that_gcn_ignores():
    model, data = nn.models.GCN(3, 4, 1, 2), path(edge_attr=torch.rand(4))
    refused(r"got GCN of PyTorch Geometric, which ignores it; .*data.edge_weight = data.edge_attr", model, data)
    votes(model, fp.Graph.from_pyg(data, edge_features=False))
    data.edge_weight, data.edge_attr = data.edge_attr, None
    votes(model, data)


def test_arguments_of_any_name_may_be_what_edges_carry():
    model = module(lambda self, x, edge_index, **more: self.layer(x) * more.get("edge_weight", torch.ones(1)).sum())
    data = path(edge_weight=torch.ones(4))
    refused(r"whether it takes edge_weight, got one with any arguments; .*call=.*edge_features=False", model, data)
    votes(model, data, call=lambda model, data: model(data.x, data.edge_index, edge_weight=data.edge_weight))
    votes(model, fp.Graph.from_pyg(data, edge_features=False))
    refused("whether it takes edge_weight", torch.nn.DataParallel(MAYBE), data)
    votes(MAYBE, data)


def test_a_model_of_whole_graphs_needs_several():
    pooling = module(lambda self, x, edge_index, batch: nn.global_mean_pool(self.layer(x), batch))
    refused(r"with batch, .*give a list with this graph, \[data\]; for labels of nodes .*call=", pooling)
    assert len(votes(pooling, [path()])) == 1
    of_nodes = module(lambda self, x, edge_index, batch: self.layer(x))
    assert len(votes(of_nodes, call=lambda model, data: model(data.x, data.edge_index, None))) == 3


def test_two_kinds_of_features_are_one_too_many():
    data = path(edge_attr=torch.ones(4, 2), edge_weight=torch.ones(4))
    refused("carry one thing, got edge_attr and edge_weight: set one of them to None", MAYBE, data)
    data.edge_attr = None
    votes(MAYBE, data)


def test_explicit_adapters_leave_nothing_out():
    data = path(edge_weight=torch.ones(4))
    with pytest.raises(fp.ClassifierError, match=r"leaves out edge_weight.*give vote the module itself"):
        votes(fp.NodeClassifier(MAYBE, classes=2), data)
    votes(MAYBE, data)
    votes(fp.NodeClassifier(PLAIN, classes=2), data)  # it has no argument for them


def test_wider_weights():
    model = nn.models.GraphSAGE(3, 4, 1, 2).double()
    refused(r"expected weights of the type of the input, float32, got float64 .*call module.float\(\) first", model)
    votes(model.float())
    of_data = module(lambda self, data: self.layer(data.x)).double()
    refused(r"call module.float\(\) first", of_data)
    votes(of_data.float())


def test_a_classifier_called_with_data():
    data = path()
    explicit = fp.NodeClassifier(PLAIN, classes=2)
    told = (
        r"expected graphs as vote draws them, got Data; .*classifier\(\[Graph.from_pyg\(data, noisy='structure'\).clean"
    )
    with pytest.raises(fp.InvalidInputError, match=told):
        explicit(data)
    labels = explicit([fp.Graph.from_pyg(data, noisy="structure").clean()])
    assert np.array_equal(labels[0], PLAIN(data.x, data.edge_index).argmax(dim=1))
    with pytest.raises(fp.InvalidInputError, match=r"got Graph; .*classifier\(\[graph.clean\(\)\]\)"):
        explicit(fp.Graph.from_pyg(data))
    pooling = module(lambda self, x, edge_index, batch: nn.global_mean_pool(self.layer(x), batch))
    many = fp.GraphClassifier(pooling, classes=2)
    for graphs in ([data, data], pyg.Batch.from_data_list([data, data])):
        with pytest.raises(
            fp.InvalidInputError, match=r"classifier\(Graphs.from_pyg\(graphs, noisy='structure'\).clean"
        ):
            many(graphs)
    assert many(fp.Graphs.from_pyg([data, data], noisy="structure").clean()).shape == (2,)


def test_a_whole_data_needs_no_explicit_adapter():
    of_data = module(lambda self, data: self.layer(data.x))
    with pytest.raises(fp.InvalidInputError, match="give vote the module itself, which finds out how to call it"):
        fp.NodeClassifier(of_data, classes=2)
    votes(of_data)


class Keeping(torch.nn.Module):
    """Answers for the first graph that it gets, or for one that it was made with."""

    def __init__(self, kept=None):
        super().__init__()
        self.layer, self.kept = nn.GCNConv(3, 2), kept

    def forward(self, x, edge_index):
        self.kept = edge_index if self.kept is None else self.kept
        return self.layer(x, PATH)


class Noting(Keeping):
    def forward(self, x, edge_index):
        self.kept = edge_index, torch.ones(1)
        return self.layer(x, edge_index)


def kept_in_all_ways():
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    matrix = torch.sparse_coo_tensor(PATH, torch.ones(4), (3, 3), check_invariants=True)
    return [None, PATH, [gcn_norm(PATH, None, 3)], {"a": matrix}, matrix.to_dense(), path()]


@pytest.mark.parametrize("kept", kept_in_all_ways(), ids=lambda kept: type(kept).__name__)
def test_a_model_that_keeps_the_observed_edges(kept):
    """Noise would not reach them: all votes would agree, and anything would be certified."""
    words = "with the edges of the observed graph in Keeping.kept, which noise does not reach; .* keep nothing"
    refused(words, Keeping(kept), noise=ADDING)
    refused(words, Keeping(kept), noise=ADDING, call=lambda model, data: model(data.x, data.edge_index))
    refused(words, Keeping(PATH if kept is None else kept), [path(), path()], noise=ADDING, call=pooled)
    model = Keeping(kept)
    refused(words, lambda graph: model(torch.eye(3), torch.tensor(graph.edge_index)).detach(), noise=ADDING)
    votes(Keeping(kept), noise=fp.JointNoise(attributes=fp.FlipNoise(0.1, 0.2)))  # edges stay as they are
    votes(Noting(kept), noise=ADDING)


class KeepingPooled(Keeping):
    def forward(self, x, edge_index, batch):
        return nn.global_mean_pool(super().forward(x, edge_index), batch)


def test_explicit_adapters_refuse_kept_edges_too():
    words = "with the edges of the observed graph in Keeping.*kept, which noise does not reach"
    refused(words, fp.NodeClassifier(Keeping(), classes=2), noise=ADDING)
    refused(words, fp.GraphClassifier(KeepingPooled(), classes=2), [path()], noise=ADDING)
    votes(fp.NodeClassifier(PLAIN, classes=2), noise=ADDING)


def pooled(model, data):
    return nn.global_mean_pool(model.layer(data.x, data.edge_index), data.batch)


def test_a_cache_of_a_layer_inside_of_a_function():
    layer = nn.GCNConv(3, 2, cached=True)
    refused("build it with cached=False", lambda graph: layer(torch.eye(3), torch.tensor(graph.edge_index)).detach())
    layer.cached, layer._cached_edge_index = False, None
    votes(lambda graph: layer(torch.eye(3), torch.tensor(graph.edge_index)).detach())


def test_one_label_for_nodes_or_graphs():
    whole = module(lambda self, x, edge_index: self.layer(x).mean(dim=0, keepdim=True))
    refused(r"for each of 3 nodes, got an array of shape \(1, 2\); for one label .*\[data\]", whole)
    assert len(votes(whole, [path()])) == 1
    refused(r"for each of 2 graphs, got an array of shape \(6, 2\); pool .*global_mean_pool", PLAIN, [path(), path()])
    pooled = {"call": lambda model, data: nn.global_mean_pool(model(data.x, data.edge_index), data.batch)}
    assert len(votes(PLAIN, [path(), path()], **pooled)) == 2


def test_what_a_noisy_copy_lacks():
    model = module(lambda self, data: self.layer(data.pos_of_mine))
    refused("a noisy copy has x, edge_index, num_nodes, batch and what edges carry, and nothing else", model)
    places = torch.eye(3)
    votes(module(lambda self, x, edge_index: self.layer(x + places)))
    no_x = pyg.Data(edge_index=PATH, num_nodes=3)
    refused(
        "with x, which the model takes, got one without: give the graph attributes", PLAIN, no_x, fp.FlipNoise(0, 0.2)
    )
    no_x.x = torch.eye(3)
    votes(PLAIN, no_x)


@pytest.mark.filterwarnings("ignore:Sparse")  # of torch and PyG, about the adjacency matrix
def test_a_sparse_adjacency_is_made_for_models_that_take_it():
    from torch_geometric.transforms import ToSparseTensor

    model = module(lambda self, x, adj_t: self.layer(adj_t @ x))
    refused("with an edge_index, got Data without; leave out ToSparseTensor: models that take adj_t get it", model,
            ToSparseTensor()(path()))  # fmt: skip
    votes(model, path())
    own = ToSparseTensor()(path(edge_weight=torch.tensor([1.0, 2.0, 3.0, 4.0]))).adj_t
    seen = []
    noting = module(lambda self, x, adj_t: seen.append(adj_t.to_dense()) or self.layer(adj_t @ x))
    votes(noting, path(edge_weight=torch.tensor([1.0, 2.0, 3.0, 4.0])), fp.JointNoise(structure=fp.FlipNoise(0, 0)),
          check=False)  # fmt: skip
    assert all(torch.equal(each, own.to_dense()) for each in seen)


def test_what_is_no_model_of_graphs():
    refused("got dict; say how it is called with call=", {})
    votes({"bias": 1.0}, call=lambda model, data: data.x[:, :2] + model["bias"])


def test_weights_of_networkx_are_not_dropped_silently():
    graph = nx.Graph([(0, 1, {"weight": 2.0}), (1, 2, {"weight": 3.0}), (2, 2, {"weight": 5.0})])
    with pytest.warns(FlipproofWarning, match=r"carry weight, which no model gets: keep it .*edge_features='weight'"):
        fp.Graph.from_networkx(graph)
    clean = fp.Graph.from_networkx(graph, np.eye(3), edge_features="weight").clean()
    carried = dict(zip(map(tuple, clean.edge_index.T.tolist()), clean.edge_features, strict=True))
    assert carried == {(0, 1): 2, (1, 0): 2, (1, 2): 3, (2, 1): 3, (2, 2): 5}
    votes(WEIGHTED, fp.Graph.from_networkx(graph, np.eye(3), edge_features="weight"))
    assert fp.Graph.from_networkx(graph, edge_features=False).clean().edge_features is None
    graph.add_edge(0, 2)
    with pytest.raises(fp.InvalidInputError, match=r"every edge to carry 'weight', got \(0, 2\) without"):
        fp.Graph.from_networkx(graph, edge_features="weight")


def test_real_attributes_get_no_noise():
    data = path(x=torch.tensor([[0.5, 1.0, 2.0]] * 3))
    refused(r"noisy='structure'\)", PLAIN, data, fp.FlipNoise(0.1, 0.3))
    votes(PLAIN, fp.Graph.from_pyg(data, noisy="structure"), fp.FlipNoise(0.1, 0.3))
    votes(PLAIN, data, fp.JointNoise(structure=fp.FlipNoise(0.1, 0.3)))


def test_functions_have_to_agree_with_what_edges_carry():
    data = path(edge_weight=torch.tensor([0.0, 0.0, 0.0, 1.0]))
    same = {"edge_features": lambda x_source, x_target: (x_source == x_target).mean(axis=1)}
    with pytest.raises(
        fp.InvalidInputError, match=r"gives the edge_weight of observed edges.*0.33\d* for 0.0 at the edge"
    ):
        fp.Graph.from_pyg(data, **same)
    data.edge_weight = torch.full((4,), 1 / 3)
    votes(WEIGHTED, fp.Graph.from_pyg(data, **same), ADDING)
    data.edge_weight = None
    votes(WEIGHTED, fp.Graph.from_pyg(data, edge_features={"edge_weight": same["edge_features"]}), ADDING)


def test_features_of_a_wrong_number_or_kind():
    for features, match in [
        (np.ones(3), r"expected features of 4 edges, got an array of shape \(3,\)"),
        ({"weight": np.ones(4)}, "expected features of edges named edge_attr, edge_weight, edge_type, got 'weight'"),
        ({}, "under one name"),
        (["a"] * 4, "expected features of edges to be numbers"),
        (lambda x_source, x_target: np.ones(2), r"one row for each of 4 edges, got shape \(2,\)"),
    ]:
        with pytest.raises(fp.InvalidInputError, match=match):
            fp.Graph.from_edge_index(PATH, 3, edge_features=features).clean()
    twice = torch.cat([PATH, PATH], dim=1)
    with pytest.raises(
        fp.InvalidInputError, match=r"got 4 duplicates; merge them first \(torch_geometric.utils.coalesce"
    ):
        fp.Graph.from_edge_index(twice, 3, duplicates="merge", edge_features=np.ones(8))
    plain, weighted = fp.Graph.from_pyg(path()), fp.Graph.from_pyg(path(edge_weight=torch.ones(4)))
    with pytest.raises(fp.InvalidInputError, match="edges that carry the same in all graphs, got"):
        fp.Graphs([plain, weighted])
