"""The fused engine: labels of noisy copies of a graph without making the noisy copies."""
