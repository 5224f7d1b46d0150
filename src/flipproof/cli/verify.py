"""`flipproof verify`: an independent check of certificates."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from flipproof.base.progress import progress_line
from flipproof.cli.command_options import VerifyOptions
from flipproof.cli.output import interruptible
from flipproof.cli.run_options import MachineOptions, ModelOption, OutputOptions
from flipproof.errors import InvalidInputError
from flipproof.pipeline.audit import verify as check
from flipproof.verification.certificate import StatedCertificate
from flipproof.verification.check import ALONE, Check, Level
from flipproof.verification.verdicts import Verdict

if TYPE_CHECKING:
    from flipproof.pipeline.resample import Resampled

_SHOWN = 20
NOT_CONFIRMED = 1
"""The exit code if not everything is confirmed."""


def _radii(text: str) -> dict[str, int]:
    """Radii by kind, from text such as "add=1,delete=9"."""
    kinds = [re.fullmatch(r"\s*([^=\s]+)\s*=\s*([0-9]{1,6})\s*", each) for each in text.split(",")]
    radii = {each[1]: int(each[2]) for each in kinds if each}
    if len(radii) < len(kinds):
        raise InvalidInputError(f"expected --at to name each kind once, such as add=1,delete=9, got {text}")
    return radii


def verify(
    flags: VerifyOptions, model_flags: ModelOption, machine_flags: MachineOptions, output_flags: OutputOptions
) -> None:
    """Checks certificates independently: their arithmetic, and the evidence in the run folder."""
    run, portions = flags.run, flags.resample
    if portions < 0 or (portions and (flags.arithmetic_only or not run.is_dir())):
        raise InvalidInputError(f"--resample N needs a run folder and its evidence, got {portions} and {run}")
    radii = [_radii(text) for text in flags.at or ()]
    with interruptible("nothing was changed"):
        checked, resampled = _check(flags), None
        certified = [checked.certified_at(each) for each in radii]
        if portions:
            resampled = _resampled(flags, machine_flags, model_flags.model)
    if output_flags.as_json:
        at = [{"radii": each, "certified": count} for each, count in zip(radii, certified, strict=True)]
        typer.echo(json.dumps(_facts(checked, resampled) | {"at": at}))
    else:
        _print(checked, resampled)
        for each, count in zip(radii, certified, strict=True):
            words = ", ".join(f"{name} {number}" for name, number in each.items())
            typer.echo(f"at        {words}: {count:,} of {len(checked.findings):,} inputs are certified")
        typer.echo(_conclusion(checked, resampled))
    if not _confirmed(checked, resampled):
        raise typer.Exit(NOT_CONFIRMED)


def _resampled(flags: VerifyOptions, machine_flags: MachineOptions, model: str | None) -> Resampled:
    # what draws samples takes a second to import, and a check without it takes less
    from flipproof.cli.values import machine_of
    from flipproof.pipeline.resample import resample

    return resample(flags.run, flags.resample, flags.resample_seed, machine_of(machine_flags), model)


def _check(flags: VerifyOptions) -> Check:
    with progress_line("checking", ("bar", "percent", "time")) as line:
        return check(flags.run, flags.arithmetic_only, flags.minutes, lambda done, of: line.update(done=done, of=of))


def _confirmed(checked: Check, resampled: Resampled | None) -> bool:
    return checked.confirmed and (resampled is None or resampled.same)


def _level(checked: Check, resampled: Resampled | None) -> Level:
    again = resampled is not None and checked.level >= Level.EVIDENCE
    return Level.RESAMPLED if again else checked.level


def _conclusion(checked: Check, resampled: Resampled | None) -> str:
    """The check in one sentence."""
    drawn = "" if resampled is None else f"; {len(resampled.drawn)} of {resampled.portions} portions resampled"
    level = "arithmetic and evidence" if checked.level >= Level.EVIDENCE else "arithmetic only"
    total = len(checked.findings)
    if _confirmed(checked, resampled):
        return f"{total:,} certificate{'' if total == 1 else 's'} confirmed: {level}{drawn}"
    return f"NOT confirmed: {'; '.join(_obstacles(checked, resampled))}"


def _obstacles(checked: Check, resampled: Resampled | None) -> Iterator[str]:
    """Why a check does not confirm everything."""
    total, counts = len(checked.findings), checked.counts
    for verdict in (Verdict.WRONG, Verdict.LOOSER, Verdict.UNCHECKED):
        if counts[verdict]:
            yield f"{counts[verdict]:,} of {total:,} certificates are {_SHORT_NAMES.get(verdict, verdict)}"
    if checked.objections == (ALONE,):
        yield "the arithmetic was checked, but there is no evidence; pass --arithmetic-only to accept that"
    elif checked.objections:
        plural = "s" * (len(checked.objections) > 1)
        yield f"the files do not fit together ({len(checked.objections)} objection{plural} above)"
    if resampled is not None and not resampled.same:
        yield "some resampled portions have other votes"


def _print(checked: Check, resampled: Resampled | None) -> None:
    _print_claim(checked.certificate)
    fit = _FITS if checked.level >= Level.EVIDENCE else _ALONE
    files = checked.objections or (fit,)
    for first, words in zip(("files", *[""] * len(files)), files, strict=False):
        typer.echo(f"{first:<10}{'WRONG: ' if words not in (fit, ALONE) else ''}{words}")
    for words in checked.notes:
        typer.echo(f"note      {words}")
    for verdict, count in checked.counts.items():
        if count or verdict is not Verdict.UNCHECKED:
            typer.echo(f"{_SHORT.get(verdict, verdict):<10}{count:,} of {len(checked.findings):,} inputs")
    others = list(checked.others())
    for index, finding in others[:_SHOWN]:
        typer.echo(f"  input {index}: {finding.verdict}: {finding.reason}")
    if len(others) > _SHOWN:
        typer.echo(f"  and {len(others) - _SHOWN:,} more; --json has all")
    if resampled is not None:
        _print_resampled(resampled)


_FITS = "fit: run.json, votes with their portions, weights, inputs, law, promise and hashes"
_ALONE = "not checked: model, data, seed, sample numbers, numbers of entries and what gets no noise are only stated"
_SHORT = {"looser than possible": "looser", "not checked": "unchecked"}
_SHORT_NAMES = {"WRONG": "wrong"}


def _print_claim(certificate: StatedCertificate) -> None:
    promise = certificate.promise
    over = "for all inputs at once" if promise.simultaneous else "for each input"
    typer.echo(f"noise     {'; '.join(map(_part_words, certificate.record['noise']))}")
    typer.echo(f"samples   {certificate.n_select:,} to select the label, {certificate.n_estimate:,} to bound it")
    typer.echo(f"promise   wrong with probability at most {float(promise.alpha):g}, {over}; {promise.rule} rule")


def _part_words(part: dict[str, Any]) -> str:
    """One part of the noise, whose probabilities are stored as fractions."""
    name = "" if part["part"] is None else f"{part['part']}: "
    flips = ", ".join(f"{side} {float(Fraction(part[side]))!r}" for side in ("p_plus", "p_minus"))
    return name + flips + ("" if part["categories"] == 2 else f", {part['categories']} categories")


def _print_resampled(resampled: Resampled) -> None:
    what = f"{len(resampled.drawn)} of {resampled.portions} portions, {resampled.samples:,} samples"
    typer.echo(
        f"resampled {what}: {'the same votes' if resampled.same else 'OTHER VOTES'} (--resample-seed {resampled.seed})"
    )
    for role, samples, same in resampled.drawn:
        if not same:
            typer.echo(f"  {role} samples {samples}: WRONG")


def _facts(checked: Check, resampled: Resampled | None) -> dict[str, Any]:
    drawn = resampled and {
        "seed": resampled.seed,
        "portions": resampled.portions,
        "drawn": [
            {"role": role, "samples": samples.to_record(), "same": same} for role, samples, same in resampled.drawn
        ],
    }
    return {
        "confirmed": _confirmed(checked, resampled),
        "level": _level(checked, resampled).name.lower(),
        "conclusion": _conclusion(checked, resampled),
        "notes": list(checked.notes),
        "objections": list(checked.objections),
        "counts": {str(verdict): count for verdict, count in checked.counts.items()},
        "verdicts": [str(finding.verdict) for finding in checked.findings],
        "reasons": {str(index): finding.reason for index, finding in checked.others()},
        "resampled": drawn,
    }
