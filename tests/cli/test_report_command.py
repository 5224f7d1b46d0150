"""`flipproof report` the way a user types it, and the reports that other commands leave."""

import json
import shlex
import shutil

import pytest

import flipproof as fp
from flipproof.cli.values import repeating_command
from page_data import data_of, unpacked

SMALL = ["--hidden", 16, "--epochs", 150, "--train-per-class", 5, "--validation-per-class", 5]
FEW = ["--samples", 100, "--select-samples", 50, "--workers", 1]
FIGURES = sorted(f"{name}.{kind}" for name in ("bounds", "heatmap", "lines") for kind in ("png", "svg"))


@pytest.fixture(scope="module")
def finished(planted, tmp_path_factory):
    """A run without a report; copy it before changing it."""
    from flipproof.cli.task_options import TaskOptions
    from flipproof.cli.values import task_of
    from flipproof.pipeline.steps import Samples, run

    path = tmp_path_factory.mktemp("runs") / "finished"
    flags = TaskOptions(str(planted), path, hidden=16, epochs=150, train_per_class=5, validation_per_class=5)
    run(path, task_of(flags), Samples(50, 100))
    return path


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def page_of(folder):
    return data_of((folder / "report.html").read_text(encoding="utf-8"))


def test_a_report_of_a_run(run, folder):
    code, out, err = run("report", folder)
    assert (code, err) == (0, "")
    assert out == f"wrote {folder / 'report.html'}, figures in {folder / 'figures'}\n"
    assert sorted(each.name for each in (folder / "figures").iterdir()) == FIGURES
    (page,) = page_of(folder)["runs"]
    votes = fp.Votes.load(folder / "votes.npz")
    assert (unpacked(page["table"]["votes"]["counts"]) == votes.estimation).all()
    assert page["name"].endswith("gcn, noise on attributes")
    assert page["pictures"]["graph"] is not None
    facts = {name: value for each in page["facts"] for name, value in each["rows"]}
    record = json.loads((folder / "run.json").read_text())
    assert facts["votes, sha256"] == record["votes"]["sha256"]
    assert facts["weights, sha256"] == record["training"]["weights_sha256"]
    assert (facts["attributes: p_plus"], facts["attributes: p_minus"]) == ("0.01", "0.6")
    assert (facts["alpha"], facts["seed"]) == ("0.01", "0")


def test_it_is_the_same_every_time(run, folder):
    run("report", folder)
    before = {path: path.read_bytes() for path in [folder / "report.html", *(folder / "figures").iterdir()]}
    run("report", folder)
    assert before == {path: path.read_bytes() for path in before}


def test_the_command_repeats_the_run(run, folder, tmp_path):
    run("report", folder)
    command = shlex.split(page_of(folder)["runs"][0]["command"])
    assert command[:2] == ["flipproof", "run"]
    assert command[command.index("--out") + 1] == "run-again"
    again = tmp_path / "again"
    command[command.index("--out") + 1] = str(again)
    assert run(*command[1:])[0] == 0
    ours, theirs = (json.loads((path / "run.json").read_text()) for path in (folder, again))
    assert ours["task"] == theirs["task"]
    assert ours["training"]["weights_sha256"] == theirs["training"]["weights_sha256"]
    one, other = (fp.Votes.load(path / "votes.npz") for path in (folder, again))
    assert (one.estimation == other.estimation).all()
    assert (again / "report.html").exists()


def test_commands_have_all_flags_that_matter():
    noise = {"parts": {"structure": {"p_plus": 0.1, "p_minus": 0.2}, "attributes": {"p_plus": 0.3, "p_minus": 0.4}}}
    record = {
        "task": {
            "kind": "nodes",
            "dataset": "my data.npz",
            "model": {"name": "gat", "hidden": 4, "dropout": None},
            "noisy": "both",
            "noise": noise,
            "training": {"noisy_samples": 2, "average": "softmax", "epochs": 3000},
            "split": {"train": 20, "validation": 7},
            "seed": 5,
            "weights": "abc",
        },
        "votes": {"n_select": 10, "n_estimate": 100_000},
        "certificates": {"alpha": 0.05, "rule": "two-class", "simultaneous": True},
    }
    assert repeating_command(record, "out") == (
        "flipproof run --dataset 'my data.npz' --out out-again --model gat --hidden 4 "
        "--weights out/weights.safetensors --noise both "
        "--structure-noise 0.1 0.2 --attributes-noise 0.3 0.4 --noisy-samples 2 --average softmax "
        "--validation-per-class 7 --seed 5 --select-samples 10 --alpha 0.05 --rule two-class --simultaneous"
    )


def test_certify_leaves_a_report_unless_told_not_to(run, folder):
    code, out, _ = run("certify", folder, "--no-report")
    assert code == 0
    assert "report" not in out
    assert not (folder / "report.html").exists()
    code, out, _ = run("certify", folder)
    assert code == 0
    assert out.endswith(f"report    {folder / 'report.html'}\n")
    code, out, _ = run("certify", folder, "--alpha", 0.05, "--force", "--json")
    json.loads(out)
    (promise,) = [each for each in page_of(folder)["runs"][0]["facts"] if each["title"] == "Promise"]
    assert promise["rows"][0] == ["alpha", "0.05"]


