"""Pictures of words, tables and small graphs in a real browser: counts are right, names from the data stay text."""

# ruff: noqa: F811 (tests take fixtures that are imported)
import numpy as np
import pytest
import scipy.sparse as sp
from browsing import CHROMIUM, HOSTILE, browser, opened  # noqa: F401 (fixtures for all tests here)

import flipproof as fp
from flipproof.noise.sampling.samplers import Role
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.section import Section
from flipproof.report.words.promises import plain_words
from flipproof.theory.radii import axes_of

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: install Debian's package chromium")

VOCABULARY = ("free", HOSTILE, "hello", "", "mum", "\u202etonight")
EMPTY = len(VOCABULARY)
PHONE = {"width": 375, "height": 740}


def voted(space, noise, **described):
    """A section whose classifier looks at the sum of a row."""
    classifier = fp.FunctionClassifier(lambda rows: (np.asarray(rows.sum(axis=1)).ravel() > 6).astype(int), classes=2)
    votes = fp.vote(classifier, space, noise, n_select=20, n_estimate=60, seed=4)
    return Section("voted", fp.certify(votes, alpha=0.2), DescribedInputs(space=space, **described))


def drawn(section, rows):
    return section.described.space.sampler(section.certificates.noise, 4).draw(Role.ESTIMATE, range(3), np.arange(rows))


def picture_of(page, number):
    page.click(f"#inputs tbody tr[data-input='{number}']")
    page.wait_for_selector("#dialog[open]")
    return page.locator("#dialog-picture")


@pytest.fixture
def tokens(rng):
    values = rng.integers(0, EMPTY, (5, 8))
    values[:, 1], values[:, 2], values[:, 6:] = 1, 3, EMPTY
    return values


def test_hidden_words_are_blank_boxes(opened, tokens):
    section = voted(fp.Tokens(tokens, mask=EMPTY), fp.FlipNoise(0.0, 0.5), vocabulary=VOCABULARY, unit="message")
    picture = picture_of(opened(section), 2)
    hidden = (drawn(section, 5).reshape(3, 5, 8)[:, 2, :6] == EMPTY).sum(axis=1)
    blocks = picture.locator("figure.copy")
    assert [blocks.nth(i).locator(".blank").count() for i in range(4)] == [0, *hidden]
    assert [blocks.nth(i).locator(".word").count() for i in range(4)] == [6] * 4
    assert "observed: 6 words" in blocks.nth(0).inner_text()
    assert "(no name)" in blocks.nth(0).inner_text()
    assert HOSTILE[:39] in blocks.nth(0).inner_text()
    assert picture.page.locator("img[src=x]").count() == 0


def test_substituted_words_are_marked(opened, tokens):
    section = voted(
        fp.Tokens(tokens, padding=EMPTY),
        fp.FlipNoise(0.5, 0.5, categories=EMPTY),
        vocabulary=VOCABULARY,
        unit="message",
    )
    page = opened(section, viewport=PHONE)
    picture = picture_of(page, 3)
    changed = (drawn(section, 5).reshape(3, 5, 8)[:, 3, :6] != tokens[3, :6]).sum(axis=1)
    blocks = picture.locator("figure.copy")
    assert [blocks.nth(i).locator("mark").count() for i in range(4)] == [0, *changed]
    assert f"noisy copy number 1: {changed[1]} words substituted" in blocks.nth(2).inner_text()
    assert page.evaluate("document.getElementById('dialog').scrollWidth") <= PHONE["width"]


def test_bags_of_words(opened, rng):
    matrix = sp.csr_array(rng.random((4, 60)) < 0.3, dtype=np.float32)
    words = (HOSTILE, *(f"word{i}" for i in range(1, 60)))
    section = voted(fp.SparseRows(matrix), fp.FlipNoise(0.7, 0.4), vocabulary=words, unit="message")
    picture = picture_of(opened(section), 1)
    clean, noisy = matrix.toarray()[1] > 0, drawn(section, 4).toarray().reshape(3, 4, 60)[:, 1] > 0
    blocks = picture.locator("figure.copy")
    for copy in range(3):
        block = blocks.nth(copy + 1)
        gone, new = (clean & ~noisy[copy]).sum(), (noisy[copy] & ~clean).sum()
        assert block.locator("del").count() == gone
        assert block.locator("ins").count() == min(new, 30)
        assert block.locator("span.word").count() == (clean & noisy[copy]).sum()
        assert f"noisy copy number {copy}: {gone} words removed, {new} added" in block.inner_text()
        assert (f"… and {new - 30} more added" in block.inner_text()) == (new > 30)


