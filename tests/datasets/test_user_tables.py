"""Tables that users bring as files: what is found out by itself, what is asked, and what is refused in one line."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.datasets import FrameDataset, load
from flipproof.run_folder.reading import Reading

pd = pytest.importorskip("pandas")
TABLE = "city,Label,age\nRome,yes,10\nOslo,no,9\n,yes,10\n"


@pytest.fixture
def written(tmp_path):
    def write(content, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, reading):
    with pytest.raises(fp.FileFormatError) as refused:
        load(path, reading=reading)
    start = f"expected a table with a label in every row, got {path}: "
    line = str(refused.value)
    assert line.startswith(start)
    assert "\n" not in line
    return line.removeprefix(start)


def people(rows=60):
    draw = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "id": np.arange(rows) + 1000,
            "name": [f"person {i}" for i in range(rows)],
            "job": draw.choice(["cook", "smith", None], rows),
            "on": draw.random(rows) < 0.4,
            "kids": draw.integers(0, 4, rows),
            "amount": draw.exponential(100, rows).round(2),
            "fraud": draw.choice(["no", "yes"], rows),
        }
    )


ASKED = {"label": "fraud", "drop": ("id", "name"), "bins": {"amount": 3}}


def test_a_table(written):
    data = load(str(written(TABLE, "people.csv")))
    assert isinstance(data, FrameDataset)
    assert (data.name, data.column_names, data.class_names) == ("people", ("city", "age"), ("no", "yes"))
    assert (data.label_column, data.class_counts, data.separator) == ("Label", {"no": 1, "yes": 2}, ",")
    assert data.labels.tolist() == [1, 0, 1]
    assert data.value_names == (("Oslo", "Rome", "missing"), ("10", "9"))
    assert data.values.tolist() == [[1, 0], [0, 1], [2, 0]]
    assert data.table([2, 0]).values.tolist() == [[2, 0], [1, 0]]


@pytest.mark.parametrize(
    ("same", "separator"),
    [
        ("\ufeff" + TABLE, ","),
        (TABLE.replace("\n", "\r\n"), ","),
        (TABLE.replace("\n", "\n\n"), ","),
        (TABLE.replace("Rome", '"Rome"'), ","),
        (TABLE.removesuffix("\n"), ","),
        (TABLE.replace(",", ";"), ";"),
        (TABLE.replace(",", "\t"), "\t"),
        (TABLE.replace(",", "|"), "|"),
    ],
)
def test_the_same_table_written_otherwise(written, same, separator):
    ours, theirs = load(written(TABLE, "a.csv")), load(written(same, "b.CSV"))
    assert ours.values.tolist() == theirs.values.tolist()
    assert ours.labels.tolist() == theirs.labels.tolist()
    assert (ours.column_names, ours.class_names) == (theirs.column_names, theirs.class_names)
    assert theirs.separator == separator


def test_models_get_the_frame_that_pandas_reads(written, tmp_path):
    frame = people()
    frame.to_csv(tmp_path / "mine.csv", index=False)
    read = pd.read_csv(tmp_path / "mine.csv").drop(columns=["id", "name", "fraud"])
    data = load(tmp_path / "mine.csv", reading=Reading(label="fraud", drop=("id", "name"), fixed=("amount",)))
    given = data.table().book.form()(data.values)
    pd.testing.assert_frame_equal(given, read)


def test_parquet(tmp_path):
    frame = people().astype({"job": "category"})
    frame["when"] = [[1, 2]] * len(frame)  # a list, which no model takes
    frame.set_index("kids").to_parquet(tmp_path / "indexed.parquet")
    frame.to_parquet(tmp_path / "mine.parquet")
    reason = refusal(tmp_path / "mine.parquet", Reading(**ASKED))
    assert reason.startswith("column 'when' has values of type list<")
    reading = Reading(**(ASKED | {"drop": ("id", "name", "when")}))
    data = load(tmp_path / "mine.parquet", reading=reading)
    assert data.column_names == ("job", "on", "kids", "amount")
    assert data.class_counts == frame["fraud"].value_counts().to_dict()
    assert isinstance(data.table().book.form()(data.values)["job"].dtype, pd.CategoricalDtype)
    assert load(tmp_path / "indexed.parquet", reading=reading).column_names == ("job", "on", "amount", "kids")
    for flag, given in (("--separator", {"separator": ";"}), ("--header", {"header": True})):
        assert refusal(tmp_path / "mine.parquet", Reading(**given)) == f"{flag} is for csv files only"


def test_no_column_of_labels_is_guessed(written):
    assert refusal(written("a,b,verdict\n1,2,x\n2,1,y\n"), Reading()) == (
        "no column is called label; say which one holds the labels with --label NAME; columns are a, b, verdict"
    )
    assert refusal(written("a,label,LABEL\n1,2,3\n"), Reading()).startswith("2 columns are called label; say which")
    reason = refusal(written("a,b,verdict\n1,2,x\n2,1,y\n"), Reading(label="verdikt"))
    assert reason == "expected --label to be one of a, b, verdict, got 'verdikt'; did you mean verdict?"
    data = load(written(" a, b, verdict\n1,2,x\n2,1,y\n"), reading=Reading(label="verdict", drop=("b",)))
    assert (data.column_names, data.label_column) == ((" a",), " verdict")


@pytest.mark.parametrize(
    "content",
    [
        "39,Private,Bachelors,<=50K\n50,Self,Bachelors,<=50K\n38,Private,HS,>50K\n",
        "1,0\n0,1\n",
        "0,1,label\n1,2,x\n2,1,y\n",
    ],
)
def test_a_first_line_that_looks_like_data_is_asked_about(written, content):
    assert "its first line looks like data (" in refusal(written(content), Reading())
    width = content.partition("\n")[0].count(",") + 1
    data = load(
        written(content), reading=Reading(header=False, label=str(width), fixed=("column 1",) if width > 2 else ())
    )
    assert len(data) == content.count("\n")
    assert data.label_column == f"column {width}"


def test_a_header_of_numbers_is_taken_if_the_user_says_so(written):
    data = load(written("0,1,label\n1,2,x\n2,1,y\n"), reading=Reading(header=True))
    assert (data.column_names, len(data)) == (("0", "1"), 2)


@pytest.mark.parametrize("header", ["2019,2020,region,label", "a,b,c,label", "cook,b,c,label"])
def test_a_header_is_a_header(written, header):
    assert len(load(written(f"{header}\n1,2,cook,x\n2,2,smith,y\n2,1,cook,y\n"))) == 3


def test_what_stands_between_cells_is_not_guessed(written):
    both = "a;b,c;label\n1;2,3;x\n2;1,1;y\n"
    assert refusal(written(both), Reading()) == (
        "',' and ';' both divide its lines evenly; say what stands between cells with --separator"
    )
    data = load(written(both), reading=Reading(separator=";"))
    assert data.column_names == ("a", "b,c")


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([10, 9, 9], ("9", "10")),
        ([1.0, 0.0, 1.0], ("0", "1")),
        ([True, False, True], ("False", "True")),
        ([-1, 1, -1], ("-1", "1")),
    ],
)
def test_classes(written, labels, names):
    lines = "\n".join(f"{cell},{label}" for cell, label in zip("xyx", labels, strict=True))
    data = load(written(f"a,label\n{lines}\n"))
    assert data.class_names == names
    assert [data.class_names[number] for number in data.labels] == [str(label).removesuffix(".0") for label in labels]


def many(values, labels=lambda i: i % 2, rows=100):
    return "\n".join(["x,y,label", *(f"{i % 2},{values(i)},{labels(i)}" for i in range(rows))]) + "\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "its first line names 0 columns with ',' between them; it takes labels and one more"),
        ("\n\n", "its first line names 0 columns with ',' between them; it takes labels and one more"),
        ("label\nx\n", "its first line names 1 columns with ',' between them; it takes labels and one more"),
        ("a,label\n", "it has no rows below its first line"),
        ("a,a,label\nu,2,3\n", "two columns are called 'a'"),
        ("city,label\nRome,x\nOslo,x\n", "its labels are of 1 class; it takes at least two"),
        ("a,label\n1,x\n1,x,3\n", "line 3 has 3 cells, the first line 2"),
        ("a,label\n1,x\n1\n", "line 3 has 1 cells, the first line 2"),
        ("a,label\n1,x\n2,\n2,NA\n", "2 rows have no label in column 'label', first row 1 (the first is 0); "),
        ("a,label\n1,x\n\x00,2\n", "line 3 has a NUL byte, as no text in UTF-8 has"),
        (b"a,label\n1,x\n\xe9,2\n", "line 3 is not UTF-8"),
        (TABLE.encode("utf-16"), "line 1 has a NUL byte, as no text in UTF-8 has"),
        ('a,label\n1,x\n"2,2\n', "line 3: unexpected end of data"),
        ('a,label\n"1"x,2\n', "line 2: ',' expected after '\"'"),
        ("a,label\r1,x\r", "line 1: new-line character seen in unquoted field"),
        ("a,label\n" + "x" * 140_000 + ",1\n", "line 2: field larger than field limit (131072)"),
        ("," * 70_000 + "\n", "it has 70,001 columns, more than 65,536"),
        ("a,label\nu,x\nu,y\n", "expected a column that can vary and is not fixed, got none"),
        (
            many(lambda i: i % 3, lambda i: i / 8),
            "the labels in column 'label' are numbers with fractions, such as 0.125",
        ),
        (
            many(lambda i: i % 3, lambda i: i),
            "column 'label' has 100 different labels in 100 rows: these are no classes",
        ),
        (
            many(lambda i: f"id {i}"),
            "its columns 'y' (str, 100 different values, one per row) are no categories: --drop y leaves a column out, "
            "as suits an id; --fixed y gives a column no noise, so that nothing is claimed about its changes",
        ),
        (many(lambda i: i // 2 / 4), "its columns 'y' (float64, 50 different values) are no categories: --drop y "),
        (many(lambda i: i // 2 / 4), "; --bins y=10 cuts numbers into bins; --fixed y "),
    ],
)
def test_tables_that_are_refused(written, content, reason):
    assert reason in refusal(written(content, "mine.csv"), Reading())


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"drop": ("labl",)}, "expected --drop to be one of x, y, label, got 'labl'; did you mean label?"),
        ({"drop": ("x", "y")}, "it has no column beside the labels in 'label'"),
        ({"fixed": ("label",)}, "expected --fixed to be one of x, y, got 'label'"),
        ({"bins": {"z": 3}}, "expected --bins to be one of x, y, got 'z'"),
        ({"bins": {"y": 3}}, "expected numbers in column 'y' for bins, got str"),
        ({"label": "label", "drop": ("label",)}, "expected --label to be one of x, y, got 'label'"),
    ],
)
def test_flags_that_do_not_fit(written, asked, reason):
    assert reason in refusal(written(many(lambda i: "abc"[i % 3])), Reading(**asked))


@pytest.mark.parametrize(
    "given",
    [
        {"bins": {"a": 1}}, {"bins": {"a": ()}}, {"bins": {"a": (3, 2)}}, {"bins": {"a": (1, float("nan"))}},
        {"bins": {"a": True}}, {"bins": 3}, {"drop": "id"}, {"drop": ("\x1b",)}, {"header": "yes"}, {"separator": ",,"},
        {"separator": '"'}, {"label": 3},
    ],
)  # fmt: skip
def test_readings_that_are_none(given):
    with pytest.raises(fp.InvalidInputError, match="expected "):
        Reading(**given)


def test_names_are_plain_lines(written):
    """They are printed later, and a terminal would obey them."""
    data = load(written("a\x1b[2J,label\nx\x1b[31m,u\x07\ny,v\n"))
    assert all(name.isprintable() for name in (*data.column_names, *data.class_names, *data.value_names[0]))
