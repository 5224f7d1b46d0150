"""`flipproof datasets` the way a user types it."""

import json
import subprocess
import sys

import pytest

import flipproof as fp


@pytest.fixture
def datasets(run):
    """Runs `flipproof datasets`."""
    return lambda *arguments: run("datasets", *arguments)


@pytest.fixture
def nothing_here(tmp_path, monkeypatch):
    monkeypatch.setenv("FLIPPROOF_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "data"


def test_the_table_fits_a_terminal(datasets, nothing_here):
    code, out, err = datasets()
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines[1:13]] == list(fp.datasets.names())
    assert lines[1].split() == ["cora_ml", "nodes", "2810", "7981", "2879", "7", "1.76%", "fetch", "1.6", "MB"]
    assert "fetch 8.7 MB" in lines[3]
    assert "fetch 170 MB" in lines[7]
    assert "built in" in lines[12]
    assert "…" not in out
    assert not nothing_here.exists()


def test_a_file_that_is_there_is_here(datasets, nothing_here):
    nothing_here.mkdir()
    (nothing_here / "pubmed.npz").write_bytes(b"")
    assert datasets()[1].splitlines()[3].split()[-1] == "here"
    assert str(nothing_here / "pubmed.npz") in datasets("pubmed")[1]


@pytest.mark.parametrize("name", fp.datasets.names())
def test_a_card_says_everything(datasets, name):
    code, out, _ = datasets(name)
    card = fp.datasets.card(name)
    assert code == 0
    words = " ".join(out.split())
    for text in (card.what, card.licence, card.origin, card.citation, f"classes {card.classes}"):
        assert text in words
    for form in card.forms:
        for file in form.files:
            assert file.name in out
            assert (file.sha256 or file.members[0].sha256) in out
            assert all(url in out for url in file.urls)


def test_json(datasets, nothing_here):
    facts = json.loads(datasets("--json")[1])
    assert [each["name"] for each in facts] == list(fp.datasets.names())
    cora = json.loads(datasets("cora_ml", "--json")[1])
    assert cora == facts[0]
    assert (cora["edges"], cora["here"], cora["built_in"]) == (7981, False, False)
    assert cora["forms"][0][0]["sha256"].startswith("46b98cab")
    assert cora["forms"][0][0]["path"] is None
    assert json.loads(datasets("digits", "--json")[1])["here"]


def test_download_of_what_is_here(datasets, nothing_here):
    assert datasets("digits", "--download")[0] == 0


def test_refusals(datasets):
    code, _, err = datasets("coraml")
    assert code == 2
    assert err.strip().endswith("got 'coraml'; did you mean cora_ml?")
    assert datasets("--download")[0] == 2


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from flipproof import cli\n"
        "sys.argv = ['flipproof', 'datasets', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: print([m for m in ('numpy', 'scipy', 'sklearn', 'flipproof.datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "--download" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
