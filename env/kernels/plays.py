"""The kernel that lists every distinct afterstate of a turn.

How repetitions are avoided. For a double the checkers are moved in descending order of their points; every result
is met exactly once that way, since the number of moves from each point follows from the result, and moving the
rearmost first never makes a move illegal. For two different dice the same result can come from either order, or
from one checker running and two checkers following each other; `_two_dice` decides from the position alone which of
the equal ones is listed. Once at most one checker is outside the home board, bearing off adds further coincidences,
and the results are compared instead.
"""

from __future__ import annotations

import warp as wp

from .rules import (
    ONE,
    PACKED_BOARD,
    clear_if_last,
    highest,
    land,
    occupied_points,
    open_points,
    sources,
)

__all__ = ["list_plays"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

# One outside checker and six home points: at most 7 first moves, 7 second ones, in either order of the dice.
MAX_KEYS = wp.constant(128)
MASKS = wp.types.vector(length=4, dtype=wp.uint32)


@wp.func
def _move_checker(afterstates: wp.array2d(dtype=wp.int8), row: int, point: int, die: int):
    """Move one checker of side 0 in place, hitting a blot where it lands."""
    afterstates[row, point] = afterstates[row, point] - wp.int8(1)
    target = wp.max(point - die, 0)
    afterstates[row, target] = afterstates[row, target] + wp.int8(1)
    if target > 0:
        theirs = int(51) - target  # their point 25 - target, behind the 26 cells of side 0
        if afterstates[row, theirs] == wp.int8(1):
            afterstates[row, theirs] = wp.int8(0)
            afterstates[row, 51] = afterstates[row, 51] + wp.int8(1)


@wp.func
def _write(
    packed: wp.array(dtype=PACKED_BOARD),
    game: int,
    row: int,
    num_moves: int,
    points: wp.vec4i,
    dice: wp.vec4i,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
):
    packed_afterstates[row] = packed[game]
    games[row] = wp.int64(game)
    if num_moves > 0:
        _move_checker(afterstates, row, points[0], dice[0])
    if num_moves > 1:
        _move_checker(afterstates, row, points[1], dice[1])
    if num_moves > 2:
        _move_checker(afterstates, row, points[2], dice[2])
    if num_moves > 3:
        _move_checker(afterstates, row, points[3], dice[3])


@wp.func
def _is_blot(boards: wp.array2d(dtype=wp.int8), game: int, point: int) -> bool:
    """Does the opponent have exactly one checker on the mover's ``point`` (1 to 24)?"""
    return boards[game, 51 - point] == wp.int8(1)


@wp.func
def _finished(boards: wp.array2d(dtype=wp.int8), game: int) -> bool:
    """Has either side borne off everything?"""
    mine = int(0)
    theirs = int(0)
    for point in range(1, 26):
        mine += int(boards[game, point])
        theirs += int(boards[game, 26 + point])
    return mine == 0 or theirs == 0


@wp.func
def _key_change(point: int, die: int) -> wp.int64:
    """What moving a checker adds to the key of the home board: 4 bits a home point, then the outside checker's."""
    change = wp.int64(0)
    if point > 6:
        change -= wp.int64(point) << wp.int64(24)
    else:
        change -= wp.int64(1) << wp.int64(4 * (point - 1))
    target = point - die
    if target > 6:
        change += wp.int64(target) << wp.int64(24)
    elif target > 0:
        change += wp.int64(1) << wp.int64(4 * (target - 1))
    return change


@wp.func
def _hit_bit(boards: wp.array2d(dtype=wp.int8), game: int, target: int) -> wp.int64:
    """The key's bit, 30 or higher, for a blot hit on ``target``; 0 if there is none."""
    bit = wp.int64(0)
    if target > 0:
        if _is_blot(boards, game, target):
            bit = wp.int64(1) << wp.int64(29 + target)
    return bit


@wp.func
def _two_dice(
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    game: int,
    start: wp.uint32,
    landing: wp.uint32,
    larger: int,
    smaller: int,
    fill: bool,
    first_row: int,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
) -> int:
    """List the plays of two different dice; the number of distinct results."""
    count = int(0)
    outside = int(0)
    for point in range(7, 26):
        outside += int(boards[game, point])
    compare = outside <= 1
    keys = wp.zeros(shape=(MAX_KEYS,), dtype=wp.int64)
    bar_checkers = int(boards[game, 25])
    with_larger = sources(start, landing, larger)

    for order in range(2):
        die = wp.int32(larger)
        other = wp.int32(smaller)
        if order == 1:
            die = wp.int32(smaller)
            other = wp.int32(larger)
        firsts = sources(start, landing, die)
        while firsts != wp.uint32(0):
            first = highest(firsts)
            firsts = firsts & (~(ONE << wp.uint32(first)))
            middle = first - die
            occupied = land(clear_if_last(start, first, int(boards[game, first])), middle)
            seconds = sources(occupied, landing, other)
            while seconds != wp.uint32(0):
                second = highest(seconds)
                seconds = seconds & (~(ONE << wp.uint32(second)))
                new = bool(True)
                if compare:
                    # The difference is negative where the outside checker moves; only its 30 bits may stay.
                    key = (_key_change(first, die) + _key_change(second, other)) & wp.int64(0x3FFFFFFF)
                    key = key | _hit_bit(boards, game, middle) | _hit_bit(boards, game, second - other)
                    for earlier in range(count):
                        if keys[earlier] == key:
                            new = bool(False)
                    if new:
                        keys[count] = key
                elif second - other == first:
                    # Two checkers follow each other. One checker running second -> first -> middle gives the same
                    # result, hits no more on its way (it stops on an own checker), and is listed in the other order.
                    new = bool(False)
                elif order == 1:
                    if second == middle:
                        # One checker runs, the smaller die first: equal to the larger first unless that is closed
                        # or one of the two ways hits.
                        closed = (with_larger & (ONE << wp.uint32(first))) == wp.uint32(0)
                        new = (
                            closed or _is_blot(boards, game, first - larger) or _is_blot(boards, game, first - smaller)
                        )
                    else:
                        # Two checkers, one die each: listed with the larger die first, unless the only checker
                        # on the bar had to enter with the smaller one.
                        new = bar_checkers == 1
                if new:
                    if fill:
                        _write(
                            packed,
                            game,
                            first_row + count,
                            2,
                            wp.vec4i(first, second, 0, 0),
                            wp.vec4i(die, other, 0, 0),
                            games,
                            afterstates,
                            packed_afterstates,
                        )
                    count += 1

    if count == 0:  # at most one die can be played: the larger if possible (1.5 rule 2)
        die = wp.int32(larger)
        singles = wp.uint32(with_larger)
        if singles == wp.uint32(0):
            die = wp.int32(smaller)
            singles = sources(start, landing, smaller)
        while singles != wp.uint32(0):
            point = highest(singles)
            singles = singles & (~(ONE << wp.uint32(point)))
            if fill:
                _write(
                    packed,
                    game,
                    first_row + count,
                    1,
                    wp.vec4i(point, 0, 0, 0),
                    wp.vec4i(die, 0, 0, 0),
                    games,
                    afterstates,
                    packed_afterstates,
                )
            count += 1
    return count


@wp.func
def _standing(
    boards: wp.array2d(dtype=wp.int8), game: int, point: int, die: int, num_moves: int, moved: wp.vec4i
) -> int:
    """Checkers of the mover on ``point`` after the first ``num_moves`` of the moves from ``moved`` with ``die``."""
    count = int(boards[game, point])
    for i in range(4):
        if i < num_moves:
            if moved[i] == point:
                count -= 1
            elif moved[i] - die == point:
                count += 1
    return count


@wp.func
def _no_higher_than(mask: wp.uint32, point: int) -> wp.uint32:
    return mask & ((wp.uint32(2) << wp.uint32(point)) - ONE)


@wp.func
def _double(
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    game: int,
    start: wp.uint32,
    landing: wp.uint32,
    die: int,
    num_moves: int,
    fill: bool,
    first_row: int,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
) -> int:
    """List the ways to move exactly ``num_moves`` checkers with one die, rearmost first; their number.

    A depth-first search; level = moves made so far. Each level keeps the points it has not tried yet.
    """
    count = int(0)
    dice = wp.vec4i(die, die, die, die)
    moved = wp.vec4i(0, 0, 0, 0)
    untried = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    occupied = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    occupied[0] = start
    untried[0] = sources(start, landing, die)
    level = int(0)
    while level >= 0:
        if untried[level] == wp.uint32(0):
            level -= 1
        else:
            point = highest(untried[level])
            untried[level] = untried[level] & (~(ONE << wp.uint32(point)))
            moved[level] = point
            if level == num_moves - 1:
                if fill:
                    _write(
                        packed, game, first_row + count, num_moves, moved, dice, games, afterstates, packed_afterstates
                    )
                count += 1
            else:
                standing = _standing(boards, game, point, die, level, moved)
                after = land(clear_if_last(occupied[level], point, standing), point - die)
                occupied[level + 1] = after
                untried[level + 1] = _no_higher_than(sources(after, landing, die), point)
                level += 1
    return count


@wp.kernel
def list_plays(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    dice: wp.array2d(dtype=wp.int8),
    counts: wp.array(dtype=wp.int32),
    num_moves: wp.array(dtype=wp.int8),
    fill: bool,
    ends: wp.array(dtype=wp.int64),
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
):
    """Count (``fill`` false) or write the afterstates of one game. A double's number of moves is found once."""
    game = first + wp.tid()
    first_row = int(0)
    if fill:
        if int(ends[game]) > afterstates.shape[0]:
            return  # a buffer of fixed size is full
        first_row = int(ends[game]) - counts[game]
    larger = wp.max(int(dice[game, 0]), int(dice[game, 1]))
    smaller = wp.min(int(dice[game, 0]), int(dice[game, 1]))
    count = int(0)
    if not _finished(boards, game):
        start = occupied_points(boards, game, 0)
        landing = open_points(boards, game)
        if larger != smaller:
            count = _two_dice(
                boards,
                packed,
                game,
                start,
                landing,
                larger,
                smaller,
                fill,
                first_row,
                games,
                afterstates,
                packed_afterstates,
            )
        else:
            depth = int(4)
            if fill:
                depth = int(num_moves[game])
            while count == 0 and depth > 0:
                count = _double(
                    boards,
                    packed,
                    game,
                    start,
                    landing,
                    larger,
                    depth,
                    fill,
                    first_row,
                    games,
                    afterstates,
                    packed_afterstates,
                )
                if count == 0:
                    depth -= 1
            if not fill:
                num_moves[game] = wp.int8(depth)
    if count == 0:  # a pass, or the game is over: the board stays
        count = int(1)
        if fill:
            packed_afterstates[first_row] = packed[game]
            games[first_row] = wp.int64(game)
    if not fill:
        counts[game] = count
