"""Fingerprints of a model, its code and its data as short texts, so that votes of two models are never mixed."""
