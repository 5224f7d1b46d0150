"""Numbers as people read them: shares, per cent, radii and times."""

from __future__ import annotations

from flipproof.theory.radii import UNBOUNDED
from flipproof.theory.search import SEARCH_LIMIT


def share_words(share: float) -> str:
    """A share to three digits; only a whole share looks whole.

    Example:
        >>> share_words(0.9999), share_words(0.8397), share_words(1.0)
        ('0.999', '0.840', '1.000')
    """
    return f"{share if share >= 1.0 else min(share, 0.999):.3f}"


def known_share(share: float | None) -> str:
    """A share in words, or a dash if it is unknown."""
    return "-" if share is None else share_words(share)


def percent(count: int, of: int) -> str:
    """A share in per cent, rounded down; only a whole share looks whole.

    Example:
        >>> percent(999, 1000), percent(3, 1000), percent(0, 1000), percent(4, 4)
        ('99 %', 'under 1 %', '0 %', '100 %')
    """
    return "under 1 %" if 0 < 100 * count < of else f"{100 * count // max(1, of)} %"


def radius_words(radius: int | None) -> str:
    """A radius in words; None is unknown."""
    if radius is None:
        return "unknown"
    if radius == UNBOUNDED:
        return "unbounded"
    return str(radius) if radius < SEARCH_LIMIT else f"at least {radius}"


def json_radius(radius: int | None) -> int | str | None:
    """A radius as JSON has it: a number, "unbounded", or null if unknown."""
    return "unbounded" if radius == UNBOUNDED else radius


def duration(seconds: float) -> str:
    """A time in words.

    Example:
        >>> duration(4.26), duration(200), duration(7260)
        ('4.3 s', '3 min 20 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
