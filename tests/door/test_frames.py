"""Data frames and models of real libraries, as they are: votes are the model's own answers to noisy frames."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.noise.laws import as_given
from flipproof.noise.sampling.samplers import Role

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
pytest.importorskip("sklearn")
from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier  # noqa: E402
from sklearn.impute import SimpleImputer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder  # noqa: E402

ROWS, SAMPLES = 120, 30
NOISE = fp.FlipNoise(0.1, 0.3)
DECLARED = {"fixed": ["amount"], "bins": {"age": 4}}


def plain_frame():
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "job": draw.choice(["cook", "smith", "none"], ROWS),
            "home": draw.choice(["rent", "own"], ROWS),
            "on": draw.random(ROWS) < 0.3,
            "kids": draw.integers(0, 4, ROWS),
            "age": draw.normal(40, 10, ROWS).round(1),
            "amount": draw.exponential(100, ROWS).round(2),
        },
        index=[f"row {i}" for i in range(ROWS)],
    )
    frame.loc[draw.random(ROWS) < 0.15, "age"] = np.nan
    return frame


PLAIN = plain_frame()
GAPS = PLAIN.assign(job=PLAIN["job"].mask(PLAIN["kids"] == 3))
LABELS = np.where((PLAIN["job"] == "cook") + 0 + (PLAIN["age"] > 38) + PLAIN["on"] > 1, "yes", "no")
NUMBERS = (LABELS == "yes").astype(int)
CATEGORIES = GAPS.assign(job=GAPS["job"].astype("category"), home=GAPS["home"].astype("category"))
POLARS_PLAIN = pl.DataFrame({name: PLAIN[name].tolist() for name in PLAIN}, nan_to_null=True)
POLARS = POLARS_PLAIN.with_columns(job=pl.when(pl.col("kids") == 3).then(None).otherwise(pl.col("job")))
ENUMS = POLARS.with_columns(
    job=pl.col("job").cast(pl.Enum(["smith", "none", "cook"])), home=pl.col("home").cast(pl.Enum(["own", "rent"]))
)


def encoded(encoder, model):
    columns = make_column_transformer(
        (encoder, ["job", "home"]), (SimpleImputer(), ["age", "amount"]), remainder="passthrough"
    )
    return make_pipeline(columns, model)


def one_hot():
    return encoded(OneHotEncoder(), LogisticRegression(max_iter=5000))


def ordinal():
    return encoded(OrdinalEncoder(encoded_missing_value=-1), RandomForestClassifier(5, random_state=0))


def boosting():
    return HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype")


def lightgbm():
    return pytest.importorskip("lightgbm").LGBMClassifier(n_estimators=5, min_child_samples=5, verbose=-1)


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=5, enable_categorical=True)


def catboost():
    named = {"cat_features": ["job", "home", "on", "kids"], "allow_writing_files": False, "verbose": False}
    return pytest.importorskip("catboost").CatBoostClassifier(iterations=5, **named)


PAIRS = {
    "one-hot, pandas": (one_hot, GAPS, LABELS),
    "one-hot, polars": (one_hot, POLARS, LABELS),
    "ordinal, pandas": (ordinal, GAPS, LABELS),
    "ordinal, polars": (ordinal, POLARS, LABELS),
    "boosting, pandas": (boosting, CATEGORIES, LABELS),
    "boosting, polars": (boosting, ENUMS, LABELS),
    "lightgbm, pandas": (lightgbm, CATEGORIES, LABELS),
    "xgboost, pandas": (xgboost, CATEGORIES, NUMBERS),
    "xgboost, polars": (xgboost, ENUMS, NUMBERS),
    "catboost, pandas": (catboost, PLAIN, LABELS),
    "catboost, polars": (catboost, POLARS_PLAIN, LABELS),
}


@pytest.fixture(scope="module", params=PAIRS)
def pair(request):
    make, frame, labels = PAIRS[request.param]
    return make().fit(frame, labels), frame


def table_of(frame, **declared):
    make = fp.Table.from_pandas if isinstance(frame, pd.DataFrame) else fp.Table.from_polars
    return make(frame, **(declared or DECLARED))


def noisy_frames(table, noise=NOISE, samples=range(SAMPLES), role=Role.ESTIMATE):
    sampler = table.sampler(table.law_for(noise), 0)
    return as_given(sampler, sampler.draw(role, samples, np.arange(sampler.rows)))


def counted(model, frame, samples=SAMPLES):
    """What the model itself says about noisy frames, counted."""
    said = np.asarray(model.predict(frame)).reshape(samples, -1)
    return np.stack([(said == label).sum(axis=0) for label in model.classes_], axis=1)


def test_votes_in_three_lines(pair):
    model, frame = pair
    votes = fp.vote(model, table_of(frame), NOISE, SAMPLES, SAMPLES, progress=False)
    certificates = fp.certify(votes, 0.05)
    assert len(certificates) == ROWS
    assert votes.estimation.tolist() == counted(model, noisy_frames(table_of(frame))).tolist()
    assert (votes.estimation.min(axis=1) > 0).any()


def test_without_noise_the_model_gets_the_frame_that_it_was_fitted_on(pair):
    model, frame = pair
    held = table_of(frame, fixed=["amount", "age"])
    given = noisy_frames(held, NOISE.without_noise(), range(1))
    same = given.equals(frame.reset_index(drop=True)) if isinstance(frame, pd.DataFrame) else given.equals(frame)
    assert same
    assert list(given.dtypes) == list(frame.dtypes)
    votes = fp.vote(model, held, NOISE.without_noise(), 2, 2, progress=False)
    assert (model.classes_[votes.estimation.argmax(axis=1)] == np.asarray(model.predict(frame)).ravel()).all()


def test_a_frame_of_categories_goes_in_as_it_is():
    frame = CATEGORIES[["job", "home", "on", "kids"]]
    model = lightgbm().fit(frame, LABELS)
    votes = fp.vote(model, frame, fp.FlipNoise(0.1, 0.1), SAMPLES, SAMPLES, progress=False)
    assert list(votes.noise.parts) == ["k4", "k2"]
    table = fp.Table.from_pandas(frame)
    assert votes.estimation.tolist() == counted(model, noisy_frames(table, fp.FlipNoise(0.1, 0.1))).tolist()


def test_bare_codes_make_lightgbm_another_model():
    """What happens without frames: the model takes the codes for other categories, and says nothing."""
    frame = CATEGORIES[["job", "home"]]
    target = np.where((GAPS["job"] == "cook") ^ (GAPS["home"] == "own"), "yes", "no")
    model, table = lightgbm().fit(frame, target), fp.Table.from_pandas(frame, zeros={"job": "smith", "home": "rent"})
    given = noisy_frames(table)
    assert (model.predict(given) == counted_labels(model, table)).all()
    by_codes = model.booster_.predict(table.values.astype(float)) > 0.5
    assert (by_codes != (model.predict(frame) == "yes")).mean() > 0.1


def counted_labels(model, table):
    """The labels of noisy frames that are made cell by cell, from the codes and the names of values alone."""
    sampler = table.sampler(table.law_for(NOISE), 0)
    drawn = sampler.draw(Role.ESTIMATE, range(SAMPLES), np.arange(sampler.rows))
    known = [[None if name == "missing" else name for name in names] for names in table.value_names]
    cells = {name: [known[j][code] for code in drawn[:, j]] for j, name in enumerate(table.column_names)}
    frame = pd.DataFrame({name: pd.Categorical(cells[name], CATEGORIES[name].cat.categories) for name in cells})
    return model.predict(frame)


@pytest.mark.parametrize("name", ["one-hot, pandas", "one-hot, polars", "lightgbm, pandas"])
def test_workers_vote_alike(name):
    make, frame, labels = PAIRS[name]
    model, table = make().fit(frame, labels), table_of(frame)
    alone, two = (fp.vote(model, table, NOISE, 10, 10, progress=False, workers=workers) for workers in (1, 2))
    assert alone.estimation.tolist() == two.estimation.tolist()


def test_an_estimator_learns_from_noisy_frames():
    table = table_of(GAPS)
    model = fp.fit_estimator(one_hot(), table, LABELS, noise=NOISE, copies=5)
    again = one_hot().fit(noisy_frames(table, samples=range(5), role=Role.TRAIN), np.tile(LABELS, 5))
    assert model.classes_.tolist() == ["no", "yes"]
    assert (model.predict(GAPS) == again.predict(GAPS)).all()
    assert fp.vote(model, table, NOISE, 10, 10, progress=False).classes == 2


def test_an_estimator_learns_from_a_frame_of_polars():
    model = fp.fit_estimator(one_hot(), table_of(POLARS), LABELS, range(60), NOISE, copies=0)
    assert (model.predict(POLARS) == LABELS).mean() > 0.7


def test_the_report_has_the_names_of_the_frame(tmp_path):
    model, table = one_hot().fit(GAPS, LABELS), table_of(GAPS)
    votes = fp.vote(model, table, NOISE, 20, 60, progress=False, targets=[4, 2])
    fp.write_report(tmp_path / "report.html", fp.certify(votes), inputs=table, class_names=("no", "yes"))
    assert "row 4" in (tmp_path / "report.html").read_text(encoding="utf-8")
    votes = fp.vote(model, table, NOISE, 20, 60, progress=False)
    fp.write_report(tmp_path / "all.html", fp.certify(votes), inputs=table, class_names=("no", "yes"))
    page = (tmp_path / "all.html").read_text(encoding="utf-8")
    assert all(word in page for word in ("smith", "missing", "amount", "row 119"))


def test_many_rows_take_little_memory():
    draw, rows = np.random.default_rng(0), 200_000
    frame = pd.DataFrame({f"c{j}": draw.choice(["a", "b", "c"], rows) for j in range(4)}).assign(
        x=draw.normal(size=rows), y=draw.normal(size=rows)
    )
    table = fp.Table.from_pandas(frame, fixed=["x"], bins={"y": 10})
    assert table.values.nbytes <= 4 * frame.size
    sampler = table.sampler(table.noise(0.1, 0.1), 0)
    assert 60 <= sampler.bytes_per_row <= 300
