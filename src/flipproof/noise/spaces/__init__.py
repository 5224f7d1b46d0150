"""Spaces: data that know their entries, what a change of them is called, and how noise applies to them.

`space` has the protocol; `space_of` in `noise/laws.py` finds the space of what a user gives. A new space is a new file
here. What a user gives is `Any` until it has been checked.
"""
