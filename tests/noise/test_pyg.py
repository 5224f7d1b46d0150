"""What comes in as PyTorch Geometric graphs, and what is refused there."""

import pytest

import flipproof as fp
from flipproof.datasets import from_pyg
from flipproof.noise.laws import space_of

torch, pyg = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
DOORS = [
    fp.Graph.from_pyg,
    from_pyg,
    space_of,
    lambda data: fp.Graphs.from_pyg([data]),
    lambda data: space_of([data]),
    lambda data: space_of(pyg.Batch.from_data_list([data, data])),
    lambda data: fp.vote(fp.FunctionClassifier(len, 2), data, fp.FlipNoise(0.1, 0.2), 1, 1),
]
SPACES = [fp.Graph.from_pyg, *DOORS[2:-1]]
NAMES = ["edge_attr", "edge_weight", "edge_type"]


def path(**carried):
    return pyg.Data(x=torch.eye(3), edge_index=PATH, y=torch.tensor([0, 1, 1]), **carried)


CARRIED = {name: torch.ones(4, dtype=torch.int64 if name == "edge_type" else torch.float32) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_dataset_has_no_place_for_what_edges_carry(name):
    with pytest.raises(fp.InvalidInputError, match=f"got {name}: a dataset has no place.*set data.{name} = None"):
        from_pyg(path(**{name: CARRIED[name]}))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("door", SPACES)
def test_what_edges_carry_is_refused_if_noise_adds_edges(door, name):
    space = door(path(**{name: CARRIED[name]}))
    adding = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.2))
    with pytest.raises(fp.InvalidInputError, match=f"p_plus = 0\\) to edges that carry {name}.*edge_features=False"):
        space.sampler(adding, 0)
    space.sampler(fp.JointNoise(structure=fp.FlipNoise(0.0, 0.2)), 0)
    space.sampler(fp.JointNoise(attributes=fp.FlipNoise(0.1, 0.2)), 0)


@pytest.mark.parametrize("door", [fp.Graph.from_pyg, lambda data, **options: fp.Graphs.from_pyg([data], **options)])
def test_what_edges_carry_is_left_out_on_request(door):
    space = door(path(edge_attr=CARRIED["edge_attr"]), edge_features=False)
    space.sampler(fp.JointNoise(structure=fp.FlipNoise(0.1, 0.2)), 0)
    assert space.clean().edge_features is None


@pytest.mark.parametrize("door", DOORS[:-1])
def test_none_is_nothing(door):
    door(path(edge_attr=None, edge_weight=None))


@pytest.mark.parametrize("door", [*DOORS[:5], DOORS[-1]])
def test_several_kinds_of_nodes_are_refused(door):
    data = pyg.HeteroData()
    data["user"].x = torch.eye(2)
    data["user", "follows", "user"].edge_index = torch.tensor([[0, 1], [1, 0]])
    with pytest.raises(fp.InvalidInputError, match=r"one kind of nodes and edges, got HeteroData; .*to_homogeneous\("):
        door(data)


def test_the_homogeneous_graph_is_taken():
    data = pyg.HeteroData()
    data["user"].x = torch.eye(2)
    data["user", "follows", "user"].edge_index = torch.tensor([[0, 1], [1, 0]])
    assert space_of(data.to_homogeneous(add_edge_type=False)).nodes == 2
