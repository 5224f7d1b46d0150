"""Systems that certify the smoothed classifier, each from votes under its own noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from flipproof.baselines import ablation, f_divergence, lee
from flipproof.baselines.proofs import Proofs
from flipproof.comparison.comparison import Entry
from flipproof.comparison.setting import Setting
from flipproof.errors import InvalidInputError
from flipproof.noise.ablation import AblationNoise, entries_of
from flipproof.noise.laws import Law
from flipproof.pipeline.prepared import PreparedTask
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes
from flipproof.theory.certificate import ANY
from flipproof.theory.law import FlipNoise, Noise, as_flip_noise
from flipproof.theory.radii import axes_of

_EVEN = {
    ("nodes", "attributes"): 0.1,
    ("nodes", "structure"): 0.001,
    ("images", "pixels"): 0.2,
    ("images", "levels"): 0.8,
    ("text", "substitution"): 0.75,
}
"""Flip probabilities of noise that treats zeros and ones alike, by task kind and noisy part; some are published."""
_DEFAULT_EVEN = 0.1
OURS = "flipproof"
_DIVERGENCES = ("renyi", "hockey-stick")


def flipproof_entries(setting: Setting) -> Iterator[Entry]:
    """Makes flipproof's own certificate, along every axis and for any change."""
    for noise in (setting.noise, *setting.further_noises()):
        yield from _tight_entries(setting, noise)


def _tight_entries(setting: Setting, noise: Noise) -> Iterator[Entry]:
    votes, seconds = _votes(setting, noise)
    tight = certify(votes, setting.terms.alpha, setting.terms.rule)
    radii = {str(axis): tight.max_radius(str(axis)) for axis in axes_of(tight.noise)}
    radii[ANY] = tight.max_l0_radius()
    for attacker, radius in radii.items():
        threat = "any change of r entries" if attacker == ANY else f"r changes, all of kind {attacker}"
        proofs = replace(Proofs.of(tight, attacker, radius), promise=replace(tight.promise, threat=threat))
        yield _entry(setting, OURS, attacker, noise, proofs, seconds)


def divergence_entries(setting: Setting) -> Iterator[Entry]:
    """Makes certificates from two divergences, using the same votes as flipproof's own certificate."""
    votes, seconds = _votes(setting, setting.noise)
    for divergence in _DIVERGENCES:
        for axis in map(str, axes_of(setting.noise)):
            proofs = f_divergence.certify(votes, axis, setting.terms.alpha, setting.terms.rule, divergence)
            yield _entry(setting, f"f_divergence ({divergence})", axis, setting.noise, proofs, seconds)


def has_even_noise(prepared: PreparedTask) -> bool:
    """Whether one flip law applies to all entries."""
    return as_flip_noise(prepared.noise) is not None


def lee_entries(setting: Setting) -> Iterator[Entry]:
    """Makes the symmetric certificate, with a model trained under its own noise, or the task's if that is symmetric."""
    noise, wanted, task = as_flip_noise(setting.noise), setting.terms.even, setting.prepared.task
    if noise is None:
        raise InvalidInputError(f"expected one law for all entries, got {setting.noise}")
    even = _EVEN.get((task.kind, task.noisy), _DEFAULT_EVEN) if wanted is None else wanted
    fits = noise.p_plus == noise.p_minus and wanted in (None, noise.p_plus)
    law = noise if fits else FlipNoise(even, even, noise.categories)
    votes, seconds = _votes(setting, law)
    yield _entry(setting, "lee", ANY, law, lee.certify(votes, setting.terms.alpha, setting.terms.rule), seconds)


def can_be_hidden(prepared: PreparedTask) -> bool:
    """Whether ablation can be applied to the task's data."""
    return entries_of(prepared.certified.space) is not None


def ablation_entries(setting: Setting) -> Iterator[Entry]:
    """Certifies by randomized ablation, with a model trained under it."""
    entries = entries_of(setting.prepared.certified.space)
    if entries is None:
        raise InvalidInputError(f"expected data that can be hidden, got {setting.prepared.task.kind}")
    law = AblationNoise(entries, max(1, round(setting.terms.kept_share * entries)))
    votes, seconds = _votes(setting, law)
    proofs = ablation.certify(votes, setting.terms.alpha, setting.terms.rule)
    yield _entry(setting, "ablation", ANY, law, proofs, seconds)


def _votes(setting: Setting, noise: Law) -> tuple[Votes, float]:
    """The votes of the model, trained and evaluated under a noise, and the seconds that this took."""
    return setting.runs.voted(replace(setting.prepared.task, noise=noise), setting.samples)


def _entry(setting: Setting, system: str, attacker: str, noise: Law, proofs: Proofs, seconds: float) -> Entry:
    model = setting.prepared.task.model.name
    return Entry(system, attacker, model, noise.short_words, proofs.selected(setting.inputs), seconds)
