"""Nothing in a run folder can be changed so that `verify` confirms it, but for what the docs list.

Every field and every array is changed, one at a time, and all hashes are made to fit again.
"""

import json
import shutil

import pytest
from forging import ARCHIVES, Forgery, forge, json_forgeries, member_forgeries, members_of

import flipproof as fp
from flipproof.errors import FlipproofError

PROVENANCE = {
    ("run.json", "training.seconds"), ("run.json", "training.epochs"), ("run.json", "training.loss"),
    ("run.json", "training.validation_loss"), ("run.json", "training.validation_accuracy"),
    ("run.json", "training.versions"), ("run.json", "votes.seconds"), ("run.json", "votes.workers"),
    ("run.json", "task.training"), ("run.json", "task.model.dropout"), ("votes.npz", "run.seconds"),
    ("votes.npz", "run.drawn"),
}  # fmt: skip
"""How the model was trained, and how long things took: statements that nobody can check, and no claim rests on."""


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def all_forgeries(finished):
    for name in ("certificates.json", "run.json"):
        yield from json_forgeries(name, json.loads((finished / name).read_text()))
    for name in ARCHIVES:
        members = members_of(finished / name)
        for each in json_forgeries(name, json.loads(members["metadata.json"])):
            yield Forgery(name, ("metadata.json", "field", *each.path), each.change)
        yield from member_forgeries(name, members)
    size = (finished / "weights.safetensors").stat().st_size
    for place in (size - 1, size - 40, size // 2, 9):
        yield Forgery("weights.safetensors", (place,), 64)


def is_hash(forgery):
    """The forger states these himself."""
    return forgery.file in ("certificates.json", "run.json") and forgery.path[-1:] in STATED


STATED = [
    (name,) for name in ("arrays", "votes", "weights", "inputs", "record", "sha256", "weights_sha256", "inputs_sha256")
]


def is_provenance(forgery):
    path = ".".join(map(str, forgery.path[2:] if forgery.path[:2] == ("metadata.json", "field") else forgery.path))
    return any(forgery.file == file and (path == start or path.startswith(f"{start}.")) for file, start in PROVENANCE)


def confirmed(folder):
    try:
        return fp.verify(folder).confirmed
    except FlipproofError:
        return False


def test_there_are_hundreds_of_forgeries(finished):
    assert fp.verify(finished).confirmed
    assert len([each for each in all_forgeries(finished) if not is_hash(each)]) >= 450


@pytest.mark.parametrize("file", ["certificates.json", "run.json", *ARCHIVES, "weights.safetensors"])
def test_no_forgery_is_confirmed(finished, tmp_path, file):
    believed = []
    for number, forgery in enumerate(all_forgeries(finished)):
        if forgery.file == file and not is_hash(forgery):
            folder = shutil.copytree(finished, tmp_path / str(number))
            forge(folder, forgery)
            if confirmed(folder) and not is_provenance(forgery) and forgery.path != ("task", "dataset"):
                believed.append(forgery.words)
            shutil.rmtree(folder)
    assert not believed


def test_statements_about_the_past_are_bound_to_the_certificates(finished, tmp_path):
    """Whoever changes them has to change the certificates, too."""
    record = json.loads((finished / "run.json").read_text())
    forgeries = [each for each in json_forgeries("run.json", record) if is_provenance(each)]
    assert len(forgeries) > 10
    for number, forgery in enumerate(forgeries):
        folder = shutil.copytree(finished, tmp_path / str(number))
        stated = json.loads((folder / "certificates.json").read_text())
        forge(folder, forgery)
        (folder / "certificates.json").write_text(json.dumps(stated))
        assert not confirmed(folder), forgery.words
