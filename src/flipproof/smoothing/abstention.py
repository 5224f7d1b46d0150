"""Why a certificate abstains."""

from __future__ import annotations

from enum import IntEnum


class Abstention(IntEnum):
    """Why an input has no certified prediction; NONE if it has one."""

    NONE = 0
    NO_SELECTION_VOTES = 1
    NO_ESTIMATION_VOTES = 2
    TOO_CLOSE = 3

    @property
    def words(self) -> str:
        """The reason as text; empty for NONE."""
        return ("", "no selection votes", "no estimation votes", "p_lower does not exceed p_upper")[self]
