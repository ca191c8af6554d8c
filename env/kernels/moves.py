"""Kernels for single checkers: which moves a whole legal turn can go on with, and making one.

A move is offered where some way of finishing the turn from it uses as many dice as any way can (rules.md 1.5 rule 1),
and, if only one of two different dice can be used, the larger where it can (rule 2). What one die may do is defined in
`kernels.rules` alone.
"""

from __future__ import annotations

import warp as wp

from .plays import MASKS, _finished, _move_checker, _no_higher_than, _standing
from .rules import ONE, PACKED_BOARD, clear_if_last, highest, land, occupied_points, open_points, sources

__all__ = ["list_moves", "make_moves"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.func
def _offer(mask: wp.array2d(dtype=wp.bool), row: int, die: int, points: wp.uint32):
    """Mark the moves with ``die`` from every point of ``points``."""
    rest = wp.uint32(points)
    while rest != wp.uint32(0):
        point = highest(rest)
        rest = rest & (~(ONE << wp.uint32(point)))
        mask[row, (die - 1) * 25 + point - 1] = True


@wp.func
def _firsts_of_two(
    boards: wp.array2d(dtype=wp.int8), row: int, start: wp.uint32, landing: wp.uint32, die: int, other: int
) -> wp.uint32:
    """Points from which a move with ``die`` leaves a move with ``other``."""
    found = wp.uint32(0)
    firsts = sources(start, landing, die)
    while firsts != wp.uint32(0):
        first = highest(firsts)
        firsts = firsts & (~(ONE << wp.uint32(first)))
        after = land(clear_if_last(start, first, int(boards[row, first])), first - die)
        if sources(after, landing, other) != wp.uint32(0):
            found = found | (ONE << wp.uint32(first))
    return found


@wp.func
def _longest(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    die: int,
    first: int,
    num_dice: int,
) -> int:
    """How many of ``num_dice`` equal dice can be used at most if the checker on ``first`` moves first.

    A depth-first search. The moves after the first are tried rearmost first only, which misses no number (see
    `kernels.plays`).
    """
    longest = int(1)
    moved = wp.vec4i(first, 0, 0, 0)
    occupied = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    untried = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    occupied[1] = land(clear_if_last(start, first, int(boards[row, first])), first - die)
    untried[1] = sources(occupied[1], landing, die)
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
                untried[level + 1] = _no_higher_than(sources(after, landing, die), point)
                level += 1
    return longest


@wp.func
def _offer_equal(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    die: int,
    num_dice: int,
    mask: wp.array2d(dtype=wp.bool),
):
    """Mark the moves that begin a longest series of ``num_dice`` equal dice."""
    longest = int(0)
    points = wp.uint32(0)
    firsts = sources(start, landing, die)
    while firsts != wp.uint32(0):
        first = highest(firsts)
        firsts = firsts & (~(ONE << wp.uint32(first)))
        length = _longest(boards, row, start, landing, die, first, num_dice)
        if length > longest:
            longest = wp.int32(length)
            points = wp.uint32(0)
        if length == longest:
            points = points | (ONE << wp.uint32(first))
    _offer(mask, row, die, points)


@wp.func
def _offer_two(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    larger: int,
    smaller: int,
    mask: wp.array2d(dtype=wp.bool),
):
    """Mark the moves with two different dice left."""
    with_larger = _firsts_of_two(boards, row, start, landing, larger, smaller)
    with_smaller = _firsts_of_two(boards, row, start, landing, smaller, larger)
    if with_larger == wp.uint32(0) and with_smaller == wp.uint32(0):  # at most one die can be played
        with_larger = sources(start, landing, larger)
        if with_larger == wp.uint32(0):
            with_smaller = sources(start, landing, smaller)
    _offer(mask, row, larger, with_larger)
    _offer(mask, row, smaller, with_smaller)


@wp.kernel
def list_moves(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    dice_left: wp.array2d(dtype=wp.int8),
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
            landing = open_points(boards, row)
            if larger == smaller:
                _offer_equal(boards, row, start, landing, larger, num_dice, mask)
            else:
                _offer_two(boards, row, start, landing, larger, smaller, mask)


@wp.kernel
def make_moves(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    dice: wp.array(dtype=wp.int8),
    points: wp.array(dtype=wp.int8),
    results: wp.array2d(dtype=wp.int8),
    packed_results: wp.array(dtype=PACKED_BOARD),
):
    """Copy each board and move one checker of side 0 on the copy, hitting a blot; a die of 0 moves nothing."""
    row = first + wp.tid()
    packed_results[row] = packed[row]
    if dice[row] > wp.int8(0):
        _move_checker(results, row, int(points[row]), int(dice[row]))
