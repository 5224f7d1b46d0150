"""How votes are drawn: chunks of samples, their evaluation, vote counts, checkpoints, and the check of the classifier."""
