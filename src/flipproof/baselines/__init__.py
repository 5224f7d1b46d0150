"""The other certificates that the paper names, each behind the same verbs and with the same shape of result.

Each system is a module: `flipproof.baselines.ablation.certify(votes)`. They are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flipproof.baselines import ablation as ablation
    from flipproof.baselines import communities as communities
    from flipproof.baselines import f_divergence as f_divergence
    from flipproof.baselines import gaussian as gaussian
    from flipproof.baselines import gcn_attributes as gcn_attributes
    from flipproof.baselines import gcn_structure as gcn_structure
    from flipproof.baselines import lee as lee
    from flipproof.baselines import page_rank as page_rank
    from flipproof.baselines import robust_training as robust_training
    from flipproof.baselines import smooth_adversarial as smooth_adversarial

SYSTEMS = (
    "ablation",
    "communities",
    "f_divergence",
    "gaussian",
    "gcn_attributes",
    "gcn_structure",
    "lee",
    "page_rank",
    "robust_training",
    "smooth_adversarial",
)


def __getattr__(name: str) -> Any:
    if name in SYSTEMS:
        return import_module(f"flipproof.baselines.{name}")
    raise AttributeError(f"module 'flipproof.baselines' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *SYSTEMS})
