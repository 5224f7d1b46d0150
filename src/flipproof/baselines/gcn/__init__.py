"""Certificates of a GCN itself, under flipped attributes and deleted edges, and training for them."""
