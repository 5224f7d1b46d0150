"""How much of the machine a step may use, and how many samples it draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from flipproof.errors import InvalidInputError
from flipproof.models.adapters.torch_modules import checked_device
from flipproof.pipeline.models import FUSED_MODELS
from flipproof.run_folder.task import Task
from flipproof.smoothing.classifier import FUSED
from flipproof.smoothing.voting.chunks import (
    DEFAULT_TIMEOUT,
    Workers,
    check_evaluation,
    checked_address,
    checked_wanted,
)


@dataclass(frozen=True, slots=True)
class Machine:
    """What a step may use of the machine, or of a cluster.

    Attributes:
        workers: processes that vote, with one numerical thread each; "ray" for all CPUs of a Ray cluster.
        memory_limit: how much memory the noisy samples of each worker may take.
        progress: whether to show a line in a terminal.
        address: of the Ray cluster; see `vote`.
        device: where torch modules vote: "cpu", "cuda", "cuda:1". Noise is drawn on the CPU in any case.
        engine: "fused" or "torch"; see `vote`.
        timeout: seconds that a chunk may take in a worker process; see `vote`.
        check: whether to check that the classifier gives one label to one noisy input; see `vote`.
    """

    workers: int | Literal["ray"] = 1
    memory_limit: str | int = "2GB"
    progress: bool = True
    address: str | None = None
    device: str = "cpu"
    engine: str | None = None
    timeout: float | None = DEFAULT_TIMEOUT
    check: bool = True

    def __post_init__(self) -> None:
        Workers(self.workers, self.address, self.timeout)  # which are checked
        check_evaluation(self.memory_limit, self.engine, self.check)
        if self.device != "cpu":
            checked_device(self.device)
            if self.workers == "ray":
                raise InvalidInputError(f"expected device='cpu' on a Ray cluster, got {self.device!r}")


@dataclass(frozen=True, slots=True)
class Samples:
    """How many samples choose the label, and how many bound its probability."""

    n_select: int = 1_000
    n_estimate: int = 100_000

    def __post_init__(self) -> None:
        for name, wanted in (("select", self.n_select), ("estimate", self.n_estimate)):
            if not checked_wanted(wanted, f"{name} samples"):
                raise InvalidInputError(f"expected at least one of the {name} samples, got {wanted}")


def check_can_vote(machine: Machine, task: Task) -> None:
    """Refuses, before training, a machine on which the trained model could not vote."""
    if machine.workers == "ray":
        from flipproof.smoothing.workers.ray_connection import check_answers  # only runs on a cluster need Ray

        check_answers(checked_address(machine.address))
    attention = task.model.name == "gat" and task.noisy != "attributes"
    if machine.engine == FUSED and not task.model.own and (task.model.name not in FUSED_MODELS or attention):
        raise InvalidInputError(
            f"expected one of {', '.join(FUSED_MODELS)} (gat under noise on attributes only) for the fused engine, got "
            f"{task.model.name} under noise on {task.noisy}; leave the engine out for the fastest that there is"
        )
