from dataclasses import replace

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from page_rank_brute_force import cases, deleted, undirected_cases

from flipproof.baselines.walks.page_rank import PageRank, certify, worst_margins
from flipproof.baselines.walks.policy import Rewards, worst_values
from flipproof.baselines.walks.program import Program, flow_bounds
from flipproof.baselines.walks.walk import Threat, outside_forest


def programs(case):
    """The program of every node of a case."""
    walk, nodes = case.model.walk(case.threat), np.arange(case.model.adjacency.shape[0])
    for node, bounds in zip(nodes, flow_bounds(walk, nodes), strict=True):
        yield Program(walk, int(node), case.threat.total, bounds)


def test_flows_are_bounded_by_the_largest_ones_within_local_budgets(rng):
    for case in cases(rng, 40):
        walk, nodes = case.model.walk(case.threat), case.model.adjacency.shape[0]
        matrices = case.attacks(Threat(case.threat.fragile, case.threat.local))
        degree = matrices.sum(axis=2)
        visits = np.linalg.inv(np.eye(nodes) - case.model.damping * matrices / degree[:, :, None])
        truth = (case.model.damping * visits / degree[:, None, :]).max(axis=0)
        found = flow_bounds(walk, np.arange(nodes))
        assert (found >= truth * (1 - 1e-12)).all()
        np.testing.assert_allclose(found, truth, rtol=0, atol=2e-4)


def test_the_attack_with_the_most_visits_does_not_bound_the_flow():
    """With its flows for bounds, the program proves what is not true."""
    wrong = 0
    for case in cases(np.random.default_rng(0), 5):
        within = case.attacks(Threat(case.threat.fragile, case.threat.local))
        degree, nodes = within.sum(axis=2), within.shape[1]
        visits = np.linalg.inv(np.eye(nodes) - case.model.damping * within / degree[:, :, None])
        flows = case.model.damping * visits / degree[:, None, :]
        most = [flows[visits[:, :, node].sum(axis=1).argmax(), :, node] for node in range(nodes)]
        logits = case.logits(case.attacks())
        truth = (logits[..., 1] - logits[..., 0]).max(axis=0) / case.model.teleport
        visit = case.model.features[:, 1] - case.model.features[:, 0]
        for program, bounds in zip(programs(case), np.maximum(np.transpose(most), 1e-9), strict=True):
            wrong += replace(program, bounds=bounds).bound(visit) < truth[program.target] - 1e-9
            assert program.bound(visit) > truth[program.target] - 1e-12
    assert wrong > 0


def test_no_attack_within_both_budgets_is_worse_than_the_bound(rng):
    tight = better = 0
    for case in cases(rng, 200):
        logits = case.logits(case.attacks())
        nodes = rng.integers(0, logits.shape[1], 1)
        truth = (logits[:, nodes, 0] - logits[:, nodes, 1]).min(axis=0)
        found = worst_margins(case.model, case.threat, 0, 1, nodes)
        local = worst_margins(case.model, Threat(case.threat.fragile, case.threat.local), 0, 1, nodes)
        assert (found <= truth + 1e-14).all()
        assert (found >= local).all()
        tight += (found > truth - 1e-6).sum()
        better += (found > local + 1e-6).sum()
    assert tight > 100
    assert better > 15


def test_the_proved_bound_is_the_value_of_the_program(rng, monkeypatch):
    solve, solved = scipy.optimize.linprog, []
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *given: solved.append(solve(*given)) or solved[-1])
    for case in cases(rng, 15):
        visit = case.model.features[:, 1] - case.model.features[:, 0]
        for program in programs(case):
            bound = program.bound(visit)
            scale = np.abs(program._balance()[0].T @ visit).max()
            assert bound == pytest.approx(-scale * solved[-1].fun, abs=1e-6)


def test_any_price_proves_a_bound_even_one_that_no_solver_found(rng):
    for case in cases(rng, 20):
        logits = case.logits(case.attacks())
        truth = (logits[..., 1] - logits[..., 0]).max(axis=0) / case.model.teleport
        visit = case.model.features[:, 1] - case.model.features[:, 0]
        for program in programs(case):
            for price in (0.0, 1e-12, float(rng.exponential(0.1)), 1e6):
                wrong = rng.normal(size=visit.size)
                assert program.proved(visit, price, wrong) >= truth[program.target] - 1e-12


def test_without_a_price_it_is_the_bound_of_the_local_budgets(rng):
    for case in cases(rng, 10):
        visit = case.model.features[:, 1] - case.model.features[:, 0]
        local = worst_values(case.model.walk(case.threat), Rewards.of_visits(visit))
        for program in programs(case):
            assert program.proved(visit, 0.0) == pytest.approx(local[program.target], abs=1e-12)


def test_certified_nodes_keep_their_label_under_every_attack_within_a_global_budget(rng):
    certified = broken = 0
    for case in cases(rng, 200):
        radius = case.threat.total
        proofs = certify(case.model, [radius], "global", case.threat.fragile)
        label = case.logits(case.attacks(Threat(case.threat.fragile, radius, radius))).argmax(axis=2)
        same = (label == proofs.label).all(axis=0)
        assert same[proofs.certified(radius)].all()
        certified, broken = certified + proofs.certified(radius).sum(), broken + (~same).sum()
    assert certified > 300
    assert broken > 50


def test_certified_nodes_keep_their_label_whatever_undirected_edges_are_deleted(rng):
    certified = 0
    for model in undirected_cases(rng, 60):
        proofs = certify(model, [1], "undirected")
        assert (proofs.radius >= certify(model, [1]).radius).all()
        label = deleted(model, [[pair] for pair in outside_forest(model.adjacency).T]).argmax(axis=2)
        sure = proofs.certified(1)
        assert (label == proofs.label)[:, sure].all()
        certified += sure.sum() * len(label)
    assert certified > 200


def test_a_solver_that_finds_nothing_proves_nothing(monkeypatch):
    failed = scipy.optimize.OptimizeResult(status=4)
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *given: failed)
    triangle = sp.csr_array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    model = PageRank(triangle, np.array([[1.0, 0.0], [0.0, 0.2], [0.0, 0.2]]))
    walk = model.walk(Threat(outside_forest(triangle), 1, 1))
    program = Program(walk, 0, 1, flow_bounds(walk, np.array([0]))[0])
    assert program.bound(np.array([-1.0, 0.2, 0.2])) == np.inf
