"""Training with noise: the loop, batches, estimators, and robust and adversarial training of other authors."""
