"""A forger who changes one thing in a run folder at a time, and makes every hash fit again."""

import copy
import hashlib
import io
import json
import warnings
import zipfile
from typing import NamedTuple

import numpy as np

ARCHIVES = {"certificates.npz": "arrays", "votes.npz": "votes", "inputs.npz": "inputs"}
MORE = "more"


class Forgery(NamedTuple):
    """A file, the path of what is changed in it, and how."""

    file: str
    path: tuple
    change: object

    @property
    def words(self):
        return f"{self.file}: {'.'.join(map(str, self.path))}"


def json_forgeries(file, record):
    """Every field changed, and one added to every mapping and list."""
    for path, value in _walk(record, ()):
        yield Forgery(file, path, _other(value))


def _walk(value, path):
    yield path, value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        if not (isinstance(name, int) and name > 1):  # of long lists, the first two
            yield from _walk(each, (*path, name))


def _other(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value * 0.9 + 0.01
    if isinstance(value, str):
        return ("1" if value[:1] != "1" else "2") + value[1:]
    if isinstance(value, dict):
        return value | {MORE: 1}
    if isinstance(value, list):
        return [*value, value[-1] if value else 1]
    return 1


def changed(record, path, value):
    """A copy of a JSON value that is another one at a path."""
    if not path:
        return value
    record = copy.deepcopy(record)
    place = record
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return record


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members):
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in members:
            archive.writestr(name, content)


def npy(array):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(1, 0))
    return stream.getvalue()


def member_forgeries(file, members):
    """Every array changed at its ends, given another type or shape, doubled, hidden by another one, left out."""
    for name, content in members.items():
        yield Forgery(file, (name, "left out"), None)
        yield Forgery(file, (name, "twice"), None)
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            yield Forgery(file, (name.removesuffix(".npy"), "beside"), content)
            yield Forgery(file, (name, "longer"), npy(np.concatenate([array, array[-1:]])))
            yield Forgery(file, (name, "type"), npy(array.astype("<f8" if array.dtype != np.float64 else "<f4")))
            if array.size:
                for place in {0, array.size // 2, array.size - 1}:
                    yield Forgery(file, (name, place), npy(_nudged(array, place)))
    yield Forgery(file, (f"{MORE}.npy", "added"), npy(np.zeros(3)))
    yield Forgery(file, (MORE, "added"), b"anything")


def _nudged(array, place):
    array = array.copy()
    flat = array.reshape(-1)
    flat[place] = not flat[place] if array.dtype == bool else flat[place] + (0.01 if array.dtype.kind == "f" else 1)
    return array


def forge(folder, forgery):
    """Changes a run folder, and states the hashes that its files have then."""
    path = folder / forgery.file
    if path.suffix == ".json":
        record = changed(json.loads(path.read_text()), forgery.path, forgery.change)
        path.write_text(json.dumps(record))
    elif forgery.path[0] == "metadata.json" and len(forgery.path) > 1 and forgery.path[1] not in ("left out", "twice"):
        members = members_of(path)
        record = changed(json.loads(members["metadata.json"]), forgery.path[2:], forgery.change)
        write_members(path, (members | {"metadata.json": json.dumps(record).encode()}).items())
    elif path.suffix == ".npz":
        _forge_members(path, *forgery.path, forgery.change)
    else:
        content = bytearray(path.read_bytes())
        content[forgery.path[0]] ^= forgery.change
        path.write_bytes(content)
    state_all_hashes(folder)


def _forge_members(path, name, how, change):
    members = members_of(path)
    pairs = list(members.items())
    if how == "left out":
        pairs = [(each, content) for each, content in pairs if each != name]
    elif how == "twice":
        pairs.append((name, members[name]))
    elif how in ("beside", "added"):
        pairs.append((name, change))
    else:
        pairs = list((members | {name: change}).items())
    write_members(path, pairs)


def state_all_hashes(folder):
    """As a forger does who has read the source."""
    certificates, run = (json.loads((folder / name).read_text()) for name in ("certificates.json", "run.json"))

    def sha256(name):
        return hashlib.sha256((folder / name).read_bytes()).hexdigest()

    try:
        run["training"] |= {
            "weights_sha256": sha256("weights.safetensors"), "inputs_sha256": sha256("inputs.npz"),
        }  # fmt: skip
        run["votes"] |= {"sha256": sha256("votes.npz")}
        said = {name: run.get(name) for name in ("task", "dataset", "training", "votes")}
        certificates["hashes"] |= {
            "arrays": sha256("certificates.npz"), "votes": sha256("votes.npz"),
            "weights": sha256("weights.safetensors"), "inputs": sha256("inputs.npz"),
            "record": hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest(),
        }  # fmt: skip
    except (TypeError, KeyError):  # a section that is none any more
        return
    (folder / "run.json").write_text(json.dumps(run))
    (folder / "certificates.json").write_text(json.dumps(certificates))
