"""A run as a folder: what was asked (the task), what came of each step (records), inputs, split, certificates.

Everything here is read and written without a model and without the data. It imports `smoothing` and all below.
"""
