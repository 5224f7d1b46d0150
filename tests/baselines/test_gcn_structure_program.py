"""The bounds and the linear program behind certificates of a GCN under deleted edges, against all deletions."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from flipproof.baselines.gcn import structure_program as gcn_structure_program
from flipproof.baselines.gcn.structure import logits, search
from flipproof.baselines.gcn.structure_bounds import Hidden, Layers, Surroundings, slack_of, sums_below
from flipproof.baselines.gcn.structure_entries import Entries
from flipproof.baselines.gcn.structure_program import Relaxation

HIDDEN, CLASSES = 5, 3

ROUNDING = 1e-12
"""What plain float64 may lose in sums of a few dozen numbers below 100."""

PAIRS = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 4], [2, 4], [3, 5], [4, 5], [4, 6], [5, 6]])
"""Target 0, neighbours 1 to 3, at two steps 4 and 5; 6 stands for all others, with two edges of 4 and one of 5."""


def surroundings(rng):
    free = np.where(rng.random(len(PAIRS)) < 0.8, 1, 0)
    free[-2:] = 2, 1
    return Surroundings(
        inner=4,
        pairs=PAIRS,
        there=np.ones(len(PAIRS), dtype=bool),
        free=free,
        degrees=np.array([4, 4, 4, 3, 6, 4, 1]),
        local=np.append(rng.integers(0, 4, 6), 99),
        budget=int(rng.integers(1, 4)),
    )


def layers_of(rng):
    inputs = rng.normal(size=(7, HIDDEN))
    weights = rng.normal(size=(HIDDEN, CLASSES))
    biases = rng.normal(size=HIDDEN) / 2, rng.normal(size=CLASSES) / 2
    return Layers(inputs, np.abs(inputs), biases[0], weights, biases[1], slack_of(1, HIDDEN, 12, 12))


def states(around):
    """All that deletions can make of the surroundings, with how many of each edge were deleted."""
    for counts in itertools.product(*(range(count + 1) for count in around.free)):
        at_nodes = np.zeros(around.degrees.size, dtype=int)
        for ends in around.pairs.T:
            np.add.at(at_nodes, ends, counts)
        if sum(counts) <= around.budget and (at_nodes <= around.local).all():
            state = around
            for edge, count in enumerate(counts):
                for _ in range(count):
                    state = state.delete(edge)
            yield np.array(counts), state


def matrix_of(state):
    """The normalised adjacency from its definition, the part that the deletions are known of."""
    adjacency = np.eye(6)
    for u, v in state.pairs[state.there]:
        if v < 6:
            adjacency[u, v] = adjacency[v, u] = 1.0
    scale = 1.0 / np.sqrt(state.degrees[:6])
    return scale[:, None] * adjacency * scale


@pytest.fixture(params=range(12))
def case(request):
    """Surroundings, layers, all states and their matrices."""
    rng = np.random.default_rng([20, request.param])
    around, layers = surroundings(rng), layers_of(rng)
    every = list(states(around))
    return SimpleNamespace(
        rng=rng, around=around, layers=layers, counts=[counts for counts, _ in every],
        states=[state for _, state in every], matrices=[matrix_of(state) for _, state in every],
    )  # fmt: skip


def hidden_of(case, matrix):
    return matrix[:4] @ case.layers.inputs[:6] + case.layers.hidden_bias


def test_deleting_is_accounted_for(case):
    assert len(case.states) > 1
    for counts, state in zip(case.counts, case.states, strict=True):
        assert state.budget == case.around.budget - counts.sum()
        assert (state.local >= 0).all()
        assert (case.around.most[:6] >= (case.around.degrees - state.degrees)[:6]).all()


def test_entries_are_within_their_bounds(case):
    entries = Entries.of(case.around)
    for counts, state, matrix in zip(case.counts, case.states, case.matrices, strict=True):
        a, y = matrix[entries.heads, entries.tails], np.where(entries.free, counts[entries.edges], 0)
        deleted = (case.around.degrees - state.degrees)[[entries.heads, entries.tails]]
        assert (a >= entries.low * (1 - y)).all()
        assert (a <= entries.high * (1 - y)).all()
        for plane in entries.above:
            rise = plane.head * (deleted[0] - y) + plane.tail * (deleted[1] - y)
            assert (a <= plane.constant * (1 - y) + rise + entries.error).all()
        rise = entries.below.head * (deleted[0] - y) + entries.below.tail * (deleted[1] - y)
        assert (a >= entries.below.constant * (1 - y) + rise - entries.drop * y - entries.error).all()


def test_one_deletion_leaves_no_gap_between_the_planes(rng):
    one = surroundings(rng)
    one = Surroundings(4, PAIRS, one.there, np.minimum(one.free, 1), one.degrees, np.full(7, 9), 1)
    entries = Entries.of(one)
    for plane in entries.above:
        for name in ("constant", "head", "tail"):
            assert getattr(plane, name) == pytest.approx(getattr(entries.below, name), abs=1e-15)


def test_rows_are_above_their_bounds(case):
    values = case.rng.normal(size=(7, 8))
    for row in case.around.rows:
        below, size = row.lower(values), row.size(values)
        products = [matrix[row.node] @ values[:6] for matrix in case.matrices]
        assert (np.min(products, axis=0) >= below - ROUNDING).all()
        assert (np.max(np.abs(products), axis=0) <= size + ROUNDING).all()
        still = [row.product(values) for row in case.states[0].rows][row.node]
        assert still == pytest.approx(case.matrices[0][row.node] @ values[:6])


def test_hidden_layer_and_its_sums_are_within_their_bounds(case):
    hidden, weights = Hidden.of(case.around, case.layers), case.layers.outputs[:, 0]
    low = sums_below(case.around, case.layers, hidden, weights)
    for matrix in case.matrices:
        exact = hidden_of(case, matrix)
        assert (exact >= hidden.lower - ROUNDING).all()
        assert (exact <= hidden.upper + ROUNDING).all()
        assert (np.maximum(exact, 0.0) @ weights >= low - ROUNDING).all()


def worst_of(case, one, other):
    """The smallest margin of one class over another under all deletions, from the definition."""
    found = []
    for matrix in case.matrices:
        out = matrix[0, :4] @ np.maximum(hidden_of(case, matrix), 0.0) @ case.layers.outputs + case.layers.output_bias
        found.append(out[one] - out[other])
    return min(found)


CLASS_PAIRS = list(itertools.permutations(range(CLASSES), 2))


def test_program_is_below_all_margins_and_better_than_intervals(case):
    hidden, gaps = Hidden.of(case.around, case.layers), []
    for pair in CLASS_PAIRS:
        relaxation, worst = Relaxation.between(case.around, case.layers, hidden, pair), worst_of(case, *pair)
        solution = relaxation.solved()
        assert max(relaxation.interval, solution.bound) <= worst + ROUNDING
        assert solution.deleted.sum() <= case.around.budget + 1e-6
        gaps.append((worst - relaxation.interval, worst - solution.bound))
    by_interval, by_program = np.sum(gaps, axis=0)
    assert by_program < 0.8 * by_interval


@pytest.mark.parametrize("scale", [0.0, 0.1, 10.0])
def test_no_answer_of_the_solver_makes_the_bound_wrong(case, scale, monkeypatch):
    """Multipliers with noise give a bound as well, only a worse one."""
    solver = gcn_structure_program.linprog

    def noisy(*arguments, **options):
        found = solver(*arguments, **options)
        found.ineqlin.marginals = found.ineqlin.marginals + scale * case.rng.normal(size=found.ineqlin.marginals.size)
        found.eqlin.marginals = found.eqlin.marginals + scale * case.rng.normal(size=found.eqlin.marginals.size)
        return found

    hidden, pair = Hidden.of(case.around, case.layers), (0, 1)
    relaxation = Relaxation.between(case.around, case.layers, hidden, pair)
    undisturbed = relaxation.solved().bound
    monkeypatch.setattr(gcn_structure_program, "linprog", noisy)
    bound = relaxation.solved().bound
    assert bound <= worst_of(case, *pair) + ROUNDING
    assert bound <= undisturbed + 1e-6


def test_a_solver_that_fails_is_survived(case, monkeypatch):
    monkeypatch.setattr(gcn_structure_program, "linprog", lambda *arguments, **options: SimpleNamespace(status=4))
    label = int(logits(case.around, case.layers).argmax())
    reached = search(case.around, case.layers, label, np.inf, node_limit=10_000)
    worst = min(worst_of(case, label, other) for other in range(CLASSES) if other != label)
    assert reached.lower <= worst + ROUNDING
    assert (reached.lower > 0.0) == (worst > 0.0)


def test_a_search_is_as_good_as_its_limit_lets_it(case):
    label = int(logits(case.around, case.layers).argmax())
    worst = min(worst_of(case, label, other) for other in range(CLASSES) if other != label)
    for limit in (0, 1, 3, 1000):
        reached = search(case.around, case.layers, label, np.inf, limit)
        assert reached.programs <= limit
        assert reached.lower <= worst + ROUNDING
        assert reached.upper >= worst - ROUNDING
    assert (reached.lower > 0.0) == (worst > 0.0) == (reached.upper > 0.0)
