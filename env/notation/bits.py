"""Numbers packed into base64 letters, as the identifiers of GNU Backgammon are."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode

from .errors import NotationError, shown

_FOREIGN = re.compile(r"[^A-Za-z0-9+/]")


def to_letters(number: int, num_bytes: int) -> str:
    """``number``, its first bit the lowest of the first byte, in base64 without padding."""
    return b64encode(number.to_bytes(num_bytes, "little")).decode("ascii").rstrip("=")


def from_letters(text: str, num_bytes: int) -> int:
    """The number that `to_letters` wrote; ``NotationError`` for any text that it does not write."""
    num_letters = (num_bytes * 8 + 5) // 6
    if len(text) != num_letters:
        raise NotationError(f"found {len(text)} characters in {shown(text)}, wanted {num_letters}")
    foreign = _FOREIGN.search(text)
    if foreign:
        raise NotationError(f"found {foreign.group()!r} in {shown(text)}, wanted letters, digits, + and / only")
    number = int.from_bytes(b64decode(text + "=" * (-len(text) % 4)), "little")
    if to_letters(number, num_bytes) != text:
        raise NotationError(f"found bits left over in the last letter of {shown(text)}, wanted none")
    return number
