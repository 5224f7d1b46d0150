"""Errors are one short line of plain text, whatever a file or a user has put into them."""

import pytest

import flipproof as fp
from flipproof.errors import one_line, reason_of


@pytest.mark.parametrize("error", [fp.InvalidInputError, fp.FileFormatError, fp.OutputError])
def test_every_error_is_one_plain_line(error):
    line = str(error("expected a name, got \x1b]0;owned\x07\n\u202e\u2028\x9b2J\udc80; name another one"))
    assert line.isprintable()
    assert line.startswith("expected a name, got ")
    assert line.endswith("; name another one")
    line.encode("utf-8")


def test_the_beginning_and_the_end_of_a_long_message_are_kept():
    line = str(fp.FileFormatError("expected a word, got " + "x" * 10**6 + "; delete it"))
    assert len(line) < 1_010
    assert line.startswith("expected a word, got xxx")
    assert line.endswith("xxx; delete it")


def test_usual_messages_stay_as_they_are():
    text = "expected Größe in [0, 1], got '£ 7'"
    assert str(fp.InvalidInputError(text)) == one_line(text) == text


def test_the_words_of_others_are_cut():
    assert reason_of(ValueError("two\nlines\x1b[2J")) == "ValueError: two lines [2J"
    assert len(reason_of(KeyError("x" * 10**6))) <= 300
