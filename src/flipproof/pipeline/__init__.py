"""The main job: from a task to a finished run. Train, vote and certify, each a step that can be repeated.

`kinds` has one file for each kind of data. It imports everything but reports: datasets, models, run folders.
"""
