"""The other certificates that the paper names, all with the same function names and the same form of result.

Each system is a module, imported on first use: `flipproof.baselines.ablation.certify(votes)`.
`from_votes` holds the systems that need only votes, `gcn` and `walks` those that look into a network. This subpackage
may import everything below it: models, noise, theory.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipproof.baselines.from_votes import ablation as ablation
    from flipproof.baselines.from_votes import communities as communities
    from flipproof.baselines.from_votes import f_divergence as f_divergence
    from flipproof.baselines.from_votes import gaussian as gaussian
    from flipproof.baselines.from_votes import lee as lee
    from flipproof.baselines.gcn import attributes as gcn_attributes
    from flipproof.baselines.gcn import robust_training as robust_training
    from flipproof.baselines.gcn import structure as gcn_structure
    from flipproof.baselines.walks import page_rank as page_rank
    from flipproof.models.training import smooth_adversarial as smooth_adversarial

PUBLIC = ("proofs", "walks.page_rank", "walks.walk")
"""The modules that other subpackages may import."""

_HOMES = {
    "ablation": "baselines.from_votes.ablation",
    "communities": "baselines.from_votes.communities",
    "f_divergence": "baselines.from_votes.f_divergence",
    "gaussian": "baselines.from_votes.gaussian",
    "gcn_attributes": "baselines.gcn.attributes",
    "gcn_structure": "baselines.gcn.structure",
    "lee": "baselines.from_votes.lee",
    "page_rank": "baselines.walks.page_rank",
    "robust_training": "baselines.gcn.robust_training",
    "smooth_adversarial": "models.training.smooth_adversarial",
}
SYSTEMS = tuple(_HOMES)

__all__ = [
    "ablation", "communities", "f_divergence", "gaussian", "gcn_attributes", "gcn_structure", "lee", "page_rank",
    "robust_training", "smooth_adversarial",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return import_module(f"flipproof.{_HOMES[name]}")
    raise AttributeError(f"module 'flipproof.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *SYSTEMS})
