"""Training with noise: settings, the loop, batches, estimators; robust and adversarial training of other authors."""
