"""Certificates that ask for far more work, or far more memory, than they are worth."""

import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from certificates_of import rewrite_arrays, rewrite_json, state_hash
from forging import members_of, npy, write_members

import flipproof as fp
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.verification.check import verify
from flipproof.verification.limits import Shelf
from flipproof.verification.verdicts import Verdict

MOST_MEGABYTES = 300


def saved(folder, noise, inputs=200, n_estimate=100_000):
    estimation = [[n_estimate - i, i] for i in range(inputs)]
    votes = fp.Votes.from_counts(
        selection=[[9, 1]] * inputs, estimation=estimation, noise=noise, n_select=10, n_estimate=n_estimate
    )
    fp.certify(votes).save(folder / "certificates.json")
    return folder / "certificates.json"


def huge_radii(folder):
    """Radii for which exact arithmetic has millions of digits."""
    path = saved(folder, fp.FlipNoise(0.1, 0.9 - 1e-9))
    growing = {f"max_{kind}": lambda radii: radii.__setitem__(slice(None), 100 + 4 * np.arange(200)) for kind in KINDS}
    rewrite_arrays(path.with_suffix(".npz"), **growing)
    state_hash(path)


KINDS = ("add", "delete", "any")


def many_kinds(folder):
    """A noise of many parts, and changes that are shared among them in more ways than anybody can count."""
    path = saved(folder, fp.JointNoise(**{f"p{i}": fp.FlipNoise(0.1 + i / 100, 0.3, 3) for i in range(8)}))
    rewrite_arrays(path.with_suffix(".npz"), max_any=lambda radii: radii.fill(40))
    state_hash(path)


def trillions_of_samples(folder):
    """Sums with billions of terms."""
    path = saved(folder, fp.FlipNoise(0.01, 0.6), inputs=40)
    members = members_of(path.with_suffix(".npz"))
    votes = np.array([[10**14 + 977 * i, 10**13 - 7919 * i] for i in range(40)])
    write_members(path.with_suffix(".npz"), (members | {"estimation.npy": npy(votes.astype("<i8"))}).items())
    state_hash(path)
    rewrite_json(path, lambda record: record["samples"]["estimate"].update(count=2 * 10**14))


def many_inputs(folder):
    """As many rows as a file may unpack to, all of them different, from columns that are easily packed."""
    path = saved(folder, fp.FlipNoise(0.01, 0.6), inputs=251)
    members, inputs = members_of(path.with_suffix(".npz")), 250_000
    for name, content in members.items():
        if name.endswith(".npy"):
            array = np.load(io.BytesIO(content))
            period = 257 if name == "p_upper.npy" else 251
            members[name] = npy(np.resize(array[:period], (inputs, *array.shape[1:])).astype(array.dtype))
    with zipfile.ZipFile(path.with_suffix(".npz"), "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    rewrite_json(path, lambda record: record.update(inputs=inputs))
    state_hash(path)


def many_classes(folder):
    """False claims with thousands of counts each."""
    counts = np.zeros((1000, 4100), int)
    counts[:, 0], counts[np.arange(1000), 1 + np.arange(1000)] = 90, 10
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.01, 0.6))
    fp.certify(votes).save(folder / "certificates.json")
    rewrite_arrays(folder / "certificates.npz", p_lower=lambda bounds: bounds.fill(0.9999))  # which packs all of it
    state_hash(folder / "certificates.json")


BOMBS = [huge_radii, many_kinds, trillions_of_samples, many_inputs, many_classes]
CHILD = """
import json, re, sys
from flipproof.verification.check import verify
check = verify(sys.argv[1], arithmetic_only=True, minutes=0.05)
status = open("/proc/self/status").read()
print(json.dumps([check.confirmed, int(re.search(r"VmHWM:\\s*(\\d+)", status)[1]) // 1024]))
"""


@pytest.mark.parametrize("bomb", BOMBS, ids=[bomb.__name__ for bomb in BOMBS])
def test_a_small_file_takes_little_memory_and_is_not_confirmed(tmp_path, bomb):
    bomb(tmp_path)
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 10**6
    done = subprocess.run([sys.executable, "-c", CHILD, str(tmp_path)], capture_output=True, text=True, check=True)
    confirmed, megabytes = json.loads(done.stdout)
    assert not confirmed
    assert megabytes < MOST_MEGABYTES


@pytest.mark.parametrize("bomb", BOMBS, ids=[bomb.__name__ for bomb in BOMBS])
def test_without_time_nothing_is_checked(tmp_path, bomb):
    bomb(tmp_path)
    check = verify(tmp_path, arithmetic_only=True, minutes=0)
    assert {finding.verdict for finding in check.findings} == {Verdict.UNCHECKED}
    assert not check.confirmed


def test_what_unpacks_to_far_more_than_it_is_is_refused(tmp_path):
    path = saved(tmp_path, fp.FlipNoise(0.01, 0.6))
    members = members_of(path.with_suffix(".npz"))
    write_members(path.with_suffix(".npz"), (members | {"label.npy": npy(np.zeros(10**7, np.int64))}).items())
    state_hash(path)
    with pytest.raises(FileFormatError, match="that unpack to"):
        verify(path, arithmetic_only=True)


@pytest.mark.parametrize("item", [b"[]", b'""'])
def test_descriptions_of_a_million_things_are_refused(tmp_path, item):
    path = saved(tmp_path, fp.FlipNoise(0.01, 0.6))
    members = members_of(path.with_suffix(".npz"))
    text = b'{"a": [' + b", ".join([item] * 10**6) + b"]}"
    write_members(path.with_suffix(".npz"), (members | {"metadata.json": text}).items())
    state_hash(path)
    with pytest.raises(FileFormatError, match="a description of more than"):
        verify(path, arithmetic_only=True)


def test_what_flipproof_writes_is_no_bomb(tmp_path):
    """A million votes for one label pack well; the file must not look like a bomb."""
    counts = np.zeros((300_000, 2), int)
    counts[:, 0] = 10
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.01, 0.6))
    fp.certify(votes).save(tmp_path / "certificates.json")
    check = verify(tmp_path, arithmetic_only=True, minutes=0)
    assert len(check.findings) == 300_000


@pytest.mark.parametrize("minutes", [-1, float("nan"), float("inf"), "5", None, True])
def test_minutes_that_are_none_are_refused(tmp_path, minutes):
    path = saved(tmp_path, fp.FlipNoise(0.01, 0.6), inputs=2)
    with pytest.raises(InvalidInputError, match="minutes"):
        verify(path, minutes=minutes)


def test_a_shelf_has_no_more_than_its_room():
    shelf, made = Shelf(room=10), []

    def make(key):
        made.append(key)
        return key

    for key in ("a", "b", "a", "c", "a", "large", "a"):
        assert shelf.get(key, 20 if key == "large" else 4, lambda key=key: make(key)) == key
    assert made == ["a", "b", "c", "large", "a"]
