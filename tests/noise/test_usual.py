"""The noise that data get if nobody names one."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data

import flipproof as fp
from flipproof.errors import InvalidInputError
from flipproof.noise.laws import law_for, sampler_of, scope_of
from flipproof.noise.usual import DROWNED, drowned_parts, usual_noise, usual_space
from flipproof.pipeline.kinds.kind import kind_named

RING = nx.cycle_graph(40)
INDEX = torch.tensor([[*range(40), *range(1, 40), 0], [*range(1, 40), 0, *range(40)]])
BITS, REAL = torch.eye(40), torch.linspace(0, 1, 80).reshape(40, 2)
WEIGHTS = torch.ones(80)
TEXTS = ["free prize call now", "see you at home"]
LEVELS = np.arange(60).reshape(2, 30)
FRAME = pd.DataFrame({"job": ["cook", "smith", "clerk"], "car": [True, False, True]})

USUAL = {
    "bits": (np.eye(3, dtype=int), fp.FlipNoise(0.1, 0.2)),
    "few values": (LEVELS % 3, fp.FlipNoise(0.2, 0.2, 3)),
    "many values": (LEVELS, fp.FlipNoise(0.8, 0.8, 60)),
    "sparse": (sp.csr_array(np.eye(3)), fp.FlipNoise(0.0, 0.85)),
    "frame": (FRAME, fp.FlipNoise(0.2, 0.2)),
    "texts": (TEXTS, fp.FlipNoise(0.0, 0.85)),
    "masked texts": (fp.Texts(TEXTS, mask="[MASK]"), fp.FlipNoise(0.0, 0.85)),
    "vocabulary": (fp.Texts(TEXTS, vocabulary=["free", "call", "see"]), fp.FlipNoise(0.75, 0.75, 3)),
    "tokens": (fp.Tokens([[0, 4, 9]], padding=9), fp.FlipNoise(0.75, 0.75, 5)),
    "closed tokens": (fp.Tokens([[0, 4, 9]], padding=9, gaps="closed"), fp.FlipNoise(0.0, 0.85)),
    "images": (fp.Images(np.zeros((2, 3, 3), dtype=int)), fp.FlipNoise(0.8, 0.8, 256)),
    "black and white": (fp.Images(np.zeros((2, 3, 3), dtype=int), 2), fp.FlipNoise(0.1, 0.2)),
    "edges": (RING, fp.FlipNoise(0.001, 0.4)),
    "edges and bits": (
        Data(x=BITS, edge_index=INDEX),
        fp.JointNoise(structure=fp.FlipNoise(2e-5, 0.4), attributes=fp.FlipNoise(2e-5, 0.6)),
    ),
    "edges beside real numbers": (Data(x=REAL, edge_index=INDEX), fp.JointNoise(structure=fp.FlipNoise(0.001, 0.4))),
    "edges with weights": (
        Data(x=BITS, edge_index=INDEX, edge_weight=WEIGHTS),
        fp.JointNoise(structure=fp.FlipNoise(0.0, 0.4), attributes=fp.FlipNoise(2e-5, 0.6)),
    ),
    "small graphs": ([nx.path_graph(6), nx.path_graph(3)], fp.FlipNoise(0.2, 0.4)),
    "larger graphs": ([RING, nx.path_graph(3)], fp.FlipNoise(0.0, 0.4)),  # 800 pairs for 42 edges
}


@pytest.mark.parametrize("name", USUAL)
def test_every_kind_of_data_has_a_usual_noise_that_fits_it(name):
    data, expected = USUAL[name]
    space = usual_space(data)
    usual = usual_noise(space)
    assert usual.law == expected
    law = law_for(space, usual.law)
    assert sampler_of(space, law, 0).rows > 0
    assert list(drowned_parts(law, scope_of(space, law))) == []


def test_the_kinds_of_the_main_job_have_the_same_numbers():
    ring, small = fp.Graph.from_networkx(nx.cycle_graph(20)), fp.Graph.from_networkx(nx.path_graph(6))
    assert kind_named("nodes").defaults("structure").noise == usual_noise(ring).law
    assert kind_named("graphs").defaults("structure").noise == usual_noise(fp.Graphs([small])).law
    assert kind_named("images").defaults("pixels").noise == usual_noise(fp.DenseRows(np.eye(3, dtype=int))).law
    assert kind_named("text").defaults("words").noise == usual_noise(fp.Texts(TEXTS)).law
    assert kind_named("tables").defaults("cells").noise == usual_noise(fp.Table.from_pandas(FRAME)).law


def test_noise_that_would_drown_the_data_adds_nothing():
    few = np.zeros((4, 100), dtype=int)
    few[:, 0] = 1
    usual = usual_noise(fp.DenseRows(few))
    assert usual.law == fp.FlipNoise(0.0, 0.2)
    assert usual.words == "zeros and ones; p_plus is 0, since 0.1 would add 9.9 others for each observed one"
    assert [name for name, _, _ in drowned_parts(fp.FlipNoise(0.1, 0.2), fp.DenseRows(few).scope(usual.law))] == [None]
    enough = np.zeros((1, 31), dtype=int)
    enough[:, 0] = 1
    assert DROWNED == 0.1 * 30
    assert usual_noise(fp.DenseRows(enough)).law == fp.FlipNoise(0.1, 0.2)


def test_values_that_do_not_occur_are_named_as_not_covered():
    assert "numbers from 0 to 2 are covered" in usual_noise(fp.DenseRows(LEVELS % 3)).limits
    assert "tokens from 0 to 4 are covered" in usual_noise(fp.Tokens([[0, 4, 9]], padding=9)).limits
    kinds = fp.Graph.from_edge_index(INDEX, attributes=fp.DenseRows(np.arange(40)[:, None] % 5), noisy="attributes")
    assert "attributes from 0 to 4 are covered" in usual_noise(kinds).limits
    for complete in (fp.DenseRows(np.eye(3, dtype=int)), fp.Images(np.zeros((1, 2, 2), dtype=int)), fp.Texts(TEXTS)):
        assert usual_noise(complete).limits == ""


def test_data_without_a_usual_noise_are_refused():
    with pytest.raises(InvalidInputError, match="expected a noise for RealRows, for which none is usual, got none; "):
        usual_noise(fp.RealRows([[0.5]]))
