"""Fuzzing: every loader is given damaged and hostile files, and must read them or refuse them in one line."""
