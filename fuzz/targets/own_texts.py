"""A user's own tables and messages."""

from __future__ import annotations

from collections.abc import Iterator

from flipproof.datasets import Vocabulary
from flipproof.datasets.loading import load_user_file
from fuzz.target import Target, saved

_TAB = b"\t"
"""Messages begin with it here, tables do not."""


def _seeds() -> Iterator[bytes]:
    yield b"age,colour,label\n10,red,yes\n9,,no\n10,blue,yes\n"
    yield b'a,label,b\r\n"1,5",x,"say ""hi"""\r\n2,y,z\r\n'
    yield b"\xef\xbb\xbfa,label\n1e5,0\nnan,1\n-3,1\n"
    yield _TAB + b"ham\tSee you at six.\nspam\tYou won!\n"
    yield _TAB + "gut\tGrüße\tund mehr\r\nschlecht\t£900!\n".encode()


def _read(content: bytes) -> None:
    if content[:1] == _TAB:
        texts = load_user_file(saved(content[1:], "mine.tsv")).distinct().with_words()
        Vocabulary.learned(texts.messages, least=1).tokens(texts.messages, length=3)
    else:
        load_user_file(saved(content, "mine.csv")).table()


TARGET = Target(
    "own_texts", _seeds, _read, words=(b'"', b'""', b",", b"\t", b"\r\n", b"label", b"\0", b"\xff", b"nan", b"1e999")
)
