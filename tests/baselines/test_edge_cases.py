"""The three certificates for networks treat nothing to try, nothing to change, one class and ties alike."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import flipproof as fp
from flipproof.baselines import gcn_attributes, gcn_structure
from flipproof.baselines.walks.page_rank import PageRank, certify, worst_margins
from flipproof.baselines.walks.walk import Threat

RING = np.array([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
NODES = 4
BITS = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]])
ADJACENCY = sp.csr_array((np.ones(8), RING), shape=(NODES, NODES))


def ring(noisy, bits=BITS):
    return fp.Graph.from_edge_index(RING, attributes=sp.csr_array(bits), noisy=noisy)


def gcn(classes=2, scale=1.0, seed=0):
    torch.manual_seed(seed)
    module = fp.GCN(features=3, classes=classes, hidden=4)
    with torch.no_grad():
        for weights in module.parameters():
            weights.copy_(scale * torch.randn_like(weights))
    return module


def of_attributes(radii, classes=2, scale=1.0, **options):
    return gcn_attributes.certify(gcn(classes, scale), ring("attributes"), budgets=radii, **options)


def of_structure(radii, classes=2, scale=1.0, **options):
    return gcn_structure.certify(gcn(classes, scale), ring("structure"), budgets=radii, **options)


def page_rank(classes=2, scale=1.0):
    return PageRank(ADJACENCY, scale * np.array([[3.0, 1.0], [2.0, 0.0], [0.0, 1.0], [1.0, 0.0]])[:, :classes])


def of_page_rank(radii, classes=2, scale=1.0, **options):
    return certify(page_rank(classes, scale), radii, **options)


SYSTEMS = pytest.mark.parametrize("system", [of_attributes, of_structure, of_page_rank])


@SYSTEMS
@pytest.mark.parametrize("radii", [[], [0], np.array([], dtype=int), torch.tensor([0])])
def test_with_nothing_to_try_the_label_itself_is_proved(system, radii):
    proofs = system(radii)
    assert proofs.radius.tolist() == [0] * NODES
    assert not proofs.abstained.any()


@SYSTEMS
def test_zero_among_the_radii_changes_nothing(system):
    assert system([0, 2, 1]).radius.tolist() == system([1, 2]).radius.tolist()


@SYSTEMS
@pytest.mark.parametrize("radii", [[], [1, 2]])
def test_ties_abstain(system, radii):
    proofs = system(radii, scale=0.0)
    assert proofs.abstained.all()
    assert not proofs.certified(0).any()


@SYSTEMS
def test_one_class_is_proved_at_every_radius(system):
    assert system([1, 7], classes=1).radius.tolist() == [7] * NODES
    assert system([], classes=1).radius.tolist() == [0] * NODES


@pytest.mark.parametrize("system", [of_attributes, of_structure])
def test_a_local_budget_of_nothing_is_no_threat(system):
    assert system([1, 9], local=0).radius.tolist() == [9] * NODES
    assert system([1, 9], local=0, scale=0.0).abstained.all()


def test_a_local_budget_of_nothing_leaves_margins_as_they_are():
    model = page_rank()
    clean = model.logits() @ [1.0, -1.0]
    margins = worst_margins(model, Threat(RING[:, :2], local=0), 0, 1)
    np.testing.assert_allclose(margins, clean, rtol=0, atol=1e-9)
    assert (margins <= clean + 1e-14).all()


@pytest.mark.parametrize("most", [2**62, 2**63 - 1])
@SYSTEMS
def test_radii_beyond_all_there_is_prove_what_all_proves(system, most):
    enough = 12  # as many as there are bits, and more than there are edges
    everything, more = system([enough]), system([most])
    assert ((more.radius == most) == (everything.radius == enough)).all()
    assert (more.abstained == everything.abstained).all()


def test_some_is_proved_beyond_all_there_is_and_some_is_not():
    most = [gcn_structure.certify(gcn(seed=seed), ring("structure"), budgets=[2**62]) for seed in range(8)]
    assert {0, 2**62} == set(np.concatenate([proofs.radius for proofs in most]).tolist())


@SYSTEMS
def test_radii_that_fit_no_result_are_refused(system):
    with pytest.raises(fp.InvalidInputError, match=r"expected (budgets|radii) below 2\*\*63, got 9223372036854775808"):
        system([1, 2**63])


def test_local_budgets_that_int64_cannot_hold_are_not_taken_for_none():
    huge = np.uint64(2**63)
    assert of_structure([1, 2], local=huge).radius.tolist() == of_structure([1, 2]).radius.tolist()
    fragile, model = np.array([[0, 1], [1, 0]]), page_rank()
    found = worst_margins(model, Threat(fragile, local=huge), 0, 1)
    assert (found == worst_margins(model, Threat(fragile, local=NODES), 0, 1)).all()
    assert (found < worst_margins(model, Threat(fragile, local=0), 0, 1)).any()


def test_a_clean_label_is_known_or_not_whatever_else_is_asked():
    """The classes differ by a bias that all flips at once, added up in float32, could hide."""
    module = gcn(scale=0.0)
    with torch.no_grad():
        module.first.weight.fill_(1e6)
        module.second.weight.fill_(1.0)
        module.second_bias.copy_(torch.tensor([24.0, 0.0]))
    for budgets in ([], [12]):
        proofs = gcn_attributes.certify(module, ring("attributes"), local=3, budgets=budgets)
        assert not proofs.abstained.any()
        assert (proofs.radius == 0).all()


def smallest_margin_under_all_flips(module, bits):
    """Of each node over the other class, in float64, over all 2^12 matrices of attributes."""
    matrix = np.eye(NODES)
    matrix[RING[0], RING[1]] = 1
    matrix /= 3.0
    weights = (module.first.weight, module.first_bias, module.second.weight, module.second_bias)
    first, b, second, c = (weight.detach().double().numpy() for weight in weights)
    every = np.array(list(itertools.product((0, 1), repeat=bits.size))).reshape(-1, *bits.shape)
    logits = matrix @ np.maximum(matrix @ (every @ first) + b, 0.0) @ second + c
    clean = logits[(every == bits).all(axis=(1, 2))][0].argmax(axis=1)
    own = np.where(clean == 0, 1.0, -1.0)
    return clean, (own * (logits[..., 0] - logits[..., 1])).min(axis=0)


def test_more_flips_than_there_are_bits_are_all_flips():
    """Against every matrix of attributes; no budget larger than all makes a proof weaker, or another."""
    proved = 0
    for seed in range(40):
        module = gcn(seed=seed)
        with torch.no_grad():
            module.second_bias.mul_(5.0)
        label, margins = smallest_margin_under_all_flips(module, BITS)
        exact, *larger = (
            gcn_attributes.certify(module, ring("attributes"), local=local, budgets=[1, total])
            for local, total in ((3, 12), (4, 12), (10**9, 12), (3, 10**6), (10**30, 2**60))
        )
        certified = exact.certified(12)
        assert (exact.label == label)[certified].all()
        assert (margins[certified] > 0).all()
        for other in larger:
            assert ((other.radius > 1) == certified).all()
            assert ((other.radius > 0) == (exact.radius > 0)).all()
            assert (other.abstained == exact.abstained).all()
        proved += certified.sum()
    assert proved > 20


def test_a_dataset_does_as_well_as_its_graph():
    data = fp.datasets.from_scipy(ADJACENCY.astype(np.float32), sp.csr_array(BITS), [0, 1, 0, 1])
    torch.manual_seed(0)
    appnp = fp.NodeClassifier(fp.APPNP(3, 2, hidden=4), classes=2)
    for certify_data in (
        lambda given: gcn_attributes.certify(gcn(), given, budgets=[1, 2]),
        lambda given: gcn_structure.certify(gcn(), given, budgets=[1, 2]),
        lambda given: certify(PageRank.from_appnp(appnp, given), [1, 2]),
    ):
        assert certify_data(data).radius.tolist() == certify_data(ring("structure")).radius.tolist()


@pytest.mark.parametrize("flips", ["both", "add", "delete"])
def test_attributes_that_are_all_zero(flips):
    """Only biases speak. Nothing can be deleted; what may be added is tried on all graphs with one bit."""
    module = gcn(classes=3)
    empty = np.zeros_like(BITS)
    proofs = gcn_attributes.certify(module, ring("attributes", empty), budgets=[1], flips=flips)
    labels = fp.NodeClassifier(module, classes=3)
    clean = labels([ring("attributes", empty).clean()])[0]
    assert not proofs.abstained.any()
    assert proofs.label.tolist() == clean.tolist()
    if flips == "delete":
        assert proofs.radius.tolist() == [1] * NODES
        return
    for place in np.ndindex(BITS.shape):
        flipped = empty.copy()
        flipped[place] = 1
        same = labels([ring("attributes", flipped).clean()])[0] == clean
        assert same[proofs.radius == 1].all()
