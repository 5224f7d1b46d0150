"""The data of a run again, for whoever wants to look at them."""

from __future__ import annotations

from typing import Any

from flipproof.errors import FlipproofError
from flipproof.pipeline.inputs_check import check_inputs
from flipproof.pipeline.kinds.registry import job_of
from flipproof.pipeline.task import Task
from flipproof.run_folder.folder import RunFolder
from flipproof.run_folder.records import TRAIN, DataRecord, read_section


def observed(folder: RunFolder) -> dict[str, Any] | None:
    """What a report can show of the inputs of a run, if they are at hand and still what they were.

    Labels in the folder that are not those of the data are refused. Nothing is fetched. The names are those of the
    fields of a report's `Subject`.
    """
    task = Task.from_record(folder.record()["task"])
    try:
        job = job_of(task, download=False)
    except FlipproofError:
        return None
    if job.record != read_section(folder, "dataset", DataRecord, TRAIN):
        return None
    check_inputs(folder, job)
    return {"space": job.certified.space, **job.drawn}
