"""`flipproof reproduce`: what it prints, writes, draws again and refuses."""

import pytest

PAGE_HEAD = "# The paper, measured again"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


def test_an_experiment_without_data(run, out):
    code, text, errors = run("reproduce", "efficiency", "--out", out)
    assert (code, errors) == (0, "")
    assert "efficiency: Regions and time over radius, dimension and categories" in text
    assert "lee, radius 3, categories 256, exponent of the time in entries" in text
    made = {path.name for path in (out / "quick").iterdir()}
    assert made == {"efficiency.csv", "efficiency.json", "efficiency.png", "efficiency.svg", "page.md"}
    assert (out / "quick" / "page.md").read_text().startswith(PAGE_HEAD)


def test_without_names_it_draws_again(run, out):
    figure = out / "quick" / "efficiency.svg"
    before = figure.read_bytes()
    figure.unlink()
    code, text, errors = run("reproduce", "--out", out, "--page", out / "mine.md")
    assert (code, errors) == (0, "")
    assert figure.read_bytes() == before
    page = (out / "mine.md").read_text()
    assert "](quick/efficiency.png)" in page
    assert "[quick](quick)" in page
    assert text == f"\nwrote     rows, figures and {out / 'mine.md'}\n"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("table-3",), "expected experiment to be one of table-1, table-2"),
        (("rules", "--scale", "tiny"), "expected scale to be one of quick, standard, paper, got 'tiny'"),
        (("rules", "--seeds", "0"), "expected --seeds of at least 1, got 0"),
        (("rules", "--workers", "-1"), "expected workers"),
        (("rules", "--page", "nowhere/page.md"), "the folder of --page, nowhere, does not exist"),
        ((), "expected rows of experiments in"),
    ],
)
def test_refusals(run, tmp_path, flags, words):
    code, text, errors = run("reproduce", *flags, "--out", tmp_path / "new")
    assert (code, text) == (2, "")
    assert words in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "new").exists()
