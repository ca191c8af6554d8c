"""The kernel that lists every distinct afterstate of a turn of longgammon.

How repetitions are avoided. For a double, the number of moves from each point follows from the result, so a result is
a set of points moved from (with repetitions). The sets are met in descending order, once each, as in `kernels.plays`;
that order never makes a move impossible, but it may pass through a forbidden run where another does not. So runs do
not stop the search: a full set that met one is listed if any other order of its moves meets none. For two different
dice every order is followed and the results are compared.
"""

from __future__ import annotations

import warp as wp

from .long_rules import HEAD, HEAD_BIT, is_forbidden, long_sources, uncontested_points, unpassed_points
from .plays import MASKS, _finished, _no_higher_than, _standing
from .rules import ONE, PACKED_BOARD, clear_if_last, highest, land, occupied_points, sources

__all__ = ["list_long_plays"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

# Results of two different dice at most. A result follows from where each die is used. Both from a point that was held
# before the turn: at most 15 x 15. Otherwise one die moves on the checker that the other has moved: at most 15 for
# either die. 255 in all.
MAX_RESULTS = wp.constant(256)


@wp.func
def _write_long(
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
    """Write the board of ``game`` with ``num_moves`` checkers moved to ``row``."""
    packed_afterstates[row] = packed[game]
    games[row] = wp.int64(game)
    for i in range(4):
        if i < num_moves:
            target = wp.max(points[i] - dice[i], 0)
            afterstates[row, points[i]] = afterstates[row, points[i]] - wp.int8(1)
            afterstates[row, target] = afterstates[row, target] + wp.int8(1)


@wp.func
def _some_order(
    boards: wp.array2d(dtype=wp.int8),
    row: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    num_moves: int,
    points: wp.vec4i,
) -> bool:
    """Can the moves from ``points`` be made in some order without a forbidden run after any of them?

    Heads are not counted: they are the same in every order.
    """
    found = bool(False)
    used = wp.uint32(0)  # which of the moves are made, as bits
    order = wp.vec4i(0, 0, 0, 0)  # the move made at each level
    made = wp.vec4i(0, 0, 0, 0)  # and its point
    occupied = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    untried = MASKS(wp.uint32(0), wp.uint32(0), wp.uint32(0), wp.uint32(0))
    every = (ONE << wp.uint32(num_moves)) - ONE
    occupied[0] = start
    untried[0] = every
    level = int(0)
    while level >= 0 and not found:
        if untried[level] == wp.uint32(0):
            level -= 1
            if level >= 0:
                used = used & (~(ONE << wp.uint32(order[level])))
        else:
            move = highest(untried[level])
            untried[level] = untried[level] & (~(ONE << wp.uint32(move)))
            point = points[move]
            if (sources(occupied[level], landing, die) & (ONE << wp.uint32(point))) != wp.uint32(0):
                standing = _standing(boards, row, point, die, level, made)
                after = land(clear_if_last(occupied[level], point, standing), point - die)
                if not is_forbidden(after, unpassed):
                    if level == num_moves - 1:
                        found = bool(True)
                    else:
                        order[level] = move
                        made[level] = point
                        used = used | (ONE << wp.uint32(move))
                        occupied[level + 1] = after
                        untried[level + 1] = every & (~used)
                        level += 1
    return found


@wp.func
def _long_double(
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    game: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    die: int,
    heads: int,
    num_moves: int,
    fill: bool,
    first_row: int,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
) -> int:
    """List the ways to move exactly ``num_moves`` checkers with one die; their number.

    A depth-first search; level = moves made so far. Each level keeps the points it has not tried yet, and bit
    ``level`` of ``met`` says that the moves up to it have met a forbidden run.
    """
    count = int(0)
    met = wp.uint32(0)
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
            standing = _standing(boards, game, point, die, level, moved)
            after = land(clear_if_last(occupied[level], point, standing), point - die)
            through = is_forbidden(after, unpassed) or (met & (ONE << wp.uint32(level))) != wp.uint32(0)
            if level == num_moves - 1:
                legal = bool(True)
                if through:
                    legal = _some_order(boards, game, start, landing, unpassed, die, num_moves, moved)
                if legal:
                    if fill:
                        _write_long(
                            packed,
                            game,
                            first_row + count,
                            num_moves,
                            moved,
                            dice,
                            games,
                            afterstates,
                            packed_afterstates,
                        )
                    count += 1
            else:
                occupied[level + 1] = after
                untried[level + 1] = _no_higher_than(sources(after, landing, die), point)
                if point == HEAD and level + 1 >= heads:  # all moves so far were from the head
                    untried[level + 1] = untried[level + 1] & (~HEAD_BIT)
                level += 1
                met = met & (~(ONE << wp.uint32(level)))
                if through:
                    met = met | (ONE << wp.uint32(level))
    return count


@wp.func
def _net_change(first: int, middle: int, second: int, target: int) -> int:
    """What moving from ``first`` to ``middle``, then from ``second`` to ``target``, changes; off is 0.

    The two points left and the two come to, 5 bits each, higher first; a point left and come to counts for neither.
    """
    high = wp.max(first, second)
    low = wp.min(first, second)
    upper = wp.max(middle, target)
    under = wp.min(middle, target)
    if middle == second:
        high = wp.int32(first)
        low = int(0)
        upper = wp.int32(target)
        under = int(0)
    if target == first:
        high = wp.int32(second)
        low = int(0)
        upper = wp.int32(middle)
        under = int(0)
    return ((high * 32 + low) * 32 + upper) * 32 + under


@wp.func
def _long_two_dice(
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    game: int,
    start: wp.uint32,
    landing: wp.uint32,
    unpassed: wp.uint32,
    larger: int,
    smaller: int,
    heads: int,
    fill: bool,
    first_row: int,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
) -> int:
    """List the plays of two different dice; the number of distinct results."""
    count = int(0)
    none = wp.vec4i(0, 0, 0, 0)
    results = wp.zeros(shape=(MAX_RESULTS,), dtype=wp.int32)
    for order in range(2):
        die = wp.int32(larger)
        other = wp.int32(smaller)
        if order == 1:
            die = wp.int32(smaller)
            other = wp.int32(larger)
        firsts = long_sources(boards, game, start, landing, unpassed, die, heads, 0, none, die)
        while firsts != wp.uint32(0):
            first = highest(firsts)
            firsts = firsts & (~(ONE << wp.uint32(first)))
            made = wp.vec4i(first, 0, 0, 0)
            occupied = land(clear_if_last(start, first, int(boards[game, first])), first - die)
            seconds = long_sources(boards, game, occupied, landing, unpassed, other, heads, 1, made, die)
            while seconds != wp.uint32(0):
                second = highest(seconds)
                seconds = seconds & (~(ONE << wp.uint32(second)))
                result = _net_change(first, wp.max(first - die, 0), second, wp.max(second - other, 0))
                new = bool(True)
                for earlier in range(count):
                    if results[earlier] == result:
                        new = bool(False)
                if new:
                    results[count] = result
                    if fill:
                        _write_long(
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
        singles = long_sources(boards, game, start, landing, unpassed, larger, heads, 0, none, larger)
        if singles == wp.uint32(0):
            die = wp.int32(smaller)
            singles = long_sources(boards, game, start, landing, unpassed, smaller, heads, 0, none, smaller)
        while singles != wp.uint32(0):
            point = highest(singles)
            singles = singles & (~(ONE << wp.uint32(point)))
            if fill:
                _write_long(
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


@wp.kernel
def list_long_plays(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    dice: wp.array2d(dtype=wp.int8),
    heads: wp.array(dtype=wp.int8),
    counts: wp.array(dtype=wp.int32),
    num_moves: wp.array(dtype=wp.int8),
    fill: bool,
    ends: wp.array(dtype=wp.int64),
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
):
    """Count (``fill`` false) or write the afterstates of one game; ``heads`` checkers may leave the head."""
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
        landing = uncontested_points(boards, game)
        unpassed = unpassed_points(boards, game)
        if larger != smaller:
            count = _long_two_dice(
                boards,
                packed,
                game,
                start,
                landing,
                unpassed,
                larger,
                smaller,
                int(heads[game]),
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
                count = _long_double(
                    boards,
                    packed,
                    game,
                    start,
                    landing,
                    unpassed,
                    larger,
                    int(heads[game]),
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
