"""Tables of categories: every column within its own, parts with noises of their own."""

import numpy as np
import pytest
from drawing import draw

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.table import Table
from flipproof.theory.law import FlipNoise, JointNoise

NOISE = FlipNoise(0.2, 0.4)
TERNARY = FlipNoise(0.5, 0.5, 3)
FLIP_ALL = FlipNoise(1.0, 1.0)
TABLE = Table([[0, 2, 1, 4], [1, 0, 1, 0]], categories=[2, 3, 2, 5])


def test_columns_of_equal_categories_form_a_part():
    assert TABLE.parts == ("k2", "k3", "k5")
    assert TABLE.noise(0.1, 0.3) == JointNoise(
        k2=FlipNoise(0.1, 0.3), k3=FlipNoise(0.1, 0.3, 3), k5=FlipNoise(0.1, 0.3, 5)
    )
    assert Table([[0, 1]], categories=[2, 2]).noise(0.1, 0.3) == FlipNoise(0.1, 0.3)


def test_columns_flip_within_their_categories():
    drawn = draw(TABLE, TABLE.noise(1.0, 1.0), samples=300).reshape(300, 2, 4)
    assert (drawn != TABLE.values).all()
    for (i, j), value in np.ndenumerate(TABLE.values):
        assert {value, *drawn[:, i, j]} == set(range(TABLE.categories[j]))


def test_columns_without_noise_never_change():
    drawn = draw(TABLE, JointNoise(k3=FlipNoise(1.0, 1.0, 3)), samples=50).reshape(50, 2, 4)
    assert ((drawn != TABLE.values) == [False, True, False, False]).all()


def test_columns_may_be_named():
    table = Table([[0, 1, 1]], categories=[2, 2, 2], columns=["left", "right", "left"])
    assert table.parts == ("left", "right")
    assert draw(table, JointNoise(right=FLIP_ALL), samples=1).tolist() == [[0, 0, 1]]
    with pytest.raises(
        InvalidInputError, match=r"expected JointNoise\(left=\.\.\., right=\.\.\.\), or fewer of these parts"
    ):
        table.sampler(FLIP_ALL, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [2, 2]), r"expected a table of shape \[inputs, columns\], got shape \(2,\)"),
        (([[0, 1]], [2]), "expected categories for 2 columns, got 1"),
        (([[0, 1]], [2, 2], ["a"]), "expected columns for 2 columns, got 1"),
        (([[0, 1]], [2, 1]), "expected at least 2 categories in every column, got 1 in column 1; leave out"),
        (([[0, 1]], [2, 2.5]), r"expected categories to be an integer >= 2, got 2\.5 in column 1"),
        (([[0, 1]], [2, 2**31 + 1]), r"expected categories in \[2, 2147483648\], got 2147483649 in column 1"),
        (([[0, 2]], [2, 2]), r"expected column 1 in \[0, 2\) as it has 2 categories, got 2 at row 0"),
        (([[0, 1]], [2, 3], ["a", "a"]), "expected the columns of part 'a' to have equal categories, got 2 and 3"),
        (([[0, 0.5]], [2, 2]), r"expected values to be integers, got 0\.5"),
    ],
)
def test_what_tables_refuse(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Table(*arguments)


@pytest.mark.parametrize(
    ("noise", "message"),
    [
        (JointNoise(k2=TERNARY), "expected noise with 2 categories for 'k2', got 3"),
        (JointNoise(k7=FlipNoise(0.1, 0.1, 7)), "expected noise on parts k2, k3, k5, got noise on k7"),
    ],
)
def test_noise_that_does_not_fit_a_table_is_refused(noise, message):
    with pytest.raises(InvalidInputError, match=message):
        TABLE.sampler(noise, 0)


def test_empty_table():
    assert draw(Table(np.zeros((0, 2)), [2, 2]), NOISE).shape == (0, 2)
