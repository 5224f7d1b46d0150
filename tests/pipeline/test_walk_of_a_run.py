"""What `flipproof run` does once, and what it never reads back: traced as `benchmarks/walk.py` does it."""

import inspect
import sys

import pytest

import flipproof as fp
from benchmarks.walk import traced
from flipproof.datasets.loading import load
from flipproof.files.strict_json import read_json
from flipproof.models.training.train import train
from flipproof.pipeline.kinds.kind import prepared_task
from flipproof.pipeline.reopened import restored_classifier
from flipproof.run_folder.finished_run import certified
from flipproof.run_folder.split import Inputs


@pytest.fixture(scope="module")
def walk(planted):
    flags = "--epochs 3 --train-per-class 5 --validation-per-class 5 --select-samples 20 --samples 40"
    arguments = sys.argv
    yield traced(f"run --dataset {planted} {flags}")
    sys.argv = arguments


def calls(walk, function):
    code = inspect.unwrap(getattr(function, "__func__", function)).__code__
    return walk.calls[walk.file_of(code), code.co_name]


@pytest.mark.parametrize("function", [load, prepared_task, train, fp.vote, fp.certify])
def test_every_step_is_done_once(walk, function):
    assert calls(walk, function) == 1


@pytest.mark.parametrize("function", [fp.Votes.load, Inputs.load, restored_classifier, certified])
def test_nothing_is_read_back_that_is_in_the_hand(walk, function):
    assert calls(walk, function) == 0


def test_run_json_is_read_by_the_steps_that_add_to_it(walk):
    """Voting looks for votes and adds its section; certifying hashes what it rests on and adds its own."""
    assert 0 < calls(walk, read_json) <= 4
