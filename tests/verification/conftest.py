"""A finished run, made once for all tests of the checker."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def finished(planted, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "finished"
    asked = ["--hidden", 16, "--epochs", 60, "--train-per-class", 5, "--validation-per-class", 5, "--no-report"]
    few = ["--samples", 2000, "--select-samples", 200, "--p-plus", 0.02, "--p-minus", 0.3]
    arguments = ["run", "--dataset", planted, "--out", path, *asked, *few]
    program = str(Path(sys.executable).parent / "flipproof")
    subprocess.run([program, *map(str, arguments)], check=True, capture_output=True)
    return path
