"""Splits that data bring along: from masks, through files, into jobs."""

import numpy as np
import pytest
import scipy.sparse as sp

import flipproof as fp
from flipproof.datasets import GraphDataset, NodeDataset, from_pyg, load

PATH = [[0, 1, 1, 2], [1, 0, 2, 1]]
TRIANGLE = sp.csr_array(np.ones((3, 3)) - np.eye(3))
SPLIT = fp.Split([1], [], [0, 2])


def parts(split):
    return split.train.tolist(), split.validation.tolist(), split.test.tolist()


def pyg(**masks):
    torch, data = pytest.importorskip("torch"), pytest.importorskip("torch_geometric.data")
    given = {name: None if mask is None else torch.tensor(mask) for name, mask in masks.items()}
    return data.Data(edge_index=torch.tensor(PATH), num_nodes=3, y=torch.tensor([0, 1, 1]), **given)


def test_masks_of_pyg_are_carried():
    masks = {"train_mask": [False, True, False], "test_mask": [True, False, False]}
    assert parts(from_pyg(pyg(**masks)).split) == ([1], [], [0])
    assert parts(from_pyg(pyg(**masks, val_mask=[False, False, True])).split) == ([1], [2], [0])
    assert from_pyg(pyg()).split is None
    assert from_pyg(pyg(train_mask=None, test_mask=None)).split is None


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        ({"train_mask": [True, False, False]}, "train_mask and test_mask together, got only train_mask; set the other"),
        ({"val_mask": [True, False, False]}, "got only val_mask; set the other"),
        ({"train_mask": [True] * 3, "test_mask": [True] * 3}, "at most one part of the split, got some twice"),
        ({"train_mask": [[True, False]] * 3, "test_mask": [[False, True]] * 3}, r"choose one .*: train\[:, 0\]"),
        ({"train_mask": [True] * 4, "test_mask": [False] * 4}, "expected a split of 3 nodes, got node 3"),
    ],
)
def test_other_masks_are_refused(masks, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        from_pyg(pyg(**masks))


def test_the_file_of_nodes_keeps_the_split(tmp_path):
    NodeDataset("t", TRIANGLE, None, [0, 1, 1], split=SPLIT).save(tmp_path / "nodes.npz")
    assert parts(load(tmp_path / "nodes.npz").split) == ([1], [], [0, 2])
    NodeDataset("t", TRIANGLE, None, [0, 1, 1]).save(tmp_path / "nodes.npz")
    assert load(tmp_path / "nodes.npz").split is None


def test_the_file_of_graphs_keeps_the_split(tmp_path):
    edges, kinds = ([[0, 1], [1, 0]],) * 3, ([0, 1],) * 3
    GraphDataset("g", edges, kinds, [0, 1, 1], split=SPLIT).save(tmp_path / "graphs.npz")
    assert parts(load(tmp_path / "graphs.npz").split) == ([1], [], [0, 2])
    with pytest.raises(fp.InvalidInputError, match="expected a split of 2 graphs, got graph 2"):
        GraphDataset("g", edges[:2], kinds[:2], [0, 1], split=SPLIT)


def test_the_largest_component_keeps_its_part_of_the_split():
    pairs = sp.csr_array(np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=float))
    assert parts(NodeDataset("t", pairs, None, [0, 1, 1], split=SPLIT).standardised().split) == ([0], [], [1])


def test_what_is_no_split_is_refused():
    with pytest.raises(fp.InvalidInputError, match="expected split to be a Split, got tuple"):
        NodeDataset("t", TRIANGLE, None, [0, 1, 1], split=([0], [1], [2]))
