"""Spaces: data that define their entries, the words for changes of them, and how noise applies to them.

`space` holds the protocol; `space_of` in `noise/laws.py` finds the space of a user's input. To add a space, add a file
here. User input has type `Any` until it has been checked.
"""
