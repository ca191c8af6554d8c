"""The disciplines as data: what sets one apart from another, and nothing else.

A position is written as pairs (point, number of checkers), each side in its own numbering.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VARIANTS", "Variant", "get_variant"]


@dataclass(frozen=True)
class Variant:
    """One discipline of the International Backgammon Federation (rules.md 1.1, 3, 4).

    Attributes:
        name: what it is called everywhere.
        start: the opening position of either side as (point, checkers) pairs, each side in its own numbering: 1 is
            the ace point, 24 the farthest.
        max_level: the highest level of a win: 3 where a backgammon counts.
        blocking: False: two opposing checkers close a point, a single one is hit and starts again from the bar. True:
            a single one closes it, and nobody may hold six points in a row in front of all the other's checkers (4.3);
            nothing is hit, there is no bar, and both sides travel the same way round, so that the mover's point p is
            the opponent's p + 12 or p - 12 and not his 25 - p.
        head: how many checkers may leave point 24 in one turn, None for any number.
        first_head: the same for the second player's first roll, if that is one of ``first_head_doubles``.
        first_head_doubles: the numbers of those doubles.
    """

    name: str
    start: tuple[tuple[int, int], ...]
    max_level: int = 3
    blocking: bool = False
    head: int | None = None
    first_head: int = 0
    first_head_doubles: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.blocking != (self.head is not None):
            raise ValueError(f"{self.name}: found a head rule or blocking alone, wanted both or none of them")

    @property
    def num_checkers(self) -> int:
        """Checkers a side."""
        return sum(count for _, count in self.start)

    def opposite(self, point: int) -> int:
        """The other side's number of ``point``, 1 to 24. Its own inverse."""
        return (point + 11) % 24 + 1 if self.blocking else 25 - point


VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("backgammon", start=((24, 2), (13, 5), (8, 3), (6, 5))),
        Variant("sprintgammon", start=((24, 1), (23, 1), (22, 1))),
        Variant(
            "longgammon",
            start=((24, 15),),
            max_level=2,
            blocking=True,
            head=1,
            first_head=2,
            first_head_doubles=(3, 4, 6),
        ),
    )
}


def get_variant(name: str) -> Variant:
    """Return the variant of that name; ``ValueError`` names those that exist."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise ValueError(f"variant: found {name!r}, wanted one of {', '.join(VARIANTS)}") from None
