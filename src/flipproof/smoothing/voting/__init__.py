"""How votes are drawn: chunks of samples, their evaluation, counts, checkpoints, and the check of the classifier."""
