"""Cells counted from the board: what a player sees at a glance and a small network only after long training.

Ten are basic (`describe`; `describe_blocking` where both sides travel the same way round), fourteen are details
(`detail`). Each is a small whole number, so it can enter a first layer as a table row, as the cells of the board do.
"""

from __future__ import annotations

import warp as wp

from ...env.kernels.rules import BAR_BIT, ONE, PACKED_BOARD, POINT_BITS, count_bits, highest, lowest, reverse_bits

__all__ = [
    "BASIC_SIZES",
    "COUNTED",
    "COUNTED_SIZES",
    "DETAIL_SIZES",
    "NUM_BASIC",
    "NUM_COUNTED",
    "describe_for",
]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

# The ten basic counted cells and how many values each takes: race; for either side home points made, longest prime,
# rearmost checker, blots in direct range (longgammon: closed points ahead); pip lead.
BASIC_SIZES = (2, 7, 8, 14, 5, 7, 8, 14, 5, 16)
# The detailed ones of either side: checkers still to pass, in the home board, on its points 1 to 3; pips; rolls that
# hit; rolls by which the rearmost checker escapes, and the next.
DETAIL_SIZES = (16, 16, 16, 16, 13, 13, 13)
COUNTED_SIZES = BASIC_SIZES + DETAIL_SIZES + DETAIL_SIZES
NUM_BASIC = wp.constant(len(BASIC_SIZES))
NUM_DETAIL = wp.constant(len(DETAIL_SIZES))
NUM_COUNTED = wp.constant(len(COUNTED_SIZES))
COUNTED = wp.types.vector(length=len(COUNTED_SIZES), dtype=wp.int32)

HOME_BITS = wp.constant(wp.uint32(0x7E))  # points 1 to 6
HALF_BITS = wp.constant(wp.uint32(0x1FFE))  # points 1 to 12
PRIME_BITS = wp.constant(wp.uint32(0xFE))  # distances 1 to 7


@wp.func
def _longest_run(mask: wp.uint32) -> int:
    """Length of the longest run of neighbouring bits."""
    rest = wp.uint32(mask)
    length = int(0)
    while rest != wp.uint32(0):
        rest = rest & (rest >> ONE)
        length += 1
    return length


@wp.func
def _in_direct_range(single: wp.uint32, behind: wp.uint32) -> int:
    """How many of the points ``single`` have a point of ``behind`` one to six below them."""
    reached = wp.uint32(0)
    for distance in range(1, 7):
        reached = reached | (behind << wp.uint32(distance))
    return count_bits(single & reached)


@wp.func
def _cells_holding(board: PACKED_BOARD, at_least: int) -> wp.uint64:
    """Bit ``side * 26 + point`` where ``at_least`` (1 to 15) checkers stand; four cells at a time."""
    cells = wp.uint64(0)
    carry = wp.uint32(0x80 - at_least) * wp.uint32(0x01010101)  # lifts such a byte to 128 or more
    for word in range(13):
        high = ((wp.uint32(board[word]) + carry) >> wp.uint32(7)) & wp.uint32(0x01010101)
        four = ((high * wp.uint32(0x01020408)) >> wp.uint32(24)) & wp.uint32(15)
        cells = cells | (wp.uint64(four) << wp.uint64(4 * word))
    return cells


@wp.func
def _side_of(cells: wp.uint64, side: int) -> wp.uint32:
    """The bits of one side's points and bar, without those off."""
    return wp.uint32((cells >> wp.uint64(26 * side)) & wp.uint64(0x03FFFFFE))


@wp.func
def _pips(board: PACKED_BOARD) -> wp.vec2i:
    """Pip counts of both sides. Four cells at a time: word w holds cells 4w to 4w + 3, word 6 two of either side."""
    mine = int(0)
    theirs = int(0)
    for word in range(13):
        four = wp.uint32(board[word])
        above = int((four * wp.uint32(0x00010203)) >> wp.uint32(24))  # one for the second cell, two, three
        total = int((four * wp.uint32(0x01010101)) >> wp.uint32(24))
        if word < 6:
            mine += 4 * word * total + above
        elif word > 6:
            theirs += (4 * word - 26) * total + above
    middle = wp.uint32(board[6])
    mine += 24 * int(middle & wp.uint32(15)) + 25 * int((middle >> wp.uint32(8)) & wp.uint32(15))
    theirs += int((middle >> wp.uint32(24)) & wp.uint32(15))
    return wp.vec2i(mine, theirs)


@wp.func
def _on_the_others_route(points: wp.uint32) -> wp.uint32:
    """Points in the other side's numbers where both travel the same way: p is p + 12 or p - 12."""
    return ((points & HALF_BITS) << wp.uint32(12)) | ((points >> wp.uint32(12)) & HALF_BITS)


