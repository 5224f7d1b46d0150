"""Where files of datasets lie, and how they get there: downloads with checksums, archives with known sizes."""
