"""Certificates of models that diffuse along random walks (PageRank), under changed edges."""
