"""From vote counts to bounds on probabilities that hold together with a stated failure probability."""
