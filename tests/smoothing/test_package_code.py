"""Votes of two codes of ours are not mixed: which code counts, and what counts in it."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import flipproof as fp
from flipproof.base.own_imports import with_imports
from flipproof.smoothing.fingerprint.package_code import own_code, tokens_of
from flipproof.smoothing.voting.vote_task import model_identity

SOURCE = Path(fp.__file__).parent
RUN = """
    import sys
    import numpy as np
    from sklearn.naive_bayes import BernoulliNB
    import flipproof as fp

    rows = np.random.default_rng(0).integers(0, 2, (8, 6))
    classifier = fp.SklearnClassifier(BernoulliNB().fit(rows, rows[:, 0]))
    samples = int(sys.argv[2])
    try:
        votes = fp.vote(classifier, rows, fp.FlipNoise(0.1, 0.3), 20, samples, checkpoint=sys.argv[1], progress=False)
        print(votes.n_estimate, votes.run.identity["code"], votes.run.identity["model"])
    except fp.InvalidInputError as error:
        print(error)
"""


@pytest.fixture
def package(tmp_path):
    """A copy of ours that can be changed, without what was compiled."""
    leave = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
    return Path(shutil.copytree(SOURCE, tmp_path / "src" / "flipproof", ignore=leave))


def edit(file, old, new):
    text = file.read_text()
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def said_by(package, *arguments, code=RUN):
    """What a process with this package says."""
    there = {"PYTHONPATH": str(package.parent), "NUMBA_CACHE_DIR": str(package.parent / "compiled")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        env=os.environ | there, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


# Checkpoints


def test_a_changed_adapter_is_not_mixed_with_the_old_one(package, tmp_path):
    checkpoint = tmp_path / "run.ckpt"
    assert said_by(package, checkpoint, 30).startswith("30 ")
    before = checkpoint.read_bytes()
    edit(
        package / "models" / "adapters" / "sklearn_classifier.py",
        "        return self._numbers(predictions, rows_in(batch))\n",
        "        return 1 - self._numbers(predictions, rows_in(batch))\n",
    )
    refusal = said_by(package, checkpoint, 50)
    assert "run.ckpt of another: what turns noisy inputs into labels has changed in flipproof since: finish" in refusal
    assert refusal.endswith("or draw anew into another file (flipproof vote --force)")
    assert checkpoint.read_bytes() == before


def test_comments_docstrings_and_layout_are_not_code(package, tmp_path):
    checkpoint = tmp_path / "run.ckpt"
    first = said_by(package, checkpoint, 30)
    file = package / "models" / "adapters" / "sklearn_classifier.py"
    edit(
        file,
        "        return self._numbers(predictions, rows_in(batch))\n",
        "\n        # as they come\n        return self._numbers(\n"
        "            predictions, rows_in(batch))  # numbers\n\n",
    )
    edit(file, '"""The number of labels."""', '"""How many labels there are."""')
    then = said_by(package, checkpoint, 50)
    assert (first.split()[0], then.split()[0]) == ("30", "50")
    assert first.split()[1:] == then.split()[1:]


# Which code counts


def identities():
    """Codes of several classifiers, by what they are."""
    import torch
    from sklearn.naive_bayes import BernoulliNB

    from flipproof.models.fitted.linear_rows import LinearRows

    rows = np.eye(4, dtype=int)
    return {
        "function": model_identity(fp.FunctionClassifier(_first, 2))["code"],
        "other function": model_identity(fp.FunctionClassifier(_second, 2))["code"],
        "own": model_identity(Own())["code"],
        "sklearn": model_identity(fp.SklearnClassifier(BernoulliNB().fit(rows, [0, 1, 0, 1])))["code"],
        "linear": model_identity(LinearRows([[1.0, -1.0]], [0.5]))["code"],
        "torch": model_identity(fp.TorchClassifier(torch.nn.Linear(4, 2), 2))["code"],
        "cnn": model_identity(fp.TorchClassifier(fp.CNN((8, 8), 2), 2))["code"],
        "nodes": model_identity(fp.NodeClassifier(fp.GCN(4, 2), 2))["code"],
        "through a function": model_identity(fp.FunctionClassifier(fp.TorchClassifier(fp.CNN((8, 8), 2), 2), 2))[
            "code"
        ],
    }


def _first(rows):
    return rows[:, 0]


def _second(rows):
    return rows[:, 1]


class Own:
    classes = 2

    def __call__(self, rows):
        return rows[:, 0]


def test_code_is_that_of_the_way_of_a_classifier():
    found = identities()
    assert found["function"] == found["other function"]
    assert len(set(found.values())) == len(found) - 1
    assert all(len(bytes.fromhex(each)) == 32 for each in found.values())


def closure(*modules):
    """The models that count for some modules: the last parts of their names."""
    return {name.rpartition(".")[2] for name in with_imports(modules, "flipproof.models")}


def test_imports_inside_of_functions_are_found():
    assert {"nodes", "kernels", "heads", "row_sums", "node_modules"} <= closure(
        "flipproof.models.adapters.node_classifier"
    )
    assert "nodes" not in closure("flipproof.models.adapters.torch_classifier")
    assert closure("flipproof.models.fitted.forest_rows") == {"forest_rows", "forest_kernels", "row_arrays"}


CODES = """
    import sys
    from flipproof.smoothing.fingerprint.package_code import own_code

    print(own_code([f"flipproof.{name}" for name in sys.argv[1:]]))
