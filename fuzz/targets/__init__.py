"""All targets: one for each loader, or for a few that belong together."""

from fuzz.target import Target
from fuzz.targets import (
    archives,
    certificates,
    checkpoint,
    fitted,
    own_archives,
    own_tables,
    own_texts,
    pickles,
    results,
    run_folder,
    values,
    verification,
    votes,
    weights,
)

_MODULES = (
    votes, certificates, run_folder, checkpoint, own_archives, own_tables, own_texts, weights, fitted, pickles,
    archives, results, values, verification,
)  # fmt: skip

TARGETS: dict[str, Target] = {module.TARGET.name: module.TARGET for module in _MODULES}
