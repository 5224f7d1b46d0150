"""Sentences: what is promised and what is not, the verdict, one sentence per input."""
