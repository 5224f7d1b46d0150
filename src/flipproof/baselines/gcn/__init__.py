"""Certificates of a GCN itself under flipped attributes or deleted edges, and robust training for them."""
