"""Weights of torch modules: safetensors, and what torch.save writes."""

from __future__ import annotations

import io
import json
import random
import struct
from collections.abc import Iterator

import torch

import flipproof as fp
from flipproof.models.weights import load_weights, weights_bytes
from fuzz.mutators import in_json, in_zip
from fuzz.target import ByteMutator, Target

_WORDS = (
    b"F32",
    b"F64",
    b"I64",
    b"BOOL",
    b"dtype",
    b"shape",
    b"data_offsets",
    b"__metadata__",
    b"FloatStorage",
    b"cpu",
)


def _module() -> torch.nn.Module:
    torch.manual_seed(0)
    return fp.GCN(3, 2, hidden=2)


def _seeds() -> Iterator[bytes]:
    module = _module()
    yield weights_bytes(module)
    for legacy in (False, True):
        file = io.BytesIO()
        torch.save(module.state_dict(), file, _use_new_zipfile_serialization=not legacy)
        yield file.getvalue()


def _read(content: bytes) -> None:
    load_weights(_module(), content, "file")


def in_safetensors(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    """Another header of the right length, or other numbers."""
    if len(content) < 9 or rng.random() < 0.1:
        return mutate(content)
    (length,) = struct.unpack("<Q", content[:8])
    head, body = content[8 : 8 + length], content[8 + length :]
    if rng.random() < 0.7:
        head = in_json(head.rstrip(), rng, mutate) if rng.random() < 0.7 else _moved(head, rng)
        head += b" " * (-len(head) % 8)
    else:
        body = mutate(body)
    return struct.pack("<Q", len(head)) + head + body


def _moved(head: bytes, rng: random.Random) -> bytes:
    """One tensor with another shape or place, such as those of another."""
    try:
        record = json.loads(head)
        one, other = (record[rng.choice(list(record))] for _ in range(2))
        key = rng.choice(("shape", "dtype", "data_offsets"))
        one[key] = other[key]
    except (ValueError, LookupError, TypeError, RecursionError):
        return head
    return json.dumps(record).encode()


def _mutate(content: bytes, rng: random.Random, mutate: ByteMutator) -> bytes:
    if content[:2] == b"PK":
        return in_zip(content, rng, mutate)
    return in_safetensors(content, rng, mutate) if content[8:9] == b"{" else mutate(content)


TARGET = Target("weights", _seeds, _read, _mutate, _WORDS)
