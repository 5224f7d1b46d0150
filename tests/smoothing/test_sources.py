"""Which samples were drawn with which versions: in memory, in checkpoints, in votes."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flipproof as fp
from flipproof.errors import FlipproofWarning
from flipproof.smoothing.run import versions
from flipproof.smoothing.voting import checkpoint as checkpoint_module
from flipproof.smoothing.voting.checkpoint import Checkpoint, CheckpointMismatchError, peek_identity
from flipproof.smoothing.voting.drawn_samples import SampleRanges, Source, merged_sources, merged_versions
from flipproof.smoothing.voting.vote_counts import VoteCounts

ROWS = np.random.default_rng(0).integers(0, 2, (4, 6))
CALL = {
    "classifier": fp.FunctionClassifier(lambda rows: rows[:, 0] | rows[:, 1], classes=2),
    "inputs": ROWS, "noise": fp.FlipNoise(0.1, 0.3), "n_select": 20, "n_estimate": 50, "chunk_size": 10,
}  # fmt: skip
OLD, OLDER = {"python": "3.11.1", "numpy": "1.26.4"}, {"python": "3.11.0"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.ckpt"


def vote(**changes):
    return fp.vote(**(CALL | changes))


def source(said, select=(), estimate=()):
    return Source(said, SampleRanges.of(*select), SampleRanges.of(*estimate))


def begun_with(path, said):
    """A checkpoint of the run whose first samples were drawn with other versions."""
    votes = vote(n_estimate=30)
    with Checkpoint.open(path, votes.run.identity) as checkpoint:
        checkpoint.add(votes.vote_counts, drawn_with=said)


def test_all_samples_of_one_call_have_one_source():
    run = vote().run
    assert run.sources == (source(versions(), [range(20)], [range(50)]),)
    assert run.versions == versions()


@given(st.lists(st.tuples(st.sampled_from([OLD, OLDER, {}]), st.booleans()), max_size=12), st.randoms())
def test_merging_loses_no_sample_and_depends_on_no_order(said, rnd):
    """Sample number i has the i-th versions and role."""
    sources = [
        source(each, [range(i, i + 1)] if select else [], [] if select else [range(i, i + 1)])
        for i, (each, select) in enumerate(said)
    ]
    merged = merged_sources(sources)
    for i, (each, select) in enumerate(said):
        owners = [one for one in merged if (one.select if select else one.estimate).missing(range(i, i + 1)) == ()]
        assert [one.versions for one in owners] == [each]
    assert sum(one.select.count + one.estimate.count for one in merged) == len(said)
    assert len(merged) == len({json.dumps(each) for each, _ in said})
    rnd.shuffle(sources)
    assert merged_sources(sources) == merged


def test_versions_that_differ_are_all_shown():
    both = [source(OLD, [range(3)]), source(OLDER, [range(3, 5)]), source({}, [range(5, 6)])]
    assert merged_versions(both) == {"numpy": "1.26.4 / none / unknown", "python": "3.11.0 / 3.11.1 / unknown"}


def test_runs_keep_the_sources_of_both():
    first, then = vote().run, vote(n_select=0, n_estimate=range(50, 60)).run
    assert first.merged(then).sources == (source(versions(), [range(20)], [range(60)]),)
    other = replace(then, versions=OLD, sources=())
    both = first.merged(other)
    assert set(both.versions["numpy"].split(" / ")) == {np.__version__, "1.26.4"}
    assert both.sources == (source(OLD, [], [range(50, 60)]), source(versions(), [range(20)], [range(50)]))
    assert type(both).from_record(json.loads(json.dumps(both.to_record()))) == both


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sources": (source(OLD, [range(20)], [range(50)]),)}, "expected the versions of the sources"),
        ({"sources": (source(OLD, [range(20)], [range(49)]),), "versions": OLD}, "got those of 0 to 48"),
        ({"sources": (source(OLD, [range(20)], [range(51)]),), "versions": OLD}, "got those of 0 to 50"),
        ({"sources": (source(OLD, [range(20)], [range(50)]),) * 2, "versions": OLD}, "samples 0 to 19 twice"),
        ({"sources": [OLD]}, "expected sources to be a tuple of Source"),
        ({"sources": None}, "expected sources to be a tuple of Source"),
    ],
)
def test_sources_are_those_of_the_samples(changes, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        replace(vote().run, **changes)


def test_votes_keep_their_sources_in_files_and_when_merged(path, tmp_path):
    begun_with(path, OLD)
    with pytest.warns(FlipproofWarning):
        votes = vote(checkpoint=path)
    votes.save(tmp_path / "votes.npz")
    again = fp.Votes.load(tmp_path / "votes.npz")
    assert again.run.sources == votes.run.sources
    more = again.merged(vote(n_select=0, n_estimate=range(50, 70)))
    assert more.run.sources == (
        source(versions(), [], [range(30, 70)]), source(OLD, [range(20)], [range(30)])
    )  # fmt: skip
    assert votes.selected(np.array([1])).run == votes.run


# Checkpoints


def test_going_on_with_other_versions_is_noted_and_said_in_one_line(path):
    begun_with(path, OLD | {"torch": "1.0", "jax": "0.4"})
    now = versions()
    with pytest.warns(FlipproofWarning) as told:
        votes = vote(checkpoint=path)
    (line,) = [str(each.message) for each in told]
    changes = [f"numpy 1.26.4 -> {now['numpy']}", f"python 3.11.1 -> {now['python']}"]
    changes += [f"torch 1.0 -> {now['torch']}"] if "torch" in now else []
    assert line.startswith(f"run.ckpt goes on with other versions: {', '.join(changes)};")
    assert {one.versions.get("numpy"): one.estimate for one in votes.run.sources} == {
        "1.26.4": SampleRanges.of(range(30)), now["numpy"]: SampleRanges.of(range(30, 50)),
    }  # fmt: skip
    assert votes.run.versions["jax"] == "0.4 / none"


def test_what_was_finished_is_not_said_to_be_of_today(path):
    begun_with(path, OLD)
    votes = vote(checkpoint=path, n_estimate=30)  # warnings are errors in tests: there is none
    assert votes.run.drawn == 0
    assert votes.run.versions == OLD
    assert votes.run.sources == (source(OLD, [range(20)], [range(30)]),)


def test_the_same_versions_are_no_news(path):
    vote(checkpoint=path, n_estimate=30)
    assert vote(checkpoint=path).run.sources == (source(versions(), [range(20)], [range(50)]),)


def chunk(number):
    return VoteCounts.of("estimate", range(10 * number, 10 * number + 10), [[7, 3]])


def test_sources_survive_compaction(path, monkeypatch):
    """Portions that are joined when the file is rewritten may have samples of several versions."""
    monkeypatch.setattr(checkpoint_module, "COMPACT_ABOVE", 400)
    said = [OLD, OLDER, OLD, {"python": "3.13.0"}] * 50
    with Checkpoint.open(path, {"seed": 0}) as checkpoint:
        for number, each in enumerate(said):
            checkpoint.add(chunk(number), drawn_with=each)
        before = checkpoint.sources
    for _ in range(2):
        with Checkpoint.open(path, {"seed": 0}) as checkpoint:
            assert checkpoint.sources == before
            for number, each in enumerate(said):
                samples = range(10 * number, 10 * number + 10)
                (owner,) = [one for one in checkpoint.sources if one.estimate.missing(samples) == ()]
                assert owner.versions == each
    assert len(before) == 3


@pytest.mark.parametrize(
    "sources",
    [
        [],
        [{"versions": {}, "select": [], "estimate": [[0, 9]]}],
        [{"versions": {}, "select": [], "estimate": [[0, 11]]}],
    ],
)
def test_a_record_with_sources_of_other_samples_is_refused(path, sources):
    with Checkpoint.open(path, {"seed": 0}) as checkpoint:
        start = path.read_bytes()
        checkpoint.add(chunk(0))
    path.write_bytes(start + checkpoint_module.framed(chunk(0).to_bytes(sources=sources)))
    with pytest.raises(fp.FileFormatError, match="expected sources of the estimate samples 0 to 9"):
        Checkpoint.open(path, {"seed": 0})


# What is refused


def with_identity(path, **changes):
    """A checkpoint of the run that differs in some of its identity; what is None is left out."""
    votes = vote(n_estimate=30)
    identity = {name: each for name, each in (votes.run.identity | changes).items() if name not in changes or each}
    with Checkpoint.open(path, identity) as checkpoint:
        checkpoint.add(votes.vote_counts, drawn_with={"flipproof": "0.0.9"})


def test_an_older_checkpoint_is_refused_with_what_to_do(path):
    with_identity(path, **{"code": None, "files": None, "engine version": None})
    before = path.read_bytes()
    assert "code" not in peek_identity(path)
    with pytest.raises(CheckpointMismatchError) as refusal:
        vote(checkpoint=path)
    assert str(refusal.value) == (
        "expected the checkpoint of this run, got run.ckpt of another: it is of an older flipproof, which did not note "
        "its code: finish with flipproof 0.0.9, or draw anew into another file (flipproof vote --force)"
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"fingerprints": None}, "it was made by an older flipproof (fingerprints of version 1): "),
        ({"fingerprints": 3}, "it was made by a newer flipproof (fingerprints of version 3): "),
        ({"stream version": 2}, "stream version 2 instead of 3; "),
        ({"engine version": 7}, "engine version 7 instead of null; "),
        ({"code": "ab" * 32}, "what turns noisy inputs into labels has changed in flipproof since: "),
    ],
)
def test_another_flipproof_is_refused_with_what_to_do(path, changes, words):
    with_identity(path, **changes)
    with pytest.raises(CheckpointMismatchError) as refusal:
        vote(checkpoint=path)
    what_to_do = "finish with flipproof 0.0.9, or draw anew into another file (flipproof vote --force)"
    assert str(refusal.value).endswith(f"got run.ckpt of another: {words}{what_to_do}")


def test_votes_of_another_flipproof_are_not_merged():
    first, other = vote(), vote(n_select=0, n_estimate=range(50, 60))
    changed = replace(other, run=replace(other.run, identity=other.run.identity | {"code": "ab" * 32}))
    with pytest.raises(fp.InvalidInputError, match="what turns noisy inputs into labels has changed in flipproof"):
        first.merged(changed)
    old = {name: each for name, each in other.run.identity.items() if name not in ("code", "engine version", "files")}
    with pytest.raises(fp.InvalidInputError, match="of an older flipproof, which did not note its code"):
        first.merged(replace(other, run=replace(other.run, identity=old)))
    both = replace(first, run=replace(first.run, identity=old)).merged(
        replace(other, run=replace(other.run, identity=old))
    )
    assert both.n_estimate == 60
