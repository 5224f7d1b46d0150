"""Every command the way a user types it: arguments in, text and exit code out."""

import csv
import json
import re
import warnings
from fractions import Fraction

import numpy as np
import pytest

import flipproof as fp
from flipproof.cli.output import careful_output
from flipproof.errors import FlipproofWarning

NOISE = ["--p-plus", "0.01", "--p-minus", "0.6"]


@pytest.fixture
def votes(tmp_path):
    counts = np.array([[95, 4, 1], [60, 30, 10], [40, 35, 25]])
    path = tmp_path / "votes.npz"
    fp.Votes.from_counts(selection=counts, estimation=counts * 100, noise=fp.FlipNoise(0.01, 0.6)).save(path)
    return path


def test_help_and_version(run):
    code, out, _ = run("--help")
    assert code == 0
    commands = ("demo", "run", "train", "vote", "certify", "datasets", "radius")
    assert all(command in out for command in commands)
    for command in commands:
        assert run(command, "--help")[0] == 0
    assert re.fullmatch(r"flipproof \d+\.\d+\S*\n", run("--version")[1])


def test_radius_of_a_probability(run):
    code, out, _ = run("radius", *NOISE, "--p-lower", 0.99)
    assert code == 0
    assert re.search(r"3\s+add only", out)
    assert re.search(r"7\s+delete only", out)
    assert "add 1, delete 6" in out
    facts = json.loads(run("radius", *NOISE, "--p-lower", 0.99, "--json")[1])
    assert facts["largest"] == {"add": 3, "delete": 7, "mixed": 2}
    assert facts["frontier"] == [{"add": 0, "delete": 7}, {"add": 1, "delete": 6}, {"add": 3, "delete": 0}]


def test_radius_of_a_number_of_samples(run):
    facts = json.loads(run("radius", *NOISE, "--samples", 10**6, "--json")[1])
    assert (facts["largest"]["add"], facts["largest"]["delete"]) == (8, 23)


def test_radius_without_a_probability_prints_the_critical_table(run):
    code, out, _ = run("radius", *NOISE, "--add", 2, "--delete", 3)
    assert code == 0
    assert "0.5000   0.6970   0.8164   0.8887" in out
    facts = json.loads(run("radius", *NOISE, "--add", 1, "--delete", 2, "--json")[1])
    np.testing.assert_allclose(
        facts["critical"], fp.critical_table(fp.FlipNoise(0.01, 0.6), add=range(2), delete=range(3))
    )


def test_radius_says_never_unbounded_and_nothing(run):
    assert "never" in run("radius", "--p-plus", 0, "--p-minus", 0.6)[1]
    assert json.loads(run("radius", "--p-plus", 0, "--p-minus", 0.6, "--json")[1])["critical"][2][0] is None
    assert "unbounded" in run("radius", "--p-plus", 0.5, "--p-minus", 0.5, "--p-lower", 0.9)[1]
    assert json.loads(run("radius", "--p-plus", 0.5, "--p-minus", 0.5, "--p-lower", 0.9, "--json")[1])["largest"] == {
        "add": "unbounded", "delete": "unbounded", "mixed": "unbounded",
    }  # fmt: skip
    assert "only 1" in run("radius", "--p-plus", 1e-18, "--p-minus", 0.6)[1]
    assert "…" not in run("radius", *NOISE, "--delete", 150)[1]
    assert (
        "too many to list"
        in run("radius", "--p-plus", 0.5, "--p-minus", 0.499, "--categories", 3, "--p-lower", 0.9999999)[1]
    )
    assert "certified  nothing" in run("radius", *NOISE, "--p-lower", 0.4)[1]
    assert "change only" in run("radius", *NOISE, "--categories", 4, "--p-lower", 0.99, "--p-upper", 0.001)[1]


def test_certify_prints_a_summary_and_the_grid(run, votes):
    code, out, _ = run("certify", votes)
    assert code == 0
    assert "3 inputs, 3 classes" in out
    assert "wrong with probability at most 0.01, for each input; multi-class rule" in out
    assert "1.000" in out
    assert "for all inputs at once; two-class rule" in run("certify", votes, "--simultaneous", "--rule", "two-class")[1]


def test_certify_as_json_and_csv(run, votes, tmp_path):
    target = tmp_path / "out.csv"
    code, out, _ = run("certify", votes, "--alpha", 0.05, "--json", "--csv", target)
    facts, certificates = json.loads(out), fp.certify(fp.Votes.load(votes), alpha=0.05)
    assert code == 0
    assert facts["promise"]["alpha"] == 0.05
    assert facts["certified_ratio"]["ratio"][0][0] == 1.0
    assert [Fraction(facts["noise"][0][side]) for side in ("p_plus", "p_minus")] == [Fraction(0.01), Fraction(0.6)]
    assert facts["certificates"]["p_lower"] == certificates.p_lower.tolist()
    assert facts["certificates"]["max_delete"] == certificates.max_radius("delete").tolist()
    with open(target, newline="") as file:
        assert len(list(csv.reader(file))) == 4


