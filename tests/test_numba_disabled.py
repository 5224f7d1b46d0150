"""Without compiled loops there is no noise: NUMBA_DISABLE_JIT is refused in one line, also by the program."""

import os
import subprocess
import sys

import pytest

REFUSAL = "expected loops that numba may compile, got NUMBA_DISABLE_JIT=1; unset it"
RADIUS = "import flipproof as fp; fp.rho(fp.FlipNoise(.01, .6), fp.Radii(1), .9)"
VOTE = "import flipproof as fp; fp.vote(fp.FunctionClassifier(len, 2), [[0, 1]], fp.FlipNoise(.1, .2), 1, 1)"


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments],
        check=False,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("program", [RADIUS, VOTE])
def test_the_library_raises_its_own_error(program):
    caught = f"import flipproof\ntry:\n    {program}\nexcept flipproof.FlipproofError as error:\n    print(error)"
    assert run("-c", caught).stdout.strip() == REFUSAL


def test_the_command_line_says_it_in_one_line():
    main = "import sys; from flipproof.cli import main; sys.argv[0] = 'flipproof'; main()"
    done = run("-c", main, "radius", "--p-plus", "0.01", "--p-minus", "0.6", "--p-lower", "0.9")
    assert done.returncode == 2
    assert done.stderr.strip() == f"flipproof: {REFUSAL}"


def test_what_needs_no_loops_works():
    assert run("-c", "import flipproof as fp; print(fp.FlipNoise(.1, .2))").returncode == 0
