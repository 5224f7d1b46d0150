"""The experiments of the paper on the real data, in miniature: what they run, share, keep and report."""

import json
from dataclasses import replace

import pytest

import flipproof as fp
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.pipeline.steps import Machine, Samples
from flipproof.reproduction.pages.figures import save_figure
from flipproof.reproduction.pages.page import write_page
from flipproof.reproduction.pages.rows import matching, values, write_rows
from flipproof.reproduction.reproduce import STUDIES, reproduce, studies_named
from flipproof.reproduction.scale import SCALES, Scale, scale_named
from flipproof.reproduction.studies.timing import _seconds
from flipproof.reproduction.study import ScaledStudy
from flipproof.run_folder.folder import RunFolder

TINY = Scale(
    "tiny", Samples(5, 40), Samples(5, 80), Samples(5, 20), Samples(5, 10), epochs=3, image_epochs=1, seeds=2,
    slow_seeds=1, slow_copies=(), images=3, nodes=2, farthest=1, patience=0.02,
)  # fmt: skip
QUIET = Machine(progress=False)
IN_THE_ISSUE = {
    "table-1", "table-2", "heatmap", "tradeoffs", "models-attributes", "models-structure", "models-deletion", "joint",
    "joint-pairs", "pubmed", "mnist", "mutag", "training", "clean-accuracy", "rules", "compare-gcn", "compare-ppnp",
    "efficiency",
}  # fmt: skip
NAMES = ["table-1", "heatmap", "joint", "joint-pairs", "mutag", "rules", "compare-ppnp", "efficiency"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("paper")


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def found(folder, told, cora_ml):
    made = reproduce(studies_named(NAMES), folder, TINY, (0, 1), QUIET, tell=told.append)
    return {each.scaled.study.name: each for each in made}


def test_every_experiment_is_there():
    assert set(STUDIES) == IN_THE_ISSUE
    assert [study.name for study in studies_named(["all"])] == list(STUDIES)


def test_rows_are_tidy_and_say_what_they_depend_on(found):
    assert list(found) == NAMES
    for name, each in found.items():
        record = each.record()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        seeds = {"table-1": [0, 1], "mutag": [0, 1], "rules": [0, 1], "efficiency": []}.get(name, [0])
        assert (record["study"], record["scale"], record["seeds"]) == (name, "tiny", seeds)
        assert {"date", "commit", "machine", "versions"} <= set(record["made"])
        for row in each.rows:
            assert all(value is None or isinstance(value, str | int | float) for value in row.values())
            assert isinstance(row["measure"], str)
            assert isinstance(row["value"], int | float)
        trials = {json.dumps(trial, sort_keys=True) for trial in record["trials"]}
        assert len(trials) == len(record["trials"]) == len(each.scaled.trials())


def test_table_1_has_every_noise_with_its_published_number(found):
    rows = found["table-1"].rows
    radii = [row for row in matching(rows, measure="mean radius", among="all") if row["rule"] != "two-class"]
    known = {(row["noise"], row["along"]): row["published"] for row in radii}
    assert known == {
        ("(0.01, 0.6)", "delete"): 9.99, ("(0.01, 0.6)", "add"): 3.38, ("(0.01, 0.8)", "delete"): 12.65,
        ("(0.01, 0.8)", "add"): 4.94, ("(0, 0.8)", "delete"): 18.66, ("(0, 0.8)", "add"): 2.14,
        ("(0.1, 0.1)", "delete"): 2.03, ("(0.1, 0.1)", "add"): 2.03, ("0.2 kept", "delete"): 2.01,
        ("0.2 kept", "add"): 2.01,
    }  # fmt: skip
    case = {"measure": "mean radius", "among": "all", "rule": "multi-class", "along": "delete"}
    assert len(values(rows, noise="(0.01, 0.6)", samples=40, **case)) == 2
    assert len(values(rows, noise="(0.01, 0.6)", samples=80, **case)) == 1
    assert len(values(rows, noise="(0.1, 0.1)", **case)) == 1


def test_rows_are_what_certificates_say(found):
    """The heatmap has the same run as the first line of the table."""
    trial = found["heatmap"].scaled.trials()[0]
    certificates = found["heatmap"].scaled.outcome(trial).certificates()
    (share,) = values(found["heatmap"].rows, add=0, delete=2)
    assert share == certificates.certified_ratio(add=[0], delete=[2]).item() > 0.0
    case = {"measure": "mean radius", "along": "delete", "among": "all", "rule": "multi-class"}
    (mean,) = values(found["table-1"].rows, noise="(0.01, 0.6)", samples=40, seed=0, **case)
    assert mean == certificates.max_radius("delete").mean()


def test_runs_and_models_are_shared(found, folder):
    """Each task is trained once, whatever the number of samples; equal trials are one run."""
    trials = {(trial.task.to_record()["seed"], trial) for each in found.values() for trial in each.scaled.trials()}
    models = [path.name for path in (folder / "models").iterdir()]
    runs = [path.name for path in folder.glob("runs-*/*")]
    tasks = {json.dumps(trial.task.to_record(), sort_keys=True) for _, trial in trials}
    assert len(runs) == len(trials)
    assert len(models) == len(tasks) + 1  # the network without noise of the comparison
    assert len(runs) > len(tasks)


def test_a_run_that_somebody_else_has_begun_is_left_alone(found, folder, tmp_path):
    """And one that takes over a model has its weights."""
    model = RunFolder.open(next((folder / "models").iterdir()))
    mine = RunFolder(tmp_path / "mine")
    mine.take_training(model)
    assert mine.weights_file.read_bytes() == model.weights_file.read_bytes()
    assert mine.record() == {name: model.record()[name] for name in ("task", "dataset", "training")}
    mine.update(votes={"n_select": 1})
    mine.take_training(model)
    assert mine.record()["votes"] == {"n_select": 1}
    model_without = RunFolder.prepare(tmp_path / "other")
    model_without.begin(task={})
    with pytest.raises(FileFormatError, match="to have its dataset, got none; run flipproof train first"):
        RunFolder(tmp_path / "new").take_training(model_without)


def test_times_are_of_work_that_is_not_remembered():
    """Regions are remembered by their noise: each turn must have another one, and none the one asked about."""
    noise, seen = fp.FlipNoise(0.2, 0.4, 256), []
    assert _seconds(seen.append, noise, turns=4) >= 0.0
    assert len({noise, *seen}) == 5
    assert all(abs(law.p_plus - 0.2) < 1e-5 and law.categories == 256 for law in seen)


def test_what_is_done_is_not_made_again(found, folder):
    files = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.suffix in (".npz", ".safetensors")}
    told = []
    names = ["table-1", "heatmap", "mutag", "rules"]
    again = reproduce(studies_named(names), folder, TINY, (0, 1), QUIET, tell=told.append)
    assert {path: path.stat().st_mtime_ns for path in files} == files
    for each in again:
        assert each.rows == found[each.scaled.study.name].rows
    assert told[-1].done == told[-1].of - 1
    assert told[-1].words == "rows of rules"


