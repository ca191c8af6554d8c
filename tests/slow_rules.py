"""The rules of a turn written out plainly, slowly and apart from the engine: rules.md 1.4 to 1.7 and 4 line by line.

Nothing here is clever: every sequence of single moves is made, one checker at a time, on tuples. A discipline is a
function that lists the positions one die leads to; `ends_of_turn` turns it into the legal turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from .positions import BAR, OFF, Position, opposite

# (position at the start of the turn, position now, die) -> the positions after one single move with that die
SingleMoves = Callable[[Position, Position, int], Iterator[Position]]


def is_over(now: Position) -> bool:
    """1.7: has a side all its checkers off?"""
    return any(sum(side) == side[OFF] for side in now)


def level_of_loss(loser: Sequence[int], variant: str = "backgammon") -> int:
    """1.7, 4.4: what a side with these checkers loses, in units of the cube."""
    if loser[OFF] > 0:
        return 1
    if variant == "longgammon":
        return 2
    in_winners_home = sum(loser[point] for point in range(19, 25))
    return 3 if loser[BAR] > 0 or in_winners_home > 0 else 2


def _may_bear_off(mine: Sequence[int], point: int, die: int) -> bool:
    """1.6: may the checker on ``point`` be borne off with ``die``?"""
    if any(mine[outside] for outside in range(7, 26)):
        return False
    if point == die:
        return True
    return point < die and not any(mine[higher] for higher in range(point + 1, 7))


def _moved(now: Position, point: int, target: int) -> Position:
    mine, theirs = list(now[0]), list(now[1])
    mine[point] -= 1
    mine[target] += 1
    if target != OFF and theirs[opposite(target)] == 1:
        theirs[opposite(target)] = 0
        theirs[BAR] += 1
    return tuple(mine), tuple(theirs)


def backgammon(turn_start: Position, now: Position, die: int) -> Iterator[Position]:
    """1.4 for backgammon and sprintgammon; nothing depends on how the turn began."""
    del turn_start
    mine, theirs = now
    for point in [BAR] if mine[BAR] else range(24, 0, -1):
        if mine[point] == 0:
            continue
        target = point - die
        if target >= 1:
            if theirs[opposite(target)] < 2:
                yield _moved(now, point, target)
        elif _may_bear_off(mine, point, die):
            yield _moved(now, point, OFF)


def forbidden_run(now: Position) -> bool:
    """4.3: does side 0 hold six or more points in a row in front of all the opponent's checkers?"""
    mine, theirs = now
    held = [mine[opposite(point, "longgammon")] > 0 for point in range(1, 25)]  # along the opponent's route, 1 first
    point = 1
    while point <= 24:
        length = 0
        while point + length <= 24 and held[point + length - 1]:
            length += 1
        ahead = theirs[OFF] + sum(theirs[lower] for lower in range(1, point))
        if length >= 6 and ahead == 0:
            return True
        point += length + 1
    return False


def longgammon(turn_start: Position, now: Position, die: int, from_head: int = 1) -> Iterator[Position]:
    """4.3 and 4.4; ``from_head`` checkers may leave the head in this turn."""
    mine, theirs = now
    for point in range(24, 0, -1):
        if mine[point] == 0:
            continue
        if point == 24 and turn_start[0][24] - mine[24] >= from_head:
            continue
        target = point - die
        if target >= 1:
            if theirs[opposite(target, "longgammon")] > 0:
                continue
        elif _may_bear_off(mine, point, die):
            target = OFF
        else:
            continue
        side = list(mine)
        side[point] -= 1
        side[target] += 1
        after = tuple(side), theirs
        if not forbidden_run(after):
            yield after


DISCIPLINES: dict[str, SingleMoves] = {
    "backgammon": backgammon,
    "sprintgammon": backgammon,
    "longgammon": longgammon,
}


def discipline(variant: str, dice: Sequence[int], second_first: bool = False) -> SingleMoves:
    """The single moves of a turn with this roll; ``second_first``: it is the second player's first of the game."""
    if variant == "longgammon" and second_first and tuple(dice) in {(3, 3), (4, 4), (6, 6)}:
        return partial(longgammon, from_head=2)
    return DISCIPLINES[variant]


def _without(dice: tuple[int, ...], die: int) -> tuple[int, ...]:
    left = list(dice)
    left.remove(die)
    return tuple(left)


def ends_of_turn(
    turn_start: Position, dice: Sequence[int], single_moves: SingleMoves = backgammon
) -> tuple[int, set[Position]]:
    """1.5: the greatest number of dice that can be used, and the distinct final positions of the legal turns.

    All sequences are followed one die at a time; those that have come to the same position with the same dice left
    go on together.
    """
    first, second = dice
    all_dice: tuple[int, ...] = (first,) * 4 if first == second else (first, second)
    reached = {(turn_start, all_dice)}  # after the same number of moves: position, dice left
    used = 0
    while True:
        further = {
            (after, _without(left, die))
            for now, left in reached
            if not is_over(now)
            for die in set(left)
            for after in single_moves(turn_start, now, die)
        }
        if not further:
            break
        reached = further
        used += 1
    if used == 1 and first != second:
        smaller_left = {(end, left) for end, left in reached if min(dice) in left}  # the larger was used
        reached = smaller_left or reached
    return used, {end for end, _ in reached}
