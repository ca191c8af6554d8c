"""The rules of moving that longgammon adds or changes (rules.md 4.3), as Warp functions over bit masks.

The masks are those of `kernels.rules`, and `sources` there is the rule of bearing off here too: the bar is always
empty. Nothing the opponent has moves during a turn, so what his checkers close and allow is found once a turn.
"""

from __future__ import annotations

import warp as wp

from .plays import _standing
from .rules import ONE, clear_if_last, highest, land, lowest, occupied_points, sources

__all__ = ["HEAD_BIT", "across", "is_forbidden", "long_sources", "uncontested_points", "unpassed_points"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

HEAD = wp.constant(24)
HEAD_BIT = wp.constant(wp.uint32(1 << 24))
LOWER_HALF = wp.constant(wp.uint32(0x1FFE))  # points 1 to 12
ALL_POINTS = wp.constant(wp.uint32(0x01FFFFFE))  # points 1 to 24


@wp.func
def across(points: wp.uint32) -> wp.uint32:
    """Points 1 to 24 in the other side's numbering: the halves exchanged (4.1). Its own inverse."""
    return ((points & LOWER_HALF) << wp.uint32(12)) | ((points >> wp.uint32(12)) & LOWER_HALF)


@wp.func
def uncontested_points(boards: wp.array2d(dtype=wp.int8), row: int) -> wp.uint32:
    """Points (mover's numbering) where side 0 may land: the opponent has no checker there (4.3)."""
    return across(~occupied_points(boards, row, 1)) & ALL_POINTS


@wp.func
def unpassed_points(boards: wp.array2d(dtype=wp.int8), row: int) -> wp.uint32:
    """Points of the opponent's route, in his numbering, that none of his checkers has reached or passed."""
    mask = wp.uint32(0)
    if boards[row, 26] == wp.int8(0):
        mask = (ONE << wp.uint32(lowest(occupied_points(boards, row, 1)))) - ONE
    return mask


@wp.func
def is_forbidden(occupied: wp.uint32, unpassed: wp.uint32) -> bool:
    """Does the mover hold a run of six or more that no opposing checker is ahead of (4.3)?

    That is six in a row the lowest of which is ``unpassed``: no checker of the opponent is inside a run, so what has
    passed one of its points has passed it whole.
    """
    seen = across(occupied)  # runs are those of the opponent's route, which does not go on from its 1 to its 24
    two = seen & (seen >> wp.uint32(1))
    four = two & (two >> wp.uint32(2))
    return (four & (two >> wp.uint32(4)) & unpassed) != wp.uint32(0)


@wp.func
def long_sources(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    occupied: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    heads: int,
    num_made: int,
    made: wp.vec4i,
    made_with: int,
) -> wp.uint32:
    """Points from which a checker may be moved with ``die`` now: 4.3 and 4.4, heads and runs included.

    ``occupied`` is the position after the ``num_made`` moves from ``made`` with dice of ``made_with``; ``heads`` is how
    many checkers might leave the head when these moves began.
    """
    candidates = sources(occupied, landing, die)
    heads_left = wp.int32(heads)
    for i in range(4):
        if i < num_made:
            if made[i] == HEAD:
                heads_left -= 1
    if heads_left <= 0:
        candidates = candidates & (~HEAD_BIT)
    mask = wp.uint32(candidates)
    if is_forbidden(occupied | (candidates >> wp.uint32(die)), unpassed):  # otherwise no move meets a forbidden run
        mask = wp.uint32(0)
        while candidates != wp.uint32(0):
            point = highest(candidates)
            candidates = candidates & (~(ONE << wp.uint32(point)))
            standing = _standing(boards, row, point, made_with, num_made, made)
            after = land(clear_if_last(occupied, point, standing), point - die)
            if not is_forbidden(after, unpassed):
                mask = mask | (ONE << wp.uint32(point))
    return mask
