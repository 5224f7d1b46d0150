"""Tests that need a package which is not installed are skipped and say which; where it is installed they run."""

import importlib.util
import re
import subprocess

import pytest

OPTIONAL = (
    "torch", "safetensors", "torch_geometric", "networkx", "sklearn", "pandas", "polars", "pyarrow", "lightgbm",
    "xgboost", "catboost", "transformers", "tokenizers", "matplotlib", "plotly", "ray", "playwright", "jsonschema",
    "gmpy2", "fastapi", "httpx",
)  # fmt: skip
_TOLD = re.compile(r"expected (?:\w+, )*(\w+)(?: and \w+)? to be installed")


def absent_package(error, depth=8):
    """The optional package whose absence made this error, or None."""
    if error is None or not depth:
        return None
    said = f"{getattr(error, 'stderr', '')}" if isinstance(error, subprocess.CalledProcessError) else ""
    found = _TOLD.search(said)
    names = [getattr(error, "name", None) or "", found[1] if found else ""]
    for name in (name.partition(".")[0] for name in names):
        if name in OPTIONAL and importlib.util.find_spec(name) is None:
            return name
    inside = getattr(error, "exc_info", (None, None))[1]  # an exception in a doctest
    causes = (error.__cause__, error.__context__, inside)
    return next((name for cause in causes if (name := absent_package(cause, depth - 1))), None)


def _skipped(report, call):
    name = absent_package(call.excinfo.value) if call.excinfo is not None else None
    if name is not None and report.outcome == "failed":
        path, line = (report.nodeid.partition("::")[0], 0)
        report.outcome, report.longrepr = "skipped", (path, line, f"Skipped: needs {name}")
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _skipped((yield), call)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    return _skipped(report, report.call) if hasattr(report, "call") else report
