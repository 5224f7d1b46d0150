"""Claims about rows: pairs of seeds, ties, the worst seed, and rows that say nothing."""

import pytest

from flipproof.reproduction.pages.claims import CLAIMS, Basis, PaperClaim


def claim(words):
    (found,) = (each for each in CLAIMS if words in each.words)
    return found


def radii(values, **more):
    """Mean radii by seed."""
    row = {"measure": "mean radius", "among": "all", "rule": "multi-class", "along": "delete"}
    return [{**row, **more, "seed": seed, "value": value} for seed, value in values.items()]


def test_means_over_the_seeds_that_both_have():
    found = radii({0: 5.0, 1: 7.0}, model="gat") + radii({1: 6.5, 2: 100.0}, model="gcn")
    assert claim("GAT above GCN").measured({"models-attributes": found}) == 0.5


def test_the_worst_seed():
    found = radii({0: 5.0, 1: 7.0}, noisy_samples=1) + radii({0: 4.0, 1: 7.5}, noisy_samples=0)
    lead = claim("m = 1 above m = 0")
    assert lead.measured({"training": found}) == -0.5
    assert not lead.holds(-0.5)


def test_one_copy_must_beat_every_larger_number():
    found = radii({0: 5.0}, noisy_samples=1) + radii({0: 4.0}, noisy_samples=5) + radii({0: 4.75}, noisy_samples=100)
    assert claim("m = 1 above all larger m").measured({"training": found}) == 0.25


def test_ratios_have_the_same_seeds():
    ours = radii({0: 9.0, 1: 10.0}, noise="(0.01, 0.6)", samples=100_000)
    theirs = radii({0: 2.0}, noise="(0.1, 0.1)", samples=100_000)
    assert claim("over those of Lee's").measured({"table-1": ours + theirs}) == 4.5


def test_a_tie_is_no_lead_but_reaches_a_bar():
    tie = {"study": "rules", "words": "", "more_than": 0.0, "number": lambda rows: 0.0}
    assert not PaperClaim(**tie, source=Basis.TEXT).holds(0.0)
    assert PaperClaim(**tie, source=Basis.OWN).holds(0.0)


@pytest.mark.parametrize("each", CLAIMS, ids=[each.words for each in CLAIMS])
def test_rows_that_say_nothing(each):
    assert each.measured({}) is None
    if each.study != "compare-ppnp":
        assert each.measured({each.study: [{"measure": "x", "value": 1.0, "noisy_samples": 0}]}) is None


def test_claims_differ():
    assert len({(each.study, each.words) for each in CLAIMS}) == len(CLAIMS)
