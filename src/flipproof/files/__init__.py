"""The one place that opens files of our formats: whole writes, locks, strict JSON, archives of arrays, CSV.

Whoever adds a loader uses these, so that a file is data and nothing else. It imports `base` and the errors.
"""

PUBLIC = ("archive", "csv_file", "strict_json", "whole")
"""The modules that other rooms may import."""