def test_rows_of_a_table(opened, rng):
    categories = [2, 3, 3, 6, 1_000_000]
    space = fp.Table(np.column_stack([rng.integers(0, count, 6) for count in categories]), categories)
    names = ("a", HOSTILE, "", "d", "e")
    section = voted(space, space.noise(0.5, 0.5), column_names=names, entries={"": "values"})
    page = opened(section)
    picture = picture_of(page, 5)
    noisy = drawn(section, 6).reshape(3, 6, 5)[:, 5]
    assert picture.locator("tbody tr").count() == 5
    assert picture.locator("mark").count() == (noisy != space.values[5]).sum()
    cells = picture.locator("tbody tr").nth(4).locator("td, th").all_inner_texts()
    assert cells[0] == "e"
    assert cells[1] == f"{space.values[5, 4]:,}"
    assert [each.split()[-1] for each in cells[2:]] == [f"{value:,}" for value in noisy[:, 4]]
    assert HOSTILE in picture.inner_text()
    radii = section.certificates.max_l0_radius()
    page.keyboard.press("Escape")
    page.click("#inputs th[data-column='any'] button")
    assert page.locator("#numbers").inner_text().count("values changed in any way") == 1
    assert page.locator("#lines .js-plotly-plot").count() == len(axes_of(section.certificates.noise)) + 1
    shown = page.locator("#inputs tbody tr[data-input]")
    order = [int(shown.nth(i).get_attribute("data-input")) for i in range(6)]
    assert radii[order].tolist() == sorted(radii)


def test_rows_show_the_names_of_their_categories(opened, rng):
    values = (("no", "yes"), (HOSTILE, "", "\u202eold"), ("Oslo", "Rome", "x" * 99))
    space = fp.Table(rng.integers(0, [2, 3, 3], (5, 3)), [2, 3, 3])
    section = voted(space, space.noise(0.5, 0.5), value_names=values, entries={"": "values"})
    page = opened(section, viewport=PHONE)
    picture = picture_of(page, 3)
    shown = (values[0], (HOSTILE, "(no name)", values[1][2]), ("Oslo", "Rome", "x" * 59 + "…"))
    rows = [space.values[3], *drawn(section, 5).reshape(3, 5, 3)[:, 3]]
    for column, names in enumerate(shown):
        cells = picture.locator("tbody tr").nth(column).locator("td")
        found = [cells.nth(i).locator("bdi").text_content() for i in range(4)]
        assert found == [names[row[column]] for row in rows]
    assert picture.locator("mark").count() == (np.array(rows[1:]) != rows[0]).sum()
    assert page.locator("img[src=x]").count() == 0
    assert page.evaluate("document.getElementById('dialog').scrollWidth") <= PHONE["width"]


