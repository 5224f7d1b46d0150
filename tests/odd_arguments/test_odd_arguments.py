"""Every public callable, called with odd values in every argument: a result or a `FlipproofError`, nothing else.

A raw `TypeError` or `IndexError` from deep inside says nothing to whoever gave the argument. Warnings are errors here,
as in all tests: a value that is only warned about was not looked at.
"""

import itertools

import pytest
from odd_values import HUGE, ODD
from valid_calls import is_left_out, make_calls, public_names

import flipproof as fp

NAMES = sorted(name for name in set(public_names()) if not is_left_out(name))
PAIRS = 12
"""How many random pairs of odd arguments are tried for every callable."""


@pytest.fixture(scope="session")
def calls(tmp_path_factory):
    return make_calls(tmp_path_factory.mktemp("odd"))


def wrong_ones(call):
    """All (argument, name of an odd value) that are tried."""
    for argument in call.parameters:
        left_out = (HUGE if argument in call.work else set()) | set(call.fine.get(argument, ()))
        if argument == call.callback:
            continue
        names = [name for name in ODD if name not in left_out]
        yield from ((argument, name) for name in names[:: call.slow])


def raw_error(call, odd):
    """What a call with odd values raises, if it is no refusal of ours."""
    try:
        call.function(**call.arguments | {argument: ODD[name]() for argument, name in odd})
    except fp.FlipproofError as error:
        return None if "\n" not in str(error) and str(error) else "a refusal that is no line"
    except Exception as error:
        return f"{odd}: {type(error).__name__}: {str(error)[:100]}"
    return None


def test_every_public_callable_has_a_valid_call(calls):
    assert sorted(calls) == NAMES
    for call in calls.values():
        call.function(**call.arguments)


@pytest.mark.parametrize("name", NAMES)
def test_one_odd_argument_is_refused_or_taken(name, calls, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [raw_error(calls[name], [odd]) for odd in wrong_ones(calls[name])]
    assert [error for error in found if error] == []


@pytest.mark.parametrize("name", NAMES)
def test_two_odd_arguments_are_refused_or_taken(name, calls, tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    pairs = [pair for pair in itertools.combinations(wrong_ones(calls[name]), 2) if pair[0][0] != pair[1][0]]
    chosen = rng.choice(len(pairs), min(PAIRS, len(pairs)), replace=False) if pairs else []
    found = [raw_error(calls[name], pairs[i]) for i in chosen]
    assert [error for error in found if error] == []


def test_there_are_many_calls(calls):
    assert sum(len(list(wrong_ones(call))) for call in calls.values()) > 25_000
