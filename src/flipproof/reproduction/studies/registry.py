"""All experiments of the paper, by name."""

from __future__ import annotations

from collections.abc import Iterable

from flipproof.errors import not_among
from flipproof.reproduction.studies.grids import CLEAN_ACCURACY, HEATMAP, JOINT_PAIRS, RULES
from flipproof.reproduction.studies.lines import (
    JOINT_LINES,
    MNIST,
    MODELS_ATTRIBUTES,
    MODELS_DELETION,
    MODELS_STRUCTURE,
    MUTAG,
    PUBMED,
    TRADEOFFS,
    TRAINING,
)
from flipproof.reproduction.studies.network_certificates import COMPARE_GCN, COMPARE_PPNP
from flipproof.reproduction.studies.table_1 import TABLE_1
from flipproof.reproduction.studies.timing import EFFICIENCY, TABLE_2
from flipproof.reproduction.study import Study

STUDIES = {
    study.name: study
    for study in (
        TABLE_1, TABLE_2, HEATMAP, TRADEOFFS, MODELS_ATTRIBUTES, MODELS_STRUCTURE, MODELS_DELETION, JOINT_LINES,
        JOINT_PAIRS, PUBMED, MNIST, MUTAG, TRAINING, CLEAN_ACCURACY, RULES, COMPARE_GCN, COMPARE_PPNP, EFFICIENCY,
    )
}  # fmt: skip
"""All experiments, in the order in which they are run and shown."""

EVERY = "all"


def studies_named(names: Iterable[str]) -> list[Study]:
    """The experiments with these names; "all" selects every experiment.

    Example:
        >>> [study.name for study in studies_named(["rules", "table-1"])]
        ['table-1', 'rules']
    """
    wanted = list(names)
    for name in wanted:
        if name not in (*STUDIES, EVERY):
            raise not_among("experiment", (*STUDIES, EVERY), name)
    return [study for name, study in STUDIES.items() if name in wanted or EVERY in wanted]
