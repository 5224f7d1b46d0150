"""Frames so small that every noisy copy can be tried: what the model sees has the law that is certified."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given
from flipproof.noise.sampling.samplers import Role

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

JOBS, SIZES, TAXES = ["cook", "smith", None], [1.0, 2.0, 4.0, 8.0, 9.0, 11.0], [0.25, 0.75]
"""Sizes are cut at 5.0; the representatives of the two bins are 2.0 and 9.0."""
ROWS = list(itertools.product(JOBS, SIZES, TAXES))
SHOWN = {1.0: 2.0, 2.0: 2.0, 4.0: 2.0, 8.0: 9.0, 9.0: 9.0, 11.0: 9.0}
MAKERS = {
    "pandas": lambda rows: fp.Table.from_pandas(
        pd.DataFrame(rows, columns=["job", "size", "tax"]), fixed=["tax"], bins={"size": [5.0]}
    ),
    "polars": lambda rows: fp.Table.from_polars(
        pl.DataFrame(rows, schema=["job", "size", "tax"], orient="row"), fixed=["tax"], bins={"size": [5.0]}
    ),
}
SAMPLES = 20_000
AS_LISTS = {"pandas": {"orient": "list"}, "polars": {"as_series": False}}


def label(job, size, tax):
    """What a model says that looks at everything, and at the size as a number."""
    score = {"cook": 3.0, "smith": -1.5, None: 0.5}[job]
    return int(score + (size - 5.0) * 0.3 + (tax - 0.5) * 9.0 > 0)


def labels_of(frame):
    rows = frame.rows() if isinstance(frame, pl.DataFrame) else frame.astype(object).itertuples(index=False)
    return np.array([label(None if job is None or job != job else job, size, tax) for job, size, tax in rows])


def law(values, clean, zero, noise):
    """The probability of every noisy value of a cell."""
    flip = Fraction(noise.p_plus if clean == zero else noise.p_minus)
    return {value: 1 - flip if value == clean else flip / (len(values) - 1) for value in values}


def smoothed(row, noise):
    """The exact probability of label 1 for noisy copies of a row, from what is said about tables."""
    job, size, tax = row
    jobs, sizes = law(JOBS, job, "cook", noise), law([2.0, 9.0], SHOWN[size], 2.0, noise)
    return sum(jobs[j] * sizes[s] for j in jobs for s in sizes if label(j, s, tax))


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("noise", [fp.FlipNoise(0.0625, 0.0625), fp.FlipNoise(0.03125, 0.25)], ids=str)
def test_noisy_frames_have_the_law_that_is_certified_and_no_certificate_is_wrong(library, noise):
    table = MAKERS[library](ROWS)
    votes = fp.vote(fp.FunctionClassifier(labels_of, 2), table, noise, 2_000, SAMPLES, progress=False)
    exact = [smoothed(row, noise) for row in ROWS]
    seen = votes.estimation[:, 1] / SAMPLES
    # Hoeffding: the bound fails for any of 36 rows with a probability below 1e-9.
    assert np.abs(seen - np.array(exact, dtype=float)).max() < np.sqrt(np.log(2 * 36 / 1e-9) / (2 * SAMPLES))
    certificates = fp.certify(votes, 1e-6, simultaneous=True)
    radius, tried, turned = certificates.max_l0_radius(), 0, 0
    for (i, one), (j, other) in itertools.product(enumerate(ROWS), repeat=2):
        changed = (one[0] != other[0]) + (one[1] != other[1])
        if certificates.abstained[i] or changed > radius[i]:
            continue
        same = (exact[j] > Fraction(1, 2)) == bool(certificates.label[i])
        if one[2] == other[2]:
            assert same, (one, other)
            tried += one != other
        else:
            turned += not same
    assert tried > 50
    assert turned > 10  # the fixed column is not covered, and the claim says so
    fixed = ("the column 'tax'", "the set of values that occur in each column", "the bins")
    assert certificates.votes.scope.fixed == fixed


@pytest.mark.parametrize("library", MAKERS)
def test_numbers_of_one_bin_look_alike(library):
    table = MAKERS[library](ROWS)
    sampler = table.sampler(table.noise(0.25, 0.25), 0)
    drawn = sampler.draw(Role.ESTIMATE, range(50), np.arange(len(ROWS)))
    frame = as_given(sampler, drawn)
    assert set(frame["size"].to_list() if library == "polars" else frame["size"].tolist()) == {2.0, 9.0}
    clean = table.sampler(table.noise(0.0, 0.0), 0)
    rows = [ROWS.index(("smith", size, 0.25)) for size in (1.0, 2.0, 4.0)]
    one, two, three = (as_given(clean, clean.draw(Role.ESTIMATE, range(1), np.array([row]))) for row in rows)
    assert one.equals(two)
    assert two.equals(three)


@pytest.mark.parametrize("library", MAKERS)
def test_the_form_is_a_function_of_the_codes_alone(library):
    table = MAKERS[library](ROWS)
    form = table.sampler(table.noise(0.1, 0.1), 0).form
    codes = table.values[[3, 3, 7]]
    assert form(codes[:1]).equals(form(codes[1:2]))
    assert form(codes[::-1])[2:].to_dict(**AS_LISTS[library]) == form(codes[:1]).to_dict(**AS_LISTS[library])


def test_values_that_do_not_occur_are_not_covered_and_sentences_say_so():
    """A model that a new value would turn: the claim speaks only of values that occur."""
    frame = pd.DataFrame({"a": ["x", "y"] * 3, "b": ["u", "v", "v"] * 2})
    table = fp.Table.from_pandas(frame)
    spoilt = fp.FunctionClassifier(lambda given: (given["a"] == "z").to_numpy().astype(int), 2)
    certificates = fp.certify(fp.vote(spoilt, table, fp.FlipNoise(0.25, 0.25), 100, 5_000, progress=False))
    assert fp.in_words(certificates, 0, inputs=table).startswith(
        "No attacker who changes any number of cells to another value that occurs in the column, and leaves the set "
        "of values that occur in each column alone, can change"
    )
    assert "the set of values that occur in each column" in fp.in_words(certificates, 0)  # even without the table
    known = fp.Table.from_pandas(frame, categories={"a": ["z"]})
    certificates = fp.certify(fp.vote(spoilt, known, fp.FlipNoise(0.25, 0.25), 100, 5_000, progress=False))
    assert certificates.max_l0_radius()[0] == 0  # cell "a" may now become "z"
    assert "'a'" not in fp.in_words(certificates, 0, inputs=known)