@wp.func
def _closed_ahead(rear: int, closed: wp.uint32) -> int:
    """How many of the six points in front of ``rear`` are ``closed``."""
    ahead = (wp.uint32(0x3F) << wp.uint32(rear)) >> wp.uint32(6)
    return count_bits(ahead & closed & POINT_BITS)


@wp.func
def describe_blocking(held: wp.uint64, lead: int, swap: int) -> COUNTED:
    """`describe` for a discipline without hits, where both sides travel the same way round and one checker is a point.

    Race: the routes still to travel have no point in common. Home points and prime (along the other's route): those
    held at all. In the place of blots: points closed by the other among the six before the rearmost checker.
    """
    mine = _side_of(held, swap)
    theirs = _side_of(held, 1 - swap)
    my_turned = _on_the_others_route(mine)
    their_turned = _on_the_others_route(theirs)
    my_rear = wp.max(highest(mine), 0)
    their_rear = wp.max(highest(theirs), 0)
    counted = COUNTED()
    if my_rear <= 12 and their_rear <= 12:
        counted[0] = 1
    counted[1] = count_bits(mine & HOME_BITS)
    counted[2] = wp.min(_longest_run(my_turned), 7)
    counted[3] = (my_rear + 1) / 2
    counted[4] = wp.min(_closed_ahead(my_rear, their_turned), 4)
    counted[5] = count_bits(theirs & HOME_BITS)
    counted[6] = wp.min(_longest_run(their_turned), 7)
    counted[7] = (their_rear + 1) / 2
    counted[8] = wp.min(_closed_ahead(their_rear, my_turned), 4)
    counted[9] = _tenths(lead)
    return counted


@wp.func
def _tenths(lead: int) -> int:
    """A pip lead as the value of its cell: 8 plus a tenth of it, rounded, 0 to 15."""
    return wp.clamp((lead + 85) / 10, 0, 15)


@wp.func
def describe(held: wp.uint64, made: wp.uint64, lead: int, swap: int) -> COUNTED:
    """The basic cells of a board, the player on roll first; with ``swap`` 1 its side 1 is on roll.

    ``held`` and ``made``: the cells with one checker or more, and with two (`_cells_holding`).

    Race: have the sides passed each other? Prime: longest run of points with two or more checkers, at most 7.
    Rearmost: half the highest point held, rounded up. Blots: single checkers that an opposing one behind them reaches
    with one die, at most 4. Pip lead: see `_tenths`.
    """
    mine = _side_of(held, swap)
    theirs = _side_of(held, 1 - swap)
    my_made = _side_of(made, swap) & POINT_BITS
    their_made = _side_of(made, 1 - swap) & POINT_BITS
    # In the other side's numbers: point p is 25 - p, and a checker on the bar stands behind point 1.
    my_mirrored = reverse_bits(mine) >> wp.uint32(6)
    their_mirrored = reverse_bits(theirs) >> wp.uint32(6)
    my_rear = wp.max(highest(mine), 0)
    their_rear = wp.max(highest(theirs), 0)
    counted = COUNTED()
    if my_rear + their_rear <= 25:
        counted[0] = 1
    counted[1] = count_bits(my_made & HOME_BITS)
    counted[2] = wp.min(_longest_run(my_made), 7)
    counted[3] = (my_rear + 1) / 2
    counted[4] = wp.min(_in_direct_range(mine & POINT_BITS & (~my_made), their_mirrored), 4)
    counted[5] = count_bits(their_made & HOME_BITS)
    counted[6] = wp.min(_longest_run(their_made), 7)
    counted[7] = (their_rear + 1) / 2
    counted[8] = wp.min(_in_direct_range(theirs & POINT_BITS & (~their_made), my_mirrored), 4)
    counted[9] = _tenths(lead)
    return counted


@wp.func
def _second_hits(first: int, second: int, others: wp.uint32, on_bar: int, blots: wp.uint32, free: wp.uint32) -> wp.bool:
    """Does die ``second`` hit once ``first`` has been played, by the same checker or to enter from the bar?"""
    movers = (others >> wp.uint32(first)) & free
    if on_bar > 0:
        entry = (BAR_BIT >> wp.uint32(first)) & free
        movers = others | entry
        if entry == wp.uint32(0):
            movers = wp.uint32(0)
    return ((movers >> wp.uint32(second)) & blots) != wp.uint32(0)


