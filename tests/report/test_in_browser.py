"""The page in a real browser: it draws what the certificates say, asks nobody for anything, runs no data."""

# ruff: noqa: F811 (tests take fixtures that are imported)
import dataclasses
import re

import numpy as np
import pytest
from browsing import CHROMIUM, HOSTILE, browser, opened  # noqa: F401 (fixtures for all tests here)

import flipproof as fp
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.section import Facts, Section

PHONE = {"width": 375, "height": 740}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install Debian's package chromium")


def certificates_of(rng, noise, inputs=60, classes=3, samples=2_000):
    shares = np.array([rng.dirichlet([weight, *[0.3] * (classes - 1)]) for weight in np.geomspace(0.5, 300, inputs)])
    votes = fp.Votes.from_counts(
        selection=np.array([rng.multinomial(200, share) for share in shares]),
        estimation=np.array([rng.multinomial(samples, share) for share in shares]),
        noise=noise,
    )
    return fp.certify(votes)


@pytest.fixture
def binary(rng):
    """Sixty nodes of a ring."""
    certificates = certificates_of(rng, fp.FlipNoise(0.01, 0.6))
    ring = np.arange(60)
    index = np.stack([np.r_[ring, (ring + 1) % 60], np.r_[(ring + 1) % 60, ring]])
    described = DescribedInputs(
        unit="node",
        entries={"": "edges"},
        class_names=("cat", "dog", HOSTILE),
        labels=rng.integers(0, 3, 60),
        names=(*(f"node {HOSTILE}" if i == 7 else f"the {i}th" for i in range(60)),),
        space=fp.Graph.from_edge_index(index, 60),
    )
    facts = (Facts("Noise", (("p_plus", "0.01"), (HOSTILE, HOSTILE))),)
    return Section(f"a ring {HOSTILE}", certificates, described, 0.9, facts, f"flipproof run {HOSTILE}", 100.0)


def heatmap_of(page):
    return np.array(page.evaluate("Array.from(document.getElementById('heatmap').data[0].z, row => Array.from(row))"))


def expect_rows(page, count):
    """Waits until the table has so many rows."""
    from playwright.sync_api import expect

    expect(page.locator("#inputs tbody tr[data-input]")).to_have_count(count)


def numbers_of(page):
    """The inputs in the rows of the table, from top to bottom."""
    rows = page.locator("#inputs tbody tr[data-input]")
    return [int(rows.nth(i).get_attribute("data-input")) for i in range(rows.count())]


def test_every_cell_of_the_heatmap_is_what_is_certified(opened, binary):
    page = opened(binary)
    shown = heatmap_of(page)
    for add, delete in np.ndindex(*shown.shape):
        assert shown[add, delete] == binary.certificates.certified(fp.Radii(add, delete)).mean()
    assert shown.shape[0] > binary.certificates.max_radius("add").max()
    page.select_option("#heatmap-measure", index=1)
    right = binary.certificates.label == binary.described.labels
    expected = (binary.certificates.certified(fp.Radii(1, 2)) & right).mean()
    assert heatmap_of(page)[1, 2] == expected


def test_other_radii_can_be_held(opened, rng):
    noise = fp.JointNoise(structure=fp.FlipNoise(0.01, 0.4), attributes=fp.FlipNoise(0.02, 0.5))
    section = Section("joint", certificates_of(rng, noise))
    page = opened(section)
    page.select_option("#heatmap-y", label=page.locator("#heatmap-y option").nth(2).inner_text())
    page.select_option("#heatmap-x", label=page.locator("#heatmap-x option").nth(3).inner_text())
    hold = page.locator("#heatmap-hold-1")
    if hold.evaluate("each => each.tagName") == "SELECT":
        hold.select_option(index=1)
    else:
        hold.fill("1")
    radii = {"structure": fp.Radii(delete=1), "attributes": fp.Radii(add=1, delete=1)}
    assert heatmap_of(page)[1, 1] == section.certificates.certified(radii).mean()


def test_the_words_are_on_top(opened, binary):
    page = opened(binary)
    assert "No attacker who stays within" in page.inner_text("#promise")
    assert "poisoning" in page.inner_text("#not-promised")
    assert "0.900" in page.inner_text("#numbers")


def test_hostile_names_are_shown_and_never_run(opened, binary):
    page = opened(binary)
    assert page.title() == binary.name
    page.fill("#search", "node <script>")
    expect_rows(page, 1)
    assert numbers_of(page) == [7]
    page.click("#inputs tbody tr[data-input='7']")
    page.wait_for_selector("#dialog[open]")
    assert HOSTILE in page.inner_text("#dialog")
    assert HOSTILE in page.inner_text("#facts")
    assert HOSTILE in page.inner_text("#command")
    assert page.locator("img[src=x]").count() == 0
    assert page.locator("script").count() == 3


