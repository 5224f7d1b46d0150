"""What the checker says about certificates that are right, and about those that somebody has changed."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from certificates_of import NOISES, random_votes, rewrite_arrays, rewrite_json, state_hash

import flipproof as fp
from flipproof.errors import FileFormatError, InvalidInputError
from flipproof.verification.check import Level
from flipproof.verification.check import verify as check_files
from flipproof.verification.schema import schema_of
from flipproof.verification.verdicts import Verdict


def verify(path):
    """Certificates without a run."""
    return check_files(path, arithmetic_only=True)


def saved(tmp_path, votes, **options):
    path = tmp_path / "certificates.json"
    fp.certify(votes, **options).save(path)
    return path


@pytest.fixture
def path(tmp_path, rng):
    return saved(tmp_path, random_votes(rng, NOISES["binary"]))


def wrong(check):
    return {index: finding.reason for index, finding in check.others() if finding.verdict is Verdict.WRONG}


def looser(check):
    return {index: finding.reason for index, finding in check.others() if finding.verdict is Verdict.LOOSER}


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("rule", ["multi-class", "two-class"])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
@pytest.mark.parametrize("classes", [1, 2, 4])
def test_what_flipproof_certifies_is_confirmed(tmp_path, rng, noise, classes, rule, simultaneous):
    votes = random_votes(rng, noise, classes, inputs=20)
    check = verify(saved(tmp_path, votes, alpha=0.05, rule=rule, simultaneous=simultaneous))
    assert check.confirmed, (check.objections, list(check.others()))
    assert len(check.findings) == 20


def test_a_certificate_without_inputs_is_confirmed(tmp_path, rng):
    votes = random_votes(rng, NOISES["binary"])
    none = fp.Votes(votes.selection[:0], votes.estimation[:0], votes.noise, 100, 2000)
    assert verify(saved(tmp_path, none)).confirmed


def certified(path):
    """An input with a prediction and both radii."""
    arrays = np.load(path.with_suffix(".npz"))
    return int(np.flatnonzero(~arrays["abstained"] & (arrays["max_add"] > 0) & (arrays["max_delete"] > 0))[0])


def changed_at(index, amount):
    def change(array):
        array[index] += amount

    return change


@pytest.mark.parametrize("name", ["max_add", "max_delete"])
def test_a_radius_that_is_too_large_is_wrong(path, name):
    index = certified(path)
    rewrite_arrays(path.with_suffix(".npz"), **{name: changed_at(index, 1)})
    state_hash(path)
    check = verify(path)
    assert list(wrong(check)) == [index]
    assert name.removeprefix("max_") in wrong(check)[index]
    assert not check.objections


def test_a_radius_that_is_too_small_is_looser_than_possible(path):
    index = certified(path)
    rewrite_arrays(path.with_suffix(".npz"), max_delete=changed_at(index, -1))
    state_hash(path)
    check = verify(path)
    assert list(looser(check)) == [index]
    assert not check.confirmed


def test_an_unbounded_radius_is_wrong_where_it_is_bounded(path):
    index = certified(path)

    def unbounded(radii):
        radii[index] = fp.UNBOUNDED

    rewrite_arrays(path.with_suffix(".npz"), max_add=unbounded)
    state_hash(path)
    assert "unbounded" in wrong(verify(path))[index]


@pytest.mark.parametrize("amount", [1e-9, 1e-3])
def test_bounds_that_are_too_good_are_wrong(path, amount):
    index = certified(path)
    for name, change in (("p_lower", amount), ("p_upper", -amount)):
        rewrite_arrays(path.with_suffix(".npz"), **{name: changed_at(index, change)})
        state_hash(path)
        assert name in wrong(verify(path))[index]
        rewrite_arrays(path.with_suffix(".npz"), **{name: changed_at(index, -change)})


def test_bounds_that_are_too_careful_are_looser_than_possible(path):
    index = certified(path)
    rewrite_arrays(path.with_suffix(".npz"), p_lower=changed_at(index, -1e-9), p_upper=changed_at(index, 1e-9))
    state_hash(path)
    check = verify(path)
    assert list(looser(check)) == [index]
    assert not wrong(check)


def test_a_vote_that_was_moved_is_found(path):
    index = certified(path)
    label = int(np.load(path.with_suffix(".npz"))["label"][index])

    def moved(votes):
        votes[index, label] -= 1
        votes[index, label - 1] += 1

    rewrite_arrays(path.with_suffix(".npz"), estimation=moved)
    assert any("certificates.npz has the sha256" in each for each in verify(path).objections)
    state_hash(path)
    assert list(wrong(verify(path))) == [index]


def test_a_label_that_the_selection_votes_do_not_choose_is_wrong(path):
    index = certified(path)

    def others(votes):
        votes[index] = votes[index][::-1].copy()

    rewrite_arrays(path.with_suffix(".npz"), selection=others)
    state_hash(path)
    assert "label" in wrong(verify(path))[index]


def test_more_votes_than_samples_are_wrong(path):
    index = certified(path)
    rewrite_arrays(path.with_suffix(".npz"), selection=changed_at(index, 100))
    state_hash(path)
    assert "selection votes of 100 samples" in wrong(verify(path))[index]


def test_a_prediction_where_there_is_none_is_wrong(path):
    arrays = np.load(path.with_suffix(".npz"))
    index = int(np.flatnonzero(arrays["abstained"])[0])

    def predicted(abstained):
        abstained[index] = False

    rewrite_arrays(path.with_suffix(".npz"), abstained=predicted)
    state_hash(path)
    check = verify(path)
    assert index in wrong(check)
    assert any("abstain" in each for each in check.objections)


def test_radii_without_a_prediction_are_wrong(path):
    index = int(np.flatnonzero(np.load(path.with_suffix(".npz"))["abstained"])[0])
    rewrite_arrays(path.with_suffix(".npz"), max_delete=changed_at(index, 1))
    state_hash(path)
    assert "without a prediction" in wrong(verify(path))[index]


@pytest.mark.parametrize(("alpha", "verdict"), [(0.001, Verdict.WRONG), (0.05, Verdict.LOOSER)])
def test_another_alpha_is_found_for_every_input(path, alpha, verdict):
    rewrite_json(path, lambda record: record["promise"].update(alpha=alpha))
    check = verify(path)
    assert check.counts[verdict] > 50
    assert any("for_lower" in each for each in check.objections)


def test_a_promise_for_all_inputs_is_not_one_for_each(path):
    rewrite_json(path, lambda record: record["promise"].update(simultaneous=True))
    assert any("1 claims instead of 60" in each for each in verify(path).objections)
    rewrite_json(path, lambda record: record["promise"].update(claims=60))
    assert verify(path).counts[Verdict.WRONG] > 50


def test_the_other_rule_is_found(path):
    rewrite_json(path, lambda record: record["promise"].update(rule="two-class"))
    assert not verify(path).confirmed


@pytest.mark.parametrize(("name", "value"), [("p_minus", "5/8"), ("p_plus", "1/64")])
def test_another_noise_is_found(path, name, value):
    rewrite_json(path, lambda record: record["noise"][0].update({name: value}))
    check = verify(path)
    assert wrong(check) or looser(check)


@pytest.mark.parametrize("share", [("for_lower", 0.0095), ("for_upper", 0.002), ("for_lower", 0.008)])
def test_another_split_of_alpha_is_found(path, share):
    rewrite_json(path, lambda record: record["promise"].update([share]))
    assert any(share[0] in each or "more than alpha" in each for each in verify(path).objections)


def test_another_hash_is_found(path):
    rewrite_json(path, lambda record: record["hashes"].update(arrays="0" * 64))
    assert verify(path).objections
    rewrite_json(path, lambda record: record.pop("hashes"))
    with pytest.raises(FileFormatError, match="no hashes"):
        verify(path)


def test_a_file_cut_anywhere_is_refused(path):
    for file in (path, path.with_suffix(".npz")):
        whole = file.read_bytes()
        for length in range(0, len(whole), max(1, len(whole) // 60)):
            file.write_bytes(whole[:length])
            with pytest.raises(FileFormatError):
                verify(path)
        file.write_bytes(whole)
    assert verify(path).confirmed


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"format": "other"},
        {"inputs": 61},
        {"inputs": -1},
        {"inputs": 10**30},
        {"classes": 0},
        {"noise": []},
        {"noise": [3]},
        {"noise": [{"part": None, "p_plus": 0.01, "p_minus": "3/5", "categories": 2}]},
        {"noise": [{"part": None, "p_plus": "3/2", "p_minus": "3/5", "categories": 2}]},
        {"noise": [{"part": None, "p_plus": "1/0", "p_minus": "3/5", "categories": 2}]},
        {"noise": [{"part": None, "p_plus": "1/9", "p_minus": "3/5", "categories": 1}]},
        {"noise": [{"part": "a", "p_plus": "1/9", "p_minus": "3/5", "categories": 2}] * 2},
        {"promise": None},
        {"promise": {"alpha": 0.01}},
        {"samples": {}},
        {"radius_limit": "1000"},
    ],
)
def test_a_record_of_another_form_is_refused(path, change):
    rewrite_json(path, lambda record: record.update(change))
    with pytest.raises(FileFormatError, match="as flipproof writes it"):
        verify(path)


@pytest.mark.parametrize("promise", [{"alpha": 1.0}, {"alpha": 0.0}, {"sampling_error": 0.5}, {"claims": 0}])
def test_a_promise_that_is_none_is_refused(path, promise):
    rewrite_json(path, lambda record: record["promise"].update(promise))
    with pytest.raises(FileFormatError, match="promise"):
        verify(path)


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b'{"a": NaN}', b'{"a": 1, "a": 2}', b"[" * 10**6, b"\xff\xfe"])
def test_other_text_is_refused(path, text):
    path.write_bytes(text)
    with pytest.raises(FileFormatError):
        verify(path)


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.5])
def test_bounds_that_are_no_probabilities_are_refused(path, value):
    def change(bounds):
        bounds[0] = value

    rewrite_arrays(path.with_suffix(".npz"), p_lower=change)
    with pytest.raises(FileFormatError, match="p_lower"):
        verify(path)


@pytest.mark.parametrize(
    ("noise", "estimation"),
    [
        (fp.FlipNoise(0.01, 0.6), [[400_000, 0, 0], [399_999, 1, 0], [399_000, 500, 500]]),
        (fp.FlipNoise(0.01, 0.6), [[10**7, 0, 0], [10**7 - 3, 3, 0]]),
        (fp.FlipNoise(0.1, 0.6, 3), [[99_990, 10, 0], [100_000, 0, 0]]),
        (fp.FlipNoise(0.2, 0.2, 7), [[9_999, 1, 0]]),
    ],
)
def test_many_samples_and_large_radii_are_confirmed(tmp_path, noise, estimation):
    votes = fp.Votes.from_counts(selection=[[9, 1, 0]] * len(estimation), estimation=estimation, noise=noise)
    check = verify(saved(tmp_path, votes))
    assert check.confirmed, list(check.others())


def test_mixtures_of_a_thousand_changes_are_not_checked(tmp_path):
    """0.1 and 0.9 add up to a little more than 1: noise hides next to all of a change, and radii go on and on."""
    votes = fp.Votes.from_counts(selection=[[9, 1, 0]], estimation=[[9_990, 10, 0]], noise=fp.FlipNoise(0.1, 0.9))
    ((number, finding),) = verify(saved(tmp_path, votes)).others()
    assert (number, finding.verdict) == (0, Verdict.UNCHECKED)
    assert finding.reason == "radius any 1000 is too large for exact arithmetic"


def test_what_is_wrong_is_said_soon(tmp_path, rng):
    path = saved(tmp_path, random_votes(rng, NOISES["binary"], n_estimate=100_000))
    rewrite_arrays(path.with_suffix(".npz"), p_lower=lambda bounds: bounds.fill(0.9999), p_upper=lambda p: p.fill(1e-9))
    rewrite_json(path, lambda record: record["promise"].update(alpha=1e-6))
    assert verify(path).counts[Verdict.WRONG] == 60


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record.update(claim="All is well."), "the claim in words"),
        (lambda record: record.update(radius_limit=0), "radii were looked for"),
    ],
)
def test_what_nobody_else_looks_at_is_looked_at(path, change, words):
    rewrite_json(path, change)
    assert words in verify(path).objections[0]


@pytest.mark.parametrize("where", ["", "promise", "samples", "hashes", "scope", "samples.select"])
def test_unknown_fields_are_refused(capped, where):
    def add(record):
        for name in filter(None, where.split(".")):
            record = record[name]
        record["more"] = 1

    rewrite_json(capped, add)
    with pytest.raises(FileFormatError, match=f"an unknown field {where}{'.' * bool(where)}more"):
        verify(capped)


@pytest.mark.parametrize("given", [None, 3, b"run", "x" * 5000, "a\0b"])
def test_what_is_no_path_is_refused(given):
    with pytest.raises(InvalidInputError):
        verify(given)


@pytest.mark.parametrize("radii", [{"add": 1.5}, {"add": "x"}, {"add": None}, {"add": -1}, {"plus": 1}])
def test_radii_that_are_none_are_refused_in_python(path, radii):
    with pytest.raises(InvalidInputError):
        verify(path).certified_at(radii)


def test_what_would_take_too_long_is_not_checked(path):
    index = certified(path)

    def long(radii):
        radii[index] = 2**62

    rewrite_arrays(path.with_suffix(".npz"), max_add=long)
    state_hash(path)
    check = verify(path)
    assert check.findings[index].verdict is Verdict.UNCHECKED
    assert not check.confirmed


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("{'descr': '|O', 'fortran_order': False, 'shape': (60,), }", "another type"),
        ("{'descr': '<i8', 'fortran_order': True, 'shape': (60,), }", "another type"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (10**13,), }", "another type"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (10000000000000,), }", "of 80000000000000 bytes"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (-60,), }", "another type"),
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (61,), }", "another number of bytes"),
        ("__import__('os').getcwd()", "another type"),
        ("[]", "another type"),
    ],
)
def test_arrays_of_another_form_are_refused(path, header, words):
    arrays = path.with_suffix(".npz")
    with zipfile.ZipFile(arrays) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    text = header.encode().ljust(118)
    members["label.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(480)
    with zipfile.ZipFile(arrays, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError, match=words):
        verify(path)


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(path, kind):
    arrays = path.with_suffix(".npz")
    with zipfile.ZipFile(arrays) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(arrays, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(FileFormatError, match="compressed in another way"):
        verify(path)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(InvalidInputError, match="flipproof certify"):
        verify(tmp_path)


def test_the_record_says_all_that_a_sceptic_needs(path):
    record = json.loads(path.read_text())
    assert record["noise"][0]["p_plus"] == "5764607523034235/576460752303423488"
    assert set(record) >= {"claim", "noise", "space", "promise", "samples", "hashes", "versions", "inputs", "classes"}
    assert "no more than" in record["claim"] or "up to" in record["claim"]


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_the_record_keeps_to_its_schema(tmp_path, rng, noise):
    published = (Path(__file__).parents[2] / "docs" / "certificates.schema.json").read_text()
    schema = json.loads(published)
    assert schema == schema_of("certificates"), "docs/certificates.schema.json is a copy of what the checker enforces"
    jsonschema.Draft202012Validator.check_schema(schema)
    classifier = fp.FunctionClassifier(lambda batch: batch.sum(axis=1) % 3, classes=3)
    drawn = fp.vote(classifier, np.eye(5, dtype=int), fp.FlipNoise(0.1, 0.2), 20, 100)
    for votes in (random_votes(rng, noise), drawn):
        jsonschema.validate(json.loads(saved(tmp_path, votes).read_text()), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"format": "flipproof-certificates"}, schema)


# What inputs can suffer


@pytest.fixture
def capped(tmp_path):
    """Certificates of bags of a few words."""
    words = (np.arange(60)[:, None] % 7 > np.arange(40)).astype(int)
    votes = fp.Votes.from_counts(
        selection=[[9, 1]] * 60, estimation=[[9_990, 10]] * 60, noise=fp.FlipNoise(0.01, 0.6), inputs=words
    )
    return saved(tmp_path, votes)


def test_radii_end_where_there_is_no_more_to_change(capped):
    check = verify(capped)
    assert check.confirmed, list(check.others())
    certificates = np.load(capped.with_suffix(".npz"))
    assert certificates["max_delete"].tolist() == (np.arange(60) % 7).tolist()
    assert check.certified_at({"delete": 40}) == 0  # without evidence, numbers of entries are mere statements
    check = replace(check, level=Level.EVIDENCE)
    assert check.certified_at({"delete": 40}) == 60
    assert check.certified_at({"add": 1, "delete": 40}) == 60
    assert check.certified_at({"add": 40, "delete": 40}) == 0


def change_of(name, number, value):
    def change(array):
        array[number] = value

    return {name: change}


def test_a_radius_beyond_what_there_is_to_change_is_wrong(capped):
    rewrite_arrays(capped.with_suffix(".npz"), **change_of("max_delete", 3, 4))
    state_hash(capped)
    assert wrong(verify(capped)) == {3: "radius delete 4, there are only 3 to change"}


def test_fewer_entries_make_radii_look_too_large(capped):
    rewrite_arrays(capped.with_suffix(".npz"), **change_of("nonzeros", 6, 2))
    state_hash(capped)
    assert wrong(verify(capped)) == {6: "radius delete 6, there are only 2 to change"}


def test_any_changes_that_are_not_proved_are_wrong(capped):
    stated = int(np.load(capped.with_suffix(".npz"))["max_any"][5])
    rewrite_arrays(capped.with_suffix(".npz"), **change_of("max_any", 5, stated + 1))
    state_hash(capped)
    assert wrong(verify(capped)) == {5: f"radius any {stated + 1}, which the bounds do not prove"}


def test_an_unbounded_number_of_any_changes_is_wrong(path):
    rewrite_arrays(path.with_suffix(".npz"), **change_of("max_any", 10, 2**63 - 1))
    state_hash(path)
    assert "radius any" in wrong(verify(path))[10]


def test_the_claim_says_what_must_stay(capped):
    rewrite_json(capped, lambda record: record["scope"].update(fixed=["the moon"]))
    assert "the claim in words is another one than that of the numbers" in verify(capped).objections


@pytest.mark.parametrize(
    "scope", [[], {"fixed": []}, {"fixed": "x", "makes_room": True}, {"fixed": [1], "makes_room": 1}]
)
def test_a_scope_that_is_none_is_refused(capped, scope):
    rewrite_json(capped, lambda record: record.update(scope=scope))
    with pytest.raises(FileFormatError, match=r"scope|fixed"):
        verify(capped)
