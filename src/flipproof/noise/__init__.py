"""Exact noise: the spaces (what is one entry), the samplers that draw noisy copies, and their random streams."""