def test_search_filters_and_sort(opened, binary):
    page, certificates = opened(binary), binary.certificates
    assert numbers_of(page) == list(range(25))
    page.click("#page-next")
    assert numbers_of(page) == list(range(25, 50))
    for order in ("ascending", "descending"):
        page.click("#inputs th[data-column='p_lower'] button")
        if page.get_attribute("#inputs th[data-column='p_lower']", "aria-sort") != order:
            page.click("#inputs th[data-column='p_lower'] button")
        assert page.get_attribute("#inputs th[data-column='p_lower']", "aria-sort") == order
        expected = np.sort(certificates.p_lower)[:: 1 if order == "ascending" else -1][:25]
        assert certificates.p_lower[numbers_of(page)].tolist() == expected.tolist()
    wrong = np.flatnonzero(~certificates.abstained & (certificates.label != binary.described.labels))
    page.select_option("#filter-kind", "wrong")
    assert set(numbers_of(page)) <= set(wrong.tolist())
    assert len(numbers_of(page)) == min(25, wrong.size)
    page.select_option("#filter-kind", "abstained")
    assert set(numbers_of(page)) == set(np.flatnonzero(certificates.abstained).tolist())
    page.select_option("#filter-kind", "all")
    page.fill("#search", "the 31th")
    expect_rows(page, 1)
    assert numbers_of(page) == [31]
    page.fill("#search", "nothing like this")
    expect_rows(page, 0)


def test_a_click_opens_an_input(opened, binary):
    page, certificates = opened(binary), binary.certificates
    page.fill("#search", "the 55th")
    expect_rows(page, 1)
    page.click("#inputs tbody tr[data-input='55']")
    page.wait_for_selector("#dialog[open]")
    assert "the 55th" in page.inner_text("#dialog")
    shares = page.evaluate("Array.from(document.getElementById('dialog-votes').data[0].x)")
    assert shares == (certificates.votes.estimation[55] / 2_000).tolist()
    stairs = page.evaluate("Array.from(document.getElementById('dialog-stairs').data[0].z, row => Array.from(row))")
    for add, row in enumerate(stairs):
        for delete, cell in enumerate(row):
            assert bool(cell) == certificates.certified(fp.Radii(add, delete))[55]
    assert page.locator("#dialog-picture svg circle").count() >= 3
    page.keyboard.press("Escape")
    page.wait_for_selector("#dialog:not([open])", state="attached")


def test_inputs_are_called_by_their_ids(opened, rng):
    votes = certificates_of(rng, fp.FlipNoise(0.01, 0.6), inputs=3).votes
    some = fp.certify(dataclasses.replace(votes, ids=np.array([170, 4, 19])))
    page = opened(Section("some", some, DescribedInputs(unit="node")))
    cells = page.locator("#inputs tbody tr[data-input] button.open").all_inner_texts()
    assert cells == ["4", "19", "170"]  # sorted by id
    page.fill("#search", "#170")
    expect_rows(page, 1)
    page.click("#inputs tbody tr[data-input='0']")
    page.wait_for_selector("#dialog[open]")
    assert page.inner_text("#dialog-title") == "Node 170"
    shares = page.evaluate("Array.from(document.getElementById('dialog-votes').data[0].x)")
    assert shares == (votes.estimation[0] / 2_000).tolist()
    assert page.evaluate("location.hash") == "#input-170"
    page.evaluate("location.hash = '#input-19'")
    page.wait_for_function("document.getElementById('dialog-title').textContent === 'Node 19'")
    page.keyboard.press("Escape")


def test_by_keyboard_alone(opened, binary):
    page = opened(binary)
    page.focus("#inputs tbody tr[data-input='3'], #inputs tbody tr[data-input='3'] button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#dialog[open]")
    assert "the 3th" in page.inner_text("#dialog")
    page.focus("#dialog-next")
    page.keyboard.press("Space")
    assert "the 4th" in page.inner_text("#dialog")
    page.keyboard.press("Escape")
    page.wait_for_selector("#dialog:not([open])", state="attached")
    assert page.evaluate("document.activeElement.closest('tr').dataset.input") in ("3", "4")


