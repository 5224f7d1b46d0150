r"""Adversarial training of the smoothed classifier (Salman et al., NeurIPS 2019), for real numbers and for bits.

"Provably Robust Deep Learning via Adversarially Trained Smoothed Classifiers": before every step of training, an attack
looks for changed inputs x' in a ball around x where the smoothed classifier, not the model itself, does worst,

.. math:: J(x') = -\log \frac{1}{m} \sum_{s=1}^{m} \mathrm{softmax} f(z_s(x'))_y

with m noisy copies z_s of x', and the step learns from noise around x'. This training proves nothing by itself: votes
and certificates work as for any other model, and certified radii are often larger. For Gaussian noise the attack is
projected gradient ascent in an l2 ball (`BallAttack`).

For bits, which the paper on discrete data left for future work, the attack flips a few bits (`FlipAttack`). Noise is
independent, so the mean of any function h of noisy bits z is linear in the probability that z_i = 1. This probability
is p_plus if x_i = 0 and 1 - p_minus if x_i = 1. Hence a flip of x_i moves the mean of h by exactly

.. math:: (1 - 2 x_i) (1 - p_+ - p_-) \, E[h(z \mid z_i = 1) - h(z \mid z_i = 0)]

The attack replaces the difference by the derivative of h with respect to z_i. The sum over the copies is the score of a
bit; if p_plus + p_minus > 1, its sign changes. An `AblationNoise` shows a bit with probability kept / entries, which
replaces 1 - p_plus - p_minus for sparse rows. In dense rows hidden bits are marked, and derivatives count only in the
copies that show the bit.

A step learns from the same noisy samples that the attack used, as in the authors' code. The sampler and streams are
those of `flipproof.train`, around x' instead of x; votes never use these streams.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from flipproof.errors import InvalidInputError, TooLargeError
from flipproof.models.adapters.node_classifier import NodeClassifier
from flipproof.models.adapters.torch_classifier import TorchClassifier
from flipproof.models.adapters.torch_modules import torch
from flipproof.models.training.attacked_batches import AttackedNodes, AttackedNoise, AttackedRows, Rows
from flipproof.models.training.attacks import Attack, BallAttack, FlipAttack
from flipproof.models.training.fitting import VALIDATION_FROM, Batches, History, learn
from flipproof.models.training.train import batches_of, checked_settings
from flipproof.noise.ablation import AblationNoise
from flipproof.noise.gaussian import GaussianNoise
from flipproof.noise.laws import space_for
from flipproof.noise.spaces.graph import Graph, checked_graph
from flipproof.noise.spaces.rows import DenseRows
from flipproof.noise.spaces.space import check_categories
from flipproof.run_folder.split import Split
from flipproof.run_folder.task import TrainingSettings
from flipproof.smoothing.voting.chunks import checked_memory
from flipproof.theory.law import FlipNoise

__all__ = ["Attack", "BallAttack", "FlipAttack", "train_against"]

_BYTES_PER_ATTRIBUTE = 56
"""Memory per attribute for dense numbers of at least four bytes: noisy bits, their gradients, copies of both, and
buffers for sums and comparisons."""


def train_against(
    classifier: NodeClassifier | TorchClassifier,
    inputs: Any,
    labels: ArrayLike,
    split: Split,
    noise: AttackedNoise,
    attack: Attack,
    settings: TrainingSettings | None = None,
    seed: int = 0,
    memory_limit: str | int = "2GB",
    progress: bool = True,
) -> History:
    """Trains a classifier in place; every step learns from noise around attacked inputs.

    The same seed gives the same weights on the same machine. An attack with an empty budget gives the weights of
    `flipproof.train`. The validation inputs are not attacked.

    Rows are attacked separately. The attributes of a graph are one input. With n training nodes, the attack turns up to
    n * `add` zeros into ones and up to n * `delete` ones into zeros, at any nodes, where this raises the mean loss of
    the training nodes most by its gradient. The edges stay unchanged.

    Args:
        classifier: a `TorchClassifier` of rows, or a `NodeClassifier`.
        inputs: rows of zeros and ones, sparse or dense; rows of real numbers; or a `Graph` with noisy="attributes".
        labels: class numbers, one per node or input; only those of training and validation are used.
        split: the inputs for training, validation and testing.
        noise: the law of the later votes: a `FlipNoise` or `AblationNoise` for bits, a `GaussianNoise` for numbers.
        attack: a `FlipAttack` for bits, a `BallAttack` for real numbers.
        settings: `noisy_samples` is the m of J. `average` says how a step averages over samples: "log-softmax", as in
            the authors' code, or "softmax", which is J.
        seed: the seed of noise, dropout and the order of portions. It leaves the module's initial weights unchanged.
        memory_limit: the memory that the noisy samples of a step may take.
        progress: whether to show a line in a terminal.

    Example:
        >>> import numpy as np, torch
        >>> rows, labels = np.repeat(np.eye(2, dtype=int), 8, axis=1)[[0, 1] * 6], np.arange(12) % 2
        >>> _ = torch.manual_seed(0)
        >>> classifier = TorchClassifier(torch.nn.Linear(16, 2), classes=2)
        >>> split = Split(train=np.arange(8), validation=np.arange(8, 12), test=[])
        >>> settings = TrainingSettings(noisy_samples=4, average="softmax", epochs=20, learning_rate=0.1)
        >>> noise, attack = FlipNoise(0.1, 0.4), FlipAttack(add=1, delete=2)
        >>> history = train_against(classifier, rows, labels, split, noise, attack, settings)
        >>> classifier(rows[:4])
        array([0, 1, 0, 1])
    """
    settings = checked_settings(settings, seed)
    if settings.noisy_samples < 1:
        raise InvalidInputError(
            "expected noisy_samples of at least 1, got 0; what is attacked is a smoothed classifier"
        )
    _check_attack(attack, noise)
    space = _checked_space(classifier, inputs, noise)
    plain, train_labels = batches_of(classifier, space, labels, split, noise, settings, seed, memory_limit)
    batches: Batches = plain
    if not attack.is_empty:
        batches = _attacked(plain, classifier, space, noise, attack, settings, seed, memory_limit)
    return learn(classifier, batches, train_labels, settings, seed, progress)


def _attacked(
    plain: Any, classifier: Any, space: Graph | Rows, noise: AttackedNoise, attack: Any, settings: TrainingSettings,
    seed: int, memory_limit: str | int,
) -> Batches:  # fmt: skip
    """The batches with an attack. The caller has checked that classifier, batches and attack fit the space."""
    if isinstance(space, Graph):
        _check_fits_dense(space, settings.noisy_samples, checked_memory(memory_limit))
        return AttackedNodes(plain, classifier, space, noise, attack, seed)
    samples = settings.epochs * len(plain.portions(0)) * plain.copies
    if samples > VALIDATION_FROM:
        raise InvalidInputError(f"expected fewer than {VALIDATION_FROM} noisy copies, got {samples}; lower epochs")
    return AttackedRows(plain, space, noise, attack)


_ATTACKS: dict[type, tuple[type, str]] = {
    GaussianNoise: (BallAttack, "Gaussian noise"),
    AblationNoise: (FlipAttack, "noise on bits"),
    FlipNoise: (FlipAttack, "noise on bits"),
}
"""The type of attack that fits each law, and the words for the law."""


def _check_attack(attack: Attack, noise: AttackedNoise) -> None:
    fitting, words = _ATTACKS.get(type(noise), (object, ""))
    if not isinstance(attack, fitting):
        raise InvalidInputError(f"expected a {fitting.__name__} for {words}, got {attack!r}")
    if fitting is object or getattr(noise, "categories", 2) != 2:
        raise InvalidInputError(
            "expected a FlipNoise with 2 categories, an AblationNoise or a GaussianNoise, got "
            f"{noise!r}: there is a gradient for bits and for real numbers only"
        )


def _checked_space(classifier: object, inputs: Any, noise: AttackedNoise) -> Graph | Rows:
    """Returns the checked bits or real numbers that the attack changes."""
    if isinstance(classifier, NodeClassifier):
        expected, hint = "a Graph with noisy='attributes' for a NodeClassifier", ": edges are not attacked"
        graph = checked_graph(inputs, hint, expected)
        if graph.noisy != "attributes":
            raise InvalidInputError(f"expected {expected}, got noisy={graph.noisy!r}{hint}")
        _check_bits(graph.attributes, "attributes")
        return graph
    if not isinstance(classifier, TorchClassifier) or not getattr(torch, classifier.dtype).is_floating_point:
        got = getattr(classifier, "dtype", "no gradient")
        raise InvalidInputError(
            "expected a NodeClassifier, or a TorchClassifier that takes floating-point numbers, to attack, got "
            f"{type(classifier).__name__} ({got})"
        )
    space = space_for(inputs, noise)
    if not isinstance(space, Rows):
        raise InvalidInputError(
            f"expected rows of bits or of real numbers to attack, got {type(space).__name__}; flipproof.train trains "
            "on these without an attack"
        )
    _check_bits(space, "values")
    return space


def _check_bits(space: Any, name: str) -> None:
    """Refuses dense rows that are not bits; sparse rows are always bits, and real numbers need not be."""
    if isinstance(space, DenseRows):
        check_categories(space.values, 2, name, "an attack on bits")


def _check_fits_dense(graph: Graph, copies: int, memory_limit: int) -> None:
    """Refuses a graph whose dense gradients exceed the memory limit: zero attributes need gradients as well."""
    nodes, columns = graph.plain_attributes.shape
    size = _BYTES_PER_ATTRIBUTE * copies * nodes * columns
    if size > memory_limit:
        raise TooLargeError(
            f"expected a memory limit of at least {size} bytes for the gradients of {nodes} x {columns} bits, got "
            f"{memory_limit}; raise the limit, or lower noisy_samples"
        )
