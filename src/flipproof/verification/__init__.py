"""An independent check of certificates, from their files alone, in exact and interval arithmetic.

It shares no code with what makes certificates: it imports only the standard library and the errors of this package.
"""

PUBLIC = ("certificate", "check", "level", "limits", "verdicts")
"""The modules that other rooms may import."""
