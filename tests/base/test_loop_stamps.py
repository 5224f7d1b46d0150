"""What is kept of a compiled loop is used as long as nothing that it is made of has changed, and no longer."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import flipproof as fp
from flipproof.base.own_imports import source_of, with_imports

SOURCE = Path(fp.__file__).parent
USERS_OF_COMPILED = [
    f"flipproof.{'.'.join(file.relative_to(SOURCE).with_suffix('').parts)}"
    for file in sorted(SOURCE.rglob("*.py"))
    if "\n@compiled" in file.read_text() or "\n@inlined" in file.read_text()
]
SAY_STAMPS = """
import json, sys
from flipproof.base.compiled import loop_stamp
print(json.dumps({module: loop_stamp(module) for module in sys.argv[1:]}))
"""
NOISE_LOOPS = {
    "noise.sampling.coins",
    "noise.sampling.bit_kernels",
    "noise.sampling.block_kernels",
    "noise.sampling.value_kernels",
    "models.fused.kernels",
}
EDITS = [
    # a sentence that no loop knows
    ("report/words/promises.py", set()),
    ("__init__.py", set()),
    # a loop that many others call
    (
        "noise/sampling/philox.py",
        {*NOISE_LOOPS, "noise.sampling.philox"},
    ),
    # the layout of the words, which every loop that draws relies on
    (
        "noise/sampling/counter.py",
        {*NOISE_LOOPS, "noise.sampling.philox"},
    ),
    # a loop that is called through another file
    ("noise/sampling/coins.py", NOISE_LOOPS - {"noise.sampling.block_kernels"}),
    ("models/fused/row_sums.py", {"models.fused.kernels"}),
    # a constant
    ("base/rounding.py", {"theory.kernels", "statistics.kernels"}),
]
WATCHED = sorted(
    {f"flipproof.{name}" for _, changed in EDITS for name in changed} | {"flipproof.noise.sampling.edge_kernels"}
)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of ours that can be changed."""
    target = tmp_path_factory.mktemp("src") / "flipproof"
    return Path(shutil.copytree(SOURCE, target, ignore=shutil.ignore_patterns("__pycache__")))


def stamps(package):
    """The stamps of the watched modules in a process with this package, which need not load them."""
    there = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", SAY_STAMPS, *WATCHED]
    return json.loads(subprocess.run(command, env=os.environ | there, capture_output=True, check=True).stdout)


@pytest.fixture(scope="module")
def before(package):
    return stamps(package)


@pytest.mark.parametrize(("edited", "changed"), EDITS)
def test_loops_are_compiled_anew_if_something_they_are_made_of_has_changed(edited, changed, package, before):
    file = package / edited
    text = file.read_text()
    file.write_text(f"{text}\n_ADDED = 1\n")
    after = stamps(package)
    file.write_text(text)
    assert {name for name in WATCHED if after[name] != before[name]} == {f"flipproof.{name}" for name in changed}


@pytest.mark.parametrize("module", USERS_OF_COMPILED)
def test_loops_are_made_of_few_files(module):
    """Else a change of anything would compile everything anew."""
    rooms = {name.split(".")[1] for name in with_imports([module])}
    assert rooms <= {"errors", "base", "theory", "noise", "statistics", "models"}
    assert len(with_imports([module])) <= 14


def test_imports_name_their_modules_in_full():
    """Others would not be found."""
    relative = [
        (str(file), node.lineno)
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_sources_are_found_by_the_names_of_modules():
    assert source_of("flipproof") == (SOURCE / "__init__.py").read_text()
    assert source_of("flipproof.noise") == (SOURCE / "noise" / "__init__.py").read_text()
    assert source_of("flipproof.theory.law") == (SOURCE / "theory" / "law.py").read_text()
    assert source_of("flipproof.theory.nothing") is None
