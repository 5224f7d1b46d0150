"""Kinds of data: one file each, with its noises, models, training, words and how it is prepared for a run."""
