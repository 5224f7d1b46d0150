"""Experiments as functions: what is asked goes in as a value, a run folder and rows come out."""
