"""Changes to files that know their containers: checksums and lengths stay right, so that loaders look inside."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import struct
import tarfile
import warnings
import zipfile
import zlib
from typing import Any

from fuzz.target import ByteMutator

STRANGE_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 255, 256, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, -(2**63),
    0.0, 0.5, -0.0, 1.0, 1.5, 1e-320, 1e308, -1e308, "", "0", "a", "\x1b[2J", "\u202e", "x" * 2_000, "../x", "/x",
    "nan", [], [[]], [0], [0, 1], [[0, 1]], [0.5], ["a"], [None], {}, {"a": 0}, {"parts": {}},
    {"p_plus": 0.1, "p_minus": 0.2},
)  # fmt: skip
_RAW_JSON = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000, b"[" * 3_000, b'{"a":' * 3_000, b'"\\ud800"')
_STRANGE_NAMES = ("../x", "/x", "C:\\x", "x\x00y", "metadata.json", "x" * 300, "")
_SHAPES = (
    "(1000000000000,)", "(-1,)", "(0,)", "()", "(2, -3)", "(0, 1000000000000)", "(9223372036854775807, 2)",
    "(99999999999999999999,)", "(1,) * 9", "(True,)", "(None,)", "(1.5,)", "((1,),)", "(2, 2, 2)", "(1,2", "[3]",
)  # fmt: skip
_TYPES = (
    "|O", "<i8", ">i8", "<u8", "<f8", "<f2", "|b1", "<U3", "|S4", "<c16", "<M8[s]", "|V8", "[('a', '<i8')]", "x" * 99,
    "<U0", "<U9999999",
)  # fmt: skip


def in_json(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another value in some place of a JSON text."""
    if rng.random() < 0.15:
        return mutate(content)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return mutate(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        value = _changed_value(value, rng)
    text = json.dumps(value, indent=rng.choice((None, 1))).encode()
    if rng.random() < 0.05:
        text = text.replace(b"0", rng.choice(_RAW_JSON), 1)
    return text


def _changed_value(value: Any, rng: random.Random) -> Any:
    """The value with one place changed; the deeper the place, the more often it is chosen."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        name = rng.choice(list(value))
        if rng.random() < 0.1:
            return {key: each for key, each in value.items() if key != name}
        if rng.random() < 0.1:
            return {**value, rng.choice(("more", "", "\x1b[31m", "p_plus", "x" * 500)): rng.choice(STRANGE_VALUES)}
        return {**value, name: _changed_value(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:place] + value[place + 1 :]
        if rng.random() < 0.2:
            return [*value[:place], value[place], *value[place:]]
        return [*value[:place], _changed_value(value[place], rng), *value[place + 1 :]]
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.3:
        return value + rng.choice((-1, 1))
    return rng.choice(STRANGE_VALUES)


def in_npy(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another shape, another type or other numbers in an array, with a header that has the right length."""
    if rng.random() < 0.1 or len(content) < 12:
        return mutate(content)
    (length,) = struct.unpack("<H", content[8:10])
    head, body = content[10 : 10 + length].decode("latin1"), content[10 + length :]
    choice = rng.random()
    if choice < 0.5:
        body = mutate(body)
    elif choice < 0.65:
        before, mark, after = head.partition("'shape': ")
        head = before + mark + rng.choice(_SHAPES) + after[after.find(")") + 1 :] if mark else head
    elif choice < 0.8:
        before, mark, after = head.partition("'descr': ")
        head = before + mark + repr(rng.choice(_TYPES)) + after[max(0, after.find(",")) :] if mark else head
    elif choice < 0.9:
        head = head.replace("False", rng.choice(("True", "0", "None", "'a'")))
    else:
        head = mutate(head.encode("latin1")).decode("latin1")
    packed = head.encode("latin1")[:60_000]
    return content[:8] + struct.pack("<H", len(packed)) + packed + body


def in_member(name: str, content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Changes a member of a zip by what its name says it is."""
    if name.endswith(".json"):
        return in_json(content, rng, mutate)
    return in_npy(content, rng, mutate) if name.endswith(".npy") else mutate(content)


def in_zip(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Other members of a zip, or other contents of them, with the right checksums."""
    if rng.random() < 0.1:
        return mutate(content)
    members = _members(content)
    if not members:
        return mutate(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place = rng.randrange(len(members))
        name, inside = members[place]
        choice = rng.random()
        if choice < 0.85:
            members[place] = name, in_member(name, inside, rng, mutate)
        elif choice < 0.88 and len(members) > 1:
            members.pop(place)
        elif choice < 0.91:
            members.append((name, in_member(name, inside, rng, mutate)))
        elif choice < 0.94:
            members[place] = rng.choice(_STRANGE_NAMES), inside
        elif choice < 0.97:
            members[place] = name, members[rng.randrange(len(members))][1]
        else:
            members.append((rng.choice(_STRANGE_NAMES), inside))
    kind = rng.choice((zipfile.ZIP_STORED,) * 8 + (zipfile.ZIP_DEFLATED,) * 8 + (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    packed = zipped(members, kind)
    return mutate(packed) if rng.random() < 0.03 else packed


def zipped(members: list[tuple[str, bytes]], kind: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file of these members, of which some may have the same name."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, inside in members:
            archive.writestr(zipfile.ZipInfo(name), inside, kind)
    return file.getvalue()


def _members(content: bytes) -> list[tuple[str, bytes]]:
    with contextlib.suppress(Exception), zipfile.ZipFile(io.BytesIO(content)) as archive:
        if sum(member.file_size for member in archive.infolist()) < 2**20:
            return [(member.filename, archive.read(member)) for member in archive.infolist()]
    return []


def in_gzip(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another text in a gzip file, with the right checksum."""
    if rng.random() < 0.2:
        return mutate(content)
    try:
        text = zlib.decompressobj(31).decompress(content, 2**20)
    except zlib.error:
        return mutate(content)
    return gzip.compress(mutate(text), compresslevel=1, mtime=0)


def in_tar(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another header in a gzipped tar file, with the right checksums."""
    if rng.random() < 0.2:
        return in_gzip(content, rng, mutate)
    try:
        text = bytearray(zlib.decompressobj(31).decompress(content, 2**20))
    except zlib.error:
        return mutate(content)
    start = 512 * rng.randrange(max(1, len(text) // 512))
    block = bytearray(mutate(bytes(text[start : start + 512])).ljust(512, b"\0")[:512])
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    text[start : start + 512] = block
    return gzip.compress(bytes(text), compresslevel=1, mtime=0)


def tarred(members: dict[str, bytes]) -> bytes:
    """A gzipped tar file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name, inside in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(inside)
            archive.addfile(member, io.BytesIO(inside))
    return gzip.compress(file.getvalue(), compresslevel=1, mtime=0)


def random_bytes(rng: random.Random, words: tuple[bytes, ...] = ()) -> ByteMutator:
    """A byte mutator that needs no fuzzer: a few bytes flipped, inserted, removed, repeated or taken from the words."""

    def mutate(content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(rng.choice((1, 1, 2, 4))):
            place = rng.randrange(len(changed) + 1)
            length = rng.choice((1, 1, 2, 8))
            choice = rng.randrange(5)
            if choice == 0 and place < len(changed):
                changed[place] ^= 1 << rng.randrange(8)
            elif choice == 1:
                changed[place:place] = rng.choice((*words, rng.randbytes(length)))
            elif choice == 2:
                del changed[place : place + length]
            elif choice == 3:
                changed[place : place + length] = rng.choice((b"\0", b"\xff", b"\x7f", b"-", b"9")) * length
            else:
                changed[place:place] = changed[place : place + 4 * length]
        return bytes(changed)

    return mutate
