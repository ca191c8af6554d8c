"""Kernels for single checkers of longgammon: which moves a whole legal turn can go on with, and making one.

As `kernels.moves`, with the moves of `kernels.long_rules`. Whether a run is forbidden depends on the order of the
moves, so every order is followed.
"""

from __future__ import annotations

import warp as wp

from .long_rules import long_sources, uncontested_points, unpassed_points
from .moves import _offer
from .plays import MASKS, _finished, _standing
from .rules import ONE, PACKED_BOARD, clear_if_last, highest, land, occupied_points

__all__ = ["list_long_moves", "make_long_moves"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.func
def _long_firsts_of_two(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    other: int,
    heads: int,
) -> wp.uint32:
    """Points from which a move with ``die`` leaves a move with ``other``."""
    found = wp.uint32(0)
    firsts = long_sources(boards, row, start, landing, unpassed, die, heads, 0, wp.vec4i(0, 0, 0, 0), die)
    while firsts != wp.uint32(0):
        first = highest(firsts)
        firsts = firsts & (~(ONE << wp.uint32(first)))
        after = land(clear_if_last(start, first, int(boards[row, first])), first - die)
        made = wp.vec4i(first, 0, 0, 0)
        if long_sources(boards, row, after, landing, unpassed, other, heads, 1, made, die) != wp.uint32(0):
            found = found | (ONE << wp.uint32(first))
    return found


@wp.func
def _long_longest(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    heads: int,
    first: int,
    num_dice: int,
) -> int:
    """How many of ``num_dice`` equal dice can be used at most if the checker on ``first`` moves first.

    A depth-first search over all orders, ended by the first series that uses every die.
    """
    longest = int(1)
    moved = wp.vec4i(first, 0, 0, 0)
    occupied = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    untried = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    after_first = land(clear_if_last(start, first, int(boards[row, first])), first - die)
    occupied[1] = after_first
    untried[1] = long_sources(boards, row, after_first, landing, unpassed, die, heads, 1, moved, die)
    level = int(1)  # moves made so far
    if num_dice == 1:
        level = int(0)
    while level > 0:
        if longest == num_dice or untried[level] == wp.uint32(0):
            level -= 1
        else:
            point = highest(untried[level])
            untried[level] = untried[level] & (~(ONE << wp.uint32(point)))
            longest = wp.max(longest, level + 1)
            if level + 1 < num_dice:
                standing = _standing(boards, row, point, die, level, moved)
                moved[level] = point
                after = land(clear_if_last(occupied[level], point, standing), point - die)
                occupied[level + 1] = after
                untried[level + 1] = long_sources(
                    boards, row, after, landing, unpassed, die, heads, level + 1, moved, die
                )
                level += 1
    return longest


@wp.func
def _long_offer_equal(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    num_dice: int,
    heads: int,
    mask: wp.array2d(dtype=wp.bool),
):
    """Mark the moves that begin a longest series of ``num_dice`` equal dice."""
    longest = int(0)
    points = wp.uint32(0)
    firsts = long_sources(boards, row, start, landing, unpassed, die, heads, 0, wp.vec4i(0, 0, 0, 0), die)
    while firsts != wp.uint32(0):
        first = highest(firsts)
        firsts = firsts & (~(ONE << wp.uint32(first)))
        length = _long_longest(boards, row, start, landing, unpassed, die, heads, first, num_dice)
        if length > longest:
            longest = wp.int32(length)
            points = wp.uint32(0)
        if length == longest:
            points = points | (ONE << wp.uint32(first))
    _offer(mask, row, die, points)


@wp.func
def _long_offer_two(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    larger: int,
    smaller: int,
    heads: int,
    mask: wp.array2d(dtype=wp.bool),
):
    """Mark the moves with two different dice left."""
    none = wp.vec4i(0, 0, 0, 0)
    with_larger = _long_firsts_of_two(boards, row, start, landing, unpassed, larger, smaller, heads)
    with_smaller = _long_firsts_of_two(boards, row, start, landing, unpassed, smaller, larger, heads)
    if with_larger == wp.uint32(0) and with_smaller == wp.uint32(0):  # at most one die can be played
        with_larger = long_sources(boards, row, start, landing, unpassed, larger, heads, 0, none, larger)
        if with_larger == wp.uint32(0):
            with_smaller = long_sources(boards, row, start, landing, unpassed, smaller, heads, 0, none, smaller)
    _offer(mask, row, larger, with_larger)
    _offer(mask, row, smaller, with_smaller)


@wp.kernel
def list_long_moves(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    dice_left: wp.array2d(dtype=wp.int8),
    heads_left: wp.array(dtype=wp.int8),
    mask: wp.array2d(dtype=wp.bool),
):
    """Mark in ``mask``, which must be all false, the moves that each game's side 0 may make with its dice left."""
    row = first + wp.tid()
    larger = int(0)
    smaller = int(7)
    num_dice = int(0)
    for i in range(4):
        die = int(dice_left[row, i])
        if die > 0:
            num_dice += 1
            larger = wp.max(larger, die)
            smaller = wp.min(smaller, die)
    if num_dice > 0:
        if not _finished(boards, row):
            start = occupied_points(boards, row, 0)
            landing = uncontested_points(boards, row)
            unpassed = unpassed_points(boards, row)
            heads = int(heads_left[row])
            if larger == smaller:
                _long_offer_equal(boards, row, start, landing, unpassed, larger, num_dice, heads, mask)
            else:
                _long_offer_two(boards, row, start, landing, unpassed, larger, smaller, heads, mask)


@wp.kernel
def make_long_moves(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    dice: wp.array(dtype=wp.int8),
    points: wp.array(dtype=wp.int8),
    results: wp.array2d(dtype=wp.int8),
    packed_results: wp.array(dtype=PACKED_BOARD),
):
    """Copy each board and move one checker of side 0 on the copy; a die of 0 moves nothing."""
    row = first + wp.tid()
    packed_results[row] = packed[row]
    if dice[row] > wp.int8(0):
        point = int(points[row])
        target = wp.max(point - int(dice[row]), 0)
        results[row, point] = results[row, point] - wp.int8(1)
        results[row, target] = results[row, target] + wp.int8(1)
