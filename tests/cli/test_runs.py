"""`flipproof train`, `vote`, `certify`, `run` and `demo` the way a user types them."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import flipproof as fp
from flipproof.run_folder.split import Inputs

SMALL = ["--hidden", 16, "--epochs", 200, "--train-per-class", 5, "--validation-per-class", 5]
FEW = ["--samples", 200, "--select-samples", 50]
PROGRAM = str(Path(sys.executable).parent / "flipproof")


@pytest.fixture(scope="module")
def finished(planted, tmp_path_factory):
    """A run made by the program; copy it before changing it."""
    path = tmp_path_factory.mktemp("runs") / "finished"
    arguments = ["run", "--dataset", planted, "--out", path, *SMALL, *FEW, "--p-plus", 0.02, "--p-minus", 0.3]
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True)
    return path


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


def test_three_commands_and_one_say_the_same(run, planted, finished, tmp_path):
    path = tmp_path / "run"
    noise = ["--p-plus", 0.02, "--p-minus", 0.3]
    code, out, err = run(
        "train", "--dataset", planted, "--model", "gcn", "--noise", "attributes", *noise, *SMALL, "--out", path
    )
    assert (code, err) == (0, "")
    assert f"next      flipproof vote {path}" in out
    code, out, err = run("vote", path, *FEW)
    assert (code, err) == (0, "")
    assert "voted     50 + 200 samples; 250 drawn in" in out
    code, out, err = run("certify", path, "--alpha", 0.01)
    assert (code, err) == (0, "")
    for words in ("accuracy  base", "on 60 test nodes", "of 90 nodes", "radius    add: mean", "share of all nodes"):
        assert words in out
    one, three = (json.loads(run("certify", each, "--json")[1]) for each in (finished, path))
    assert one["certificates"] == three["certificates"]
    assert one["task"] == three["task"]
    assert one["summary"]["smoothed_accuracy"] == three["summary"]["smoothed_accuracy"] > 0.8


def test_json_and_nothing_else(run, planted, tmp_path):
    code, out, err = run("run", "--dataset", planted, "--out", tmp_path / "run", *SMALL, *FEW, "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    assert facts["task"]["noise"] == {"p_plus": 0.01, "p_minus": 0.6, "categories": 2}
    assert facts["summary"]["inputs"] == 90


def test_both_parts_have_their_own_noise(run, planted, tmp_path):
    pairs = ["--structure-noise", 0.01, 0.2, "--attributes-noise", 0.02, 0.3]
    arguments = ["run", "--dataset", planted, "--noise", "both", *pairs, "--out", tmp_path / "run", *SMALL, *FEW]
    code, out, _ = run(*arguments)
    assert code == 0
    assert (
        "noise     on both; structure: p_plus 0.01, p_minus 0.2\n          attributes: p_plus 0.02, p_minus 0.3\n"
        in out
    )
    assert max(len(line) for line in out.splitlines() if str(tmp_path) not in line) <= 88
    assert "structure.delete" in out
    code, out, _ = run("certify", tmp_path / "run", "--json")
    assert set(json.loads(out)["summary"]["axes"]) == {
        "structure.add", "structure.delete", "attributes.add", "attributes.delete"
    }  # fmt: skip


def test_a_configuration_has_the_words_of_the_flags(run, planted, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        f'dataset = "{planted}"\nnoise = "both"\nstructure_noise = [0.01, 0.2]\nattributes-noise = [0.02, 0.3]\n'
        "hidden = 8\nepochs = 60\ntrain_per_class = 5\nvalidation_per_class = 5\n"
        'samples = 200\nselect_samples = 50\nalpha = 0.05\njson = true\nmodel = "appnp"\n'
    )
    code, out, err = run("run", "--config", config, "--out", tmp_path / "one", "--seed", 3)
    assert (code, err) == (0, "")
    task = json.loads(out)["task"]
    assert (task["seed"], task["model"]["name"], task["model"]["hidden"]) == (3, "appnp", 8)
    assert task["noise"]["parts"]["structure"] == {"p_plus": 0.01, "p_minus": 0.2, "categories": 2}
    assert run("train", "--config", config, "--out", tmp_path / "two", "--seed", 3)[0] == 0
    assert run("vote", tmp_path / "two", "--config", config)[0] == 0
    assert run("certify", tmp_path / "two", "--config", config)[0] == 0
    one, two = (json.loads((tmp_path / name / "certificates.json").read_text()) for name in ("one", "two"))
    assert one["promise"]["alpha"] == two["promise"]["alpha"] == 0.05
    assert (tmp_path / "one" / "certificates.npz").read_bytes() == (tmp_path / "two" / "certificates.npz").read_bytes()
    # a flag counts more than the file
    assert run("certify", tmp_path / "two", "--config", config, "--alpha", 0.01)[0] == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("p_pluss = 0.1", "got 'p_pluss'; did you mean p_plus?"),
        ("p_plus = ", "is not valid TOML"),
        ("p_plus = 'many'", "Invalid value for '--p-plus'"),
        ("[noise]\np_plus = 0.1", "expected keys without tables in"),
    ],
)
def test_bad_configurations(run, tmp_path, text, words):
    config = tmp_path / "run.toml"
    config.write_text(text)
    code, _, err = run("train", "--dataset", "digits-graph", "--out", tmp_path / "run", "--config", config)
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    assert run("train", "--config", tmp_path / "nothing.toml", "--dataset", "x", "--out", "y")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dataset", "cora-ml"], "did you mean cora_ml"),
        (["--dataset", "digits-graph", "--model", "gnc"], "did you mean gcn"),
        (["--dataset", "digits-graph", "--noise", "edges"], "expected --noise to be one of attributes, struct"),
        (["--dataset", "digits-graph", "--p-plus", 0.1], "expected both --p-plus and --p-minus, got only one of them"),
        (["--dataset", "digits-graph", "--p-plus", 1.1, "--p-minus", 0.1], "expected p_plus in [0, 1], got 1.1"),
        (["--dataset", "digits-graph", "--noise", "both", "--p-plus", 0.1], "--noise both takes --structure-noise and"),
        (["--dataset", "digits-graph", "--structure-noise", 0.1, 0.2], "takes --p-plus and --p-minus, not"),
        (["--dataset", "digits-graph", "--average", "mean"], "expected average to be one of log-softmax, softmax"),
        (["--dataset", "digits-graph", "--train-per-class", 170], "got 174 of class 8; ask for fewer per class"),
        (["--dataset", "digits-graph", "--seed", -1], "expected seed to be a non-negative integer, got -1"),
        (["--dataset", "nothing.npz"], "nothing.npz"),
        ([], "dataset"),
    ],
)  # fmt: skip
def test_bad_words_are_one_line(run, tmp_path, arguments, words):
    code, out, err = run("train", *arguments, "--out", tmp_path / "run")
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_nothing_is_overwritten_without_force(run, planted, folder):
    def contents():
        return {
            path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".checkpoint"
        }

    before = contents()
    for arguments, words in (
        (["train", "--dataset", planted, *SMALL, "--out", folder], "it has noise.p_plus 0.02 instead of 0.01"),
        (["vote", folder, "--samples", 100], "expected at least the 200 samples"),
        (["certify", folder, "--alpha", 0.05], "flipproof certify --force replaces them"),
    ):
        code, _, err = run(*arguments)
        assert code == 2
        assert words in err
    assert contents() == before
    assert run("certify", folder, "--alpha", 0.05, "--force")[0] == 0


def test_folders_that_are_no_runs(run, tmp_path):
    for command in ("vote", "certify"):
        assert "without run.json" in run(command, tmp_path)[2]
    assert "which is not there" in run("vote", tmp_path / "nothing")[2]
    (tmp_path / "run.json").write_text('{"format": "flipproof-run", "version": 99}')
    for command in ("vote", "certify"):
        code, _, err = run(command, tmp_path)
        assert code == 2
        assert "of version 1, got" in err


def test_the_grid_and_the_csv_of_a_run(run, folder, tmp_path):
    code, out, _ = run("certify", folder, "--add", 1, "--delete", 2, "--csv", tmp_path / "all.csv")
    assert code == 0
    assert "add \\ delete" in out
    header, *rows = (tmp_path / "all.csv").read_text().splitlines()
    assert len(rows) == 90
    names = Inputs.load(folder / "inputs.npz").class_names
    assert ("label_name" in header.split(",")) == (names != tuple(map(str, range(len(names)))))


def test_an_interrupted_vote_goes_on(planted, folder):
    """Stopped by Ctrl-C as soon as there is a first chunk on disk."""
    (folder / "votes.checkpoint").unlink()
    (folder / "votes.npz").unlink()
    command = [PROGRAM, "vote", str(folder), "--samples", "300000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            file = folder / "votes.checkpoint"
            if file.exists() and file.stat().st_size > 3000:
                process.send_signal(signal.SIGINT)
                break
        _, err = process.communicate()
    assert process.returncode == 130
    assert "interrupted; run the same command again, without --force, to continue" in err
    assert "Traceback" not in err
    assert not (folder / "votes.npz").exists()


def test_the_demo(run, tmp_path):
    code, out, _ = run("demo", "--out", tmp_path / "demo", "--samples", 300, "--workers", 1)
    assert code == 0
    assert out.count("of the digits provably keep their prediction when any two") == 2
    for part in ("attributes", "structure"):
        assert fp.Votes.load(tmp_path / "demo" / part / "votes.npz").n_estimate == 300
    again = run("demo", "--out", tmp_path / "demo", "--samples", 300, "--workers", 1)
    assert again[0] == 0
    assert again[1] == out
    code, _, err = run("demo", "--out", tmp_path / "demo", "--samples", 200, "--workers", 1)
    assert code == 2
    assert "expected at least the 300 samples" in err


def test_a_table_that_cannot_be_leaves_the_folder_as_it_is(run, folder):
    (folder / "certificates.json").unlink()
    for flags, words in ((["--change", 1], "change"), (["--csv", folder / "votes.npz"], "would write over the votes")):
        code, _, err = run("certify", folder, *flags)
        assert code == 2
        assert words in err
        assert not (folder / "certificates.json").exists()
    fp.Votes.load(folder / "votes.npz")


def test_more_samples_keep_the_number_of_selection_samples(run, folder, finished, planted):
    code, out, err = run("vote", folder, "--samples", 300)
    assert (code, err) == (0, "")
    assert "voted     50 + 300 samples; 100 drawn in" in out
    again = ["run", "--dataset", planted, "--out", folder, *SMALL, "--p-plus", 0.02, "--p-minus", 0.3, "--no-report"]
    code, out, err = run(*again, "--samples", 400)
    assert (code, err) == (0, "")
    assert "votes     50 samples to select labels, 400 to bound probabilities" in out
    code, _, err = run("vote", folder, "--samples", 400, "--select-samples", 40)
    assert code == 2
    assert "expected at least the 50 samples (n_select)" in err


def test_votes_that_are_given_up_leave_no_number_behind(run, folder):
    code, out, err = run("vote", folder, "--samples", 100, "--force")
    assert (code, err) == (0, "")
    assert "voted     1,000 + 100 samples" in out
