"""The setting of a comparison: a task with its data, some of its inputs, terms and samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flipproof.base.values import IntArray, checked_count
from flipproof.errors import InvalidInputError
from flipproof.pipeline.prepared import PreparedTask
from flipproof.pipeline.shared_runs import Runs
from flipproof.pipeline.steps import Samples
from flipproof.statistics.bounds import Rule, checked_alpha
from flipproof.theory.law import FlipNoise, Noise, as_flip_noise

_EVERY, _FARTHEST = 10, 1_000


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms on which systems are compared.

    Attributes:
        nodes: how many test nodes are chosen at random, if the inputs are nodes; None: all. Proofs about a network
            itself take seconds per node.
        largest_radius: the largest radius at which proofs about a network itself are attempted.
        even: the flip probability of noise that treats zeros and ones alike; None: a value that suits the data.
        kept_share: the share of entries that an ablation leaves visible.
        also: further noises, as (p_plus, p_minus), for flipproof's own certificate.
        alpha: the failure probability of a proof from samples, for each input.
        rule: "multi-class" or "two-class", for all proofs from samples.
    """

    nodes: int | None = 50
    largest_radius: int = 10
    even: float | None = None
    kept_share: float = 0.2
    also: tuple[tuple[float, float], ...] = ()
    alpha: float = 0.01
    rule: str = Rule.MULTI_CLASS

    def __post_init__(self) -> None:
        if self.nodes is not None and checked_count(self.nodes, "nodes") < 1:
            raise InvalidInputError("expected at least one of the nodes, got 0")
        if checked_count(self.largest_radius, "largest_radius") < 1:
            raise InvalidInputError("expected largest_radius to be at least 1, got 0")
        if self.largest_radius > _FARTHEST:
            raise InvalidInputError(f"expected largest_radius to be at most {_FARTHEST}, got {self.largest_radius}")
        for name, value in (("even noise", self.even), ("kept share", self.kept_share)):
            if value is not None and not 0.0 < value < 1.0:
                raise InvalidInputError(f"expected the {name} between 0 and 1, got {value!r}")
        if len({FlipNoise(*pair) for pair in self.also}) < len(self.also):
            raise InvalidInputError(f"expected different further noises, got {self.also}")
        checked_alpha(self.alpha)
        object.__setattr__(self, "rule", str(Rule.named(self.rule)))

    @property
    def radii(self) -> list[int]:
        """The radii at which proofs about a network itself are attempted: all up to 10, then every fifth.

        Example:
            >>> Terms(largest_radius=21).radii
            [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 21]
        """
        most = self.largest_radius
        return [radius for radius in range(1, most + 1) if radius <= _EVERY or radius % 5 == 0 or radius == most]


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """A task whose inputs several systems certify.

    Attributes:
        runs: the runs of all systems.
        prepared: the task with its data.
        noise: the task's noise: the law under which flipproof's own certificate gets its votes.
        inputs: which of the certified inputs are compared.
        terms: the terms of the comparison, see `Terms`.
        samples: the numbers of samples for every vote.
    """

    runs: Runs
    prepared: PreparedTask
    noise: Noise
    inputs: IntArray
    terms: Terms
    samples: Samples

    def __post_init__(self) -> None:
        self.further_noises()

    def further_noises(self) -> list[FlipNoise]:
        """The further noises in the terms, with as many categories as the data have."""
        if not self.terms.also:
            return []
        law = as_flip_noise(self.noise)
        if law is None:
            raise InvalidInputError(f"expected no further noises beside one with parts, got {self.terms.also}")
        noises = [FlipNoise(p_plus, p_minus, law.categories) for p_plus, p_minus in self.terms.also]
        if self.noise in noises:
            raise InvalidInputError(f"expected further noises beside {self.noise}, got it again")
        return noises


def compared_inputs(prepared: PreparedTask, nodes: int | None) -> IntArray:
    """Random test nodes of a graph, sorted; for other data, the inputs that the task wants certified."""
    test = np.asarray(prepared.certified.split.test)
    if prepared.task.kind != "nodes" or nodes is None or nodes >= test.size:
        return test
    rng = np.random.Generator(np.random.Philox(key=prepared.task.seed))
    return np.sort(rng.choice(test, nodes, replace=False))
