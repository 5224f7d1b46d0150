from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from page_rank_brute_force import cases, deleted, undirected_cases

import flipproof as fp
from flipproof.baselines.walks.page_rank import PageRank, SwitchLimit, certify, worst_margins
from flipproof.baselines.walks.policy import Rewards, worst_values
from flipproof.baselines.walks.walk import Threat, all_edges, outside_forest
from flipproof.theory.certificate import Subject

TRIANGLE = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
MODEL = PageRank(TRIANGLE, np.eye(3, 2))


def local_only(threat):
    return Threat(threat.fragile, threat.local)


def test_policy_iteration_finds_the_worst_margin_of_every_node_and_pair_of_classes(rng):
    for case in cases(rng, 200):
        threat = local_only(case.threat)
        logits = case.logits(case.attacks(threat))
        for label, other in product(range(logits.shape[2]), repeat=2):
            if label != other:
                truth = (logits[..., label] - logits[..., other]).min(axis=0)
                found = worst_margins(case.model, threat, label, other)
                np.testing.assert_allclose(found, truth, rtol=0, atol=1e-9)
                assert (found <= truth + 1e-14).all()


def test_the_clean_logits_are_those_of_the_definition(rng):
    for case in cases(rng, 20):
        truth = case.logits(case.model.adjacency.toarray()[None])[0]
        np.testing.assert_allclose(case.model.logits(), truth, rtol=0, atol=1e-11)


def test_a_node_is_certified_within_local_budgets_exactly_if_no_attack_changes_it(rng):
    certified = broken = 0
    for case in cases(rng, 200):
        proofs = certify(case.model, [1, 2], fragile=case.threat.fragile)
        for radius in (1, 2):
            logits = case.logits(case.attacks(Threat(case.threat.fragile, radius)))
            own = np.take_along_axis(logits, proofs.label[None, :, None], axis=2)
            others = logits + np.where(np.arange(logits.shape[2]) == proofs.label[:, None], -np.inf, 0.0)
            margin = (own[..., 0] - others.max(axis=2)).min(axis=0)
            assert (np.abs(margin) > 1e-9).all()
            np.testing.assert_array_equal(proofs.certified(radius), margin > 0)
            certified, broken = certified + (margin > 0).sum(), broken + (margin < 0).sum()
    assert min(certified, broken) > 200


def test_local_budgets_cover_every_deletion_of_as_many_undirected_edges(rng):
    certified = 0
    for model in undirected_cases(rng, 100):
        proofs = certify(model, [1, 2])
        pairs = [(i, j) for i, j in outside_forest(model.adjacency).T if i < j]
        for radius in (1, 2):
            label = deleted(model, list(combinations(pairs, radius))).argmax(axis=2)
            sure = proofs.certified(radius)
            assert (label == proofs.label)[:, sure].all()
            certified += sure.sum() * len(label)
    assert certified > 400


def test_with_self_loops_every_edge_may_be_deleted(rng):
    """Also the last one of a node, which then listens to itself alone."""
    certified = lost = 0
    for model in undirected_cases(rng, 60):
        looped = model.with_self_loops()
        proofs = certify(looped, [1, 2, 3], SwitchLimit.UNDIRECTED, all_edges(looped.adjacency))
        pairs = [(i, j) for i, j in all_edges(looped.adjacency).T if i < j]
        assert (looped.adjacency.diagonal() == 1).all()
        for radius in range(min(4, len(pairs) + 1)):
            label = deleted(looped, list(combinations(pairs, radius))).argmax(axis=2)
            sure = proofs.certified(radius)
            assert (label == proofs.label)[:, sure].all()
            certified, lost = certified + sure.sum() * len(label), lost + (~sure).sum()
    assert certified > 400
    assert lost > 20


def exact_values(matrix, damping, visit):
    """The solution of (I - a P) v = r in rational numbers."""
    nodes = len(matrix)
    rows = [
        [
            Fraction(int(i == j)) - Fraction(damping) * Fraction(int(matrix[i, j]), int(matrix[i].sum()))
            for j in range(nodes)
        ]
        + [visit[i]]
        for i in range(nodes)
    ]
    for i in range(nodes):
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in range(nodes):
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("accuracy", [1e-13, 1e-3, 0.5])
def test_bounds_are_above_the_exact_values_however_crude_the_iteration(rng, accuracy):
    for case in cases(rng, 8, most_fragile=3):
        threat, features = local_only(case.threat), case.model.features
        exact = [
            Fraction(x) - Fraction(y) for x, y in zip(features[:, 1].tolist(), features[:, 0].tolist(), strict=True)
        ]
        solved = [exact_values(matrix, case.model.damping, exact) for matrix in case.attacks(threat)]
        found = worst_values(
            case.model.walk(threat), Rewards.of_visits(features[:, 1] - features[:, 0]), accuracy=accuracy
        )
        for node, bound in enumerate(found.tolist()):
            truth = max(values[node] for values in solved)
            assert truth <= Fraction(bound)
            if accuracy == 1e-13:
                assert Fraction(bound) - truth < 1e-9


def test_a_tie_is_never_certified():
    proofs = certify(PageRank(TRIANGLE, np.zeros((3, 2))), [1])
    assert proofs.abstained.all()
    assert not proofs.certified(0).any()


def test_a_large_hub_is_certified_in_spite_of_its_roundings(rng):
    nodes = 4000
    star = sp.coo_array((np.ones(nodes - 1), (np.zeros(nodes - 1, int), np.arange(1, nodes))), shape=(nodes, nodes))
    features = np.stack([np.ones(nodes), 1 - 1e-6 * rng.random(nodes)], axis=1)
    assert (certify(PageRank(star + star.T, features), [1]).radius == 1).all()


