"""The section "Slips in the paper" of docs/theory.md, number by number."""

from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

import pytest

import flipproof as fp


@pytest.mark.parametrize(("plus", "minus"), [("1/10", "3/5"), ("7/10", "4/5"), ("1/100", "1/4")])
def test_the_constant_and_u_in_the_proof_of_proposition_3(plus, minus):
    plus, minus = Fraction(plus), Fraction(minus)
    quotient = plus * minus / ((1 - plus) * (1 - minus))
    assert (1 - plus) * (1 - minus) == plus * minus + 1 - (plus + minus) != plus * minus + 1 - (plus - minus)
    for r_a, r_d in product(range(3), repeat=2):
        ours = ((1 - minus) / plus) ** r_d * ((1 - plus) / minus) ** r_a
        printed = quotient ** -(r_a + r_d)
        for q in range(r_a + r_d + 1):
            ratio = (plus / (1 - minus)) ** (q - r_d) * (minus / (1 - plus)) ** (q - r_a)
            assert ratio == ours * quotient**q
            assert (ratio == printed * quotient**q) == (r_a == r_d == 0)


def test_terms_of_the_naive_sum():
    """Subsets of size q of r entries; the paper's r! / (r! (r - q)!) is 1 / (r - q)!."""
    r, q = 7, 3
    assert comb(r, q) == factorial(r) // (factorial(q) * factorial(r - q))
    assert Fraction(factorial(r), factorial(r) * factorial(r - q)) == Fraction(1, factorial(r - q))


def test_flips_outside_the_changed_entries_do_not_count():
    """q_- and q_+ summed over all d entries, as printed, do not add up to q."""
    clean, adversarial, noisy = (1, 0, 1), (0, 0, 1), (0, 1, 1)
    changed = [i for i in range(3) if clean[i] != adversarial[i]]
    flipped = [i for i in range(3) if clean[i] != noisy[i]]
    assert len([i for i in flipped if i in changed]) == 1 != len(flipped)


def test_densities_of_cora_ml(cora_ml):
    nodes, edges = cora_ml.nodes, cora_ml.edges
    assert (nodes, edges) == (2810, 7981)
    assert f"{100 * 8416 / nodes**2:.4f}" == "0.1066"  # as printed: citations of the raw graph, nodes of the other
    assert f"{100 * edges / nodes**2:.4f}" == "0.1011"
    assert f"{100 * edges / comb(nodes, 2):.4f}" == "0.2022"  # of the entries that noise knows
    assert f"{100 * cora_ml.attributes.nnz / prod(cora_ml.attributes.shape):.4f}" == "1.7588"  # right
    assert round(0.01 * nodes**2) == 78961  # ordered pairs, of which an undirected graph has half
    assert round(0.01 * comb(nodes, 2)) == 39466


def test_deletions_are_certified_more_easily_than_additions():
    """The joint figure's noise on structure, and as many votes of one label as there can be."""
    noise = fp.FlipNoise(2e-5, 0.4)
    certificates = fp.certify(fp.Votes.from_counts(selection=[[1000, 0]], estimation=[[10**6, 0]], noise=noise))
    assert certificates.max_radius("add").tolist() == [2]
    assert certificates.max_radius("delete").tolist() == [12]
