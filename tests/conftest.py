"""Shared by all tests: a catalogue of noises with everything special about them, and seeded randomness."""

import os
import signal
import subprocess
import sys
from pathlib import Path

# Processes that compile at the same time would write over each other's files.
os.environ.setdefault(
    "NUMBA_CACHE_DIR", f"{Path(__file__).parents[1]}/.numba/{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
)

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, settings

import flipproof as fp
from flipproof import cli

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # tests that a shell runs in the background ignore Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.load_profile("default")

NOISES = {
    "paper": fp.FlipNoise(0.01, 0.6),
    "structure": fp.FlipNoise(0.001, 0.4),
    "symmetric": fp.FlipNoise(0.1, 0.1),
    "deletion only": fp.FlipNoise(0.0, 0.8),
    "addition only": fp.FlipNoise(0.3, 0.0),
    "none": fp.FlipNoise(0.0, 0.0),
    "all": fp.FlipNoise(1.0, 1.0),
    "all zeros flip": fp.FlipNoise(1.0, 0.3),
    "sum one": fp.FlipNoise(0.25, 0.75),
    "sum almost one": fp.FlipNoise(0.3, 0.7),
    "sum above one": fp.FlipNoise(0.7, 0.8),
    "tiny": fp.FlipNoise(1e-300, 0.5),
    "ternary": fp.FlipNoise(0.1, 0.3, 3),
    "ternary symmetric": fp.FlipNoise(0.4, 0.4, 3),
    "ternary deletion": fp.FlipNoise(0.0, 0.6, 3),
    "ternary certain": fp.FlipNoise(1.0, 0.5, 3),
    "quaternary uniform": fp.FlipNoise(0.75, 0.75, 4),
    "quaternary half uniform": fp.FlipNoise(0.2, 0.75, 4),
    "quaternary uniform zeros": fp.FlipNoise(0.75, 0.2, 4),
    "levels": fp.FlipNoise(0.3, 0.8, 256),
    "levels symmetric": fp.FlipNoise(0.8, 0.8, 256),
    "joint": fp.JointNoise(structure=fp.FlipNoise(0.002, 0.4), attributes=fp.FlipNoise(0.002, 0.6)),
    "joint same": fp.JointNoise(a=fp.FlipNoise(0.1, 0.3), b=fp.FlipNoise(0.1, 0.3)),
    "joint deletion": fp.JointNoise(a=fp.FlipNoise(0.0, 0.5), b=fp.FlipNoise(0.2, 0.6)),
    "joint mixed": fp.JointNoise(a=fp.FlipNoise(0.05, 0.4), b=fp.FlipNoise(0.1, 0.5, 3), c=fp.FlipNoise(0.0, 0.7, 5)),
}


@pytest.fixture(params=NOISES, scope="session")
def noise(request):
    """Every noise of the catalogue in turn."""
    return NOISES[request.param]


@pytest.fixture
def rng(request):
    """Randomness that depends on nothing but the test's name."""
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def run(capsys, monkeypatch):
    """Runs the program in this process; returns (exit code, stdout, stderr)."""

    def runner(*arguments):
        monkeypatch.setattr(sys, "argv", ["flipproof", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        return exit_.value.code or 0, captured.out, captured.err

    return runner


@pytest.fixture(scope="session")
def cora_ml():
    """The real graph, as the paper uses it."""
    if not (Path(os.environ.get("FLIPPROOF_DATA", ".")) / "cora_ml.npz").is_file():
        pytest.skip("needs cora_ml.npz in FLIPPROOF_DATA")
    return fp.datasets.load("cora_ml", download=False)


@pytest.fixture(scope="session")
def planted(tmp_path_factory):
    """A saved graph of 90 nodes in three groups that edges and words tell apart."""
    draw = np.random.default_rng(7)
    labels = np.repeat([0, 1, 2], 30)
    same = labels[:, None] == labels
    upper = np.triu(draw.random((90, 90)) < np.where(same, 0.15, 0.01), 1)
    words = draw.random((90, 24)) < np.where(labels[:, None] == np.arange(24) % 3, 0.4, 0.05)
    data = fp.datasets.from_scipy(sp.csr_array((upper | upper.T).astype(np.float32)), words.astype(int), labels)
    path = tmp_path_factory.mktemp("planted") / "planted.npz"
    data.save(path)
    return path


@pytest.fixture(scope="session")
def finished(planted, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "finished"
    asked = ["--hidden", 16, "--epochs", 60, "--train-per-class", 5, "--validation-per-class", 5, "--no-report"]
    few = ["--samples", 2000, "--select-samples", 200, "--p-plus", 0.02, "--p-minus", 0.3]
    arguments = ["run", "--dataset", planted, "--out", path, *asked, *few]
    program = str(Path(sys.executable).parent / "flipproof")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)
    return path