def test_a_forest_spans_every_component_and_leaves_no_node_alone(rng):
    for _ in range(30):
        upper = np.triu(rng.random((9, 9)) < 0.25, 1)
        clean = (upper | upper.T).astype(float)
        heads, tails = outside_forest(sp.csr_array(clean))
        forest = clean.copy()
        forest[heads, tails] = 0
        np.testing.assert_array_equal(forest, forest.T)
        parts = sp.csgraph.connected_components(clean)[0]
        assert sp.csgraph.connected_components(forest)[0] == parts
        assert forest.sum() / 2 == 9 - parts


def test_a_large_ring_has_one_edge_outside_a_forest():
    nodes = 50_000  # the square of which needs more than 32 bits
    here = np.arange(nodes)
    there = (here + 1) % nodes
    ring = sp.csr_array((np.ones(2 * nodes), (np.append(here, there), np.append(there, here))), shape=(nodes, nodes))
    assert outside_forest(ring).shape == (2, 2)


def test_self_loops_are_not_fragile_by_default():
    assert outside_forest(sp.csr_array([[1, 1], [1, 0]])).shape == (2, 0)


def test_features_come_from_a_trained_network():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module = fp.APPNP(features=4, classes=3, teleport=0.2).eval()
    graph = fp.Graph.from_edge_index([[0, 1, 2], [1, 2, 0]], attributes=np.eye(3, 4, dtype=int), directed=True)
    model = PageRank.from_appnp(module, graph)
    with torch.no_grad():
        expected = module.features(torch.eye(3, 4)).numpy()
    np.testing.assert_allclose(model.features, expected, atol=1e-6)
    assert model.teleport == 0.2
    # A message from 0 to 1 is what node 1 listens to.
    np.testing.assert_array_equal(model.adjacency.toarray(), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    with pytest.raises(fp.InvalidInputError, match="expected an APPNP, or a NodeClassifier of one, got GCN"):
        PageRank.from_appnp(fp.GCN(4, 3), graph)


def test_what_is_promised():
    proofs = certify(MODEL, [1], nodes=[2, 0])
    assert proofs.promise.subject is Subject.BASE
    assert proofs.promise.alpha == 0.0
    assert proofs.promise.threat == "at most r fragile edges of every node are switched"
    assert len(proofs) == 2


def test_some_nodes_get_what_all_get(rng):
    for case in cases(rng, 10):
        whole = certify(case.model, [1, 2], fragile=case.threat.fragile)
        some = certify(case.model, [2, 1], fragile=case.threat.fragile, nodes=[3, 0])
        np.testing.assert_array_equal(some.radius, whole.radius[[3, 0]])
        np.testing.assert_array_equal(some.label, whole.label[[3, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PageRank(TRIANGLE, np.eye(2)), r"features of shape \[3 nodes, classes\], got shape \(2, 2\)"),
        (lambda: PageRank(TRIANGLE[:2], np.eye(2)), "expected a square adjacency matrix"),
        (lambda: PageRank(TRIANGLE, np.full((3, 2), np.nan)), r"expected finite features, at most 1e\+100, got nan"),
        (lambda: PageRank(TRIANGLE, np.eye(3), teleport=0.0), r"expected teleport in \[0.001, 1\), got 0.0"),
        (lambda: PageRank(TRIANGLE, np.eye(3), teleport=1.0), r"expected teleport in \[0.001, 1\), got 1.0"),
        (lambda: Threat([[0, 1]], 1), r"integers of shape \[2, edges\], got int64 of shape \(1, 2\)"),
        (lambda: Threat([[0], [1]], -1), "expected local to be one non-negative integer, or one per node, got -1"),
        (lambda: Threat([[0], [1]], 1, total=-1), "expected total to be a non-negative integer, got -1"),
        (lambda: certify(MODEL, [1], fragile=[[0], [3]]), "between nodes 0 to 2, got node 3"),
        (lambda: certify(MODEL, [1], fragile=[[0, 0], [1, 1]]), "every fragile edge once, got 1 of them more"),
        (lambda: certify(MODEL, [1], fragile=[[0, 0], [1, 2]]), "an edge that is not fragile, got none at node 0"),
        (lambda: certify(MODEL, [-1]), "expected each of the radii to be a non-negative integer, got -1"),
        (lambda: certify(MODEL, [1], nodes=[3]), "expected nodes from 0 to 2, got 3"),
        (lambda: certify(MODEL, [1], nodes=[0.5]), "expected nodes to be a list of integers, got float64"),
        (lambda: certify(MODEL, [1], "locl"), "did you mean local"),
        (lambda: MODEL.walk(Threat([[0], [1]], [1, 1])), "one for each of 3 nodes, got 2"),
        (lambda: outside_forest(sp.csr_array([[0, 1], [0, 1]])), "undirected graph, got 1 edges without the reverse"),
        (lambda: PageRank.from_labels(TRIANGLE, [0, 1, 1], [3]), "expected nodes from 0 to 2, got 3"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(fp.InvalidInputError, match=message):
        make()


def test_radii_mean_what_the_budget_says():
    fragile = np.array([[0], [1]])
    threats = {budget: budget.threat(fragile, 3) for budget in SwitchLimit}
    assert {budget: threat.total for budget, threat in threats.items()} == {"local": None, "global": 3, "undirected": 6}
    assert all(threat.local == 3 for threat in threats.values())
