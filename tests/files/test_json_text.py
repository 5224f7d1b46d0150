"""Strict JSON: what is refused, and that a valid text is what Python's own reader makes of it."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flipproof.errors import FileFormatError
from flipproof.files.strict_json import is_number, json_value

PLAIN = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_python_writes_comes_back(value):
    for as_ascii in (False, True):
        assert json_value(json.dumps(value, ensure_ascii=as_ascii).encode()) == value


@given(st.text(), st.characters(categories=["Cc", "Cs"]), st.text())
def test_control_characters_are_refused_wherever_they_are(before, control, after):
    for value in (before + control + after, [{"a": [before + control]}], {control + after: None}):
        with pytest.raises(FileFormatError, match="it has the control character"):
            json_value(json.dumps(value).encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "it is no JSON"),
        (b"{", "it is no JSON"),
        (b"[1] 2", "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"\xef\xbb\xbf{}", "it is no JSON"),
        ("{}".encode("utf-16"), "it is no JSON"),
        (b"9" * 5_000, "it is no JSON: Exceeds the limit"),
        (b'{"a": "\n"}', "it is no JSON"),
        (b"[NaN]", "it has NaN in place of a number"),
        (b'{"a": -Infinity}', "it has -Infinity in place of a number"),
        (b"1e999", "it has the number 1e999, which is too large"),
        (b"-" + b"9" * 400 + b".0", "which is too large"),
        (b'{"a": 1, "b": 2, "a": 1}', "it has the name 'a' twice"),
        (b'[{"x": {"' + b"n" * 500 + b'": 1, "' + b"n" * 500 + b'": 1}}]', "it has the name 'n{40}' twice"),
        (b'"\\ud800"', r"it has the control character '\\ud800' in a text"),
        (b'{"a": [{"\\udfff": 1}]}', r"it has the control character '\\udfff' in a text"),
        (b'["\\u001b[2J"]', r"it has the control character '\\x1b' in a text"),
        (b'{"\\b": 0}', r"it has the control character '\\x08' in a text"),
        (b'{"a": "b\\nc"}', r"it has the control character '\\n' in a text"),
        ('"\x9b2J"'.encode(), r"it has the control character '\\x9b' in a text"),
        ('"\u202egpj.exe"'.encode(), r"it has the control character '\\u202e' in a text"),
        (b"[" * 65 + b"]" * 65, "nested more than 64 deep"),
        (b'{"a":' * 10**6, "nested more than 64 deep"),
        (b"[" * 10**6, "nested more than 64 deep"),
    ],
)
def test_what_is_refused(text, reason):
    with pytest.raises(FileFormatError, match=reason):
        json_value(text)


def test_brackets_in_texts_do_not_nest():
    value = {"[" * 100: ["{" * 100, '\\"' + "[" * 100, "\\"]}
    assert json_value(json.dumps(value).encode()) == value
    deepest = b"[" * 64 + b"]" * 64
    assert json_value(deepest) == json.loads(deepest)


def test_deep_nesting_is_refused_however_much_recursion_is_allowed():
    """With a high limit, Python's own reader would run out of the stack and take the process with it."""
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(10**7)
        with pytest.raises(FileFormatError, match="nested more than 64 deep"):
            json_value(b"[" * 10**6)
    finally:
        sys.setrecursionlimit(before)


def test_pairs_of_halves_are_letters():
    assert json_value(b'"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("value", [0, -1, 0.5, 10**300])
def test_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, None, "1", [1], 10**400, float("nan"), float("inf")])
def test_no_numbers(value):
    assert not is_number(value)
