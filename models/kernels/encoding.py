"""Encoding positions, and the first layer of afterstates from that of the position before the play.

A position is described by 76 cells: the 52 of the board and 24 that are counted from it (`cells`), ten basic ones and
fourteen detailed ones, which rankers do without. The first layer is a sum of one table row for each (cell, number). A
play changes few of them, so an afterstate's pre-activation is its position's plus the rows that differ: some fifteen
rows instead of a product with all inputs. Most numbers change by one, and a second table holds those steps, for reading
the table is what takes the time. Every afterstate starts from the position's own sum, so no rounding error piles up.
"""

from __future__ import annotations

import warp as wp

from ...env.kernels.rules import PACKED_BOARD
from .cells import COUNTED, COUNTED_SIZES, NUM_BASIC, NUM_COUNTED, describe_for

__all__ = ["BLOCK", "MAX_COUNT", "count_cells", "encode", "first_layer"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

BLOCK = 16  # hidden units handled at once; the width of a first layer must be a multiple of it
UNITS = wp.types.vector(length=BLOCK, dtype=wp.float32)
MAX_COUNT = 16  # numbers in a cell are 0 to 15

POINT_INPUTS = wp.constant(4)
SIDE_INPUTS = wp.constant(101)
BOARD_INPUTS = wp.constant(202)
# A play of four moves leaves four points, reaches four, hits four and fills one bar; the counted cells may all change.
# A number that changes by one reads one row, any other two.
MAX_ROWS = wp.constant(2 * (13 + len(COUNTED_SIZES)) + 3)
NUM_ROWS = wp.constant((52 + len(COUNTED_SIZES)) * MAX_COUNT)


@wp.kernel
def count_cells(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    swap: int,
    blocking: bool,
    counted: wp.array(dtype=COUNTED),
):
    """The counted cells of every board."""
    row = first + wp.tid()
    counted[row] = describe_for(packed[row], swap, blocking, True)


@wp.kernel
def encode(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    blocking: bool,
    inputs: wp.array2d(dtype=wp.float32),
):
    """The inputs of one position (`models.encoding` lists them), ``boards`` ``[N, 52]``, ``inputs`` ``[N, 618]``."""
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
    counted = describe_for(packed[row], 0, blocking, True)
    at = wp.int32(BOARD_INPUTS)
    for cell in range(wp.static(len(COUNTED_SIZES))):
        if cell == NUM_BASIC:
            for side in range(2):
                for point in range(1, 25):
                    count = int(boards[row, side * 26 + point])
                    inputs[row, at] = wp.float32(count >= 4)
                    inputs[row, at + 1] = wp.float32(count >= 5)
                    at += 2
                off = int(boards[row, side * 26])
                for least in range(2, 16):
                    inputs[row, at] = wp.float32(off >= least)
                    at += 1
        size = wp.static(COUNTED_SIZES[cell])
        for value in range(size):
            inputs[row, at + value] = wp.float32(counted[cell] == value)
        at += size


@wp.func
def _change_cell(
    cell: int,
    old: int,
    new: int,
    rows: wp.array(dtype=wp.int32),
    signs: wp.array(dtype=wp.float32),
    num_rows: int,
) -> int:
    """Note the table rows by which a cell's change from ``old`` to ``new`` enters; their number after it."""
    count = wp.int32(num_rows)
    if wp.abs(new - old) == 1:
        rows[count] = NUM_ROWS + cell * MAX_COUNT + wp.min(old, new)
        signs[count] = wp.float32(new - old)
        count += 1
    else:
        rows[count] = cell * MAX_COUNT + new
        signs[count] = 1.0
        rows[count + 1] = cell * MAX_COUNT + old
        signs[count + 1] = -1.0
        count += 2
    return count


@wp.kernel
def first_layer(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    counted: wp.array(dtype=COUNTED),
    sums: wp.array2d(dtype=UNITS),
    positions: wp.array(dtype=wp.int64),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
    table: wp.array2d(dtype=UNITS),
    blocking: bool,
    detailed: bool,
    out_first: int,
    hidden: wp.array2d(dtype=UNITS),
):
    """First-layer activations (ReLU) of one afterstate, seen by the player who is on roll after the play.

    ``positions`` ``[M]`` says which of N positions each afterstate comes from. ``packed`` ``[N]`` and
    ``packed_afterstates`` ``[M]`` have the mover as side 0; ``counted`` and ``sums``
    describe the positions before the play with the opponent as side 0, the sums being their pre-activations, bias
    included; ``table`` ``[2 * 76 * 16, units]`` is what each number adds, then each step from a number to the next. Row
    ``r`` goes to row ``r - out_first`` of ``hidden``.
    """
    row = first + wp.tid()
    position = int(positions[row])
    before = packed[position]
    after = packed_afterstates[row]
    rows = wp.zeros(shape=(MAX_ROWS,), dtype=wp.int32)
    signs = wp.zeros(shape=(MAX_ROWS,), dtype=wp.float32)
    num_rows = int(0)
    for word in range(13):
        old_word = before[word]
        new_word = after[word]
        if old_word != new_word:
            for byte in range(4):
                old_count = (old_word >> (8 * byte)) & 15
                new_count = (new_word >> (8 * byte)) & 15
                if old_count != new_count:
                    cell = 4 * word + byte
                    seen = (cell + 26) % 52  # the other player is side 0 of the network's view
                    num_rows = _change_cell(seen, old_count, new_count, rows, signs, num_rows)
    old_counted = counted[position]
    new_counted = describe_for(after, 1, blocking, detailed)
    num_counted = wp.int32(NUM_BASIC)
    if detailed:
        num_counted = NUM_COUNTED
    for cell in range(num_counted):
        if old_counted[cell] != new_counted[cell]:
            num_rows = _change_cell(52 + cell, old_counted[cell], new_counted[cell], rows, signs, num_rows)
    out = row - out_first
    # Four table rows at a time are read from end to end, as the memory likes it; the sums stay in the nearest cache.
    num_units = sums.shape[1]
    for block in range(num_units):
        hidden[out, block] = sums[position, block]
    change = int(0)
    while change < num_rows:
        row_0 = rows[change]
        row_1 = rows[change + 1]
        row_2 = rows[change + 2]
        row_3 = rows[change + 3]
        sign_0 = signs[change]
        sign_1 = signs[change + 1]
        sign_2 = signs[change + 2]
        sign_3 = signs[change + 3]
        for block in range(num_units):
            hidden[out, block] = (
                hidden[out, block]
                + (sign_0 * table[row_0, block] + sign_1 * table[row_1, block])
                + (sign_2 * table[row_2, block] + sign_3 * table[row_3, block])
            )
        change += 4
    for block in range(num_units):
        hidden[out, block] = wp.max(hidden[out, block], UNITS())
