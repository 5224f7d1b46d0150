"""Some of a run's samples drawn again with its model, and their votes compared bit for bit."""

from __future__ import annotations

import os
import random
import secrets
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from flipproof.base.values import checked_count
from flipproof.errors import InvalidInputError
from flipproof.pipeline.models import on_device
from flipproof.pipeline.reopened import reopened
from flipproof.pipeline.steps import Machine
from flipproof.run_folder.finished_run import checked_votes
from flipproof.run_folder.folder import RunFolder
from flipproof.smoothing.vote import vote_again
from flipproof.smoothing.voting.drawn_samples import SampleRanges
from flipproof.smoothing.voting.vote_counts import ROLES, RoleCounts, VoteCounts


class Portion(NamedTuple):
    """Neighbouring samples of one role, with their votes."""

    role: str
    counts: RoleCounts


@dataclass(frozen=True, slots=True)
class Resampled:
    """What was drawn again.

    Attributes:
        seed: chose the portions.
        portions: how many the run has.
        drawn: the samples of those that were drawn again, with their role, and whether the votes are the same.
    """

    seed: int
    portions: int
    drawn: tuple[tuple[str, SampleRanges, bool], ...]

    @property
    def same(self) -> bool:
        """Whether all votes are the same."""
        return all(same for _, _, same in self.drawn)

    @property
    def samples(self) -> int:
        """How many samples were drawn again."""
        return sum(samples.count for _, samples, _ in self.drawn)


def resample(
    path: str | os.PathLike[str],
    portions: int,
    seed: int | None = None,
    machine: Machine | None = None,
    model: str | None = None,
) -> Resampled:
    """Draws randomly chosen portions of the samples of a run again, with the model and the data of the run.

    Whoever forged votes had to change some portion, and is caught if that portion is drawn.

    Args:
        path: of the run folder.
        portions: how many; as many as there are repeat the whole run.
        seed: chooses them; by default a random one, so that nobody can know it beforehand.
        machine: what may be used.
        model: must be named again if it is the user's own: code is only run if the caller names it.
    """
    machine, folder = machine or Machine(), RunFolder.open(path)
    votes = checked_votes(folder)
    there = [] if votes.vote_counts is None else _portions(votes.vote_counts)
    if not there:
        raise InvalidInputError(f"expected votes that are kept by portions, got older ones in {folder.path}")
    if checked_count(portions, "resample") > len(there):
        raise InvalidInputError(f"expected at most the {len(there)} portions that {folder.path} has, got {portions}")
    seed = secrets.randbits(63) if seed is None else checked_count(seed, "seed")
    chosen = random.Random(seed).sample(there, portions)
    trained = reopened(folder, model)
    classifier = trained.classifier
    if machine.device != "cpu":
        classifier = on_device(classifier, machine.device)
    again = vote_again(
        classifier, trained.prepared.certified.space, votes,
        {role: [portion.counts for portion in chosen if portion.role == role] for role in ROLES},
        machine.workers, machine.memory_limit, machine.progress, machine.address, machine.timeout,
    )  # fmt: skip
    chosen.sort(key=lambda portion: (ROLES.index(portion.role), portion.counts.samples.pairs[0][0]))
    found = tuple((role, part.samples, _is_in(getattr(again, role), part)) for role, part in chosen)
    return Resampled(seed, len(there), found)


def _portions(votes: VoteCounts) -> list[Portion]:
    return [Portion(role, piece) for role in ROLES for piece in getattr(votes, role).pieces]


def _is_in(again: RoleCounts, portion: RoleCounts) -> bool:
    """Whether what was drawn again has the votes of a portion, on all of its samples."""
    pieces = [piece for piece in again.pieces if piece.samples.overlap(portion.samples)]
    samples = SampleRanges.of(*(range(*pair) for piece in pieces for pair in piece.samples.pairs))
    return samples == portion.samples and np.array_equal(sum(piece.counts for piece in pieces), portion.counts)
