"""A classifier that ignores the noisy part: whoever is no better than it has robustness that is worth little."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from flipproof.extras import MissingExtraError, require
from flipproof.noise.spaces.graph import STRUCTURE, Graph, plain_attributes
from flipproof.pipeline.job import Job

_MOST_VALUES = 2 * 10**8
"""Of attributes: fitting must stay a matter of seconds."""


def blind_facts(job: Job) -> dict[str, Any]:
    """How often logistic regression on the attributes alone is right about test nodes, if only edges get noise.

    Empty where that has no meaning, or cannot be had at once; reports then compare with the most frequent class.
    """
    space, labels, split = job.certified.space, job.certified.labels, job.certified.split
    if (
        not isinstance(space, Graph)
        or space.noisy != STRUCTURE
        or space.attributes is None
        or labels.size != space.nodes
    ):
        return {}
    attributes = plain_attributes(space.attributes)
    stored = attributes.nnz if sp.issparse(attributes) else attributes.size
    if not split.test.size or np.unique(labels[split.train]).size < 2 or stored > _MOST_VALUES:
        return {}
    try:
        linear = require("sklearn.linear_model").LogisticRegression(max_iter=300)
    except MissingExtraError:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that has not quite converged is as good here
        found = linear.fit(attributes[split.train], labels[split.train]).predict(attributes[split.test])
    right = float(np.mean(found == labels[split.test]))
    return {"words": "logistic regression on the attributes alone", "accuracy": right}
