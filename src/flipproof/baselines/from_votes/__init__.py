"""Certificates of other authors that need votes and nothing else."""
