"""The paper's networks, and small ones for graphs, images and texts: fast on a CPU."""
