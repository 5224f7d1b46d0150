"""Documents, docstrings and comments name only files and modules that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "flipproof"
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "Makefile"])
CODE = sorted(
    path for room in ("src", "tests", "benchmarks", "examples", "fuzz") for path in (ROOT / room).rglob("*.py")
)
FILE = re.compile(r"(?<![\w/.])(?:\w[\w-]*/)+[\w.-]+\.(?:py|md|js|toml)\b")
FOLDER = re.compile(r"`((?:[a-z_]+/)+)`")
MODULE = re.compile(r"\bflipproof(?:\.[a-z_][a-z_0-9]*)+")
MADE_UP = {"path/to/file.py", "figures/", "flipproof.x", "flipproof.other", "flipproof.somewhere.other"}
"""Examples, and what a run makes."""


def prose(path):
    """The text of a document, or the docstrings and comments of a program."""
    text = path.read_text(encoding="utf-8")
    return text if path.suffix != ".py" else "\n".join(re.findall(r'"""[\s\S]*?"""|#.*', text))


def is_there(name, beside):
    """Whether a path leads somewhere from the checkout, its tests, the package, a room of it, or its document."""
    rooms = [room for room in PACKAGE.iterdir() if room.is_dir()]
    return any((base / name).exists() for base in (ROOT, ROOT / "tests", PACKAGE, ROOT / "src", beside, *rooms))


def is_module(name):
    """Whether a dotted name is a module, or begins with one that mentions what follows."""
    place, (_, *parts) = PACKAGE, name.split(".")
    for part in parts:
        if (place / f"{part}.py").exists():
            return True
        if not (place / part).is_dir():
            return re.search(rf"\b{part}\b", (place / "__init__.py").read_text(encoding="utf-8")) is not None
        place /= part
    return True


@pytest.mark.parametrize("paths", [DOCUMENTS, CODE], ids=["documents", "code"])
def test_what_is_named_is_there(paths):
    gone = []
    for path in paths:
        text = prose(path)
        named = {name for name in FILE.findall(text) + FOLDER.findall(text) if not is_there(name, path.parent)}
        named |= {name for name in MODULE.findall(text) if not is_module(name)}
        gone += [f"{path.relative_to(ROOT)} names {name}" for name in sorted(named - MADE_UP)]
    assert not gone, "\n".join(gone)