def test_without_the_extra_the_work_is_done_all_the_same(run, folder, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    code, out, err = run("certify", folder)
    assert code == 0
    assert "share of all nodes" in out
    assert err.startswith("flipproof: no report: expected plotly to be installed, got")
    assert err.endswith('pip install "flipproof[report]"\n')
    assert (folder / "certificates.json").exists()
    code, out, err = run("report", folder)
    assert (code, out) == (2, "")
    assert err.startswith("flipproof: expected plotly to be installed, got")


def test_several_runs_side_by_side(run, folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    run("certify", other, "--alpha", 0.1, "--force", "--no-report")
    code, out, err = run("report", folder, other)
    assert (code, out) == (2, "")
    assert err == "flipproof: a page of several runs needs a name; add --out compare.html\n"
    target = tmp_path / "compare.html"
    assert run("report", folder, other, "--out", target)[:2] == (0, f"wrote {target}\n")
    names = [each["name"] for each in data_of(target.read_text(encoding="utf-8"))["runs"]]
    assert [name.partition(": ")[0] for name in names] == [str(folder), str(other)]
    assert run("report", folder, "--out", target)[0] == 0  # a report may be replaced
    assert len(data_of(target.read_text(encoding="utf-8"))["runs"]) == 1
    target.write_text("<!doctype html>\nmine")
    code, out, err = run("report", folder, "--out", target)
    assert (code, out) == (2, "")
    assert err == f"flipproof: expected a new file or a report, got {target}; --force (force=True) replaces it\n"
    assert target.read_text() == "<!doctype html>\nmine"
    assert run("report", folder, "--out", target, "--force")[0] == 0


def test_a_votes_file_alone(run, folder):
    code, out, err = run("report", folder / "votes.npz")
    assert (code, out, err) == (0, f"wrote {folder / 'votes.html'}\n", "")
    (page,) = data_of((folder / "votes.html").read_text(encoding="utf-8"))["runs"]
    assert (page["name"], page["inputs"], page["pictures"]) == ("votes.npz", 90, None)
    assert "seed" in {name for each in page["facts"] for name, _ in each["rows"]}
    run("report", folder / "votes.npz", folder, "--out", folder / "both.html")
    votes, whole = data_of((folder / "both.html").read_text(encoding="utf-8"))["runs"]
    assert not {axis["words"] for axis in votes["axes"]} & {axis["words"] for axis in whole["axes"]}


def test_a_graph_that_is_gone_is_not_drawn(run, folder, planted, tmp_path):
    record = json.loads((folder / "run.json").read_text())
    record["task"]["dataset"] = str(tmp_path / "gone.npz")
    (folder / "run.json").write_text(json.dumps(record))
    assert run("report", folder)[0] == 0
    assert page_of(folder)["runs"][0]["pictures"] is None


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (shutil.rmtree, "expected a run folder, got"),
        (lambda folder: (folder / "run.json").unlink(), "without run.json"),
        (lambda folder: (folder / "certificates.json").unlink(), "certificates.json"),
        (lambda folder: (folder / "votes.npz").write_bytes(b""), "run flipproof vote again"),
        (lambda folder: (folder / "inputs.npz").write_bytes(b""), "run flipproof train --force again"),
        (lambda folder: (folder / "report.html").mkdir(), "got report.html, which is something else"),
        (lambda folder: (folder / "report.html").write_text("mine"), "expected a new file or a report"),
        (lambda folder: (folder / "report.html").symlink_to("run.json"), "got report.html, which is something else"),
        (lambda folder: (folder / "figures").symlink_to(folder.parent), "got figures, which is something else"),
        (lambda folder: (folder / "figures").write_text(""), "got figures, which is something else"),
    ],
)
def test_refusals_are_one_line(run, folder, spoil, reason):
    spoil(folder)
    code, out, err = run("report", folder)
    assert (code, out) == (2, "")
    assert reason in err
    assert len(err.splitlines()) == 1


def test_a_folder_that_is_not_there(run, folder, tmp_path):
    code, _, err = run("report", folder, "--out", tmp_path / "no" / "page.html")
    assert code == 2
    assert "its folder does not exist" in err


def test_starting_again_takes_the_report_away(run, folder, planted):
    run("report", folder)
    code, _, _ = run("train", "--dataset", planted, "--out", folder, *SMALL, "--seed", 1, "--force")
    assert code == 0
    assert not (folder / "report.html").exists()
    assert not list((folder / "figures").glob("*"))


def test_a_report_fits_the_certificates_beside_it(run, folder):
    run("report", folder)
    assert run("vote", folder, "--samples", 150, "--select-samples", 50)[0] == 0
    assert not (folder / "report.html").exists()
    code, out, err = run("report", folder)
    assert (code, out) == (2, "")
    assert "they have n_estimate 100 instead of 150; run flipproof certify again" in err
    assert run("certify", folder)[0] == 0
    assert run("certify", folder, "--no-report")[0] == 0
    assert (folder / "report.html").exists()  # it still fits
    assert run("certify", folder, "--alpha", 0.02, "--force", "--no-report")[0] == 0
    assert not (folder / "report.html").exists()
    assert not (folder / "figures").exists()


def test_certify_answers_even_if_no_report_can_be_written(run, folder):
    (folder / "report.html").write_text("mine")
    code, out, err = run("certify", folder)
    assert code == 0
    assert "share of all nodes" in out
    assert err.startswith("flipproof: no report: expected a new file or a report, got ")
    assert (folder / "report.html").read_text() == "mine"
