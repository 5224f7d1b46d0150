"""What is read is never run: the source of the package has no way to do it, apart from the few that are listed here."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "flipproof"
PICKLES = {"pickle", "cloudpickle", "dill", "joblib"}
MESSAGES = {"smoothing/workers/worker_main.py", "smoothing/workers/ray_worker.py"}
"""Messages between processes of one run, which started each other; never files."""
OWN_LOOPS = {"base/compiled.py"}
"""Compiled loops, from files that only this user can have written: machine code, which is there to be run."""
NAMED_CODE = {"pipeline/models.py"}
"""The model that a user names on the command line."""

FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "execfile"}
FORBIDDEN_MODULES = {"yaml", "shelve", "marshal", "dill", "joblib"}
FORBIDDEN_METHODS = {
    "extract", "extractall", "extractfile", "unpack_archive", "mktemp", "_create_unverified_context",
    "fromfile", "literal_eval", "read_pickle",
}  # fmt: skip


def problems_of(code, file):
    """Every way in which the code of a file could run what it reads."""
    allowed = PICKLES if file in MESSAGES | OWN_LOOPS else set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            imported = {name.partition(".")[0] for name in names}
            yield from (f"imports {name}" for name in imported & FORBIDDEN_MODULES)
        if isinstance(node, ast.Attribute):
            if node.attr in ("load", "loads", "Unpickler") and ast.unparse(node.value) in PICKLES - allowed:
                yield ast.unparse(node)
            if node.attr in FORBIDDEN_METHODS:
                yield node.attr
            if node.attr == "exec_module" and file not in NAMED_CODE:
                yield node.attr
        if isinstance(node, ast.Call):
            yield from problems_of_call(node)


def problems_of_call(node):
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    called = ast.unparse(node.func)
    if isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
        yield called
    of_torch = called.endswith(".load") and "torch" in called and "safetensors" not in called
    if of_torch and given.get("weights_only") != "True":
        yield f"{called} without weights_only"
    if called in ("np.load", "numpy.load", "os.system", "os.popen"):
        yield called
    for name, value in (("allow_pickle", "False"), ("shell", "False"), ("verify", "True")):
        if given.get(name, value) != value:
            yield f"{name}={given[name]}"


FILES = sorted(path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES)
def test_no_file_is_a_program(file):
    assert list(problems_of((SOURCE / file).read_text(), file)) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle\npickle.loads(x)", "import cloudpickle\ncloudpickle.load(x)", "pickle.Unpickler(x)", "eval(x)",
        "exec(x)", "compile(x, '', 'exec')", "import yaml", "from yaml import safe_load", "import marshal",
        "import shelve", "torch.load(x)", "require('torch').load(x, weights_only=False)", "np.load(x)",
        "read(x, allow_pickle=True)", "archive.extractall()", "archive.extract(x)", "tar.extractfile(x)",
        "run(x, shell=True)", "os.system(x)", "spec.loader.exec_module(x)", "ssl._create_unverified_context()",
    ],
)  # fmt: skip
def test_the_search_finds(code):
    assert list(problems_of(code, "other.py"))


def test_what_is_listed_is_needed():
    for file in MESSAGES | OWN_LOOPS | NAMED_CODE:
        assert list(problems_of((SOURCE / file).read_text(), "other.py")), f"{file} need not be listed"
