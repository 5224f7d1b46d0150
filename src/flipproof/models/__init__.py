"""Models behind the classifier protocol: scikit-learn estimators, torch modules, graph neural networks."""
