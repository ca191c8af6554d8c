"""The disciplines as data: what sets one apart from another, and nothing else.

A position is written as pairs (point, number of checkers), each side in its own numbering.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["VARIANTS", "Variant", "get_variant"]


@dataclass(frozen=True)
class Variant:
    """One discipline of the International Backgammon Federation (rules.md 1.1, 3).

    ``start`` holds the opening position of either side as (point, checkers) pairs, each side in its own
    numbering: 1 is the ace point, 24 the farthest. ``max_level`` is the highest level of a win:
    3 where a backgammon counts.
    """

    name: str
    start: tuple[tuple[int, int], ...]
    max_level: int = 3

    @property
    def num_checkers(self) -> int:
        """Checkers a side."""
        return sum(count for _, count in self.start)


VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("backgammon", start=((24, 2), (13, 5), (8, 3), (6, 5))),
        Variant("sprintgammon", start=((24, 1), (23, 1), (22, 1))),
    )
}


def get_variant(name: str) -> Variant:
    """Return the variant of that name; ``ValueError`` names those that exist."""
    try:
        return VARIANTS[name]
    except KeyError:
        raise ValueError(f"variant: found {name!r}, wanted one of {', '.join(VARIANTS)}") from None
