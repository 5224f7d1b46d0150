"""Checks certificates independently, from their files alone, in exact and interval arithmetic.

It shares no code with the part that makes certificates: it imports only the standard library and this package's errors.
"""

PUBLIC = ("certificate", "check", "limits", "verdicts")
"""The modules that other subpackages may import."""
