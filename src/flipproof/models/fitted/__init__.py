"""Fitted estimators as plain arrays, which are stored in files without a pickle and evaluated by compiled loops."""
