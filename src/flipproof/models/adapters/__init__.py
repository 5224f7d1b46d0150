"""Trained models as classifiers: scikit-learn estimators, torch modules, graph neural networks."""
