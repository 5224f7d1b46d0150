"""Plots in axes that the user has, and in notebooks."""

import pickle

import numpy as np
import pytest

import flipproof as fp

figure_module = pytest.importorskip("matplotlib.figure")

COUNTS = [[990, 10], [600, 400], [20, 980]]


@pytest.fixture
def certificates():
    return fp.certify(fp.Votes.from_counts(selection=COUNTS, estimation=COUNTS, noise=fp.FlipNoise(0.01, 0.6)))


def test_a_heatmap_is_drawn_into_given_axes(certificates):
    figure = figure_module.Figure()
    left, right = figure.subplots(1, 2)
    assert certificates.plot_heatmap(ax=right) is figure
    assert not left.has_data()
    assert right.images[0].get_array().max() <= 1.0
    assert right.get_ylabel() == "add radius"


def test_lines_are_drawn_into_one_panel_for_each_kind_of_change(certificates):
    figure = figure_module.Figure()
    panels = figure.subplots(2, 1)
    assert certificates.plot_lines(ax=panels, true_labels=[0, 0, 1]) is figure
    assert [panel.get_xlabel() for panel in panels] == ["add radius", "delete radius"]
    own = certificates.plot_lines(true_labels=[0, 0, 1])
    for panel, as_before in zip(panels, own.axes, strict=True):
        for line, other in zip(panel.lines, as_before.lines, strict=True):
            np.testing.assert_array_equal(line.get_xydata(), other.get_xydata())


def test_lines_are_drawn_into_one_panel_together(certificates):
    figure = figure_module.Figure()
    axes = figure.subplots()
    assert certificates.plot_lines(ax=axes) is figure
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels[:2] == ["certified ratio, add (3 inputs)", "certified ratio, delete (3 inputs)"]
    assert axes.get_xlabel() == "radius"


def test_axes_of_a_part_of_a_figure_belong_to_the_figure(certificates):
    figure = figure_module.Figure()
    axes = figure.subfigures(1, 2)[1].subplots()
    assert certificates.plot_lines(ax=axes) is figure
    assert certificates.plot_heatmap(ax=figure.subfigures(1, 1).subplots()) is figure


@pytest.mark.parametrize("given", ["axes", 3, [None]])
def test_what_are_no_axes_is_refused(certificates, given):
    with pytest.raises(fp.InvalidInputError, match="expected ax to be matplotlib axes, or 2 in a list"):
        certificates.plot_lines(ax=given)
    with pytest.raises(fp.InvalidInputError, match="expected ax to be matplotlib axes, got"):
        certificates.plot_heatmap(ax=given)


def test_a_wrong_number_of_axes_is_refused(certificates):
    panels = figure_module.Figure().subplots(1, 3)
    with pytest.raises(fp.InvalidInputError, match=r"2 in a list, for add, delete, got 3$"):
        certificates.plot_lines(ax=panels)


def test_a_figure_is_a_picture_in_a_notebook_without_pyplot(certificates):
    for figure in (certificates.plot_lines(), certificates.plot_heatmap()):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_a_figure_can_be_pickled(certificates):
    again = pickle.loads(pickle.dumps(certificates.plot_lines()))
    assert again._repr_png_().startswith(b"\x89PNG")
