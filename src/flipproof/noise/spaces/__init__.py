"""Spaces: data that know their entries, what a change of them is called, and how noise applies to them.

`space` has the protocol, `recognition` finds the space of what a user gives. A new space is a new file here.
"""
