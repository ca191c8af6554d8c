"""Single moves as (from, to) pairs on plain numbers, without asking the rules: made, and matched with dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .errors import NotationError
from .moves import Hop
from .state import BAR, OFF, Position, rules_of

__all__ = ["apply_hops", "one_die_each"]


def apply_hops(board: Position, hops: Sequence[Hop], variant: str = "backgammon") -> tuple[Position, set[int]]:
    """The board after single moves in any order, the mover still side 0, and the points hit.

    Only what makes no sense at all is refused; whether the whole play is legal is not asked.
    """
    rules = rules_of(variant)
    mine, theirs = list(board[0]), list(board[1])
    hits = set()
    for source, target in hops:
        if not OFF <= target < source <= BAR:
            raise NotationError(f"move: found {source}/{target}, wanted points that go down from 25 to 0")
        mine[source] -= 1
        mine[target] += 1
        there = board[1][rules.opposite(target)] if target != OFF else 0
        if there > (0 if rules.blocking else 1):
            raise NotationError(f"move: found {source}/{target}, but point {target} is held by the opponent")
        if there:
            hits.add(target)
    if min(mine) < 0:
        raise NotationError(f"move: found no checker on {mine.index(min(mine))} to move, wanted one")
    for point in hits:
        theirs[rules.opposite(point)] -= 1
        theirs[BAR] += 1
    return (tuple(mine), tuple(theirs)), hits


def one_die_each(hops: Sequence[Hop], dice: tuple[int, int]) -> bool:
    """Can each move be made with a die of its own?"""
    left = Counter(dice if dice[0] != dice[1] else dice * 2)
    over = []
    for source, target in hops:
        if left[source - target] > 0:
            left[source - target] -= 1
        elif target == OFF:
            over.append(source)
        else:
            return False
    remaining = sorted(left.elements(), reverse=True)
    return len(over) <= len(remaining) and all(
        die >= source for source, die in zip(sorted(over, reverse=True), remaining, strict=False)
    )
