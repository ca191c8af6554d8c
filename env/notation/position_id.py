"""GNU Backgammon's Position ID: a board, seen by the player on roll, in 14 letters. It says nothing else.

Also the form of 20 letters that GNU Backgammon's ``set board`` reads.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .bits import from_letters, to_letters
from .errors import NotationError, naming, shown
from .state import Position, as_position, with_off

__all__ = ["position_id", "position_letters", "read_position_id", "read_position_letters"]

_BYTES = 10


def position_id(board: Tensor | Position, variant: str = "backgammon") -> str:
    """The Position ID of ``board`` ``[2, 26]``, side 0 on roll.

    ``NotationError`` for what is no position of ``variant`` and for variants with another numbering (longgammon).
    """
    with naming("position id"):
        return to_letters(_key(as_position(board, variant)), _BYTES)


def read_position_id(text: str, variant: str = "backgammon") -> Tensor:
    """The board ``[2, 26]`` int8, side 0 on roll, of a Position ID; checkers not named are borne off."""
    with naming("position id"):
        return torch.tensor(_position(from_letters(text, _BYTES), variant), dtype=torch.int8)


def position_letters(board: Tensor | Position, variant: str = "backgammon") -> str:
    """The same in 20 letters A to P, a half byte each."""
    with naming("position letters"):
        key = _key(as_position(board, variant)).to_bytes(_BYTES, "little")
    return "".join(chr(ord("A") + half) for byte in key for half in divmod(byte, 16))


def read_position_letters(text: str, variant: str = "backgammon") -> Tensor:
    """The board ``[2, 26]`` int8, side 0 on roll, that `position_letters` wrote."""
    with naming("position letters"):
        if len(text) != 2 * _BYTES or not all("A" <= letter <= "P" for letter in text):
            raise NotationError(f"found {shown(text)}, wanted {2 * _BYTES} letters from A to P")
        halves = [ord(letter) - ord("A") for letter in text]
        key = bytes(16 * high + low for high, low in zip(halves[::2], halves[1::2], strict=True))
        return torch.tensor(_position(int.from_bytes(key, "little"), variant), dtype=torch.int8)


def _key(position: Position) -> int:
    """80 bits: for the opponent, then the mover, as many ones as checkers and a zero for points 1 to 24 and the bar."""
    key = place = 0
    for side in position[::-1]:
        for count in side[1:]:
            key |= ((1 << count) - 1) << place
            place += count + 1
    return key


def _position(key: int, variant: str) -> Position:
    counts: list[int] = []
    while len(counts) < 50:
        ones = (~key & (key + 1)).bit_length() - 1  # lowest zero
        counts.append(ones)
        key >>= ones + 1
    theirs, mine = with_off(counts[:25], variant), with_off(counts[25:], variant)
    if key:
        raise NotationError("found bits left over after both sides, wanted none")
    return as_position((mine, theirs), variant)