@wp.func
def _doubles_hit(die: int, others: wp.uint32, on_bar: int, blots: wp.uint32, free: wp.uint32) -> wp.bool:
    """Does a checker hit with up to four moves of ``die``, or with those left when all have entered from the bar?"""
    movers = wp.uint32(others)
    steps = int(4)
    if on_bar > 0:
        entry = (BAR_BIT >> wp.uint32(die)) & free
        movers = movers | entry
        steps = 4 - on_bar
        if entry == wp.uint32(0):
            steps = 0
    reached = wp.uint32(0)
    for step in range(4):
        movers = (movers >> wp.uint32(die)) & free
        if step < steps:
            reached = reached | movers
    return (reached & blots) != wp.uint32(0)


@wp.func
def _hitting_rolls(held: wp.uint32, on_bar: int, blots: wp.uint32, closed: wp.uint32) -> int:
    """By how many of 36 rolls one checker of a side can hit one of ``blots``, its own numbers throughout.

    It moves by one die or both, by doubles up to four times, over points that are not ``closed``. A checker on the bar
    enters first, and any other plays the second die; with more of them only an entering one hits, by doubles the others
    too once all are in.
    """
    if blots == wp.uint32(0) or highest(held) <= lowest(blots):
        return 0
    free = POINT_BITS & ~closed
    others = held & POINT_BITS
    hitting = wp.uint32(0)  # dice with which one checker hits at once, from the bar alone if one stands there
    for die in range(1, 7):
        landing = (others >> wp.uint32(die)) & free
        if on_bar > 0:
            landing = (BAR_BIT >> wp.uint32(die)) & free
        if (landing & blots) != wp.uint32(0):
            hitting = hitting | (ONE << wp.uint32(die))
    missing = 6 - count_bits(hitting)
    rolls = 36 - missing * missing
    for high in range(1, 7):
        if ((hitting >> wp.uint32(high)) & ONE) == wp.uint32(0):
            if _doubles_hit(high, others, on_bar, blots, free):
                rolls += 1
            if on_bar < 2:
                for low in range(1, high):
                    if ((hitting >> wp.uint32(low)) & ONE) == wp.uint32(0):
                        hits = _second_hits(high, low, others, on_bar, blots, free)
                        if hits or _second_hits(low, high, others, on_bar, blots, free):
                            rolls += 2
    return rolls


@wp.func
def _escaping_rolls(point: int, closed: wp.uint32) -> int:
    """By how many of 36 rolls a checker on ``point``, moving alone, gets past all ``closed`` points 1 to 7 ahead.

    36 if there is none, or no checker (point 0).
    """
    if point <= 0:
        return 36
    ahead = reverse_bits(closed) >> wp.uint32(31 - point)  # bit d: the point d ahead is closed
    farthest = highest(ahead & PRIME_BITS)
    if farthest < 0:
        return 36
    free = ~ahead
    # Dice with which it is past at once.
    passing = free & wp.uint32(0x7E) & ~((wp.uint32(2) << wp.uint32(farthest)) - ONE)
    missing = 6 - count_bits(passing)
    rolls = 36 - missing * missing
    for high in range(1, 7):
        if ((passing >> wp.uint32(high)) & ONE) == wp.uint32(0):
            open_high = (free >> wp.uint32(high)) & ONE
            twice = open_high & (free >> wp.uint32(2 * high))
            thrice = twice & (free >> wp.uint32(3 * high))
            past = wp.uint32(2 * high > farthest) & twice
            past = past | (wp.uint32(3 * high > farthest) & thrice)
            past = past | (wp.uint32(4 * high > farthest) & thrice & (free >> wp.uint32(4 * high)))
            rolls += int(past & ONE)
            for low in range(wp.max(farthest + 1 - high, 1), high):
                open_low = free >> wp.uint32(low)
                past = (open_high | open_low) & (free >> wp.uint32(high + low)) & ~(passing >> wp.uint32(low))
                rolls += 2 * int(past & ONE)
    return rolls


@wp.func
def _count_in(board: PACKED_BOARD, cell: int) -> int:
    return (board[cell >> 2] >> ((cell & 3) << 3)) & 15


@wp.func
def _checkers_from(board: PACKED_BOARD, side: int, first: int) -> int:
    """Checkers of ``side`` on its points ``first`` (at least 1) to the bar."""
    total = int(0)
    for point in range(first, 26):
        total += _count_in(board, 26 * side + point)
    return total


@wp.func
def _first_six(board: PACKED_BOARD, side: int) -> wp.uint64:
    """Points 1 to 6 of ``side``, a byte each, the lowest first."""
    six = (wp.uint64(wp.uint32(board[0])) | (wp.uint64(wp.uint32(board[1])) << wp.uint64(32))) >> wp.uint64(8)
    if side == 1:
        six = (wp.uint64(wp.uint32(board[6])) >> wp.uint64(24)) | (wp.uint64(wp.uint32(board[7])) << wp.uint64(8))
        six = six | (wp.uint64(wp.uint32(board[8])) << wp.uint64(40))
    return six & wp.uint64(0xFFFFFFFFFFFF)


