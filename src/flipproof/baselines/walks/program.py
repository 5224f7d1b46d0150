"""The worst edges for a random walk under a global budget as well: a linear program, and a proof of its bound.

A walk from one node t visits node i x_i times on average and sends w_i = a x_i / |N(S_i)| along each of its edges. Let
s_e be the switched flow: w_i for a switched edge e of i, 0 for any other edge. If sums over the edges of i include
added edges and exclude removed ones, then a x_i is the outflow of i, x_j is the inflow of j (plus 1 at t), and the
local budgets are linear: sum of s_e <= b_i w_i and s_e <= w_i. The number of switched edges, the sum of s_e / w_i, is
not linear, but at least the sum of s_e / u_i, for any upper bounds u_i >= w_i. Here u_i is the largest w_i within the
local budgets, by policy iteration. This gives the linear program of Bojchevski and Günnemann (2019). (The w_i of the
attack that maximises x_i would not do: it is not the largest w_i, since fewer edges carry more flow each.)

A solver's output is no proof. But for any price l >= 0 on the global budget B, the walk earns at most

    l B + (the most it earns within the local budgets, if switching an edge of i costs l / u_i per unit of w_i),

since an attacker within B pays at most l B. At the best l, this equals the value of the program (its dual). So the
solver's marginals supply l and a start, and the bound comes from `worst_values`, which is proved in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.base.rounding import ROUNDOFF
from flipproof.base.values import FloatArray, IntArray
from flipproof.baselines.walks.policy import Rewards, worst_values
from flipproof.baselines.walks.walk import Walk

_LEAST_FLOW = 1e-9
"""Flow bounds are raised to at least this, which keeps them valid; smaller ones lose digits and gain nothing."""

_FLOW_ACCURACY = 1e-7


def flow_bounds(walk: Walk, targets: IntArray) -> FloatArray:
    """Upper bounds [targets, nodes] on what a walk from each target sends along each edge of each node.

    They hold for all switches within the local budgets. One policy iteration per node gives them for all targets.

    Example:
        >>> from flipproof.baselines.walks.walk import Threat
        >>> walk = Walk.under(Threat([[0], [1]], local=1), sp.csr_array([[1, 1], [0, 1]]), damping=0.5)
        >>> flow_bounds(walk, np.array([0])).round(4)
        array([[1.    , 0.3333]])
    """
    bounds = np.empty((targets.size, walk.nodes))
    nothing = np.zeros(walk.nodes)
    for node in range(walk.nodes):
        unit = nothing.copy()
        unit[node] = 1.0
        bounds[:, node] = worst_values(walk, Rewards(nothing, unit, nothing), accuracy=_FLOW_ACCURACY)[targets]
    return np.maximum(bounds, _LEAST_FLOW)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """The linear program of a walk from one target, for any rewards.

    The variables are w_i / u_i for every node and s_e / u_i for every fragile edge e of i. The row of node j is divided
    by u_j, so that all numbers have a similar size, however far their node is from the target.

    Attributes:
        walk: the walk and the local budgets.
        target: the node where it starts.
        total: the global budget.
        bounds: the upper bounds u on w.

    Example:
        >>> from flipproof.baselines.walks.walk import Threat
        >>> walk = Walk.under(Threat([[0], [1]], local=1), sp.csr_array([[1, 1], [0, 1]]), damping=0.5)
        >>> program = Program(walk, 0, total=1, bounds=flow_bounds(walk, np.array([0]))[0])
        >>> round(program.bound(np.array([0.0, -1.0])), 6) + 0.0
        0.0
    """

    walk: Walk
    target: int
    total: int
    bounds: FloatArray

    def bound(self, visit: FloatArray) -> float:
        """An upper bound on what the walk earns from visits under all switches within the budgets."""
        solved = self._marginals(visit)
        return self.proved(visit, *solved) if solved else np.inf

    def proved(self, visit: FloatArray, price: float, start: FloatArray | None = None) -> float:
        """The bound that a price on the global budget gives; it is valid for every price of at least 0."""
        rewards = Rewards.of_visits(visit, price / self.bounds)
        within = float(worst_values(self.walk, rewards, start)[self.target])
        paid = price * self.total
        return within + paid + 4.0 * ROUNDOFF * (abs(within) + paid)

    def _marginals(self, visit: FloatArray) -> tuple[float, FloatArray] | None:
        """The price of the global budget and the earnings from each node at it, from HiGHS; None if it finds none."""
        from scipy.optimize import linprog

        walk = self.walk
        outflow, balance = self._balance()
        local = self._local()
        limit = np.zeros(local.shape[0])
        limit[-1] = self.total
        there = np.zeros(walk.nodes)
        there[self.target] = 1.0 / self.bounds[self.target]
        cost = outflow.T @ visit
        scale = float(np.abs(cost).max(initial=0.0)) or 1.0  # HiGHS crashed on costs of very different sizes
        solved = linprog(-cost / scale, local, limit, balance, there, (0, None), "highs")
        if solved.status != 0:
            return None
        price = -scale * float(solved.ineqlin.marginals[-1])
        values = -scale * solved.eqlin.marginals / self.bounds
        return (max(price, 0.0), values) if np.isfinite(price) and np.isfinite(values).all() else None

    def _balance(self) -> tuple[Any, Any]:
        """Visits of every node as its outflow over a, and the rows visits - inflow, each divided by u."""
        walk, nodes, edges = self.walk, self.walk.nodes, self.walk.heads.size
        signed, each = walk.signs * self.bounds[walk.heads], np.arange(edges)
        own = sp.diags_array(walk.degree * self.bounds)
        switched = sp.csr_array((signed, (walk.heads, each)), shape=(nodes, edges))
        outflow = sp.hstack([own, switched], format="csr") / walk.damping
        received = walk.clean.T @ sp.diags_array(self.bounds)
        moved = sp.csr_array((signed, (walk.tails, each)), shape=(nodes, edges))
        inflow = sp.hstack([received, moved], format="csr")
        return outflow, sp.csr_array(sp.diags_array(1.0 / self.bounds) @ (outflow - inflow))

    def _local(self) -> Any:
        """Rows that must be at most 0 for the local budgets, and a last row that must be at most the global budget."""
        walk, nodes, edges = self.walk, self.walk.nodes, self.walk.heads.size
        of_node = sp.csr_array((np.ones(edges), (walk.heads, np.arange(edges))), shape=(nodes, edges))
        limited = np.diff(of_node.indptr) > walk.budget
        budgets = sp.hstack([-sp.diags_array(walk.budget.astype(np.float64)), of_node], format="csr")[limited]
        # A budget of 1 already ensures that no edge is switched by more than its node sends.
        loose = ~limited[walk.heads] | (walk.budget[walk.heads] > 1)
        single = sp.hstack([-of_node.T, sp.eye_array(edges)], format="csr")[loose]
        every = sp.csr_array(np.concatenate([np.zeros(nodes), np.ones(edges)])[None])
        return sp.vstack([budgets, single, every], format="csr")
