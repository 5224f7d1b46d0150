"""Columns keep their types, whatever is drawn and whichever frame is read like another."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given, clean_batches
from flipproof.noise.sampling.samplers import Role

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")


def clean(table):
    return next(iter(clean_batches(table, table.noise(0.1, 0.1))))


def test_objects_stay_objects_in_every_batch():
    """From objects that are texts pandas infers another type, and from missing ones alone it does not."""
    frame = pd.DataFrame({"a": pd.Series(["x", None, "y"], dtype=object), "b": [0, 1, 0]})
    table = fp.Table.from_pandas(frame, categories={"a": ["z"]})
    pd.testing.assert_frame_equal(clean(table), frame)
    sampler = table.sampler(table.noise(0.2, 0.2), 0)
    for row in range(3):
        drawn = as_given(sampler, sampler.draw(Role.ESTIMATE, range(9), np.array([row])))
        assert drawn["a"].dtype == object
        assert {value for value in drawn["a"] if not isinstance(value, str)} <= {None}


def test_fixed_columns_get_the_types_of_the_frame_that_a_model_was_trained_on():
    trained = pd.DataFrame({"c": pd.Categorical(["x", "y", "z"]), "n": [1.5, 2.0, np.nan], "b": [0, 1, 0]})
    table = fp.Table.from_pandas(trained, fixed=["c", "n"])
    tested = pd.DataFrame({"c": pd.Categorical(["z", "new"], ["z", "new"]), "n": [1, 2], "b": [1, 0]})
    found = clean(fp.Table.from_pandas(tested, like=table))
    assert found["c"].cat.categories.tolist() == ["x", "y", "z", "new"]
    assert found["c"].cat.codes.tolist() == [2, 3]
    assert found["n"].dtype == float
    enum = pl.DataFrame({"c": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"])), "b": [0, 1]})
    table = fp.Table.from_polars(enum, fixed=["c"])
    found = clean(fp.Table.from_polars(pl.DataFrame({"c": ["y", "x"], "b": [1, 1]}), like=table))
    assert found.schema == enum.schema


def test_fixed_values_that_another_type_cannot_hold():
    table = fp.Table.from_pandas(pd.DataFrame({"n": [1, 2, 3], "b": [0, 1, 0]}), fixed=["n"])
    with pytest.raises(fp.InvalidInputError, match="expected values of column 'n' that its type int64 can hold"):
        fp.Table.from_pandas(pd.DataFrame({"n": [1.5, 2.0], "b": [1, 1]}), like=table)


def test_values_that_are_equal_but_look_different():
    frame = pd.DataFrame({"a": pd.Series([1, True, 1], dtype=object), "b": [0, 1, 0]})
    with pytest.raises(fp.InvalidInputError, match="expected values of one type in column 'a', got several: convert"):
        fp.Table.from_pandas(frame, fixed=["a"])
    assert fp.Table.from_pandas(frame.astype({"a": int}), fixed=["a"]).parts == ("k2",)


def test_objects_of_polars():
    frame = pl.DataFrame({"a": pl.Series([object(), object()], dtype=pl.Object), "b": [0, 1]})
    with pytest.raises(fp.InvalidInputError, match="expected values that can be compared in column 'a', got Object"):
        fp.vote(len, frame, fp.FlipNoise(0.1, 0.1))
    assert fp.Table.from_polars(frame.drop("a")).parts == ("k2",)


def test_bins_are_those_of_the_table():
    """A number that changes may move the medians at which bins are cut, if they are cut again."""
    frame = pd.DataFrame({"age": [20.0, 30.0, 40.0, 50.0], "job": ["x", "y"] * 2})
    binned = fp.Table.from_pandas(frame, bins={"age": 2}, groups={"ages": ["age"]})
    values = "the set of values that occur in each column"
    assert binned.scope(binned.noise(0.1, 0.1)).fixed == (values, "the bins")
    alone = binned.law_for(fp.JointNoise(k2=fp.FlipNoise(0.1, 0.1)))
    assert binned.scope(alone).fixed == ("the column 'age'", values)
