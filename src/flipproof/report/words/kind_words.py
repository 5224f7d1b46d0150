"""What one input of a kind of data is called, and how noise gets into it."""

from __future__ import annotations

_UNITS = {"nodes": "node", "graphs": "graph", "images": "image", "text": "message", "tables": "row"}


def unit_of(kind: str) -> str:
    """What one input is.

    Example:
        >>> unit_of("tables")
        'row'
    """
    return _UNITS.get(kind, "input")


def noise_words(noisy: str) -> str:
    """What gets noise, or how.

    Example:
        >>> noise_words("pixels"), noise_words("masking")
        ('on pixels', 'by masking words')
    """
    return {"substitution": "by substitution of words", "masking": "by masking words"}.get(noisy, f"on {noisy}")
