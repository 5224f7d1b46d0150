"""A space that the report has never heard of gets its page; pictures of it are registered from outside."""

from dataclasses import dataclass

import numpy as np
import pytest

import flipproof as fp
from flipproof.errors import InvalidInputError
from flipproof.report.certified_inputs import CertifiedInputs
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.pictures.pictures import Pixels, pictures, pictures_of, pixels_of
from page_data import unpacked

NOISE = fp.FlipNoise(0.05, 0.3)
VALUES = np.array([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]])


@dataclass(frozen=True)
class Panel:
    """Switches, as somebody else keeps them."""

    values: np.ndarray

    parts = ("switches",)

    def sampler(self, noise, seed):
        return fp.DenseRows(self.values).sampler(noise, seed)


class DrawnPanel(Panel):
    """One that registered pictures."""


@pictures_of.register
def _(space: DrawnPanel, found):
    return {"rows": {"first": space.values[0].tolist()}}


@pixels_of.register
def _(space: DrawnPanel, found):
    return Pixels(space.values, 2, None)


def certified(space):
    classifier = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 1).astype(int), classes=2)
    return fp.certify(fp.vote(classifier, space, NOISE, n_select=20, n_estimate=200, seed=4, progress=False))


def test_a_page_without_pictures(tmp_path):
    space = Panel(VALUES)
    certificates = certified(space)
    fp.write_report(tmp_path / "page.html", certificates, inputs=space, labels=[1, 1, 0], entries="switches")
    assert "switches" in (tmp_path / "page.html").read_text()
    assert pictures(CertifiedInputs(certificates, DescribedInputs(space=space))) is None


def test_images_of_it_are_refused():
    space = Panel(VALUES)
    with pytest.raises(InvalidInputError, match="expected rows of pixels for image_shape, got Panel"):
        pictures(CertifiedInputs(certified(space), DescribedInputs(space=space, image_shape=(2, 2))))


def test_registered_pictures_are_on_the_page():
    space = DrawnPanel(VALUES)
    shown = pictures(CertifiedInputs(certified(space), DescribedInputs(space=space, image_shape=(2, 2))))
    assert shown["rows"] == {"first": [0, 1, 1, 0]}
    assert np.array_equal(unpacked(shown["images"]["clean"]).reshape(3, 4), VALUES)


def test_images_under_another_law(tmp_path):
    """Of a law that is not made of flips only the clean values tell how many levels there are."""
    from tests.extending.toy_law import RedrawNoise

    classifier = fp.FunctionClassifier(lambda rows: (rows.sum(axis=1) > 1).astype(int), classes=2)
    values = VALUES + VALUES[::-1]
    votes = fp.vote(classifier, values, RedrawNoise(0.25, 3), n_select=20, n_estimate=50, progress=False)
    described = DescribedInputs(space=fp.DenseRows(values), image_shape=(2, 2))
    shown = pictures(CertifiedInputs(fp.certify(votes), described))
    assert shown["images"]["levels"] == 1 + values.max()
