import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import flipproof as fp
from flipproof.report.figures import figures
from flipproof.report.report_files import save_figure
from flipproof.report.shares import ShareGrid, ShareLine

pytest.importorskip("matplotlib")

STAIRS = np.array([[1.0, 0.8, 0.6, 0.0], [0.8, 0.6, 0.4, 0.0], [0.4, 0.2, 0.0, 0.0]])
STRANGE = ["$x^2$", "a_b", "<b>&amp;", "100%", r"\alpha", "{0}"]


def make_plane(shares=STAIRS, y="add", x="delete", held=(), measure="certified ratio"):
    shares = np.asarray(shares, dtype=float)
    return ShareGrid((y, x), tuple(tuple(range(n)) for n in shares.shape), shares, measure, 10, held)


def make_line(axis="add", measure="certified ratio", shares=(1.0, 0.5, 0.0), cap=1, of=10):
    return ShareLine(axis, tuple(range(len(shares))), np.array(shares), measure, of, cap)


def make_figures(name="add"):
    return {
        "heatmap": figures.heatmap(make_plane(y=name, x=f"{name}.x", held=((f"{name}.z", 2),), measure=f"{name} r")),
        "lines": figures.lines([make_line(name, f"{name} r"), make_line(name, "accuracy"), make_line(f"{name}.x")]),
        "bounds": figures.bounds([0.2, 0.9, 0.95], np.array([True, False, False])),
    }


def texts_of(figure):
    """Every text as it is written into the file."""
    root = ElementTree.fromstring(figures.rendered(figure, "svg"))
    return ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]


def levels_of(figure):
    """The labels on contours."""
    return [text.get_text() for text in figure.axes[0].texts]


def outline(figure, index=0):
    """The corners of one contour, on the half-integers between cells."""
    (path,) = figure.axes[0].collections[index].get_paths()
    return {tuple(point) for point in np.round(path.vertices, 2).tolist()}


def test_a_heatmap_shows_the_grid():
    figure = figures.heatmap(make_plane(held=(("b.add", 2), ("b.delete", 0))))
    axes, bar = figure.axes
    (image,) = axes.images
    np.testing.assert_array_equal(image.get_array(), STAIRS)
    assert (image.origin, image.get_clim(), image.get_cmap().name) == ("lower", (0, 1), "cividis")
    assert (axes.get_ylabel(), axes.get_xlabel(), bar.get_ylabel()) == (
        "add radius",
        "delete radius",
        "certified ratio (10 inputs)",
    )
    assert axes.get_title() == "b.add = 2, others 0"


def test_ticks_are_counts_not_positions():
    counts = (tuple(range(3)), tuple(range(0, 66, 3)))
    figure = figures.heatmap(ShareGrid(("add", "delete"), counts, np.zeros((3, 22)), "certified ratio", 1))
    axis = figure.axes[0].xaxis
    assert axis.get_ticklocs().tolist() == [0, 5, 10, 15, 20]
    assert [text.get_text() for text in axis.get_ticklabels()] == ["0", "15", "30", "45", "60"]


def test_contours_run_around_the_cells_that_reach_a_level():
    figure = figures.heatmap(make_plane())
    assert len(figure.axes[0].collections) == 4
    assert levels_of(figure) == ["0.3", "0.5", "0.7", "0.9"]
    at_half = outline(figure, 1)
    assert {(2.5, -0.5), (2.5, 0.5), (1.5, 0.5), (1.5, 1.5), (-0.5, 1.5)} <= at_half
    assert all(abs(2 * x) % 2 == 1 or abs(2 * y) % 2 == 1 for x, y in at_half)


def test_a_share_equal_to_a_level_reaches_it():
    figure = figures.heatmap(make_plane([[0.5, 0.5, 0.4], [0.4, 0.4, 0.4]]))
    assert {(1.5, -0.5), (1.5, 0.5), (-0.5, 0.5)} <= outline(figure)


def test_contours_in_one_place_share_a_label():
    figure = figures.heatmap(make_plane(np.pad(np.ones((3, 3)), ((0, 3), (0, 3)))))
    assert levels_of(figure) == ["0.3 to 0.9"]


@pytest.mark.parametrize("shares", [np.ones((3, 4)), np.zeros((2, 2)), np.full((3, 3), 0.5), [[1.0]]])
def test_flat_surfaces_have_no_contours(shares):
    figure = figures.heatmap(make_plane(shares))
    assert not figure.axes[0].collections
    assert figures.rendered(figure, "png")


