"""Runs give the same votes, certificates and files for ever, wherever the code behind them lives.

When one of these fails and its result was meant to change, see `golden_runs.py`.
"""

import json

import pytest
from golden_runs import CASES, KINDS, LAWS, PROGRAMS, RUNS_FILE, counted_result, environment, program_result, result

PINNED = json.loads(RUNS_FILE.read_text())


def same(found, expected, exactly):
    """Floats count to the last bit only where they were pinned by the same libraries."""
    if exactly:
        return found == expected
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name], False) for name in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(same(*pair, False) for pair in zip(found, expected, strict=True))
    return found == (pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(expected, float) else expected)


def check(found, expected):
    exactly = environment() == PINNED["environment"]
    assert found.keys() == expected.keys()
    for part in expected:
        assert same(found[part], expected[part], exactly), f"{part}: {found[part]} instead of {expected[part]}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_run_is_pinned(kind):
    assert set(PINNED[kind]) == set(KINDS[kind][0])


@pytest.mark.parametrize("name", CASES)
def test_votes_and_certificates(name):
    check(result(name), PINNED["runs"][name])


@pytest.mark.parametrize("name", LAWS)
def test_certificates_of_counts(name):
    check(counted_result(name), PINNED["counts"][name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_files_of_the_program(name, monkeypatch):
    """Only what there is: no two kinds of processors train alike."""
    monkeypatch.delenv("FLIPPROOF_DATA", raising=False)
    assert program_result(name) == PINNED["programs"][name]


# A pinned result that says nothing would pass for ever, too.


def test_all_votes_differ():
    """But for those of two engines."""
    names = {name.removesuffix(", fused").removesuffix(", torch") for name in CASES}
    assert len({run["votes"]["estimation"] for run in PINNED["runs"].values()}) >= len(names)


@pytest.mark.parametrize("name", CASES)
def test_votes_are_split(name):
    assert sum(count > 0 for count in PINNED["runs"][name]["votes"]["counted"]) > 1


@pytest.mark.parametrize("name", LAWS)
def test_counts_certify_something(name):
    pinned = PINNED["counts"][name]
    proved = [radius for proofs in pinned["proofs"] for radius in proofs["radius"]]
    columns = pinned["multi-class"]["columns"] if "multi-class" in pinned else {}
    certified = [radius for column in columns if column.startswith("max_") for radius in columns[column]]
    assert max(proved + certified) > 0
