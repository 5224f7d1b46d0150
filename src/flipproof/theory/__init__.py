"""From a noise law and bounds on probabilities to radii: pure mathematics, no data, no randomness, no files."""
