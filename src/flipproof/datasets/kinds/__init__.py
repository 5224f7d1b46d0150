"""Datasets as values, one file for each kind of data, with their labels and their own file format."""