def test_certify_prints_radii_of_a_joint_noise(run, tmp_path):
    joint = fp.JointNoise(structure=fp.FlipNoise(0.01, 0.4), words=fp.FlipNoise(0.1, 0.5, 3))
    fp.Votes.from_counts(selection=[[9, 1]], estimation=[[999, 1]], noise=joint).save(tmp_path / "joint.npz")
    code, out, _ = run("certify", tmp_path / "joint.npz")
    assert code == 0
    assert "radius    structure.delete: mean" in out
    assert "words: p_plus 0.1, p_minus 0.5, 3 categories" in out
    assert re.search(r"structure.delete: 1.000 1.000", out)
    assert len(json.loads(run("certify", tmp_path / "joint.npz", "--json")[1])["certified_ratio"]) == 5


def test_certify_no_inputs(run, tmp_path):
    empty = np.zeros((0, 2), dtype=int)
    votes = fp.Votes.from_counts(selection=empty, estimation=empty, noise=fp.FlipNoise(0.1, 0.2))
    votes.save(tmp_path / "empty.npz")
    code, out, _ = run("certify", tmp_path / "empty.npz")
    assert code == 0
    assert "0 inputs" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["radius", "--p-plus", "1.3", "--p-minus", "0.6"], "expected p_plus in [0, 1], got 1.3"),
        (["radius", "--p-plus", "nan", "--p-minus", "0.6"], "expected p_plus in [0, 1], got nan"),
        (["radius", *NOISE, "--p-lower", "-0.1"], "expected p_lower in [0, 1], got -0.1"),
        (["radius", *NOISE, "--categories", "1"], "expected categories"),
        (["radius", *NOISE, "--samples", "0"], "expected --samples of at least 1, got 0"),
        (["radius", *NOISE, "--samples", "-5"], "expected samples to be a non-negative integer, got -5"),
        (["radius", *NOISE, "--p-lower", "0.9", "--alpha", "2"], "expected alpha strictly between 0 and 1, got 2.0"),
        (["radius", *NOISE, "--samples", "5", "--p-lower", "0.9"], "expected --p-lower or --samples, got both"),
        (["radius", *NOISE, "--p-upper", "0.1"], "--p-upper needs --p-lower beside it"),
        (
            ["radius", *NOISE, "--p-lower", "0.9", "--add", "3"],
            "--add, --delete and --change size the table",
        ),
        (["radius", *NOISE, "--add", "1000000000"], "ask for fewer radii"),
        (["certify", "missing.npz"], "expected a readable votes file, got missing.npz: No such file or directory"),
        (["certify", "VOTES", "--alpha", "0"], "expected alpha strictly between 0 and 1, got 0.0"),
        (["certify", "VOTES", "--rule", "best"], "expected rule to be one of multi-class, two-class, got 'best'"),
        (["certify", "VOTES", "--csv", "/nowhere/out.csv"], "cannot write /nowhere/out.csv: its folder does not exist"),
        (["certify", "VOTES", "--csv", "VOTES"], "would write over the votes or into their folder"),
        (["certify", "VOTES", "--csv", "out.csv", "--add", "1000000000"], "ask for fewer radii"),
        (["certify", "VOTES", "--add", "3000", "--delete", "3000"], "ask for fewer or smaller radii"),
        (["certify", "JOINT", "--add", "3"], "do not apply to a joint noise"),
        (["certify", "CUT"], "expected a votes file written by flipproof"),
    ],
)
def test_refusals_are_one_line_and_exit_code_2(run, votes, tmp_path, arguments, words):
    cut = tmp_path / "cut.npz"
    cut.write_bytes(votes.read_bytes()[:300])
    joint = fp.JointNoise(a=fp.FlipNoise(0.1, 0.2), b=fp.FlipNoise(0.1, 0.3))
    fp.Votes.from_counts(selection=[[9, 1]], estimation=[[9, 1]], noise=joint).save(tmp_path / "joint.npz")
    files = {"VOTES": str(votes), "CUT": str(cut), "JOINT": str(tmp_path / "joint.npz")}
    before = sorted(path.name for path in tmp_path.iterdir())
    code, out, err = run(*(files.get(argument, argument) for argument in arguments))
    assert code == 2
    assert out == ""
    assert err.startswith("flipproof: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_without_a_command_it_shows_its_help(run):
    code, out, _ = run()
    assert code == 0
    assert "Commands" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["radius"], "Missing option"),
        (["radius", *NOISE, "--add", "-1"], "expected --add to be a non-negative integer, got -1"),
        (["radius", *NOISE, "--add", "1.5"], "--add"),
        (
            ["radius", *NOISE, "--categories", "3", "--change", "-2"],
            "expected change to be a non-negative integer, got -2",
        ),
        (["radius", *NOISE, "--p-lower", "abc"], "--p-lower"),
        (["certify"], "Missing argument"),
        (["fly"], "No such command 'fly'"),
        (["radius", "--x"], "--x"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(run, arguments, words):
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("flipproof: ")
    assert err.count("\n") == 1
    assert words in err


def test_a_warning_of_ours_is_one_line_and_those_of_others_stay_as_they_are():
    place = ("vote.py", 7)
    with careful_output():
        ours = warnings.formatwarning(FlipproofWarning("run.ckpt goes\non"), FlipproofWarning, *place)
        theirs = warnings.formatwarning(UserWarning("theirs"), UserWarning, *place)
    assert ours == "flipproof: run.ckpt goes on\n"
    assert theirs.startswith("vote.py:7: UserWarning: theirs\n")