"""


def test_the_code_of_a_kernel_counts_and_that_of_others_does_not(package):
    def codes():
        names = ["models.adapters.node_classifier", "models.fitted.forest_rows", "smoothing.voting.evaluation"]
        return [said_by(package, name, code=CODES) for name in names]

    nodes, forest, counting = codes()
    file = package / "models" / "fused" / "kernels.py"
    file.write_text(file.read_text() + "\nTWO = 2\n")
    assert [nodes != codes()[0], *codes()[1:]] == [True, forest, counting]
    edit(package / "smoothing" / "voting" / "evaluation.py", "_ROLES = {", "ROLES = _ROLES = {")
    assert [forest == codes()[1], counting == codes()[2]] == [True, False]


def test_code_may_move_inside_of_the_package(package):
    name = "models.fitted.forest_rows"
    before = said_by(package, name, code=CODES)
    (package / "models" / "loops").mkdir()
    (package / "models" / "loops" / "__init__.py").write_text('"""Compiled loops."""\n')
    (package / "models" / "fitted" / "forest_kernels.py").rename(package / "models" / "loops" / "zoo.py")
    edit(
        package / "models" / "fitted" / "forest_rows.py",
        "flipproof.models.fitted.forest_kernels import",
        "flipproof.models.loops.zoo import",
    )
    assert said_by(package, name, code=CODES) == before
    edit(package / "models" / "loops" / "zoo.py", "from typing import Any, NamedTuple\n", "from typing import Any\n")
    assert said_by(package, name, code=CODES) != before


def test_the_code_of_a_run_has_a_source_for_every_module():
    """Modules that are not there would all look alike."""
    assert own_code(["flipproof.models.fitted.linear_rows"]) != own_code(["flipproof.models.no_such_module"])
    assert own_code(["numpy"]) == own_code([])


# What counts in it


def test_what_is_not_code():
    one = '''"""A module."""
from __future__ import annotations

import numpy as np

from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.base.values import (
    IntArray,
)

LIMIT = 3
"""How far."""


def double(value: int) -> int:
    """Twice."""
    # why not
    return (
        2
        * value  # twice
    )
'''
    other = """from __future__ import annotations
import numpy as np
from flipproof.base.values import IntArray
from flipproof.errors import InvalidInputError
from flipproof.other import FileFormatError
LIMIT = 3
def double(value: int) -> int:
  return (2 * value)
"""
    assert tokens_of(one) == tokens_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if a:\n    b()\nc()\n", "if a:\n    b()\n    c()\n"),
        ("a = 'x'\n", "a = 'y'\n"),
        ("a = f'{x} y'\n", "a = f'{x}  y'\n"),
        ("a = b c\n".replace(" c", " + c"), "a = b - c\n"),
        ("from flipproof.x import a\n", "from flipproof.x import b\n"),
        ("from flipproof.x import a as c\n", "from flipproof.x import b as c\n"),
        ("import numpy as np\n", "import scipy as np\n"),
        ("def f():\n    'Says.'\n    return 1\n", "def f():\n    'Says.'\n    return 'Says.'\n"),
        ("a = 1\n", "a = 1.0\n"),
        ("ab = 1\n", "a.b = 1\n"),
    ],
)
def test_what_is_code(one, other):
    assert tokens_of(one) != tokens_of(other)


def test_formatted_texts_are_one_token():
    """As in all versions of Python: their inside is as it is written, whatever tokens it is made of."""
    assert tokens_of('a = f"x{b + f(\'{c}\')}y" "z"\n') == ("a", "=", "f\"x{b + f('{c}')}y\"", '"z"', "<line>")
    assert tokens_of('a = f"""x{\n    b}"""\n') == ("a", "=", 'f"""x{\n    b}"""', "<line>")


def test_our_own_modules_can_all_be_read():
    for file in sorted((SOURCE / "models").rglob("*.py")):
        source = file.read_text()
        tokens = tokens_of(source)
        assert tokens.count("<indent>") == tokens.count("<dedent>")
        assert (tokens[:1] in ((), ("PUBLIC",))) == (file.name == "__init__.py")
