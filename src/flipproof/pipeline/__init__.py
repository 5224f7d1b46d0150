"""The main job: from a task to a finished run. Train, vote and certify, each a step that can be repeated.

`steps` is the entrance, `kinds` has one file for each kind of data, `models` makes what a task asks to train. It may
import everything but reports and comparisons.
"""

PUBLIC = ("audit", "kinds.kind", "models", "prepared", "resample", "shared_runs", "steps")
"""The modules that other rooms may import."""