@pytest.mark.parametrize("shares", [[[1.0, 0.6, 0.2]], [[1.0], [0.6], [0.2]]])
def test_a_plane_may_be_one_cell_wide(shares):
    assert len(figures.heatmap(make_plane(shares)).axes[0].collections) == 4


def test_labels_keep_apart(rng):
    for _ in range(6):
        rows, columns = rng.integers(2, 61, size=2)
        shares = np.sort(np.sort(rng.random((rows, columns)), axis=0), axis=1)[::-1, ::-1]
        texts = figures.heatmap(make_plane(shares)).axes[0].texts
        places = [(np.array(text.get_position()) + 0.5) / (columns, rows) for text in texts]
        assert all(place.min() > 0.03 and place.max() < 0.97 for place in places)
        apart = [np.linalg.norm(a - b) for i, a in enumerate(places) for b in places[:i]]
        assert min(apart, default=1.0) >= 0.1


def test_a_heatmap_is_of_two_axes():
    grid = ShareGrid(("a", "b", "c"), ((0,), (0,), (0,)), np.ones((1, 1, 1)), "certified ratio", 1)
    with pytest.raises(fp.InvalidInputError, match="expected a plane of two axes, got a, b, c; choose two with plane"):
        figures.heatmap(grid)


def test_lines_have_a_panel_for_each_axis():
    given = [
        make_line("add"),
        make_line("delete", shares=(1.0, 0.9, 0.8, 0.0), cap=2),
        make_line("add", "certified accuracy", (0.8, 0.3, 0.0), of=7),
        make_line("change", cap=fp.UNBOUNDED),
    ]
    figure = figures.lines(given)
    assert [panel.get_xlabel() for panel in figure.axes] == ["add radius", "delete radius", "change radius"]
    add, delete, change = (panel.get_lines() for panel in figure.axes)
    ratio, accuracy, cap = add
    np.testing.assert_array_equal(ratio.get_xydata(), [[0, 1.0], [1, 0.5], [2, 0.0]])
    np.testing.assert_array_equal(accuracy.get_ydata(), [0.8, 0.3, 0.0])
    assert ratio.get_color() != accuracy.get_color()
    assert ratio.get_linestyle() != accuracy.get_linestyle()
    assert (cap.get_xdata(), cap.get_linestyle()) == ([1, 1], ":")
    assert delete[0].get_color() == ratio.get_color()
    assert delete[1].get_xdata() == [2, 2]
    assert len(change) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "certified ratio (10 inputs)",
        "certified accuracy (7 inputs)",
        "most that the samples allow",
    ]


def test_a_cap_outside_the_picture_is_not_drawn():
    (panel,) = figures.lines([make_line(cap=3)]).axes
    assert len(panel.get_lines()) == 1
    assert panel.get_xlim() == (0, 2)


def test_without_lines_there_is_no_figure():
    with pytest.raises(fp.InvalidInputError, match="expected at least one line, got none"):
        figures.lines([])


def test_bounds_are_counted_apart():
    p_lower = [0.01, 0.01, 0.45, 0.995, 1.0, 1.0]
    figure = figures.bounds(p_lower, np.array([True, True, False, False, False, False]))
    (axes,) = figure.axes
    bars = {round(bar.get_x(), 2): bar.get_height() for bar in axes.patches if hasattr(bar, "get_x")}
    assert {x: height for x, height in bars.items() if height} == {0.44: 1, 0.98: 3}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "certified (4 inputs)",
        "abstained (2 inputs)",
    ]


@pytest.mark.parametrize("abstained", [[False], [True], [True] * 5, [False] * 2_000])
def test_bounds_of_any_number_of_inputs(abstained):
    figure = figures.bounds(np.full(len(abstained), 0.4), np.array(abstained))
    assert not [text for text in texts_of(figure) if "$" in text]  # no formulas in powers of ten


