"""A table of categories and a forest: how many cells of a row must an attacker change to turn the answer?

Usage: python examples/table_cells.py [SAMPLES]. Writes table_cells.html, a report. Needs scikit-learn and the
extra "report". The columns are measurements of tumours, each cut into two to four classes.
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import KBinsDiscretizer

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
tumours = load_breast_cancer()
categories = [2 + column % 3 for column in range(tumours.data.shape[1])]
cutter = KBinsDiscretizer(categories, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
cells = cutter.fit_transform(tumours.data).astype(int)
train, test = np.split(np.random.default_rng(0).permutation(len(cells)), [369])

table = fp.Table(cells[test], categories)
noise = table.noise(p_plus=0.2, p_minus=0.2)  # a part for every number of categories, each with its own radii

# A model that has seen noise is better at it.
rng = np.random.default_rng(1)
copies, labels = np.tile(cells[train], (20, 1)), np.tile(tumours.target[train], 20)
other = (copies + rng.integers(1, categories, copies.shape)) % categories
model = RandomForestClassifier(30, max_depth=8, random_state=0)
model.fit(np.where(rng.random(copies.shape) < 0.2, other, copies), labels)

votes = fp.vote(fp.SklearnClassifier(model), table, noise, n_select=samples // 10, n_estimate=samples)
certificates = fp.certify(votes, alpha=0.01)
truth, radii = tumours.target[test], certificates.max_l0_radius()
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(truth):.3f}")
print(f"cells that may change, whichever they are: mean {radii.mean():.2f}, largest {radii.max()}")
fp.write_report("table_cells.html", certificates, name="Tumours", labels=truth, class_names=list(tumours.target_names),
                inputs=table, unit="row", entries="cells")  # fmt: skip
