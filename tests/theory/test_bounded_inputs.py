"""What bounds certify: how far radii may go, and that one input has one claim wherever it is asked for."""

import numpy as np
import pytest

import flipproof as fp
from flipproof.theory.base_law import Axis, register_law, register_reader
from flipproof.theory.bounded_inputs import BoundedInputs
from flipproof.theory.claims import Claims, Predictions
from flipproof.theory.scope import Scope
from tests.extending.toy_law import RedrawNoise, RedrawSampler

ALL = fp.Radii(change=50)


class CountedSteps(RedrawNoise):
    """As a law that counts steps between levels, of which one entry can take many."""

    @property
    def changes_entries(self):
        return False


def bounded(noise, makes_room=False):
    scope = Scope(zeros=[[1]], nonzeros=[[1]], makes_room=makes_room)
    return BoundedInputs(noise, np.array([0.9999]), np.array([0.0001]), scope, np.array([False]))


def predictions(inputs):
    return Predictions(np.arange(len(inputs)), np.zeros(len(inputs), int), 0.01, False, True)


def test_radii_end_at_the_size_of_an_input_if_a_change_is_an_entry():
    inputs = bounded(RedrawNoise(0.5, 3))
    assert inputs.uncapped_radius("change")[0] > 2
    assert (inputs.max_radius("change")[0], inputs.max_l0_radius()[0], inputs.certified(ALL)[0]) == (2, 2, True)


def test_radii_of_laws_that_count_something_else_go_on_and_end():
    inputs = bounded(CountedSteps(0.5, 3))
    most = inputs.uncapped_radius("change")[0]
    assert most > 2
    assert (inputs.max_radius("change")[0], inputs.max_l0_radius()[0], inputs.certified(ALL)[0]) == (most, most, False)
    claim = Claims.of_one(inputs, predictions(inputs), 0)
    assert [budget.count for budget in claim.budgets] == [most]
    assert not claim.budgets[0].exhaustive


def test_a_law_with_one_axis_is_claimed_where_deletions_make_room():
    inputs = bounded(RedrawNoise(0.5, 3), makes_room=True)
    assert Claims.of_one(inputs, predictions(inputs), 0).withstands_a_change


def test_an_input_has_one_claim_alone_and_among_others():
    noise = fp.JointNoise(structure=fp.FlipNoise(0.1, 0.1), attributes=fp.FlipNoise(0.3, 0.6))
    counts = [[999_999, 1], [9_000, 991_000], [99, 999_901], [9_990, 990_010]]
    certificates = fp.certify(fp.Votes.from_counts(selection=counts, estimation=counts, noise=noise))
    together = Claims.leading(certificates.bounded, certificates.predictions)
    assert [certificates.claim(i) for i in range(4)] == list(together)


@pytest.mark.parametrize("name", ["", "p_plus", "parts", "ablation", "gaussian", "redraw"])
def test_the_name_of_a_law_is_not_taken_away(name):
    with pytest.raises(fp.InvalidInputError, match="expected a name that no other law has, got"):
        register_law(name)(CountedSteps)
    with pytest.raises(fp.InvalidInputError, match="expected a name that no other law has, got"):
        register_reader(name, lambda record: CountedSteps(0.5, 3))
    assert fp.Votes.from_counts(selection=[[1, 0]], estimation=[[1, 0]], noise=fp.FlipNoise(0.1, 0.2))


def test_a_law_that_is_defined_again_keeps_its_name():
    register_law("redraw")(RedrawNoise)


@pytest.mark.parametrize(
    "axes", [(), None, [Axis(None, "change")], (Axis("part", "change"),), (Axis(None, "melt"),), ("change",),
             (Axis(None, "add"), Axis(None, "add"))],
)  # fmt: skip
def test_axes_that_radii_cannot_say_are_refused(axes):
    odd = type("Odd", (CountedSteps,), {"axes": axes})(0.5, 3)
    for call in (lambda: bounded(odd).certified(ALL), lambda: fp.critical_probability(odd, ALL)):
        with pytest.raises(fp.InvalidInputError, match="expected the axes of Odd to be some of Axis"):
            call()


@pytest.mark.parametrize("distance", [None, "x", float("nan"), 2.0, -0.1, 1])
def test_a_sampler_says_how_far_it_is_from_its_law(distance, monkeypatch):
    monkeypatch.setattr(RedrawSampler, "distance", distance)
    classifier = fp.FunctionClassifier(lambda rows: np.zeros(len(rows), int), classes=2)
    with pytest.raises(fp.InvalidInputError, match="expected the sampler's distance from its law to be in"):
        fp.vote(classifier, np.ones((2, 3), int), RedrawNoise(0.5, 3), 10, 10, progress=False)
