"""Encoding positions, and the first layer of afterstates from that of the position before the play.

A position is described by 62 cells: the 52 of the board and ten that are counted from it (`describe`). The
first layer is a sum of one table row for each (cell, number). A play changes few of them, so an
afterstate's pre-activation is its position's plus the rows that differ: some twelve rows of the table instead of a
product with all inputs. Every afterstate starts from the position's own sum, so no rounding error piles up.
"""

from __future__ import annotations

import warp as wp

from ...env.kernels.rules import ONE, POINT_BITS, count_bits, highest

__all__ = ["BLOCK", "COUNTED_SIZES", "MAX_COUNT", "count_cells", "encode", "first_layer"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

BLOCK = 16  # hidden units handled at once; the width of a first layer must be a multiple of it
UNITS = wp.types.vector(length=BLOCK, dtype=wp.float32)
MAX_COUNT = 16  # numbers in a cell are 0 to 15

# The ten counted cells and how many values each takes: race; for either side home points made, longest prime,
# rearmost checker, blots in direct range; pip lead.
COUNTED_SIZES = (2, 7, 8, 14, 5, 7, 8, 14, 5, 16)
NUM_COUNTED = wp.constant(len(COUNTED_SIZES))
COUNTED = wp.types.vector(length=len(COUNTED_SIZES), dtype=wp.int32)

HOME_BITS = wp.constant(wp.uint32(0x7E))  # points 1 to 6
POINT_INPUTS = wp.constant(4)
SIDE_INPUTS = wp.constant(101)
BOARD_INPUTS = wp.constant(202)
# A play of four moves leaves four points, reaches four, hits four and fills one bar; the counted cells may all change.
MAX_CHANGES = wp.constant(13 + len(COUNTED_SIZES))


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
def describe(boards: wp.array2d(dtype=wp.int8), row: int, swap: int) -> COUNTED:
    """The counted cells of a board, the player on roll first; with ``swap`` 1 side 1 of ``boards`` is on roll.

    Race: have the sides passed each other? Prime: longest run of points with two or more checkers, at most 7.
    Rearmost: half the highest point held, rounded up. Blots: single checkers that an opposing one behind them reaches
    with one die, at most 4. Pip lead: 8 plus a tenth of the pips that the other side is behind, rounded, 0 to 15.
    """
    mine = swap * 26
    theirs = 26 - mine
    my_points = wp.uint32(0)
    my_made = wp.uint32(0)
    my_behind = wp.uint32(0)  # where my checkers stand in the opponent's numbers, the bar at 0
    their_points = wp.uint32(0)
    their_made = wp.uint32(0)
    their_behind = wp.uint32(0)
    lead = int(0)
    for point in range(1, 26):
        my_count = int(boards[row, mine + point])
        their_count = int(boards[row, theirs + point])
        lead += (their_count - my_count) * point
        bit = ONE << wp.uint32(point)
        mirrored = ONE << wp.uint32(25 - point)
        if my_count > 0:
            my_points = my_points | bit
            my_behind = my_behind | mirrored
        if my_count > 1:
            my_made = my_made | bit
        if their_count > 0:
            their_points = their_points | bit
            their_behind = their_behind | mirrored
        if their_count > 1:
            their_made = their_made | bit
    my_made = my_made & POINT_BITS
    their_made = their_made & POINT_BITS
    my_rear = wp.max(highest(my_points), 0)
    their_rear = wp.max(highest(their_points), 0)
    counted = COUNTED()
    if my_rear + their_rear <= 25:
        counted[0] = 1
    counted[1] = count_bits(my_made & HOME_BITS)
    counted[2] = wp.min(_longest_run(my_made), 7)
    counted[3] = (my_rear + 1) / 2
    counted[4] = wp.min(_in_direct_range(my_points & POINT_BITS & (~my_made), their_behind), 4)
    counted[5] = count_bits(their_made & HOME_BITS)
    counted[6] = wp.min(_longest_run(their_made), 7)
    counted[7] = (their_rear + 1) / 2
    counted[8] = wp.min(_in_direct_range(their_points & POINT_BITS & (~their_made), my_behind), 4)
    counted[9] = wp.clamp((lead + 85) / 10, 0, 15)
    return counted


@wp.kernel
def count_cells(first: int, boards: wp.array2d(dtype=wp.int8), swap: int, counted: wp.array(dtype=COUNTED)):
    """The counted cells of every board."""
    row = first + wp.tid()
    counted[row] = describe(boards, row, swap)


@wp.kernel
def encode(first: int, boards: wp.array2d(dtype=wp.int8), inputs: wp.array2d(dtype=wp.float32)):
    """The inputs of one position (`models.encoding` lists them), ``boards`` ``[N, 52]``, ``inputs`` ``[N, 288]``."""
    row = first + wp.tid()
    for side in range(2):
        base = side * SIDE_INPUTS
        pips = int(0)
        for point in range(1, 25):
            count = int(boards[row, side * 26 + point])
            pips += count * point
            at = base + (point - 1) * POINT_INPUTS
            inputs[row, at] = wp.float32(count == 1)
            inputs[row, at + 1] = wp.float32(count >= 2)
            inputs[row, at + 2] = wp.float32(count >= 3)
            inputs[row, at + 3] = wp.float32(wp.max(count - 3, 0)) * 0.5
        bar = int(boards[row, side * 26 + 25])
        off = int(boards[row, side * 26])
        pips += bar * 25
        at = base + 24 * POINT_INPUTS
        inputs[row, at] = wp.float32(bar >= 1)
        inputs[row, at + 1] = wp.float32(bar) * 0.5
        inputs[row, at + 2] = wp.float32(off >= 1)
        inputs[row, at + 3] = wp.float32(off) / 15.0
        inputs[row, at + 4] = wp.float32(pips) / 167.0
    counted = describe(boards, row, 0)
    at = wp.int32(BOARD_INPUTS)
    for cell in range(wp.static(len(COUNTED_SIZES))):
        size = wp.static(COUNTED_SIZES[cell])
        for value in range(size):
            inputs[row, at + value] = wp.float32(counted[cell] == value)
        at += size


@wp.kernel
def first_layer(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    counted: wp.array(dtype=COUNTED),
    sums: wp.array2d(dtype=UNITS),
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    table: wp.array2d(dtype=UNITS),
    out_first: int,
    hidden: wp.array2d(dtype=UNITS),
):
    """First-layer activations (ReLU) of one afterstate, seen by the player who is on roll after the play.

    ``boards`` ``[N, 52]`` and ``afterstates`` ``[M, 52]`` have the mover as side 0; ``counted`` and ``sums`` describe
    the positions before the play with the opponent as side 0, the sums being their pre-activations, bias included;
    ``table`` is ``[62 * 16, units]``. Row ``r`` goes to row ``r - out_first`` of ``hidden``.
    """
    row = first + wp.tid()
    game = int(games[row])
    removed = wp.zeros(shape=(MAX_CHANGES,), dtype=wp.int32)
    added = wp.zeros(shape=(MAX_CHANGES,), dtype=wp.int32)
    num_changes = int(0)
    for cell in range(52):
        old_count = int(boards[game, cell])
        new_count = int(afterstates[row, cell])
        if old_count != new_count:
            seen = (cell + 26) % 52  # the other player is side 0 of the network's view
            removed[num_changes] = seen * MAX_COUNT + old_count
            added[num_changes] = seen * MAX_COUNT + new_count
            num_changes += 1
    old_counted = counted[game]
    new_counted = describe(afterstates, row, 1)
    for cell in range(NUM_COUNTED):
        if old_counted[cell] != new_counted[cell]:
            removed[num_changes] = (52 + cell) * MAX_COUNT + old_counted[cell]
            added[num_changes] = (52 + cell) * MAX_COUNT + new_counted[cell]
            num_changes += 1
    out = row - out_first
    for block in range(sums.shape[1]):
        units = sums[game, block]
        for change in range(num_changes):
            units = units + (table[added[change], block] - table[removed[change], block])
        hidden[out, block] = wp.max(units, UNITS())
