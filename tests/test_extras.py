"""Models need packages that may not be there, and say so only when they are used."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from flipproof.errors import FlipproofError
from flipproof.extras import _EXTRAS, MissingExtraError, check_installed, require

ADAPTERS = ["sklearn_classifier", "torch_classifier", "node_classifier", "graph_classifier"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_importing_the_adapters_imports_no_framework():
    imports = "".join(f"import flipproof.models.adapters.{name}\n" for name in ADAPTERS)
    heavy = ("torch", "torch_geometric", "sklearn", "networkx")
    assert run_python(f"import sys\n{imports}print([m for m in {heavy} if m in sys.modules])") == "[]"


def test_without_torch_the_extra_is_named():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from flipproof.extras import MissingExtraError\n"
        "from flipproof.models.adapters.graph_classifier import GraphClassifier\n"
        "from flipproof.models.adapters.node_classifier import NodeClassifier\n"
        "from flipproof.models.adapters.torch_classifier import TorchClassifier\n"
        "for adapter in (GraphClassifier, NodeClassifier, TorchClassifier):\n"
        "    try: adapter(None, classes=2)\n"
        "    except MissingExtraError as error: print(error)\n"
    )
    lines = run_python(code).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith('expected torch to be installed, got "')
        assert line.endswith(': pip install "flipproof[torch]"')


@pytest.mark.parametrize(
    ("module", "extra"), [("sklearn.ensemble", "sklearn"), ("torch_geometric.nn", "graphs"), ("networkx", "graphs")]
)
def test_a_missing_package_names_its_extra(module, extra, monkeypatch):
    package = module.partition(".")[0]
    for name in (package, module):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        MissingExtraError, match=rf'expected {package} to be .* pip install "flipproof\[{extra}\]"$'
    ) as info:
        require(module)
    assert isinstance(info.value, FlipproofError)
    assert isinstance(info.value, ImportError)
    assert info.value.name == package


def test_all_missing_packages_are_named_in_one_message(monkeypatch):
    for name in ("torch", "safetensors", "plotly"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as info:
        check_installed("numpy", "torch", "safetensors", "plotly")
    said, what_to_do = str(info.value).split(": ")
    assert said == "expected torch, safetensors and plotly to be installed, got none of them"
    assert what_to_do == 'pip install "flipproof[report,torch]"'


def test_extras_of_the_project_have_the_packages_that_messages_promise():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    packages = {"sklearn": "scikit-learn", "ray": "ray"}
    for module, extra in _EXTRAS.items():
        assert any(line.startswith(packages.get(module, module)) for line in extras[extra]), (module, extra)
