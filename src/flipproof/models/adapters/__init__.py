"""Trained models as classifiers: estimators, boosted trees, torch modules, graph neural networks, functions.

`adapted` finds the adapter of a model that is given as it is.
"""
