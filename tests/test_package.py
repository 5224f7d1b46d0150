"""The package as a whole: what it exports, what it imports, and that its documents tell the truth."""

import ast
import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import flipproof as fp

ROOT = Path(__file__).parent.parent
needs_data = pytest.mark.skipif("FLIPPROOF_DATA" not in os.environ, reason="needs the datasets: set FLIPPROOF_DATA")


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_importing_is_light():
    heavy = ("torch", "numpy", "scipy", "numba", "matplotlib", "rich", "typer", "pandas", "sklearn")
    assert run_python(f"import sys, flipproof; print([m for m in {heavy} if m in sys.modules])").strip() == "[]"


def test_nothing_imports_scipy_stats():
    code = (
        "import sys, flipproof as fp\n"
        "votes = fp.Votes.from_counts(selection=[[9, 1]], estimation=[[90, 10]], noise=fp.FlipNoise(0.1, 0.2))\n"
        "fp.certify(votes).certified_ratio(add=range(2))\n"
        "print('scipy.stats' in sys.modules, 'scipy.special' in sys.modules)"
    )
    assert run_python(code).split() == ["False", "True"]


def test_the_api_page_lists_exactly_the_exported_names():
    page = (ROOT / "docs" / "api.md").read_text()
    listed = re.findall(r"^\| `(\w+)", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(fp.__all__)
    assert all(hasattr(fp, name) for name in fp.__all__)


def test_type_checkers_see_the_exported_names():
    source = Path(fp.__file__).read_text()
    assert sorted(re.findall(r" as ([A-Za-z]\w*)$", source, flags=re.MULTILINE)) == fp.__all__
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(fp, "noth" + "ing")


def blocks(document, language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)


@pytest.mark.parametrize("document", ["README.md", "docs/cli.md"])
def test_commands_in_the_documents_print_what_they_say(document, tmp_path):
    """A `console` block is a command after `$` and its exact output."""
    fp.Votes.from_counts(
        selection=[[98, 2, 0], [60, 30, 10]], estimation=[[9900, 80, 20], [6100, 3000, 900]],
        noise=fp.FlipNoise(0.01, 0.6),
    ).save(tmp_path / "votes.npz")  # fmt: skip
    found = blocks(document, "console")
    assert found
    for block in found:
        for command, expected in re.findall(r"^\$ (.*?)\n(.*?)(?=^\$ |\Z)", block, flags=re.DOTALL | re.MULTILINE):
            program, *arguments = shlex.split(command)
            done = subprocess.run(
                [str(Path(sys.executable).parent / program), *arguments],
                capture_output=True, text=True, cwd=tmp_path, check=False,
            )  # fmt: skip
            assert _plain(done.stdout + done.stderr) == _plain(expected), command


def _plain(text):
    return [line.rstrip() for line in text.splitlines() if line.strip()]


PAGES = (
    "README.md",
    "docs/baselines.md",
    "docs/certificates.md",
    "docs/cli.md",
    "docs/graphs.md",
    "docs/report.md",
    "docs/votes.md",
)


def test_python_in_the_documents_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    """What a line prints stands behind it as a comment."""
    monkeypatch.chdir(tmp_path)
    found = [block for page in PAGES for block in blocks(page, "python")]
    assert len(found) == 17
    for block in found:
        exec(compile(block, "README.md", "exec"), {})
        expected = re.findall(r"^print\(.*# (.*)$", block, flags=re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == expected


def test_it_works_where_nothing_can_be_cached():
    """As in a container: the package is read-only, and there is no home."""
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "import flipproof as fp\n"
        "print(fp.largest_radius(fp.FlipNoise(0.01, 0.6), 0.99, along='delete'))"
    )
    assert run_python(code).strip() == "7"


def test_the_version_is_known():
    assert re.match(r"\d+\.\d+", fp.__version__)


def run_example(name, *arguments):
    """The accuracy that an example prints."""
    command = [sys.executable, str(ROOT / "examples" / name), *arguments]
    one_thread = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # tests share the cores
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
    return float(re.search(r"smoothed classifier: ([\d.]+)", done.stdout).group(1))


def test_the_digits_example_runs(tmp_path):
    assert run_example("digits_votes.py", str(tmp_path / "votes.npz"), "200") > 0.7
    assert fp.Votes.load(tmp_path / "votes.npz").n_estimate == 200


def test_the_table_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example("table_cells.py", "200") > 0.9
    assert (tmp_path / "table_cells.html").exists()


@needs_data
@pytest.mark.parametrize(("model", "accuracy"), [("usual", 0.95), ("forest", 0.92)])
def test_the_spam_example_runs(model, accuracy, tmp_path, monkeypatch):
    """Always answering "ham" would have 0.87."""
    monkeypatch.chdir(tmp_path)
    assert run_example("spam_words.py", "200", model) > accuracy
    assert (tmp_path / "spam_words.html").exists()


def test_the_nodes_example_runs():
    assert run_example("nodes_votes.py", "200") > 0.7


@pytest.mark.parametrize("dataset", ["digits", "digits-grey"])
def test_the_images_example_runs(dataset, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example("images.py", dataset, "100") > 0.6
    assert (tmp_path / "images.html").exists()


@needs_data
def test_the_molecules_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example("molecules.py", "100") > 0.6
    assert (tmp_path / "molecules.html").exists()


@needs_data
@pytest.mark.parametrize("noise", ["masking", "substitution"])
def test_the_sequences_example_runs(noise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_example("spam_sequences.py", "100", noise) > 0.85
    assert (tmp_path / "spam_sequences.html").exists()


def test_examples_are_short():
    for path in sorted((ROOT / "examples").glob("*.py")):
        assert len(path.read_text().splitlines()) <= 40, path.name


SCRIPTS = [path for folder in ("benchmarks", "examples", "fuzz") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_import_names_that_are_there(script):
    """Benchmarks and fuzz targets are run seldom, so they would not be missed for long."""
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "flipproof":
            module = importlib.import_module(node.module)
            missing = [name.name for name in node.names if not hasattr(module, name.name)]
            assert all(importlib.util.find_spec(f"{node.module}.{name}") for name in missing), missing
