"""Builds the wheel and the sdist, and tries them as a user would: in new environments, outside of the checkout.

    python packaging/try_dist.py [--python python3.12 ...]

For each Python that is installed: the wheel with the extras of the first steps, the five lines of the README and
`flipproof demo`; then the sdist and `flipproof --version`. Nothing is imported from the checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ("python3.11", "python3.12", "python3.13")


def run(*command: str | Path, cwd: Path) -> str:
    """Runs a command in a folder with an environment that does not know the checkout; its output."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run([*map(str, command)], check=False, cwd=cwd, env=known, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def built(folder: Path) -> tuple[Path, Path]:
    """The wheel and the sdist, built from the checkout."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def installed(python: str, package: str, folder: Path) -> Path:
    """A new environment with the package; the folder of its programs."""
    run(python, "-m", "venv", folder / "env", cwd=folder)
    programs = folder / "env" / "bin"
    constraints = ("-c", ROOT / "constraints.txt")
    run(programs / "python", "-m", "pip", "install", "--quiet", *constraints, package, cwd=folder)
    return programs


def first_example() -> str:
    """The first example of the README."""
    found = re.search(r"## One call.*?```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    if found is None:
        sys.exit("expected the first example in README.md, got none")
    return found[1]


def tried(python: str, wheel: Path) -> None:
    """Installs the wheel and takes a new user's first steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = installed(python, f"{wheel}[graphs,report]", folder)
        version = run(programs / "python", "--version", cwd=folder).strip()
        place = run(programs / "python", "-c", "import flipproof; print(flipproof.__file__)", cwd=folder).strip()
        if not Path(place).is_relative_to(folder):
            sys.exit(f"expected the installed package, got {place}")
        run(programs / "python", "-c", first_example(), cwd=folder)
        run(programs / "flipproof", "demo", "--samples", "200", cwd=folder)
        reports = sorted(str(path.relative_to(folder)) for path in folder.glob("flipproof-demo/*/report.html"))
        if len(reports) != 2:
            sys.exit(f"expected two reports of the demo, got {reports}")
        print(f"{version}: wheel installed, first example and demo run, {', '.join(reports)}")


def tried_source(python: str, sdist: Path) -> None:
    """Installs the core from the sdist."""
    with tempfile.TemporaryDirectory() as name:
        programs = installed(python, str(sdist), Path(name))
        print(f"{python}: sdist installed, {run(programs / 'flipproof', '--version', cwd=Path(name)).strip()}")


def works(python: str) -> bool:
    """Whether there is such a Python."""
    known = shutil.which(python) is not None
    return known and subprocess.run([python, "--version"], check=False, capture_output=True).returncode == 0


def main() -> None:
    """Builds, and tries every Python that is there."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--python", nargs="*", help="by default 3.11, 3.12 and 3.13 if they are there")
    pythons = arguments.parse_args().python or [python for python in PYTHONS if works(python)]
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    wheel, sdist = built(dist)
    print(f"built {wheel.name} and {sdist.name}")
    for python in pythons:
        tried(python, wheel)
    tried_source(pythons[0], sdist)


if __name__ == "__main__":
    main()
