"""What newcomers may get wrong, in every argument of every system: refused in words, or taken for what it is."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.baselines import (
    ablation,
    communities,
    f_divergence,
    gaussian,
    gcn_attributes,
    gcn_structure,
    lee,
    page_rank,
)
from flipproof.baselines.gcn.robust_training import RobustSettings, train_robustly
from flipproof.baselines.walks.page_rank import PageRank, worst_margins
from flipproof.baselines.walks.walk import Threat, outside_forest
from flipproof.noise.ablation import AblationNoise
from flipproof.noise.gaussian import GaussianNoise

RING = [[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]]
ADJACENCY = sp.csr_array((np.ones(8), RING), shape=(4, 4))


def ring(attributes=3, noisy="attributes"):
    bits = sp.csr_array(np.eye(4, attributes, dtype=int)) if attributes else None
    return fp.Graph.from_edge_index(RING, 4, bits, noisy=noisy)


def votes(noise):
    return fp.Votes.from_counts(selection=[[99, 1]], estimation=[[990, 10]], noise=noise)


def labels_of(given, detector=communities.louvain):
    return communities.Together(detector, [(0, 1)])(given)


FLIPS = fp.FlipNoise(0.1, 0.1)
MODEL = PageRank(ADJACENCY, np.eye(4, 2))
BOUNDS = {"p_lower": np.array([0.9]), "p_upper": None}
DECISION = {"alpha": 0.01, "rule": "multi-class"}

CALLS = {
    "gcn_attributes.certify": (
        gcn_attributes.certify,
        {"model": fp.GCN(3, 2, 4), "data": ring(), "nodes": None, "local": 1, "budgets": [1], "flips": "both",
         "steps": 0},
    ),
    "gcn_structure.certify": (
        gcn_structure.certify,
        {"model": fp.GCN(3, 2, 4), "graph": ring(), "nodes": None, "local": None, "budgets": [1], "node_limit": 3},
    ),
    "page_rank.certify": (
        page_rank.certify,
        {"model": MODEL, "radii": [1], "budget": "global", "fragile": None, "nodes": None},
    ),
    "worst_margins": (
        worst_margins,
        {"model": MODEL, "threat": Threat([[0], [1]], 1), "label": 0, "other": 1, "nodes": None},
    ),
    "PageRank": (PageRank, {"adjacency": ADJACENCY, "features": np.eye(4, 2), "teleport": 0.15}),
    "PageRank.from_appnp": (PageRank.from_appnp, {"model": fp.APPNP(3, 2, 4), "data": ring()}),
    "PageRank.from_labels": (
        PageRank.from_labels,
        {"adjacency": ADJACENCY, "labels": [0, 1, 0, 1], "known": [0, 1], "teleport": 0.15},
    ),
    "Threat": (Threat, {"fragile": [[0], [1]], "local": 1, "total": None}),
    "outside_forest": (outside_forest, {"adjacency": ADJACENCY}),
    "train_robustly": (
        partial(train_robustly, settings=RobustSettings(total=1, steps=1)),
        {"model": fp.GCN(3, 2, 4), "data": ring(), "labels": [0, 0, 1, 1], "seed": 0,
         "split": fp.Split(train=[0, 2], validation=[1, 3], test=[])},
    ),
    "RobustSettings": (
        RobustSettings,
        {"total": 1, "local": None, "known_margin": 1.0, "other_margin": 1.0, "batch_size": 2, "steps": 1,
         "learning_rate": 0.1, "weight_decay": 0.1},
    ),
    "lee.certify": (lee.certify, {"votes": votes(FLIPS), **DECISION, "limit": 9}),
    "lee.original_counts": (lee.original_counts, {"entries": 3, "categories": 2, "radius": 1}),
    "lee.original_critical_probability": (
        lee.original_critical_probability, {"noise": FLIPS, "entries": 3, "radius": 1},
    ),
    "ablation.certify": (ablation.certify, {"votes": votes(AblationNoise(10, 2)), **DECISION}),
    "ablation.largest_radius": (ablation.largest_radius, {"noise": AblationNoise(10, 2), **BOUNDS}),
    "AblationNoise": (AblationNoise, {"entries": 10, "kept": 2}),
    "gaussian.certify": (gaussian.certify, {"votes": votes(GaussianNoise(1.0)), **DECISION}),
    "gaussian.largest_radius": (gaussian.largest_radius, {"noise": GaussianNoise(1.0), **BOUNDS}),
    "GaussianNoise": (GaussianNoise, {"sigma": 1.0}),
    "f_divergence.certify": (
        f_divergence.certify, {"votes": votes(FLIPS), **DECISION, "divergence": "kl", "limit": 9},
    ),
    "f_divergence.largest_radius": (
        f_divergence.largest_radius, {"noise": FLIPS, **BOUNDS, "divergence": "kl", "limit": 9},
    ),
    "f_divergence.divergence_bound": (
        f_divergence.divergence_bound,
        {"noise": FLIPS, "radii": fp.Radii(add=1), "divergence": "renyi", "order": 2.0},
    ),
    "communities.certify": (communities.certify, {"votes": votes(FLIPS), "along": None, "alpha": 0.01, "limit": 9}),
    "Together": (communities.Together, {"detector": communities.louvain, "victims": [(0, 1)]}),
    "what Together is given": (
        labels_of, {"given": [ring().clean()]},
    ),
    "what a detector gives": (
        lambda given: labels_of([ring().clean()], lambda _: given), {"given": [{0, 1, 2, 3}]},
    ),
}  # fmt: skip

STRANGE = (
    "x", b"ab", None, 1.5, -1, True, 0, 2**63, 10**30, np.nan, np.inf, 1j, object(), len,
    [], [-1], [99], [0.5], ["a"], [None], [[1], [1, 2]], (1,), {1, 2}, {"a": 1},
    np.array([]), np.array(3), np.int64(2), np.float32(2), np.array([True, False]), np.ones((2, 2), int),
    np.ones((2, 2, 2)), np.array([2**63], np.uint64), torch.tensor([1, 2]), torch.tensor(1),
    FLIPS, votes(FLIPS), ring(0, "structure"), ring(7), fp.GCN(7, 2, 4), fp.GAT(3, 2), fp.Radii(),
)  # fmt: skip
ENDLESS = ("steps", "entries", "radius", "categories", "limit", "node_limit")
"""Where a large number is a fair question that takes too long."""


def refusal(function, arguments):
    """What is said of these arguments; None if they are taken."""
    try:
        function(**arguments)
    except fp.InvalidInputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", CALLS)
def test_what_makes_no_sense_is_refused_in_words(name):
    """Any other error fails the test."""
    function, good = CALLS[name]
    asked = [
        {argument: given}
        for argument in good
        for given in STRANGE
        if not (argument in ENDLESS and isinstance(given, int) and given > 99)
    ]
    said = [words for change in asked if (words := refusal(function, good | change)) is not None]
    assert refusal(function, good) is None
    assert all(words.startswith("expected ") for words in said)
    assert len(said) > len(asked) / 2


@pytest.mark.parametrize("system", ["gcn_attributes.certify", "gcn_structure.certify", "page_rank.certify"])
@pytest.mark.parametrize(
    ("argument", "given", "message"),
    [
        ("nodes", 3, r"expected nodes to be a list of integers, got int64 of shape \(\)"),
        ("nodes", np.array([True] * 4), r"expected nodes to be a list of integers, got bool of shape \(4,\)"),
        ("nodes", [4], "expected nodes from 0 to 3, got 4"),
        ("nodes", torch.tensor([-1]), "expected nodes from 0 to 3, got -1"),
        ("nodes", "all", "expected nodes to be numbers, got str"),
        ("radii", 3, "expected (budgets|radii) to be a list of non-negative integers, got 3"),
        ("radii", None, "expected (budgets|radii) to be a list of non-negative integers, got None"),
        ("radii", [1.0], "expected each of the (budgets|radii) to be a non-negative integer, got 1.0"),
        ("radii", [True], "expected each of the (budgets|radii) to be a non-negative integer, got True"),
        ("radii", torch.tensor([-2]), "expected each of the (budgets|radii) to be a non-negative integer, got -2"),
        ("radii", "12", "expected each of the (budgets|radii) to be a non-negative integer, got '1'"),
    ],
)
def test_the_certificates_for_networks_refuse_in_the_same_words(system, argument, given, message):
    function, good = CALLS[system]
    if argument == "radii" and "budgets" in good:
        argument = "budgets"
    with pytest.raises(fp.InvalidInputError, match=f"^{message}$"):
        function(**good | {argument: given})


def test_numbers_of_numpy_do_not_overflow():
    with_python, with_numpy = (lee.original_critical_probability(FLIPS, kind(70), kind(4)) for kind in (int, np.int64))
    assert with_python == with_numpy
    assert lee.original_counts(np.int8(40), np.int8(3), np.int8(2)) == lee.original_counts(40, 3, 2)


def test_bounds_of_any_shape_have_radii_of_that_shape():
    lower = np.array([[0.6, 0.9, 0.999], [0.9999, 0.7, 0.8]])
    for radius in (
        f_divergence.largest_radius(fp.FlipNoise(0.01, 0.6), lower, along="add"),
        ablation.largest_radius(AblationNoise(100, 20), lower),
        gaussian.largest_radius(GaussianNoise(1.0), lower),
    ):
        assert radius.shape == lower.shape
    flat = f_divergence.largest_radius(fp.FlipNoise(0.01, 0.6), lower.ravel(), along="add")
    whole = f_divergence.largest_radius(fp.FlipNoise(0.01, 0.6), lower, along="add")
    assert whole.ravel().tolist() == flat.tolist()
    assert flat.max() > flat.min()
