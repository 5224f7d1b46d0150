"""Splits: so many of every class, no input twice, the same from the same seed."""

import numpy as np
import pytest
import torch

import flipproof as fp

LABELS = np.array([0, 1, 2, 1, 0, 2, 2, 1, 0, 0, 1, 2, 2, 2])


def parts(split):
    return split.train.tolist(), split.validation.tolist(), split.test.tolist()


def test_a_split_on_paper():
    """Pinned, so that published splits stay what they were."""
    assert parts(fp.Split.per_class(LABELS, train=1, validation=2, seed=3)) == (
        [0, 10, 12],
        [1, 2, 3, 4, 9, 11],
        [5, 6, 7, 8, 13],
    )


def test_so_many_of_every_class(rng):
    labels = rng.permutation(np.repeat([0, 1, 2, 5], [50, 41, 60, 44]))
    split = fp.Split.per_class(labels)
    for part in (split.train, split.validation):
        assert np.unique(labels[part], return_counts=True)[1].tolist() == [20, 20, 20, 20]
    assert np.bincount(labels[split.test]).tolist() == [10, 1, 20, 0, 0, 4]


def test_every_input_is_in_one_part_in_order(rng):
    labels = rng.integers(0, 3, 200)
    split = fp.Split.per_class(labels, train=7, validation=11, seed=1)
    assert sorted([*split.train, *split.validation, *split.test]) == list(range(200))
    assert all(part == sorted(part) for part in parts(split))
    assert [part.size for part in (split.train, split.validation)] == [21, 33]


def test_the_seed_decides(rng):
    labels = rng.integers(0, 3, 200)
    first, again, other = (parts(fp.Split.per_class(labels, 10, 10, seed=seed)) for seed in (5, 5, 6))
    assert first == again
    assert all(mine != theirs for mine, theirs in zip(first, other, strict=True))


def test_global_randomness_has_no_part_in_it():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    first = parts(fp.Split.per_class(LABELS, 1, 1))
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert parts(fp.Split.per_class(LABELS, 1, 1)) == first


def test_labels_may_be_a_list_a_tensor_or_unsigned():
    expected = parts(fp.Split.per_class(LABELS, 1, 1))
    for labels in (LABELS.tolist(), torch.tensor(LABELS), LABELS.astype(np.uint8), LABELS.astype(np.int16)):
        assert parts(fp.Split.per_class(labels, 1, 1)) == expected


def test_no_training_and_no_validation_leave_all_for_testing():
    assert parts(fp.Split.per_class([1, 0, 1], train=0, validation=0)) == ([], [], [0, 1, 2])


def test_parts_of_ones_own_are_kept_and_not_shared():
    mine = np.array([4, 1])
    split = fp.Split(train=mine, validation=[0], test=[])
    mine[0] = 9
    assert parts(split) == ([4, 1], [0], [])
    with pytest.raises(ValueError, match="read-only"):
        split.train[0] = 3


def test_one_more_than_are_asked_for_is_enough():
    assert fp.Split.per_class([0] * 4 + [1] * 3, train=1, validation=1).test.size == 3
    words = r"expected more than 3 inputs of every class \(2 to train, 1 to validate\), got 3 of class 1; ask for fewer"
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Split.per_class([0] * 4 + [1] * 3, train=2, validation=1)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([3] * 50, "expected labels of at least two classes, got 1"),
        ([], "expected integer labels, got float64 of shape"),
        (np.zeros(0, int), "expected labels of at least two classes, got 0"),
        (None, "expected a label for every input, got none"),
        ([0, 1, -1, -1], "expected labels from 0, got 2 below"),
        ([0.0, 1.0], r"expected integer labels, got float64 of shape \(2,\)"),
        (["a", "b"], r"expected integer labels, got <U1 of shape \(2,\)"),
        ([[0, 1]], r"expected integer labels, got int64 of shape \(1, 2\)"),
        ([[0], [1, 2]], "expected integer labels, got"),
        (7, r"expected integer labels, got int64 of shape \(\)"),
        ([0] * 41 + [1] * 40, "expected more than 40 inputs of every class .* got 40 of class 1"),
    ],
)
def test_labels_that_cannot_be_split_are_refused(labels, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Split.per_class(labels)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"train": -1}, "expected train to be a non-negative integer, got -1"),
        ({"validation": 1.5}, "expected validation to be a non-negative integer, got 1.5"),
        ({"train": True}, "expected train to be a non-negative integer, got True"),
        ({"train": 1, "validation": 1, "seed": -3}, "expected seed to be a non-negative integer, got -3"),
        ({"train": 1, "validation": 1, "seed": None}, "expected seed to be a non-negative integer, got None"),
    ],
)
def test_counts_and_seeds_that_are_none_are_refused(options, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Split.per_class(LABELS, **options)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([0, 1], [1], []), "expected every input in at most one part of the split, got some twice"),
        (([0], [1], [2, 0]), "expected every input in at most one part of the split, got some twice"),
        (([0], [1, 2], [2]), "expected every input in at most one part of the split, got some twice"),
        (([0, 0], [1], []), "expected every input in at most one part of the split, got some twice"),
        (([-1], [1], []), r"expected train to be a list of input numbers, got int64 \(1,\)"),
        (([0], [1.0], []), r"expected validation to be a list of input numbers, got float64 \(1,\)"),
        (([0], [1], [[2]]), r"expected test to be a list of input numbers, got int64 \(1, 1\)"),
        (([True, False], [1], []), r"expected train to be a list of input numbers, got bool \(2,\)"),
        ((0, [1], []), r"expected train to be a list of input numbers, got int64 \(\)"),
        ((None, [1], []), "expected train to be a list of input numbers"),
    ],
)
def test_parts_that_are_none_are_refused(given, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Split(*given)


def test_rows_of_unequal_length_are_no_split():
    with pytest.raises(fp.InvalidInputError, match="expected train to be a list of input numbers, got object"):
        fp.Split([[0], [1, 2]], [1], [2])


def test_truth_values_are_two_classes():
    assert fp.Split.per_class([True, False] * 3, train=1, validation=1).train.size == 2


def test_masks_mark_the_parts():
    train, validation, test = np.eye(3, 5, dtype=bool)
    for masks in ((train, validation, test), (train.tolist(), torch.tensor(validation), tuple(test))):
        assert parts(fp.Split.from_masks(*masks)) == ([0], [1], [2])
    assert parts(fp.Split.from_masks([], [], [])) == parts(fp.Split.nothing()) == ([], [], [])


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (([True, True], [False, True], [False, False]), "at most one part of the split, got some twice"),
        (([True], [False, True], [False]), "expected masks of one length, got train 1, validation 2, test 1"),
        (([0, 2], [1], [3]), "expected train to be a mask of truth values, got int64"),
        (([True], [False], [[False, True]]), r"got bool of shape \(1, 2\); choose one of its columns: test\[:, 0\]"),
        ((None, [True], [True]), "expected train to be a mask of truth values, got object"),
    ],
)
def test_other_masks_are_refused(masks, words):
    with pytest.raises(fp.InvalidInputError, match=words):
        fp.Split.from_masks(*masks)


def test_a_split_of_some_inputs():
    split = fp.Split([0, 5], [1], [2, 3])
    assert parts(split.among(np.array([3, 1, 5, 4]))) == ([2], [1], [0])
