"""Presents the experiments: rows in files, and figures and a page made from the rows alone."""
