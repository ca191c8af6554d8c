"""The detailed cells, with rolls that hit and rolls that escape counted roll by roll and move by move: for tests.

A side is its 26 cells; ``closed`` and ``blots`` are sets of points 1 to 24 in that side's own numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

ROLLS = [(a, b) for a in range(1, 7) for b in range(1, 7)]


def details(side: list[int], other: list[int], meeting: bool, opposite: Callable[[int], int]) -> dict[str, int]:
    """The seven detailed cells of ``side``, by their names in ``bundle.json`` and in their order."""
    closed, blots = closed_and_blots(other, meeting, opposite)
    rear, other_rear = (max((point for point in range(1, 26) if cells[point]), default=0) for cells in (side, other))
    to_pass = range(26 - other_rear, 26) if meeting else range(13, 25)
    return {
        "checkers to pass": sum(side[point] for point in to_pass),
        "checkers at home": sum(side[1:7]),
        "checkers deep at home": sum(side[1:4]),
        "pips": min(sum(point * side[point] for point in range(1, 26)) // 8, 15),
        "rolls hitting": -(-hitting(side, closed, blots) // 3),
        "rolls escaping": -(-escaping(rear, closed) // 3),
        "rolls escaping next": -(-escaping(following(side), closed) // 3),
    }


def closed_and_blots(other: list[int], meeting: bool, opposite: Callable[[int], int]) -> tuple[set[int], set[int]]:
    least = 2 if meeting else 1
    closed = {opposite(point) for point in range(1, 25) if other[point] >= least}
    return closed, {opposite(point) for point in range(1, 25) if other[point] == 1} if meeting else set()


def hitting(side: list[int], closed: set[int], blots: set[int]) -> int:
    return sum(_hits(side, dice, closed, blots) for dice in ROLLS)


def escaping(point: int, closed: set[int]) -> int:
    ahead = [distance for distance in range(1, 8) if point - distance in closed]
    if not point or not ahead:
        return 36
    return sum(any(point - place > max(ahead) for place in _stops(point, dice, closed)) for dice in ROLLS)


def following(side: list[int]) -> int:
    """Where the second checker from the rear stands, 0 without one."""
    stands = [point for point in range(1, 26) for _ in range(side[point])]
    return stands[-2] if len(stands) > 1 else 0


def _orders(dice: tuple[int, int]) -> list[list[int]]:
    return [[dice[0]] * 4] if dice[0] == dice[1] else [list(dice), list(dice)[::-1]]


def _stops(point: int, dice: tuple[int, int], closed: set[int]) -> Iterator[int]:
    """Every place that one checker can come to, moving alone."""
    for order in _orders(dice):
        at = point
        for die in order:
            at -= die
            if at in closed:
                break
            yield at


def _hits(side: list[int], dice: tuple[int, int], closed: set[int], blots: set[int]) -> bool:
    for order in _orders(dice):
        left, entered = list(order), set()
        for _ in range(side[25]):
            if not left or 25 - left[0] in closed:
                left = []
                break
            entered.add(25 - left.pop(0))
        if entered & blots:
            return True
        movers = {point for point in range(1, 25) if side[point]} | entered
        for start in movers:
            at = start
            # without a checker on the bar either die may be the only one played, and both orders are tried
            for die in left:
                at -= die
                if at < 1 or at in closed:
                    break
                if at in blots:
                    return True
    return False