def test_pictures_of_images_and_words(opened, rng):
    noise = fp.FlipNoise(0.05, 0.3)
    pixels = fp.DenseRows((rng.random((6, 8, 8)) < 0.3).astype(np.uint8))
    classifier = fp.FunctionClassifier(lambda batch: (batch.sum(axis=(1, 2)) > 19).astype(int), classes=2)
    votes = fp.vote(classifier, pixels, noise, n_select=50, n_estimate=200, seed=1)
    texts = tuple(f"message {i}: {HOSTILE} win 1000$ now" for i in range(6))
    described = DescribedInputs(unit="image", space=pixels, image_shape=(8, 8), texts=texts)
    page = opened(Section("images", fp.certify(votes), described))
    page.click("#inputs tbody tr[data-input='2']")
    page.wait_for_selector("#dialog[open]")
    assert page.locator("#dialog-picture canvas").count() == 4
    assert f"message 2: {HOSTILE} win 1000$ now" in re.sub(r"\s+", " ", page.inner_text("#dialog-picture"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(opened, binary, scheme):
    page = opened(binary, viewport=PHONE, color_scheme=scheme, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, re.findall(r"\d+", colour)[:3])) > 3 * 128
    assert light == (scheme == "light")
    page.tap("#inputs tbody tr[data-input='5']")
    page.wait_for_selector("#dialog[open]")
    assert page.evaluate("document.getElementById('dialog').getBoundingClientRect().right") <= PHONE["width"]


def test_runs_side_by_side(opened, binary, rng):
    edges = DescribedInputs(entries={"": "edges"})
    others = [
        Section(name, certificates_of(rng, fp.FlipNoise(0.01, p)), edges) for name, p in (("one", 0.5), (HOSTILE, 0.7))
    ]
    page = opened(binary, *others)
    assert all(section.name in page.inner_text("#compare") for section in (binary, *others))
    lines = page.evaluate(
        "Array.from(document.querySelectorAll('#compare-lines .js-plotly-plot'), each => each.data.length)"
    )
    assert lines
    assert min(lines) >= 3
    heatmaps = page.evaluate(
        "Array.from(document.querySelectorAll('#compare-heatmaps .js-plotly-plot'),"
        " each => Array.from(each.data[0].z, row => Array.from(row)))"
    )
    for section, shown in zip((binary, *others), heatmaps, strict=True):
        assert shown[1][2] == section.certificates.certified(fp.Radii(1, 2)).mean()


def test_what_counts_differently_is_never_in_one_chart(opened, rng):
    runs = [
        Section(f"on {entries}", certificates_of(rng, fp.FlipNoise(0.01, 0.6)), DescribedInputs(entries={"": entries}))
        for entries in ("edges", "pixels", "edges")
    ]
    page = opened(*runs)
    charts = page.evaluate(
        "Array.from(document.querySelectorAll('#compare-lines .js-plotly-plot'), each =>"
        " [each.layout.xaxis.title.text,"
        " each.data.filter(line => line.x.length > 1 && line.name).map(line => line.name)])"
    )
    assert {title.lower() for title, _ in charts} == {
        f"{entries} {done}" for entries in ("edges", "pixels") for done in ("added", "deleted")
    }
    for title, names in charts:
        assert all(title.split()[0].lower() in name for name in names)
        assert len(names) == (2 if "dges" in title else 1)


@pytest.mark.parametrize("kind", ["nothing", "abstained", "levels", "endless", "one class"])
def test_unusual_runs(opened, kind, rng):
    noise = {"levels": fp.FlipNoise(0.05, 0.3, 4), "endless": fp.FlipNoise(0.4, 0.6)}.get(kind, fp.FlipNoise(0.01, 0.6))
    counts = {"nothing": np.zeros((0, 2), int), "abstained": [[50, 50]] * 3, "one class": [[100]] * 3}
    votes = fp.Votes.from_counts(
        selection=counts.get(kind, [[90, 10]] * 3), estimation=counts.get(kind, [[95, 5]] * 3), noise=noise,
        n_select=100, n_estimate=100,
    )  # fmt: skip
    page = opened(Section(kind, fp.certify(votes)))
    expected = {
        "nothing": "There are no inputs: nothing is certified.",
        "abstained": "the smoothed classifier abstains from all of 3 inputs",
        "levels": "a value that is not zero becomes another one",
        "endless": "unbounded",
        "one class": "3 of 3 inputs (100 %) withstand any one added entry",
    }
    assert expected[kind] in page.inner_text("body")
    if kind not in ("nothing", "abstained"):
        page.click("#inputs tbody tr[data-input='1']")
        page.wait_for_selector("#dialog[open]")
