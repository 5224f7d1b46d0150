"""Certificates of all kinds for the checker's tests, and hands that tamper with their files."""

import hashlib
import io
import json
import zipfile

import numpy as np

import flipproof as fp

NOISES = {
    "binary": fp.FlipNoise(0.01, 0.6),
    "deletion": fp.FlipNoise(0.0, 0.8),
    "above one": fp.FlipNoise(0.8, 0.7),
    "inert": fp.FlipNoise(0.5, 0.5),
    "ternary": fp.FlipNoise(0.1, 0.4, 3),
    "joint": fp.JointNoise(a=fp.FlipNoise(0.001, 0.4), b=fp.FlipNoise(0.1, 0.5, 5)),
}


def random_votes(rng, noise, classes=4, inputs=60, n_select=100, n_estimate=2000):
    """From certain to undecided, and some inputs with few votes or none."""
    p = np.sort(rng.dirichlet([2.0, *[0.1] * (classes - 1)], size=inputs))[:, ::-1]
    selection, estimation = rng.multinomial(n_select, p), rng.multinomial(n_estimate, p)
    selection[0], estimation[1], estimation[2] = 0, 0, estimation[2] // 2
    if classes > 1:
        selection[3] = 0, *[25] * (classes - 1)  # a label without votes to bound it
        estimation[3] = n_estimate, *[0] * (classes - 1)
    return fp.Votes.from_counts(
        selection=selection, estimation=estimation, noise=noise, n_select=n_select, n_estimate=n_estimate
    )


def rewrite_json(path, change):
    """Edits a JSON file."""
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


def rewrite_arrays(path, **changes):
    """Edits arrays of an npz file, and leaves the rest as it is."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        array = np.load(io.BytesIO(members[f"{name}.npy"])).copy()
        change(array)
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array, version=(1, 0))
        members[f"{name}.npy"] = stream.getvalue()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def state_hash(path):
    """Makes `certificates.json` state the hash that its arrays have now, as a careful forger would."""
    digest = hashlib.sha256(path.with_suffix(".npz").read_bytes()).hexdigest()
    rewrite_json(path, lambda record: record["hashes"].update(arrays=digest))
