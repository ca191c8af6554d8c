"""Positions and plays as text, read and written without the engine under test.

A side is written ``24:2 13:5 bar:1 off:10``, both sides **in the mover's numbers** (rules.md 6), so one point has one
number whoever holds it. A play is written ``bar/22* 13/8(2) 6/4/off``; ``*`` marks a hit. A `Position` holds both
sides as the board tensor does: 26 counts, each side in its own numbering, 25 the bar, 0 the checkers off.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

import torch
from torch import Tensor

Side = tuple[int, ...]
Position = tuple[Side, Side]

BAR, OFF = 25, 0
_NAMED = {"bar": BAR, "off": OFF}
NUM_CHECKERS = {"backgammon": 15, "sprintgammon": 3, "longgammon": 15}

START = {
    "backgammon": ("24:2 13:5 8:3 6:5", "1:2 12:5 17:3 19:5"),
    "sprintgammon": ("24:1 23:1 22:1", "3:1 2:1 1:1"),
    "longgammon": ("24:15", "12:15"),
}


def opposite(point: int, variant: str = "backgammon") -> int:
    """The other side's number of ``point``; bar and off are each side's own."""
    if point in (BAR, OFF):
        return point
    if variant == "longgammon":
        return point + 12 if point <= 12 else point - 12
    return 25 - point


def _number(place: str) -> int:
    return _NAMED[place] if place in _NAMED else int(place)


def _place(number: int) -> str:
    return next((name for name, named in _NAMED.items() if named == number), str(number))


def position(mover: str, opponent: str, variant: str = "backgammon") -> Position:
    """Read a position; both sides in the mover's numbers, all checkers of the set listed."""
    sides = []
    for side, words in enumerate((mover, opponent)):
        counts = [0] * 26
        for word in words.split():
            place, count = word.split(":")
            number = _number(place)
            counts[opposite(number, variant) if side else number] = int(count)
        if sum(counts) != NUM_CHECKERS[variant]:
            raise ValueError(f"{words!r}: {sum(counts)} checkers, wanted {NUM_CHECKERS[variant]}")
        sides.append(tuple(counts))
    return sides[0], sides[1]


def start(variant: str = "backgammon") -> Position:
    """The opening position."""
    return position(*START[variant], variant)


def text(given: Position, variant: str = "backgammon") -> str:
    """``mover 24:2 … | opponent 1:2 …``, what `position` reads."""
    words = []
    for side, counts in enumerate(given):
        in_movers_numbers = {opposite(point, variant) if side else point: n for point, n in enumerate(counts)}
        order = [*range(24, 0, -1), BAR, OFF]
        words.append(" ".join(f"{_place(p)}:{in_movers_numbers[p]}" for p in order if in_movers_numbers[p]))
    return f"mover {words[0]} | opponent {words[1]}"


def to_boards(positions: Sequence[Position]) -> Tensor:
    """``[N, 2, 26]`` int8."""
    return torch.tensor(positions, dtype=torch.int8).view(len(positions), 2, 26)


def from_boards(boards: Tensor) -> list[Position]:
    """The rows of ``[N, 2, 26]`` as positions."""
    return [(tuple(mine), tuple(theirs)) for mine, theirs in boards.tolist()]


def moves_of(play: str) -> list[tuple[int, int, bool]]:
    """The single moves of a play's text in order: from, to, and whether it is marked as a hit."""
    moves = []
    for word in play.split():
        match = re.fullmatch(r"([^()]+)(?:\((\d)\))?", word)
        assert match, f"not a play: {word!r}"
        places = match[1].split("/")
        stops = [(_number(place.rstrip("*")), place.endswith("*")) for place in places]
        for repetition in range(int(match[2] or 1)):
            for (point, _), (target, hits) in pairwise(stops):
                moves.append((point, target, hits and repetition == 0))
    return moves


def after_play(before: Position, play: str, variant: str = "backgammon") -> Position:
    """The position after a play; asserts that each checker is there and that ``*`` marks exactly the hits."""
    board = text(before, variant)
    closing = 1 if variant == "longgammon" else 2  # opposing checkers that close a point
    mine, theirs = list(before[0]), list(before[1])
    for point, target, marked in [] if play == "pass" else moves_of(play):
        there = opposite(target, variant)
        assert mine[point] > 0, f"{play}: nothing on {_place(point)} in {board}"
        assert target == OFF or theirs[there] < closing, f"{play}: {target} is closed in {board}"
        hit = target != OFF and theirs[there] == 1
        assert hit == marked, f"{play}: hit on {_place(target)}: {hit}, marked: {marked}, in {board}"
        mine[point] -= 1
        mine[target] += 1
        if hit:
            theirs[there] -= 1
            theirs[BAR] += 1
    return tuple(mine), tuple(theirs)


def difference(
    before: Position,
    dice: Sequence[int],
    found: Collection[Position],
    wanted: Collection[Position],
    variant: str = "backgammon",
) -> str:
    """A failure message: the board, the roll, what is missing and what should not be there; empty if all is well."""
    missing, extra = set(wanted) - set(found), set(found) - set(wanted)
    repeated = {end for end, times in Counter(found).items() if times > 1}
    if not (missing or extra or repeated):
        return ""
    lines = [f"{text(before, variant)}, dice {dice[0]}-{dice[1]}: found {len(found)} ends, wanted {len(wanted)}"]
    for name, ends in (("missing", missing), ("not legal", extra), ("repeated", repeated)):
        lines += [f"  {name}: {text(end, variant)}" for end in sorted(ends)]
    return "\n".join(lines)