def test_progress_counts_down_a_whole_plan(found, told):
    assert [each.done for each in told] == list(range(len(told)))
    assert {each.of for each in told} == {len(told)}
    assert told[0].seconds_left is None
    assert all(each.seconds_left is not None and each.seconds_left >= 0.0 for each in told[1:])
    assert told[-1].seconds_left < max(each.seconds_left for each in told[1:]) / 2
    assert told[0].words == "gcn on cora_ml, attributes (0.01, 0.6), 40 samples, seed 0"
    assert [each.words for each in told if each.words.startswith("rows of")] == [f"rows of {name}" for name in NAMES]


def test_what_was_found_is_kept_at_once(folder, found):
    kept = []

    def stop(each):
        kept.append(each.scaled.study.name)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(studies_named(["heatmap", "rules"]), folder, TINY, (0, 1), QUIET, keep=stop)
    assert kept == ["heatmap"]


def test_figures_and_the_page_come_from_rows_alone(found, tmp_path):
    for name, each in found.items():
        write_rows(tmp_path / name, each.record())
        files = save_figure(name, each.rows, tmp_path / name)
        assert [file.suffix for file in files] == ([] if name == "table-1" else [".png", ".svg"])
    text = write_page(tmp_path, tmp_path / "page.md").read_text()
    for name in NAMES:
        assert f"\n## {name}: {STUDIES[name].title}\n" in text
    assert "| (0.1, 0.1) | delete | 40 | 1 |" in text


def test_every_study_has_trials_at_every_scale():
    for scale in SCALES.values():
        for study in STUDIES.values():
            scaled = ScaledStudy(study, None, QUIET, scale, tuple(range(scale.seeds)))
            trials = scaled.trials()
            assert bool(trials) == (study.name != "efficiency")
            assert len(set(trials)) == len(trials)
            assert all(trial.effort > 0.0 for trial in trials)
            assert study.effort(scale) > 0.0


def test_spreads_are_over_five_seeds_at_least():
    standard = scale_named("standard")
    assert standard.seeds >= 5
    for name in ("models-attributes", "models-structure", "models-deletion", "training", "rules"):
        trials = STUDIES[name].trials(standard, tuple(range(standard.seeds)))
        assert len({trial.task.seed for trial in trials}) == standard.seeds, name


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: studies_named(["table-3"]), "expected experiment to be one of table-1"),
        (lambda: scale_named("huge"), "expected scale to be one of quick, standard, paper, got 'huge'"),
        (lambda: reproduce([], "nowhere", TINY, (0,)), "expected at least one experiment and one seed, got none"),
        (lambda: reproduce(studies_named(["rules"]), "nowhere", TINY, ()), "expected at least one experiment"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()


@pytest.mark.slow
def test_everything_in_miniature(cora_ml, tmp_path):
    """All experiments, on all datasets."""
    for each in reproduce(studies_named(["all"]), tmp_path / "work", replace(TINY, seeds=1), (0,), QUIET):
        write_rows(tmp_path / each.scaled.study.name, each.record())
        save_figure(each.scaled.study.name, each.rows, tmp_path / each.scaled.study.name)
    assert write_page(tmp_path, tmp_path / "page.md").read_text().count("\n## ") == len(STUDIES) + 1
