"""Fitted estimators as plain arrays: kept in files without a pickle, and evaluated by compiled loops."""
