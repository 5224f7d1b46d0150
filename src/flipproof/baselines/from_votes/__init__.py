"""Certificates by other authors that need only votes."""
