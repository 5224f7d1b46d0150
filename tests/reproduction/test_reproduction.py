"""The rows in results/ and the page made from them: complete, in agreement, and still drawable."""

from pathlib import Path

import pytest

from flipproof.reproduction.pages.claims import CLAIMS
from flipproof.reproduction.pages.figures import save_figure
from flipproof.reproduction.pages.page import all_rows, reproduction_page
from flipproof.reproduction.pages.sections import SECTIONS
from flipproof.reproduction.reproduce import STUDIES

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results" / "standard"
NOT_HELD = (
    "lowest less highest smoothed accuracy over noises",
    "pixels > 127: (0.1, 0.2) certifies more than (0.2, 0.2), delete 4: lead",
    "pixels > 127: (0.1, 0.2) certifies as much as (0.2, 0.2), add 3: lead",
    "pixels > 127: (0.1, 0.2) certifies as much as (0.2, 0.2), add 4: lead",
    "the same, mean over seeds",
)
"""Claims of the paper that our rows do not confirm; the page says so."""


@pytest.fixture(scope="module")
def found():
    return all_rows(RESULTS)


def test_every_experiment_has_rows_of_one_standard_run(found):
    assert set(found) == set(STUDIES) == set(SECTIONS)
    for name, each in found.items():
        assert (each["study"], each["scale"]) == (name, "standard")
        assert each["rows"]
        assert each["made"]["commit"]
        assert (RESULTS / f"{name}.csv").read_text().count("\n") == len(each["rows"]) + 1


def test_the_page_is_made_of_the_rows(found):
    page = (ROOT / "docs" / "reproduction.md").read_text()
    assert page == reproduction_page(found, "../results/standard")
    for line in page.splitlines():
        if line.startswith("!["):
            assert (ROOT / "docs" / line.rpartition("(")[2].rstrip(")")).exists()


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.words for claim in CLAIMS])
def test_what_should_hold(found, claim):
    measured = claim.measured({name: each["rows"] for name, each in found.items()})
    assert measured is not None
    assert claim.holds(measured) == (claim.words not in NOT_HELD)


@pytest.mark.parametrize("study", sorted(set(STUDIES) - {"table-1", "table-2"}))
def test_figures_are_drawn_from_the_rows(found, study, tmp_path):
    for file in save_figure(study, found[study]["rows"], tmp_path / study):
        assert file.stat().st_size > 3_000
        assert (RESULTS / file.name).exists()
