"""The one exception that readers and writers of notation raise, and how its messages are made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["NotationError"]

_INTEGER = re.compile(r"-?[0-9]{1,6}")


class NotationError(ValueError):
    """A text that cannot be read, or a state that a format cannot say.

    The message names the format, what was found and what was wanted. Nothing is ever repaired.
    """


def shown(text: str) -> str:
    """``text`` quoted for a message, shortened where it is long."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Put ``what`` before the message of any `NotationError` from inside."""
    try:
        yield
    except NotationError as error:
        raise NotationError(f"{what}: {error}") from None


def read_integer(text: str, name: str, low: int, high: int) -> int:
    """A decimal number from ``low`` to ``high``, six digits at most; ``NotationError`` names the field."""
    if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
        raise NotationError(f"{name}: found {shown(text)}, wanted a number from {low} to {high}")
    return int(text)
