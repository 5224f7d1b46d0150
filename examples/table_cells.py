"""A table of categories and a forest: how many cells of a row must an attacker change to turn the answer?

Usage: python examples/table_cells.py [SAMPLES]. Writes table_cells.html, a report. Needs scikit-learn and the
extra "report". The columns are measurements of tumours, each cut into two to four categories.
"""

import sys

import numpy as np
from sklearn.ensemble import RandomForestClassifier

import flipproof as fp

samples = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
data = fp.datasets.load("breast-cancer")
train, test = np.split(np.random.default_rng(0).permutation(len(data)), [369])

table = data.table(test)
noise = table.noise(p_plus=0.2, p_minus=0.2)  # a part for every number of categories, each with its own radii

# A model that has seen noise is better at it: it learns from twenty noisy copies of every row.
forest = RandomForestClassifier(30, max_depth=8, random_state=0)
model = fp.fit_estimator(forest, data.table(), data.labels, train, noise, copies=20)

votes = fp.vote(fp.SklearnClassifier(model), table, noise, n_select=samples // 10, n_estimate=samples)
certificates = fp.certify(votes, alpha=0.01)
truth, radii = data.labels[test], certificates.max_l0_radius()
print(f"accuracy of the smoothed classifier: {certificates.certified_accuracy(truth):.3f}")
print(f"cells that may change, whichever they are: mean {radii.mean():.2f}, largest {radii.max()}")
fp.write_report("table_cells.html", certificates, name="Tumours", labels=truth, class_names=data.class_names,
                inputs=table, column_names=data.column_names, unit="row", entries="cells")  # fmt: skip
