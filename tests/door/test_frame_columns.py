"""How columns of data frames become codes, what must be said about them, and what the refusals tell to do."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given, law_for, space_of
from flipproof.noise.sampling.samplers import Role
from flipproof.smoothing.fingerprint.fingerprints import fingerprint

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
NUMBERS = [float(i) / 3 for i in range(40)]
LIBRARIES = {
    "pandas": (pd.DataFrame, fp.Table.from_pandas),
    "polars": (pl.DataFrame, fp.Table.from_polars),
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    """How to make a frame, and its table."""
    return LIBRARIES[request.param]


def clean_frame(table):
    noise = table.noise(0.0, 0.0)
    sampler = table.sampler(noise, 0)
    return as_given(sampler, sampler.draw(Role.SELECT, range(1), np.arange(sampler.rows)))


def column(values, **declared):
    return fp.Table.from_pandas(pd.DataFrame({"it": values, "other": ["p", "q"] * (len(values) // 2)}), **declared)


# Category 0 and the order of the others


@pytest.mark.parametrize(
    ("values", "names"),
    [
        (["b", "c", "a", "c"], ("c", "a", "b")),
        (["b", "c", "a", "d"], ("a", "b", "c", "d")),
        (["b", None, None, "a"], ("missing", "a", "b")),
        (["missing", None, "a", "missing"], ("missing", "a", "no value")),
        ([True, True, True, False], ("False", "True")),
        ([2, 0, 2, 2], ("0", "2")),
        ([3, 1, 1, 2], ("1", "2", "3")),
        ([0.0, 5.0, np.nan, 5.0], ("0.0", "5.0", "missing")),
        (pd.Categorical(["lo", "hi", "hi", None], ["lo", "mid", "hi"], ordered=True), ("hi", "lo", "mid", "missing")),
        (pd.array([1, None, 1, 0], dtype="Int64"), ("0", "1", "missing")),
        (pd.array([True, None, True, True], dtype="boolean"), ("True", "missing")),
        (pd.Series(["a", 3, "a", None], dtype=object).map(str), ("a", "3", "None")),
    ],
)
def test_zero_or_the_most_frequent_value_is_category_0(values, names):
    table = column(values)
    assert table.value_names[0] == names
    pd.testing.assert_series_equal(clean_frame(table)["it"], pd.Series(values, name="it"))


def test_the_value_of_category_0_can_be_chosen(library):
    frame, table = library
    made = table(frame({"a": ["x", "x", None], "n": [4, 0, 0]}), zeros={"a": None, "n": 4})
    assert made.value_names == (("missing", "x"), ("4", "0"))
    with pytest.raises(fp.InvalidInputError, match="expected a value of column 'a' in zeros, got 'y'"):
        table(frame({"a": ["x", "x", None], "n": [4, 0, 0]}), zeros={"a": "y"})


def test_types_of_polars_stay():
    frame = pl.DataFrame(
        {
            "e": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "c", "a"])),
            "c": pl.Series(["u", "v", None], dtype=pl.Categorical),
            "i": pl.Series([1, None, 2], dtype=pl.Int8),
            "f": [1.0, float("nan"), 2.0],
        }
    )
    table = fp.Table.from_polars(frame)
    assert table.value_names[0] == ("b", "c", "a", "missing")
    assert clean_frame(table).equals(frame)
    assert clean_frame(table).schema == frame.schema


def test_columns_need_not_be_named_by_texts():
    frame = pd.DataFrame({0: ["a", "b"], ("x", 1): [1.5, 2.5]}, index=[7, 9])
    table = fp.Table.from_pandas(frame, fixed=[("x", 1)])
    assert clean_frame(table).columns.tolist() == [0, ("x", 1)]
    assert (table.column_names, table.input_names) == (("0", "('x', 1)"), ("7", "9"))


# Bins


def test_bins_show_a_value_in_their_middle_that_occurs(library):
    frame, table = library
    made = table(frame({"n": [1.0, 2.0, 3.0, 4.0, 50.0, 60.0], "c": ["a", "b"] * 3}), bins={"n": 2})
    assert clean_frame(made)["n"].to_list() == [2.0, 2.0, 2.0, 50.0, 50.0, 50.0]
    assert made.value_names[0] == ("below 4", "4 or more")


@pytest.mark.parametrize(
    ("edges", "names", "shown"),
    [
        ([10], ("below 10", "10 or more"), [3, 3, 3, 3, 12]),
        ([-5, 0, 4, 10, 99], ("below 4", "4 to below 10", "10 or more"), [2, 2, 2, 7, 12]),
        ([4, 5, 6, 10], ("below 6", "6 to below 10", "10 or more"), [2, 2, 2, 7, 12]),
        ([-np.inf, 4, np.inf], ("below 4", "4 or more"), [2, 2, 2, 7, 7]),
    ],
)
def test_edges_have_open_ends_and_no_empty_bins_between(edges, names, shown):
    frame = pd.DataFrame({"n": [1, 2, 3, 7, 12], "c": list("ababa")})
    if edges == [10]:
        shown = [2, 2, 2, 2, 12]
    table = fp.Table.from_pandas(frame, bins={"n": edges})
    assert set(table.value_names[0]) == set(names)
    assert clean_frame(table)["n"].tolist() == shown
    assert clean_frame(table)["n"].dtype == frame["n"].dtype


def test_missing_numbers_have_a_bin_of_their_own(library):
    frame, table = library
    made = table(frame({"n": [1.5, None, 2.5, 3.5], "c": ["a", "b", "a", "a"]}), bins={"n": [2.0]}, zeros={"n": None})
    assert made.value_names[0] == ("missing", "below 2", "2 or more")
    assert made.values[:, 0].tolist() == [1, 0, 2, 2]


# What must be declared


def undeclared():
    return {"job": ["a", "b"] * 20, "age": NUMBERS, "id": [f"no. {i}" for i in range(40)], "n": list(range(0, 80, 2))}


def test_what_is_no_category_is_refused_and_what_the_refusal_tells_works(library):
    frame, table = library
    with pytest.raises(fp.InvalidInputError) as refusal:
        space_of(frame(undeclared()))
    said = str(refusal.value)
    assert said.startswith("expected columns of categories, got 'age' (")
    assert "40 different values), 'id' (" in said
    assert "one per row" in said
    name = "pandas" if frame is pd.DataFrame else "polars"
    assert f"fp.Table.from_{name}(df, fixed=['age', 'id', 'n']) gives them no noise" in said
    assert "bins={'age': 10} puts numbers into bins, categories={'age': [...]} lists what may occur" in said
    fixed = table(frame(undeclared()), fixed=["age", "id", "n"])
    assert clean_frame(fixed).equals(frame(undeclared()))
    assert table(frame(undeclared()), fixed=["id", "n"], bins={"age": 10}).categories[1] == 10
    declared = table(frame(undeclared()), fixed=["id", "n"], categories={"age": NUMBERS})
    assert declared.categories[1] == 40
    out = "df.drop(columns=['age', 'id', 'n'])" if name == "pandas" else "df.drop('age', 'id', 'n')"
    assert f"{out} leaves them out" in said
    assert space_of(eval(out, {"df": frame(undeclared())})).column_names == ("job",)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"fixed": ["ag"]}, "expected fixed to name columns of the frame, got 'ag'"),
        ({"bins": {"ag": 3}}, "expected bins to name columns of the frame, got 'ag'"),
        ({"bins": ["age"]}, r"expected bins to be a dictionary, got \['age'\]"),
        ({"fixed": "age"}, "expected fixed to be a list of names of columns, got 'age'"),
        ({"fixed": ["age"], "bins": {"age": 3}}, "in bins or of categories, got 'age' twice"),
        ({"groups": {"g": ["job", "job"]}}, "expected every column in one group"),
        ({"bins": {"age": 1}}, "expected at least 2 bins for column 'age', got 1"),
        ({"bins": {"age": [3, 2]}}, "expected ascending edges for column 'age'"),
        ({"bins": {"age": "many"}}, "to be a number of bins or a list of edges, got 'many'"),
        ({"bins": {"age": [100.0]}}, "expected bins that divide the numbers 0 to 13 of column 'age'"),
        ({"bins": {"job": 3}}, "expected numbers in column 'job' for bins"),
        ({"categories": {"n": ["x"]}}, "expected values of column 'n' that its type int64 can hold"),
        ({"fixed": ["job", "age", "id", "n"]}, "there is nothing to certify"),
    ],
)  # fmt: skip
def test_wrong_declarations_are_refused(declared, message):
    with pytest.raises(fp.InvalidInputError, match=message):
        fp.Table.from_pandas(pd.DataFrame(undeclared()), **declared)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.Series([1]), r"expected a data frame, got a Series: call its to_frame\(\)"),
        (pl.LazyFrame({"a": [1]}), r"expected a data frame, got a LazyFrame: call its collect\(\)"),
        (pd.DataFrame({"a": []}), "expected a frame with rows and columns, got 0 rows of 1 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "expected columns with different names, got 'a' twice"),
        (pd.DataFrame({"a": [[1], [2]]}), r"values that can be compared in column 'a', got object: leave it out"),
        (pd.DataFrame({"a": [1, "x", True]}), r"got 'a' \(object, "),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01", "2020-01-02"])}), r"got 'a' \(datetime64"),
        (pd.DataFrame({"a": ["x", "x"]}), "there is nothing to certify"),
    ],
)
def test_frames_without_categories_are_refused(given, message):
    with pytest.raises(fp.InvalidInputError, match=message):
        space_of(given)


def test_a_column_with_one_value_is_held_fixed(library):
    frame, table = library
    made = table(frame({"a": ["x", "y"], "b": ["same", "same"]}))
    assert made.scope(made.noise(0.1, 0.1)).fixed[0] == "the column 'b'"
    assert made.parts == ("k2",)


# A frame to certify, and the one that was learned from


def test_a_test_frame_is_read_like_the_training_frame(library):
    frame, table = library
    train = frame({"job": ["a", "b", "c", "a"], "n": [1.0, 2.0, 8.0, 9.0], "x": [0.5, 1.5, 2.5, 3.5]})
    test = frame({"x": [7.5, 7.0], "n": [-30.0, 1000.0], "job": ["c", "c"]})
    for like in (train, table(train, fixed=["x"], bins={"n": 2})):
        said = {"fixed": ["x"], "bins": {"n": 2}} if like is train else {}
        made = table(test, like=like, **said)
        assert made.categories == (3, 2, 2)
        given = clean_frame(made)
        assert list(given.columns) == ["job", "n", "x"]
        assert [given[name].to_list() for name in given.columns] == [["c", "c"], [1.0, 8.0], [7.5, 7.0]]
        assert "known value of the column" in made.words(made.noise(0.1, 0.1), None)["within"]


def test_values_that_training_never_saw_are_refused_and_what_the_refusal_tells_works(library):
    frame, table = library
    train, test = frame({"job": ["a", "b", "a"]}), frame({"job": ["d", "b", None]})
    like = table(train)
    with pytest.raises(fp.InvalidInputError, match=r"known from like=, got \['d', None\] in 2 rows: name them in cat"):
        table(test, like=like)
    made = table(test, like=like, categories={"job": ["d", None]})
    assert made.value_names == (("a", "b", "d", "missing"),)
    assert clean_frame(made)["job"].to_list()[:2] == ["d", "b"]
    assert table(test[1:2], like=like).values.tolist() == [[1]]


def test_categories_of_pandas_keep_their_codes():
    train = pd.DataFrame({"c": pd.Categorical(["z", "y", "x"], ["z", "x", "y"])})
    test = pd.DataFrame({"c": ["x", "y"]})
    given = clean_frame(fp.Table.from_pandas(test, like=train))
    assert given["c"].cat.codes.tolist() == [1, 2]
    given = clean_frame(
        fp.Table.from_pandas(pd.DataFrame({"c": ["w", "y"]}), like=fp.Table.from_pandas(train), categories={"c": ["w"]})
    )
    assert given["c"].cat.categories.tolist() == ["z", "x", "y", "w"]


@pytest.mark.parametrize(
    ("test", "declared", "message"),
    [
        ({"a": ["x"]}, {}, "expected the columns of like=, got a frame without 'n'"),
        ({"a": ["x"], "n": [1.0], "y": [1]}, {}, r"got a frame that also has 'y': df\.drop\(columns=\['y'\]\)"),
        ({"a": ["x"], "n": [None]}, {}, "expected no missing value in column 'n'"),
        ({"a": ["x"], "n": ["q"]}, {}, "expected numbers in column 'n', got"),
        ({"a": ["x"], "n": [1.0]}, {"bins": {"n": 3}}, "expected fixed, bins, zeros and groups where the table"),
        ({"a": ["x"], "n": [1.0]}, {"categories": {"n": [3]}}, "expected categories of a column of categories"),
    ],
)  # fmt: skip
def test_what_is_not_like_the_training_frame_is_refused(test, declared, message):
    like = fp.Table.from_pandas(pd.DataFrame({"a": ["x", "y"], "n": [1.0, 2.0]}), bins={"n": 2})
    frame = pd.DataFrame(test)
    if test.get("n") == [None]:
        frame["n"] = frame["n"].astype(float)
    with pytest.raises(fp.InvalidInputError, match=message):
        fp.Table.from_pandas(frame, like=like, **declared)
    with pytest.raises(fp.InvalidInputError, match="expected a frame of pandas as in like=, got one of polars"):
        fp.Table.from_polars(pl.DataFrame({"a": ["x"], "n": [1.0]}), like=like)


# Noise


STATES = {"state": ["a", "b", "c", "a"], "zip": ["p", "q", "r", "s"], "on": [True, False, True, True]}


def test_one_noise_fits_all_columns():
    table = fp.Table.from_pandas(pd.DataFrame(STATES))
    noise = law_for(table, fp.FlipNoise(0.1, 0.2))
    assert noise == fp.JointNoise(k3=fp.FlipNoise(0.1, 0.2, 3), k4=fp.FlipNoise(0.1, 0.2, 4), k2=fp.FlipNoise(0.1, 0.2))
    assert law_for(table, noise) is not None
    assert law_for(fp.Table([[0, 2]], [3, 3]), fp.FlipNoise(0.1, 0.2)) == fp.FlipNoise(0.1, 0.2, 3)
    assert law_for(fp.Table([[0, 1]], [2, 2]), fp.FlipNoise(0.1, 0.2)) == fp.FlipNoise(0.1, 0.2)
    with pytest.raises(fp.InvalidInputError, match=r"expected JointNoise\(k3=\.\.\., k4=\.\.\., k2=\.\.\.\)"):
        table.sampler(law_for(table, fp.FlipNoise(0.1, 0.2, 3)), 0)


def test_groups_have_noise_of_their_own():
    frame = pd.DataFrame(STATES)
    table = fp.Table.from_pandas(frame, groups={"region": ["state", "zip"]})
    assert table.parts == ("region_k3", "region_k4", "k2")
    noise = law_for(table, fp.JointNoise(region=fp.FlipNoise(0.1, 0.3)))
    assert noise == fp.JointNoise(region_k3=fp.FlipNoise(0.1, 0.3, 3), region_k4=fp.FlipNoise(0.1, 0.3, 4))
    assert table.scope(noise).fixed[0] == "the column 'on'"
    own = fp.Table.from_pandas(frame, groups={"place": ["zip"]})
    assert law_for(own, fp.JointNoise(place=fp.FlipNoise(0.2, 0.2))) == fp.JointNoise(place=fp.FlipNoise(0.2, 0.2, 4))
    with pytest.raises(
        fp.InvalidInputError, match=r"got noise on zip: make the table with groups=\{'zip': \['zip'\]\}"
    ):
        law_for(table, fp.JointNoise(zip=fp.FlipNoise(0.1, 0.1)))
    alone = fp.Table.from_pandas(frame, groups={"zip": ["zip"]})
    assert law_for(alone, fp.JointNoise(zip=fp.FlipNoise(0.1, 0.1))) == fp.JointNoise(zip=fp.FlipNoise(0.1, 0.1, 4))


def test_columns_that_are_held_belong_to_no_part():
    table = fp.Table([[0, 1, 0], [1, 2, 0]], [2, 3, 1], columns=["a", "", ""])
    assert (table.parts, table.counts()) == (("a",), {"a": (2, 1)})
    assert table.scope(fp.FlipNoise(0.1, 0.1)).fixed == ("the columns no. 1, 2",)


def test_words_name_values_and_columns():
    table = fp.Table.from_pandas(pd.DataFrame(STATES), fixed=["on"])
    words = table.words(table.noise(0.1, 0.2), None)
    assert words["changes"]["k3.add"].does.format("up to 1 cell of the column 'state'") == (
        "turns up to 1 cell of the column 'state' from 'a' to another value that occurs in the column"
    )
    assert words["caution"] == (
        "A cell that gets a value which does not occur in its column is not covered. Base values are 'a' (state), "
        "'p' (zip)."
    )
    binned = fp.Table.from_pandas(pd.DataFrame({"n": [1.5, 2.5, 3.5], "c": list("abb")}), bins={"n": 3})
    assert (
        "In the column 'n' the model sees the representative of a bin"
        in (binned.words(binned.noise(0.1, 0.1), None)["caution"])
    )


# Fingerprints


def test_fingerprints_tell_tables_apart():
    frame = pd.DataFrame({"a": ["x", "y"], "n": [1.5, 2.5]}, index=["one", "two"])
    made = [
        fp.Table.from_pandas(frame, fixed=["n"]),
        fp.Table.from_pandas(frame.assign(n=[1.5, 3.5]), fixed=["n"]),
        fp.Table.from_pandas(frame.assign(a=["x", "z"]), fixed=["n"]),
        fp.Table.from_pandas(frame.rename(columns={"a": "b"}), fixed=["n"]),
        fp.Table.from_pandas(frame.assign(a=frame["a"].astype("category")), fixed=["n"]),
        fp.Table.from_pandas(frame, bins={"n": 2}),
        fp.Table.from_pandas(frame, fixed=["n"], categories={"a": ["w"]}),
        fp.Table([[0, 0], [1, 1]], [2, 2], ["k2", ""]),
    ]
    assert len({fingerprint(table) for table in made}) == len(made)
    assert fingerprint(fp.Table.from_pandas(frame.reset_index(drop=True), fixed=["n"])) == fingerprint(made[0])
