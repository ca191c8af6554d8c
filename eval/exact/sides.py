"""The ways one side's checkers can stand, numbered, for a discipline with one to three checkers a side.

A side of n checkers on 24 points, bar and off stands in one of ``(25 + n choose n)`` ways: 26, 351 or 3,276. They are
numbered by pip count and, where that is equal, by their places, lowest first; so number 0 has everything off, and
positions that a few moves separate have numbers close together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from ...env.variants import Variant

__all__ = ["MAX_CHECKERS", "Sides", "list_sides"]

MAX_CHECKERS = 3
_BAR = 25


@dataclass(frozen=True)
class Sides:
    """All S sides of one discipline, on one device.

    Attributes:
        counts: ``[S, 26]`` int8, the checkers as in half a board.
        by_key: ``[26^n]`` int16, the number of the side whose places, lowest first, are the digits of the key to the
            base 26; -1 for keys of no side.
        pips: ``[S]`` int64.
        blots: ``[S, 3]`` int8, the points with a single checker in its own numbers, highest first, 0 for none.
        after_hits: ``[S, 8]`` int16, the side's number after the blots of a bit mask have been hit.
        losses: ``[S]`` int64, the level that such a side loses when the other has finished (rules.md 1.7).
    """

    counts: Tensor
    by_key: Tensor
    pips: Tensor
    blots: Tensor
    after_hits: Tensor
    losses: Tensor

    def __len__(self) -> int:
        return len(self.counts)

    def to(self, device: torch.device | str) -> Sides:
        """The same on another device."""
        return Sides(**{name: tensor.to(device) for name, tensor in vars(self).items()})


def _key(places: tuple[int, ...]) -> int:
    key = 0
    for place in sorted(places):
        key = key * 26 + place
    return key


def _after_hits(places: tuple[int, ...], blots: list[int], mask: int) -> tuple[int, ...]:
    hit = [point for bit, point in enumerate(blots) if mask >> bit & 1]
    return tuple(sorted(_BAR if place in hit else place for place in places))


def list_sides(rules: Variant) -> Sides:
    """The sides of a discipline with hits; ``ValueError`` if it has none or too many checkers."""
    number = rules.num_checkers
    if rules.blocking or not 1 <= number <= MAX_CHECKERS:
        raise ValueError(
            f"exact: {rules.name}: found {number} checkers a side, wanted a discipline with hits and at most "
            f"{MAX_CHECKERS}: others have too many positions"
        )
    places = sorted(combinations_with_replacement(range(26), number), key=lambda side: (sum(side), side))
    counts = torch.zeros((len(places), 26), dtype=torch.int8)
    by_key = torch.full((26**number,), -1, dtype=torch.int16)
    blots = torch.zeros((len(places), 3), dtype=torch.int8)
    after_hits = torch.empty((len(places), 8), dtype=torch.int16)
    for index, side in enumerate(places):
        for place in side:
            counts[index, place] += 1
        by_key[_key(side)] = index
    for index, side in enumerate(places):
        single = [place for place in range(24, 0, -1) if side.count(place) == 1]
        blots[index, : len(single)] = torch.tensor(single, dtype=torch.int8)
        for mask in range(8):
            after_hits[index, mask] = by_key[_key(_after_hits(side, single, mask))]
    in_winners_home = counts[:, 19:26].sum(1) > 0
    losses = torch.where(counts[:, 0] > 0, 1, torch.where(in_winners_home, min(3, rules.max_level), 2))
    pips = torch.tensor([sum(side) for side in places])
    return Sides(counts, by_key, pips, blots, after_hits, losses)
