"""Datasets as values: one file for each kind of data, with the labels and the file formats."""
