"""Every loader of files, with a small real file: the table that all hostile inputs go through."""

import io
import struct
import warnings
import zipfile
import zlib
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import flipproof as fp
from flipproof.cli.table_values import targets_of
from flipproof.datasets import GraphDataset, ImageDataset, NodeDataset
from flipproof.datasets.loading import kind_of_file
from flipproof.reproduction.pages.rows import read_rows, write_rows
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.split import Inputs, Split
from flipproof.run_folder.split_file import read_split
from flipproof.smoothing.result_files import read_promise
from flipproof.smoothing.voting.checkpoint import Checkpoint, peek_identity
from flipproof.smoothing.voting.vote_counts import VoteCounts

NOISE = fp.FlipNoise(0.01, 0.6)
IDENTITY = {"seed": 0}


@dataclass(frozen=True)
class Loader:
    """Writes a small file, and reads one. `name` is what the file has to be called."""

    name: str
    write: object
    read: object


def votes():
    return fp.Votes.from_counts(selection=[[9, 1], [5, 5]], estimation=[[90, 10], [2, 98]], noise=NOISE)


def write_checkpoint(path):
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        checkpoint.add(VoteCounts.of("estimate", range(10), [[9, 1]]))


def read_checkpoint(path):
    with Checkpoint.open(path, IDENTITY) as checkpoint:
        return checkpoint.vote_counts


def inputs():
    labels = np.array([0, 1, 1, 0])
    return Inputs(labels, Split([0], [1], [2, 3]), labels, ("cat", "dog"))


def nodes():
    return NodeDataset("mine", sp.csr_array([[0, 1], [1, 0]]), np.array([[0.5], [1.0]]), [0, 1])


def graphs():
    return GraphDataset("mine", ([[0, 1], [1, 0]], [[], []]), ([0, 1], [1]), [0, 1])


def images():
    pixels = np.arange(8, dtype=np.uint8).reshape(2, 2, 2)
    return ImageDataset("mine", pixels, [0, 1], pixels, [0, 1])


def write_parquet(path):
    pq.write_table(pa.table({"a": ["u", "v"], "label": ["x", "y"]}), path)


def write_some_rows(path):
    found = {"scale": "quick", "made": {}, "rows": [{"measure": "m", "value": 1.0}]}
    write_rows(path.with_suffix(""), found)


ARCHIVES = {
    "votes": Loader("votes.npz", lambda path: votes().save(path), fp.Votes.load),
    "inputs": Loader("inputs.npz", lambda path: inputs().save(path), Inputs.load),
    "nodes": Loader("nodes.npz", lambda path: nodes().save(path), fp.datasets.load),
    "graphs": Loader("graphs.npz", lambda path: graphs().save(path), fp.datasets.load),
    "images": Loader("images.npz", lambda path: images().save(path), fp.datasets.load),
}
JSON_FILES = {
    "run folder": Loader(
        "run.json",
        lambda path: RunFolder.prepare(path.parent).begin(task={"kind": "nodes"}),
        lambda path: RunFolder.open(path.parent),
    ),
    "certificates": Loader("certificates.json", lambda path: fp.certify(votes()).save(path), read_promise),
    "checked certificates": Loader("certificates.json", lambda path: fp.certify(votes()).save(path), fp.verify),
    "rows": Loader("rows.json", write_some_rows, read_rows),
}
TEXTS = {
    "table": Loader("mine.csv", lambda path: path.write_text("a,label\n1,x\n2,y\n"), fp.datasets.load),
    "messages": Loader("mine.tsv", lambda path: path.write_text("ham\thello\nspam\tbye\n"), fp.datasets.load),
}
OTHERS = {
    "parquet": Loader("mine.parquet", write_parquet, fp.datasets.load),
    "split": Loader("split.txt", lambda path: path.write_text("train\ntest\n"), lambda path: read_split(str(path), 2)),
    "targets": Loader("targets.txt", lambda path: path.write_text("3\n7-9\n"), lambda path: targets_of(str(path))),
}
JOURNALS = {
    "checkpoint": Loader("run.ckpt", write_checkpoint, read_checkpoint),
    "peek": Loader("run.ckpt", write_checkpoint, peek_identity),
}
LOADERS = ARCHIVES | JSON_FILES | TEXTS | OTHERS | JOURNALS
KINDS = dict.fromkeys(("nodes", "graphs", "images"), kind_of_file)


def refusal(loader, path):
    """The line that a loader refuses a file with. It is short, plain, and begins as all of them do."""
    try:
        loader.read(path)
    except (fp.FileFormatError, fp.OutputError, fp.InvalidInputError) as error:
        line = str(error)
    else:
        raise AssertionError(f"{path.name} was read")
    if not (line.startswith("expected ") and line.isprintable() and len(line) <= 1_010):
        raise AssertionError(f"{line[:2000]!r} is no good line")
    return line


def members_of(path):
    """The members of a zip, in order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zip_again(path, members):
    """Writes a zip of these members, of which some may have the same name."""
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore")  # names that are there twice
        for name, content in members:
            archive.writestr(name, content)


def first_array(path):
    """The name of an array that every loader of such files needs."""
    return next(name for name in members_of(path) if name.endswith("labels.npy") or name == "selection.npy")


def npy(header, content=b""):
    """An array with any header."""
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + content


def deflated_zeros(mebibytes):
    """So many MiB of zeros, deflated, without ever having them in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    once = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return once + again * (mebibytes - 1) + packer.flush(zlib.Z_FINISH)


def bomb(path, name, mebibytes):
    """Replaces a member of a zip by one that unpacks to so many MiB. Only its checksum is wrong."""
    members = members_of(path)
    shape = mebibytes * 2**20 // 8
    start = npy(f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({shape},), }}")
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH) + deflated_zeros(mebibytes)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for each, inside in members.items():
            archive.writestr(each, content if each == name else inside)
        info = archive.getinfo(name)
        info.compress_type, info.file_size = zipfile.ZIP_DEFLATED, len(start) + mebibytes * 2**20
    raw = bytearray(file.getvalue())
    place = info.header_offset  # the local header must say the same
    raw[place + 8 : place + 10] = struct.pack("<H", zipfile.ZIP_DEFLATED)
    path.write_bytes(raw)