@wp.func
def _sum_bytes(eight: wp.uint64) -> int:
    return int((eight * wp.uint64(0x0101010101010101)) >> wp.uint64(56))


@wp.func
def _detail_side(
    board: PACKED_BOARD,
    side: int,
    held: wp.uint32,
    pips: int,
    passed_from: int,
    blots: wp.uint32,
    closed: wp.uint32,
    at: int,
    counted: COUNTED,
) -> COUNTED:
    """``counted`` with the detailed cells of ``side`` from ``at`` on; from ``passed_from`` up it has points to pass."""
    six = _first_six(board, side)
    passing = _checkers_from(board, side, passed_from)
    home = _sum_bytes(six)
    deep = _sum_bytes(six & wp.uint64(0xFFFFFF))
    rear = wp.max(highest(held), 0)
    second = wp.int32(rear)
    if _count_in(board, 26 * side + rear) < 2 or rear == 0:
        second = wp.max(highest(held & ~(ONE << wp.uint32(rear))), 0)
    filled = counted
    filled[at] = wp.min(passing, 15)
    filled[at + 1] = wp.min(home, 15)
    filled[at + 2] = wp.min(deep, 15)
    filled[at + 3] = wp.min(pips / 8, 15)
    filled[at + 4] = (_hitting_rolls(held, _count_in(board, 26 * side + 25), blots, closed) + 2) / 3
    escaping = _escaping_rolls(rear, closed)
    filled[at + 5] = (escaping + 2) / 3
    if second != rear:
        escaping = _escaping_rolls(second, closed)
    filled[at + 6] = (escaping + 2) / 3
    return filled


@wp.func
def detail(
    board: PACKED_BOARD,
    held: wp.uint64,
    made: wp.uint64,
    pips: wp.vec2i,
    swap: int,
    blocking: bool,
    counted: COUNTED,
) -> COUNTED:
    """``counted`` with the detailed cells, the player on roll first; with ``swap`` 1 its side 1 is on roll.

    Still to pass: checkers behind the other side's rearmost (longgammon: on points 13 to 24). Pips: an eighth, at most
    15. Rolls: a third of those of 36, rounded up (`_hitting_rolls`, `_escaping_rolls`); nothing is hit in longgammon.
    """
    mine = _side_of(held, swap)
    theirs = _side_of(held, 1 - swap)
    my_passed_from = int(13)
    their_passed_from = int(13)
    my_closed = wp.uint32(0)  # closed to me, in my numbers
    their_closed = wp.uint32(0)
    my_targets = wp.uint32(0)
    their_targets = wp.uint32(0)
    if blocking:
        my_closed = _on_the_others_route(theirs)
        their_closed = _on_the_others_route(mine)
    else:
        my_passed_from = 26 - wp.max(highest(theirs), 0)
        their_passed_from = 26 - wp.max(highest(mine), 0)
        my_closed = (reverse_bits(_side_of(made, 1 - swap)) >> wp.uint32(6)) & POINT_BITS
        their_closed = (reverse_bits(_side_of(made, swap)) >> wp.uint32(6)) & POINT_BITS
        my_targets = (reverse_bits(theirs) >> wp.uint32(6)) & POINT_BITS & ~my_closed
        their_targets = (reverse_bits(mine) >> wp.uint32(6)) & POINT_BITS & ~their_closed
    my_pips = pips[swap]
    their_pips = pips[1 - swap]
    filled = _detail_side(board, swap, mine, my_pips, my_passed_from, my_targets, my_closed, NUM_BASIC, counted)
    at = NUM_BASIC + NUM_DETAIL
    return _detail_side(board, 1 - swap, theirs, their_pips, their_passed_from, their_targets, their_closed, at, filled)


@wp.func
def describe_for(board: PACKED_BOARD, swap: int, blocking: bool, detailed: bool) -> COUNTED:
    """The counted cells of a board, those of `detail` only if ``detailed``."""
    held = _cells_holding(board, 1)
    made = _cells_holding(board, 2)
    pips = _pips(board)
    lead = pips[1 - swap] - pips[swap]
    counted = COUNTED()
    if blocking:  # noqa: SIM108  # a conditional expression computes both in Warp
        counted = describe_blocking(held, lead, swap)
    else:
        counted = describe(held, made, lead, swap)
    if detailed:
        counted = detail(board, held, made, pips, swap, blocking, counted)
    return counted
