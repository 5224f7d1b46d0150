"""Tables of categories: what they accept, and the one that is built in."""

import itertools
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import flipproof as fp
from flipproof.datasets import TableDataset
from flipproof.datasets.readers.built_in import in_parts


def table(values=((0, 2), (1, 0)), categories=(2, 3), labels=(0, 1), **options):
    return TableDataset("few", values, categories, labels, **options)


def test_tables():
    data = table(column_names=("fever", "age"), class_names=("ill", "well"))
    assert (len(data), data.features, data.classes) == (2, 2, 2)
    assert data.table().parts == ("k2", "k3")
    assert data.table(np.array([1, 0])).values.tolist() == [[1, 0], [0, 2]]
    assert not data.values.flags.writeable
    assert (table().column_names, table().class_names) == (("0", "1"), ("0", "1"))
    assert table(np.array([[0.0, 2.0], [True, 0]])).values.tolist() == [[0, 2], [1, 0]]
    assert table([[0, 999], [1, 0]], (2, 1000)).table().values.max() == 999
    assert table().value_names == ()
    assert table(value_names=[["no", "yes"], [1, 2, "more"]]).value_names == (("no", "yes"), ("1", "2", "more"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"values": [[0, 2], [1, 3]]}, "expected categories 0 to 2 in column 1 (1), got 3 in row 1"),
        (
            {"values": [[0, 0], [-1, 3]], "column_names": ("fever", "age")},
            "expected categories 0 to 1 in column 0 (fever), got -1 in row 1",
        ),
        ({"values": [[0.5, 2], [1, 0]]}, "expected categories 0 to 1 in column 0 (0), got 0.5 in row 0"),
        ({"values": [[0, np.nan], [1, 0]]}, "expected categories 0 to 2 in column 1 (1), got nan in row 0"),
        ({"values": [["a", "b"], ["c", "d"]]}, "expected categories [rows, columns] as numbers, got <U1"),
        ({"values": [0, 1]}, "got int64 of shape [2]"),
        (
            {"categories": (2, 1), "column_names": ("fever", "age")},
            "expected at least 2 categories in every column, got 1 in column 1 (age); leave it out",
        ),
        ({"categories": (2,)}, "expected a number of categories for each of 2 columns, got 1"),
        ({"column_names": ("fever",)}, "expected a name for each of 2 columns, got 1"),
        (
            {"value_names": [("no", "yes")]},
            "expected names of the categories of 2 columns, got those of 1",
        ),
        (
            {"value_names": [("no", "yes"), ("a", "b")], "column_names": ("fever", "age")},
            "expected a name for each of 3 categories in column 1 (age), got 2",
        ),
        ({"labels": [0]}, "expected a label from 0 for every row, got labels of shape [1] for 2 rows"),
    ],
)
def test_wrong_tables_are_refused(options, reason):
    with pytest.raises(fp.InvalidInputError, match=re.escape(reason)):
        table(**options)


def test_cuts():
    assert in_parts(np.arange(12)[::-1], 4).tolist() == [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0]
    assert in_parts(np.array([5.0, 5.0, 5.0, 1.0]), 2).tolist() == [1, 1, 1, 0]


def test_tumours():
    data, source = fp.datasets.load("breast-cancer"), load_breast_cancer()
    card = fp.datasets.card("breast-cancer")
    assert (len(data), data.features, data.classes) == (card.inputs, card.features, card.classes)
    assert data.categories == (2, 3, 4) * 10
    assert (data.column_names[0], data.class_names) == ("mean radius", ("malignant", "benign"))
    assert data.value_names[1] == ("lowest third", "middle third", "highest third")
    assert (data.labels == source.target).all()
    for column, count, numbers in zip(data.values.T, data.categories, source.data.T, strict=True):
        sizes = np.bincount(column)
        assert sizes.size == count
        assert abs(sizes / len(data) - 1 / count).max() < 0.02
        limits = [(numbers[column == part].min(), numbers[column == part].max()) for part in range(count)]
        assert all(below[1] < above[0] for below, above in itertools.pairwise(limits))
