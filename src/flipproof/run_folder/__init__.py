"""A run as a folder: its task, a record of each step, inputs, split, certificates, and the finished run as a value.

Everything here is read and written without a model and without the data. It imports `smoothing` and all below.
"""

PUBLIC = ("data_record", "finished_run", "folder", "reading", "split", "split_file", "task")
"""The modules that other rooms may import."""
