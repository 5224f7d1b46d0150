"""Token sequences: noise never touches the padding."""

import numpy as np
import pytest
from drawing import draw

from flipproof.errors import InvalidInputError
from flipproof.noise.spaces.tokens import Tokens
from flipproof.theory.law import FlipNoise


def test_padding_is_never_touched():
    tokens = Tokens([[5, 2, 9, 9], [9, 7, 9, 0]], padding=9)
    assert tokens.lengths.tolist() == [2, 2]
    assert tokens.parts == ("tokens",)
    drawn = draw(tokens, FlipNoise(1.0, 1.0, 9), samples=50).reshape(50, 2, 4)
    assert (drawn[:, tokens.is_padding] == 9).all()
    assert (drawn != tokens.values)[:, ~tokens.is_padding].all()
    assert drawn[:, ~tokens.is_padding].max() < 9


@pytest.mark.parametrize("padding", [-1, -100, 9, 2**40])
def test_padding_may_be_any_number(padding):
    tokens = Tokens(np.array([[1, padding], [padding, 0]]), padding=padding)
    drawn = draw(tokens, FlipNoise(1.0, 1.0), samples=1)
    assert drawn.tolist() == [[0, padding], [padding, 1]]


@pytest.mark.parametrize("padding", [0, 2])
def test_padding_must_not_be_a_token(padding):
    """Else an attacker turns a token into something that noise never touches: [2, 1] is certified, [0, 1] differs."""
    with pytest.raises(
        InvalidInputError, match=f"expected padding outside the 3 tokens, got {padding}; mark it with 3"
    ):
        Tokens([[2, 1]], padding=padding).sampler(FlipNoise(0.6, 0.2, 3), 0)


def test_without_padding_all_tokens_are_noisy():
    tokens = Tokens([[0, 1, 2]])
    assert tokens.lengths.tolist() == [3]
    assert (draw(tokens, FlipNoise(1.0, 1.0, 3), samples=20) != tokens.values).all()


def test_tokens_from_torch():
    torch = pytest.importorskip("torch")
    assert Tokens(torch.tensor([[1, 2], [3, -1]]), padding=-1).lengths.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("values", "padding", "message"),
    [
        ([1, 2], None, r"expected tokens of shape \[sequences, length\], got shape \(2,\)"),
        ([[[1]]], None, r"expected tokens of shape \[sequences, length\], got shape \(1, 1, 1\)"),
        ([[1, -1]], None, "expected tokens to be non-negative, got -1"),
        ([[1, -2]], -1, "expected tokens to be non-negative, got -2"),
        ([[1, 0.5]], -1, r"expected tokens to be integers, got 0\.5"),
        ([[1, 2**31]], None, f"expected tokens below {2**31}, got {2**31}"),
        ([["a", "b"]], None, "expected tokens to be numbers, got <U1"),
        ([["a", "b"]], 3, "expected tokens to be numbers, got <U1"),
        ([[1], [1, 2]], None, "expected tokens to be rows of one length, got row 1 of length 2 after 1"),
    ],
)
def test_what_tokens_refuse(values, padding, message):
    with pytest.raises(InvalidInputError, match=message):
        Tokens(values, padding=padding)


def test_tokens_outside_the_vocabulary_are_refused():
    tokens = Tokens([[1, 7, 9]], padding=9)
    with pytest.raises(InvalidInputError, match=r"expected tokens in \[0, 7\) as the noise has 7 categories, got 7"):
        tokens.sampler(FlipNoise(0.1, 0.1, 7), 0)
    assert tokens.sampler(FlipNoise(0.1, 0.1, 8), 0).rows == 1


@pytest.mark.parametrize("shape", [(0, 4), (0, 0)])
@pytest.mark.parametrize(("noise", "mask"), [(FlipNoise(0.2, 0.4), None), (FlipNoise(0.0, 0.4), 7)])
def test_no_sequences_at_all(shape, noise, mask):
    assert draw(Tokens(np.zeros(shape, int), padding=-1, mask=mask), noise, samples=2).shape == shape


@pytest.mark.parametrize("name", ["padding", "mask"])
@pytest.mark.parametrize("number", [1.5, True, "9", 2**63])
def test_padding_and_mask_are_integers(name, number):
    with pytest.raises(InvalidInputError, match=f"expected {name} to be a 64-bit integer or None, got"):
        Tokens([[1, 2]], **{name: number})
