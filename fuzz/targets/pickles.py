"""The pickles of Planetoid: one file of a graph at a time, told by the first byte."""

from __future__ import annotations

import contextlib
import functools
import pickletools
import random
from collections.abc import Iterator

import numpy as np

from flipproof.datasets.cards.catalogue import StoredForm
from flipproof.datasets.readers.citations import read_planetoid
from flipproof.datasets.readers.inert_pickle import read_inert
from fuzz.python2_pickles import name, number, planetoid, text
from fuzz.target import ByteMutator, Target

_FORM = StoredForm((), lambda contents: read_planetoid(contents, "few"))
_NAMES = ("numpy.dtype", "numpy.ndarray", "numpy.core.multiarray._reconstruct", "scipy.sparse.csr.csr_matrix")
_PIECES = (
    *(name(each) for each in (*_NAMES, "collections.defaultdict", "__builtin__.list", "os.system")),
    *(number(value) for value in (0, 1, -1, 2**31 - 1)),
    *(text(value) for value in (b"", b"f8", b"<", b"data", b"_shape", b"\xff" * 8)),
    *(b"%c" % byte for byte in b"(.012NRabdehilopqrstu]})\x81\x85\x86\x87\x88\x89"),
    b"q\x00", b"h\x00", b"r\xff\xff\xff\x7f", b"j\xff\xff\xff\x7f", b"I01\n", b"I99999999999999999999\n", b"S'a'\n",
)  # fmt: skip


@functools.cache
def _published() -> dict[str, bytes]:
    attributes = np.eye(5, 4, dtype=np.float32)
    return planetoid(
        attributes, np.array([0, 1, 0, 1, 1]), np.array([4, 3]), {0: [1, 1], 1: [2], 2: [3], 3: [4], 4: []}
    )


def _seeds() -> Iterator[bytes]:
    for place, content in enumerate(_published().values()):
        yield bytes([place]) + content


def _read(content: bytes) -> None:
    names = [*_published()]
    fuzzed = names[content[0] % len(names)] if content else names[0]
    if fuzzed != "ind.few.test.index":
        read_inert(content[1:])
    _FORM.dataset({**_published(), fuzzed: content[1:]})


def _in_operations(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Other operations, cut where operations begin."""
    if rng.random() < 0.3 or len(content) < 4:
        return content[:1] + mutate(content[1:])
    places = [0]
    with contextlib.suppress(Exception):  # whatever a damaged program makes its reader raise
        places += [place for _, _, place in pickletools.genops(content[1:]) if place is not None]
    operations = [content[1 + one : 1 + other] for one, other in zip(places, [*places[1:], len(content)], strict=True)]
    for _ in range(rng.choice((1, 1, 2, 4))):
        place = rng.randrange(len(operations))
        choice = rng.randrange(4)
        if choice == 0:
            operations.insert(place, rng.choice(_PIECES))
        elif choice == 1:
            operations[place] = mutate(operations[place])
        elif choice == 2:
            operations[place] = rng.choice(operations)
        else:
            operations[place] = b""
    return content[:1] + b"".join(operations)


TARGET = Target("pickles", _seeds, _read, _in_operations, _PIECES)