@pytest.fixture
def molecules(rng):
    """Rings with tails, nodes of three kinds, one graph of a single node."""
    graphs = []
    for size in (9, 12, 1):
        nodes = np.arange(size)
        heads, tails = np.r_[nodes[:-1], 0], np.r_[nodes[1:], size // 2]
        keep = np.abs(heads - tails) > 0
        index = np.stack([np.r_[heads[keep], tails[keep]], np.r_[tails[keep], heads[keep]]])
        kinds = rng.integers(0, 3, size)
        kinds[0] = 1
        graphs.append(fp.Graph.from_edge_index(index, size, np.eye(3)[kinds], noisy="structure", duplicates="merge"))
    return fp.Graphs(tuple(graphs))


def test_a_molecule_and_its_noisy_copy(opened, molecules):
    noise = fp.FlipNoise(0.1, 0.4)
    classifier = fp.FunctionClassifier(
        lambda union: (np.bincount(union.graph_of_node, minlength=union.graphs) > 10).astype(int), classes=2
    )
    certificates = fp.certify(fp.vote(classifier, molecules, noise, n_select=20, n_estimate=2_000, seed=4))
    described = DescribedInputs(
        unit="molecule", entries={"": "edges"}, class_names=("short", "long"), space=molecules,
        node_names=("C", HOSTILE, "Cl"),
    )  # fmt: skip
    page = opened(Section("molecules", certificates, described))
    picture = picture_of(page, 1)
    graph = molecules.graphs[1]
    copy = molecules.sampler(noise, 4).draw(Role.ESTIMATE, range(1), np.array([1]))
    pairs = {tuple(pair) for pair in copy.edge_index.T.tolist() if pair[0] < pair[1]}
    clean = {tuple(pair) for pair in graph.edges.index().T.tolist() if pair[0] < pair[1]}
    observed, noisy = picture.locator("svg").nth(0), picture.locator("svg").nth(1)
    assert observed.locator("circle").count() == noisy.locator("circle").count() == 12
    assert observed.locator("line.bond").count() == len(clean) == 12
    assert noisy.locator("line.bond").count() == len(clean & pairs)
    assert noisy.locator("line.added").count() == len(pairs - clean)
    assert noisy.locator("line.deleted").count() == len(clean - pairs)
    caption = f"noisy copy number 0: {len(clean - pairs)} edges deleted (dotted), {len(pairs - clean)} added (dashed)"
    assert picture.locator("figcaption").nth(1).inner_text() == caption
    places = observed.locator("circle").evaluate_all(
        "all => all.map(each => [+each.getAttribute('cx'), +each.getAttribute('cy')])"
    )
    apart = np.linalg.norm(np.array(places)[:, None] - np.array(places), axis=2)
    assert apart[~np.eye(12, dtype=bool)].min() > 15
    assert "<" in observed.locator("text").all_text_contents()
    delete, add = (certificates.max_radius(kind)[1] for kind in ("delete", "add"))
    assert f"the prediction stays if any {delete} of these 12 edges are deleted" in picture.inner_text()
    assert f"or if instead any {add} edge" in picture.inner_text()
    page.click("#dialog-next")
    assert page.locator("#dialog-picture svg").nth(0).locator("circle").count() == 1


@pytest.mark.parametrize(
    ("noisy", "kinds"), [("attributes", "category"), ("attributes", "several"), ("both", "one-hot")]
)
def test_captions_count_what_noise_touches(opened, molecules, noisy, kinds, rng):
    """A node has another kind, or none or several that a picture could show; edges only if noise is on them."""
    numbers = [rng.integers(0, 3, graph.nodes) for graph in molecules.graphs]
    rows = {
        "one-hot": [np.eye(3)[each] for each in numbers],
        "category": [fp.DenseRows(each[:, None]) for each in numbers],
        "several": [np.ones((each.size, 3)) for each in numbers],
    }[kinds]
    graphs = fp.Graphs(
        tuple(fp.Graph(graph.edges, own, noisy) for graph, own in zip(molecules.graphs, rows, strict=True))
    )
    parts = {
        "structure": fp.FlipNoise(0.1, 0.4),
        "attributes": fp.FlipNoise(0.2, 0.5, categories=3 if kinds == "category" else 2),
    }
    noise = fp.JointNoise(**parts) if noisy == "both" else parts[noisy]
    classifier = fp.FunctionClassifier(lambda union: np.zeros(union.graphs, dtype=int), classes=2)
    votes = fp.vote(classifier, graphs, noise, n_select=5, n_estimate=20, seed=4)
    picture = picture_of(opened(Section("m", fp.certify(votes), DescribedInputs(space=graphs, unit="molecule"))), 1)
    copy = graphs.sampler(noise, 4).draw(Role.ESTIMATE, range(1), np.array([1]))
    edges = {tuple(pair) for pair in copy.edge_index.T.tolist() if pair[0] < pair[1]}
    clean = {tuple(pair) for pair in graphs.graphs[1].edges.index().T.tolist() if pair[0] < pair[1]}
    words = []
    if noisy == "both":
        lost = len(clean - edges)
        words += [f"{lost} edge{'s' * (lost != 1)} deleted (dotted)", f"{len(edges - clean)} added (dashed)"]
    if kinds == "several":
        words += ["attributes not drawn"]
    else:
        found = np.asarray(copy.attributes.toarray() if sp.issparse(copy.attributes) else copy.attributes)
        single = np.ones(12, dtype=bool) if kinds == "category" else found.sum(axis=1) == 1
        shown = found[:, 0] if kinds == "category" else found.argmax(axis=1)
        other = int((single & (shown != numbers[1])).sum())
        assert single.all() == (kinds == "category")
        words += [f"{other} node{'s' * (other != 1)} of another kind"]
        words += [f"{(~single).sum()} of no kind or several (hollow)"] if kinds == "one-hot" else []
    assert picture.locator("figcaption").nth(1).inner_text() == f"noisy copy number 0: {', '.join(words)}"


def test_plain_words(opened):
    wrong = np.array([500, 200, 20, 0])
    counts = np.column_stack([wrong, 1_000 - wrong])
    votes = fp.Votes.from_counts(selection=counts, estimation=counts, noise=fp.FlipNoise(0.05, 0.6))
    certificates = fp.certify(votes)
    described = DescribedInputs(unit="message", entries={"": "words"}, class_names=("ham", HOSTILE))
    page = opened(Section("words", certificates, described))
    for number in range(1, 4):
        picture_of(page, number)
        assert page.inner_text("#plain-words") == plain_words(CertifiedInputs(certificates, described), number)
        page.keyboard.press("Escape")
    picture_of(page, 0)
    assert "Abstained" in page.inner_text("#dialog-body")
    assert page.locator("#plain-words").count() == 0
