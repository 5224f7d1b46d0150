"""`flipproof verify`: an independent check of certificates."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flipproof.cli.option_groups import takes
from flipproof.cli.run_options import MachineOptions, ModelOption, OutputOptions
from flipproof.cli.train import interruptible

if TYPE_CHECKING:
    from flipproof.experiments.resample import Resampled
    from flipproof.verification.certificate import Certificate
    from flipproof.verification.check import Check

_SHOWN = 20
NOT_CONFIRMED = 1
"""The exit code if there is something to object to."""


@dataclass(frozen=True, slots=True)
class ResampleOptions:
    """What to draw again."""

    resample: Annotated[
        int, typer.Option(help="Draw so many of the portions of samples again and compare their votes.")
    ] = 0
    resample_seed: Annotated[
        int | None, typer.Option(help="Chooses the portions; by default nobody can know them beforehand.")
    ] = None


@dataclass(frozen=True, slots=True)
class AtOption:
    """Radii of several kinds."""

    at: Annotated[
        list[str] | None,
        typer.Option(help="Also count what is certified against several changes at once: add=1,delete=9."),
    ] = None

    def radii(self) -> list[dict[str, int]]:
        """The numbers that the flags stand for."""
        return [_radii(text) for text in self.at or ()]


def _radii(text: str) -> dict[str, int]:
    """From "add=1,delete=9" to numbers."""
    from flipproof.errors import InvalidInputError

    found = [re.fullmatch(r"\s*([^=\s]+)\s*=\s*([0-9]{1,6})\s*", each) for each in text.split(",")]
    radii = {each[1]: int(each[2]) for each in found if each}
    if len(radii) < len(found):
        raise InvalidInputError(f"expected --at to name each kind once, such as add=1,delete=9, got {text}")
    return radii


@takes(AtOption, ResampleOptions, ModelOption, MachineOptions, OutputOptions)
def verify(
    run: Annotated[
        Path, typer.Argument(help="A run folder, or a certificates.json with its npz beside it.", show_default=False)
    ],
    wanted: AtOption,
    again: ResampleOptions,
    chosen: ModelOption,
    machine: MachineOptions,
    output: OutputOptions,
) -> None:
    """Check every bound and radius of certificates anew, in exact arithmetic. Exit code 0: all is confirmed."""
    from flipproof.errors import InvalidInputError

    if again.resample < 0 or (again.resample and not run.is_dir()):
        raise InvalidInputError(f"expected --resample N together with a run folder, got {again.resample} and {run}")
    radii = wanted.radii()
    with interruptible("nothing was changed"):
        checked, resampled = _check(run), None
        certified = [checked.certified_at(each) for each in radii]
        if again.resample:
            from flipproof.experiments.resample import resample

            resampled = resample(run, again.resample, again.resample_seed, machine.machine(), chosen.model)
    if output.as_json:
        at = [{"radii": each, "certified": count} for each, count in zip(radii, certified, strict=True)]
        typer.echo(json.dumps(_facts(checked, resampled) | {"at": at}))
    else:
        _print(checked, resampled)
        for each, count in zip(radii, certified, strict=True):
            words = ", ".join(f"{name} {number}" for name, number in each.items())
            typer.echo(f"at        {words}: {count:,} of {len(checked.findings):,} inputs are certified")
    if not checked.confirmed or (resampled is not None and not resampled.same):
        raise typer.Exit(NOT_CONFIRMED)


def _check(run: Path) -> Check:
    from flipproof.verification.check import verify as check

    with _progress() as advance:
        return check(run, advance)


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar in a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("checking")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print(checked: Check, resampled: Resampled | None) -> None:
    from flipproof.verification.verdicts import Verdict

    _print_claim(checked.certificate)
    beside = checked.certificate.path.with_name("run.json").exists()
    fit = "fit the certificates: votes, law, promise and hashes" if beside else _ALONE
    files = checked.objections or (fit,)
    for first, words in zip(("files", *[""] * len(files)), files, strict=False):
        typer.echo(f"{first:<10}{'WRONG: ' if checked.objections else ''}{words}")
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


_ALONE = (
    "arrays fit; there is no run beside them: model, data, seed, sample numbers, numbers of entries and what gets no "
    "noise are mere statements"
)
_SHORT = {"looser than possible": "looser", "not checked": "unchecked"}


def _print_claim(certificate: Certificate) -> None:
    promise = certificate.promise
    over = "for all inputs at once" if promise.simultaneous else "for each input"
    typer.echo(f"noise     {'; '.join(map(_part_words, certificate.record['noise']))}")
    typer.echo(f"samples   {certificate.n_select:,} to select the label, {certificate.n_estimate:,} to bound it")
    typer.echo(f"promise   wrong with probability at most {float(promise.alpha):g}, {over}; {promise.rule} rule")


def _part_words(part: dict[str, Any]) -> str:
    """One part of the noise; its probabilities are floats that are written as fractions."""
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
        "confirmed": checked.confirmed and (resampled is None or resampled.same),
        "objections": list(checked.objections),
        "counts": {str(verdict): count for verdict, count in checked.counts.items()},
        "verdicts": [str(finding.verdict) for finding in checked.findings],
        "reasons": {str(index): finding.reason for index, finding in checked.others()},
        "resampled": drawn,
    }