@pytest.mark.parametrize(
    ("p_lower", "abstained", "words"),
    [
        ([], np.zeros(0, dtype=bool), r"got shapes \(0,\)"),
        ([0.5, 0.5], np.zeros(1, dtype=bool), r"got shapes \(2,\) and \(1,\)"),
        ([0.5], np.zeros(1), "expected p_lower and a mask of abstained inputs"),
        ([1.5], np.zeros(1, dtype=bool), r"expected p_lower in \[0, 1\], got 1.5 to 1.5"),
        ([np.nan], np.zeros(1, dtype=bool), r"expected p_lower in \[0, 1\], got nan"),
    ],
)
def test_wrong_bounds_are_refused(p_lower, abstained, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        figures.bounds(p_lower, abstained)


@pytest.mark.parametrize("name", STRANGE)
def test_names_are_shown_as_they_are(name):
    drawn = make_figures(name)
    heatmap, lines = texts_of(drawn["heatmap"]), texts_of(drawn["lines"])
    assert {f"{name} radius", f"{name}.x radius", f"{name}.z = 2", f"{name} r (10 inputs)"} <= set(heatmap)
    assert {f"{name} radius", f"{name}.x radius", f"{name} r (10 inputs)"} <= set(lines)
    for figure in drawn.values():
        assert figures.rendered(figure, "png")


def test_long_names_are_wrapped():
    lines = texts_of(figures.lines([make_line("x" * 60)]))
    assert {"x" * 24, "x" * 12 + " radius"} <= set(lines)


@pytest.mark.parametrize("kind", ["heatmap", "lines", "bounds"])
def test_everything_fits_into_the_figure(kind):
    figure = make_figures("structure")[kind]
    assert figure.get_figwidth() == 3.4
    assert min(figure.get_tightbbox().min) >= -0.01
    assert (figure.get_tightbbox().max <= figure.get_size_inches() + 0.01).all()


def test_files_are_the_same_every_time(tmp_path):
    for kind, figure in make_figures().items():
        first = save_figure(figure, tmp_path / kind)
        again = save_figure(figure, tmp_path / "again")
        fresh = save_figure(make_figures()[kind], tmp_path / "fresh")
        assert first == [tmp_path / f"{kind}.png", tmp_path / f"{kind}.svg"]
        for one, two, three in zip(first, again, fresh, strict=True):
            assert one.read_bytes() == two.read_bytes() == three.read_bytes()
        assert b"dc:date" not in first[1].read_bytes()


def test_another_process_draws_the_same_bytes():
    code = (
        "import hashlib, numpy as np\n"
        "from flipproof.report.figures import figures\n"
        "from flipproof.report.shares import ShareGrid\n"
        "grid = ShareGrid(('a', 'b'), ((0, 1), (0, 1)), np.array([[1.0, 0.5], [0.5, 0.0]]), 'certified ratio', 2)\n"
        "print(hashlib.sha256(figures.rendered(figures.heatmap(grid), 'svg')).hexdigest())"
    )
    first, second = (subprocess.check_output([sys.executable, "-c", code]) for _ in range(2))
    assert first == second


def test_the_users_settings_neither_matter_nor_change():
    import matplotlib

    plain = {kind: figures.rendered(figure, "svg") for kind, figure in make_figures().items()}
    changed = {"font.size": 30, "axes.facecolor": "black", "svg.fonttype": "path", "savefig.bbox": "tight"}
    with matplotlib.rc_context(changed):
        before = dict(matplotlib.rcParams)
        assert {kind: figures.rendered(figure, "svg") for kind, figure in make_figures().items()} == plain
        assert dict(matplotlib.rcParams) == before


def test_a_dot_in_the_name_of_a_file_stays(tmp_path):
    files = save_figure(make_figures()["bounds"], str(tmp_path / "alpha-0.01"))
    assert [file.name for file in files] == ["alpha-0.01.png", "alpha-0.01.svg"]
    assert sorted(tmp_path.iterdir()) == files
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(fp.OutputError, match=r"nowhere/figure.png, got: No such file"):
        save_figure(make_figures()["bounds"], tmp_path / "nowhere" / "figure")


def test_drawing_needs_no_pyplot_and_importing_no_matplotlib():
    code = (
        "import sys\n"
        "from flipproof.report.figures import figures\n"
        "print('matplotlib' in sys.modules)\n"
        "figures.rendered(figures.bounds([0.5], __import__('numpy').array([True])), 'png')\n"
        "print('matplotlib' in sys.modules, 'matplotlib.pyplot' in sys.modules)\n"
        "print([name for name in sys.modules if name.startswith(('flipproof.models', 'flipproof.datasets'))])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split("\n")[:3] == [
        "False",
        "True False",
        "[]",
    ]


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    for module in ("matplotlib", "matplotlib.style", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(fp.MissingExtraError, match=r'expected matplotlib .* pip install "flipproof\[report\]"$'):
        figures.heatmap(make_plane())
