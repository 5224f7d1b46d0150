"""The files of datasets: their folders, downloads with checksums, and archives with known sizes."""
