"""Small files that would unpack to gigabytes are refused by a process that has not even half of one to spare."""

import gzip
import io
import json
import struct
import subprocess
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest
import torch
from hostile_loaders import ARCHIVES, LOADERS, bomb, deflated_zeros, first_array

import flipproof as fp
from fuzz.python2_pickles import name, number, numbers, program, text

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to limit memory")
GIGABYTES = 2
MEBIBYTES = GIGABYTES * 2**10


def gzip_bomb(start=b""):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + head + deflated_zeros(MEBIBYTES) + bytes(8)


def tar_bomb(kind):
    member = tarfile.TarInfo("a" if kind == tarfile.REGTYPE else "x")
    member.size, member.type = MEBIBYTES * 2**20, kind
    return gzip_bomb(member.tobuf(tarfile.GNU_FORMAT))


def zip_bomb(member, path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, b"x")
    bomb(path, member, MEBIBYTES - 1)
    return path.read_bytes()


def endless_dictionary():
    """A few bytes whose reader first asks for a dictionary of four gigabytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a", b"x")
    raw = bytearray(file.getvalue())
    place = raw.index(b"\x05\x00\x5d") + 3
    raw[place : place + 4] = b"\xff" * 4
    return bytes(raw)


def overlapping(path):
    """Many members that all are the same bytes of the file."""
    zip_bomb("a.npy", path)
    raw = path.read_bytes()
    place = raw.rindex(b"PK\x01\x02")
    entry = raw[place : raw.rindex(b"PK\x05\x06")]
    entries = [entry.replace(b"a.npy", b"%c.npy" % letter) for letter in b"abcdefgh"]
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 8, 8, sum(map(len, entries)), place, 0)
    return raw[:place] + b"".join(entries) + end


def safetensors_bomb():
    size = MEBIBYTES * 2**20
    header = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header


def torch_bomb(path):
    torch.save(fp.GCN(3, 2).state_dict(), path)
    with zipfile.ZipFile(path) as archive:
        record = next(each for each in archive.namelist() if each.endswith("/data/0"))
    bomb(path, record, MEBIBYTES - 1)
    return path.read_bytes()


def many_arrays():
    """A text of a megabyte that thousands of arrays share."""
    kind = name("numpy.dtype") + b"(" + text(b"f8") + number(0) + number(1) + b"tRq\x01"
    content = text(bytes(2**20)) + b"q\x00"
    made = name("numpy.core.multiarray._reconstruct") + b"(" + name("numpy.ndarray") + numbers([0]) + text(b"b") + b"tR"
    each = made + b"(" + number(1) + numbers([2**17]) + b"h\x01" + b"\x89" + b"h\x00" + b"tb"
    return program(kind + content + each * (4 * MEBIBYTES // 4) + number(1))


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """How the child refuses each of the files."""
    folder = tmp_path_factory.mktemp("bombs")
    contents = {
        "gzip": gzip_bomb(),
        "tar": tar_bomb(tarfile.REGTYPE),
        "zip": zip_bomb("a", folder / "zip"),
        "npz": overlapping(folder / "npz"),
        "pickle": many_arrays(),
        "safetensors": safetensors_bomb(),
        "torch": torch_bomb(folder / "torch"),
    }
    others = [("tar", tar_bomb(tarfile.XHDTYPE)), ("zip", endless_dictionary())]
    asked = []
    for number_, (reader, content) in enumerate([*contents.items(), *others]):
        (folder / f"bomb-{number_}").write_bytes(content)
        asked.append(f"{reader} {folder / f'bomb-{number_}'}")
    for kind, loader in ARCHIVES.items():
        (folder / kind).mkdir()
        path = folder / kind / loader.name
        loader.write(path)
        bomb(path, first_array(path), MEBIBYTES - 1)
        asked.append(f"{kind} {path}")
    path = folder / "run.ckpt"
    packed = b"\x78\x9c" + deflated_zeros(MEBIBYTES)
    record = {"samples": [[0, 9]], "dtype": "|u1", "bytes": len(packed)}
    body = json.dumps({"shape": [2**20, MEBIBYTES], "roles": {"select": record}}).encode() + b"\n" + packed
    LOADERS["checkpoint"].write(path)
    frame = struct.pack("<4sQI", b"\xf1\x1aFP", len(body), zlib.crc32(body))
    path.write_bytes(path.read_bytes() + frame + body)
    asked.append(f"checkpoint {path}")
    child = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "memory_child.py")],
        input="\n".join(asked), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert child.returncode == 0, child.stderr
    return asked, child.stdout.splitlines()


def test_bombs_are_small_and_refused_with_little_memory(refused):
    asked, answers = refused
    assert len(answers) == len(asked)
    for question, answer in zip(asked, answers, strict=True):
        kind, path = question.split(" ", 1)
        assert Path(path).stat().st_size < 6 * 10**6
        assert answer.startswith(f"{kind} False "), answer  # refused, and not for want of memory


def test_the_bombs_would_explode(tmp_path):
    """Read without care, each of them is as large as it says."""
    content = gzip_bomb()
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        stream.seek(100 * 2**20)
        assert stream.read(10) == bytes(10)
    zip_bomb("a.npy", tmp_path / "zip")
    with zipfile.ZipFile(tmp_path / "zip") as archive, archive.open("a.npy") as stream:
        assert archive.getinfo("a.npy").file_size > (GIGABYTES - 1) * 10**9
        assert stream.read(6) == b"\x93NUMPY"
        assert len(stream.read(10**8)) == 10**8
