"""`flipproof report`: the page of one run, or of several side by side, with the command that repeats a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import typer

from flipproof.cli.command_options import ReportOptions
from flipproof.cli.run_options import PromiseOptions, VoteOptions
from flipproof.cli.task_options import TaskOptions
from flipproof.errors import FileFormatError, FlipproofError, InvalidInputError
from flipproof.pipeline.kinds.kind import kind_named
from flipproof.pipeline.machine import Samples
from flipproof.pipeline.steps import open_run, with_data
from flipproof.report.described_inputs import DescribedInputs
from flipproof.report.report_files import check_replaceable, write_page, write_run_report
from flipproof.report.section import Section, run_section, section_of
from flipproof.run_folder.finished_run import FinishedRun
from flipproof.smoothing.certify import certify
from flipproof.smoothing.votes import Votes
from flipproof.theory.law import Noise


def report(flags: ReportOptions) -> None:
    """Writes the page of one run, or of several side by side."""
    runs, out, force = flags.runs, flags.out, flags.force
    if out is None and len(runs) > 1:
        raise InvalidInputError("a page of several runs needs a name; add --out compare.html")
    if out is None and not runs[0].is_file():
        run = with_data(open_run(runs[0]))
        written = write_run_report(run, _repeating(run))
        typer.echo(f"wrote {written}, figures in {written.parent / 'figures'}")
        return
    target = runs[0].with_suffix(".html") if out is None else out
    check_replaceable(target, force)  # before the work
    write_page(target, [_named_section(path, alone=len(runs) == 1) for path in runs], force)
    typer.echo(f"wrote {target}")


def offer_run_page(run: FinishedRun, quiet: bool = False) -> None:
    """Writes the report of a run at the end of another command. If that fails, says why: the command is done."""
    try:
        shown = with_data(run) if run.shown is None else run
        written = write_run_report(shown, _repeating(shown))
    except FlipproofError as error:
        typer.echo(f"flipproof: no report: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"\nreport    {written}")


def _named_section(path: Path, alone: bool) -> Section:
    """The section of a run or votes file; among several, its name starts with the path."""
    if path.is_file():
        section = _votes_section(path, alone)
    else:
        section = run_section(run := with_data(open_run(path)), _repeating(run))
    return section if alone else replace(section, name=f"{path}: {section.name}")


def _votes_section(path: Path, alone: bool) -> Section:
    """The section of a votes file, certified with the default promise. Among several, entries name their data."""
    votes = Votes.load(path)
    certificates = certify(votes)
    data = path.name if votes.run is None else f"data {votes.run.identity['data'][:8]}"
    parts = certificates.noise.part_names
    words = {name or "": f"entries of {data}" + (f", {name}," if name else "") for name in parts}
    return section_of(certificates, path.name, DescribedInputs(entries={} if alone else words))


def _repeating(run: FinishedRun) -> str:
    """The command that makes the run again."""
    record = {"task": run.task_record, "votes": asdict(run.votes), "certificates": run.promise}
    return repeating_command(record, run.folder.path.resolve().name)


def repeating_command(record: Mapping[str, Any], folder: str) -> str:
    """`flipproof run` with the flags that make the run of this `run.json` again, in a new folder beside it.

    Flags at their defaults are left out.

    Example:
        >>> task = {"kind": "nodes", "dataset": "cora_ml", "noisy": "attributes", "seed": 3,
        ...         "noise": {"p_plus": 0.02, "p_minus": 0.6, "categories": 2}}
        >>> repeating_command({"task": task}, "run")
        'flipproof run --dataset cora_ml --out run-again --p-plus 0.02 --p-minus 0.6 --seed 3'
    """
    task, votes, promise = record["task"], record.get("votes", {}), record.get("certificates", {})
    flags = {
        "dataset": task["dataset"],
        "out": f"{folder}-again",
        "weights": None if task.get("weights") is None else f"{folder}/weights.safetensors",
        **_non_default_flags(task),
        **task.get("reading", {}),
        "seed": task["seed"],
        "samples": None if votes.get("n_estimate") == kind_named(task["kind"]).n_estimate else votes.get("n_estimate"),
        "select_samples": None if votes.get("n_select") == Samples().n_select else votes.get("n_select"),
        **promise,
    }
    return shlex.join(["flipproof", "run", *_words(flags)])


def _non_default_flags(task: Mapping[str, Any]) -> dict[str, Any]:
    """The flags that differ from the defaults for the data."""
    kind, noisy = kind_named(task["kind"]), task["noisy"]
    try:
        defaults, default_noisy = kind.defaults(noisy, task["dataset"]), kind.usual_noise(task["dataset"])
        training = asdict(defaults.training)
    except FileFormatError:  # the user's own images are gone and so are the defaults for them: name every flag
        defaults, default_noisy, training = kind.defaults(noisy), "", {}
    model, inputs = dict(task.get("model", {})), task.get("inputs", defaults.inputs)
    name = model.pop("name", None)
    return {
        "model": None if name == defaults.models[0] else name,
        **model,
        "noise": None if noisy == default_noisy else noisy,
        **_noise_flags(task["noise"], defaults.noise),
        **_other(task.get("training", {}), training),
        **{
            f"{part}_{defaults.split.flag}": value
            for part, value in _other(task.get("split", {}), asdict(defaults.split)).items()
        },
        "inputs": None if inputs == defaults.inputs else inputs or 0,
    }


def _other(found: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value != known.get(name)}


def _noise_flags(noise: Mapping[str, Any], default: Noise) -> dict[str, Any]:
    """Both probabilities of the noise, or of each part of a graph. The parts of a table share one noise."""
    parts = noise.get("parts", {"": noise})
    pairs = {name: (part["p_plus"], part["p_minus"]) for name, part in parts.items()}
    defaults = getattr(default, "parts", {"": default})
    default_pairs = {name: (part.p_plus, part.p_minus) for name, part in defaults.items()}
    if set(pairs) == {"structure", "attributes"}:
        return {f"{name}_noise": pair for name, pair in pairs.items() if pair != default_pairs.get(name)}
    p_plus, p_minus = next(iter(pairs.values()))
    return {} if (p_plus, p_minus) == default_pairs.get("") else {"p_plus": p_plus, "p_minus": p_minus}


def _words(flags: Mapping[str, Any]) -> Iterator[str]:
    for group in (TaskOptions, VoteOptions, PromiseOptions):
        for field in fields(group):
            value = flags.get(field.name)
            if value is None or value == field.default:
                continue
            yield f"--{field.name.replace('_', '-')}" if value is not False else f"--not-{field.name}"
            if value is not True and value is not False:
                yield from map(str, value if isinstance(value, tuple) else (value,))
