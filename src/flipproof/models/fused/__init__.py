"""The fused engine: computes the labels of noisy copies of a graph without making the noisy copies."""
