"""Encoding positions, and the first layer of afterstates from that of the position before the play.

A position is described by 62 cells: the 52 of the board and ten that are counted from it (`describe`,
`describe_blocking`). The first layer is a sum of one table row for each (cell, number). A play changes few of them, so
an afterstate's pre-activation is its position's plus the rows that differ: some twelve rows instead of a product with
all inputs. Most numbers change by one, and a second table holds those steps, for reading the table is what takes the
time. Every afterstate starts from the position's own sum, so no rounding error piles up.
"""

from __future__ import annotations

import warp as wp

from ...env.kernels.rules import ONE, PACKED_BOARD, POINT_BITS, count_bits, highest, reverse_bits

__all__ = ["BLOCK", "COUNTED_SIZES", "MAX_COUNT", "count_cells", "encode", "first_layer"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

BLOCK = 16  # hidden units handled at once; the width of a first layer must be a multiple of it
UNITS = wp.types.vector(length=BLOCK, dtype=wp.float32)
MAX_COUNT = 16  # numbers in a cell are 0 to 15

# The ten counted cells and how many values each takes: race; for either side home points made, longest prime,
# rearmost checker, blots in direct range (longgammon: closed points ahead); pip lead.
COUNTED_SIZES = (2, 7, 8, 14, 5, 7, 8, 14, 5, 16)
NUM_COUNTED = wp.constant(len(COUNTED_SIZES))
COUNTED = wp.types.vector(length=len(COUNTED_SIZES), dtype=wp.int32)

HOME_BITS = wp.constant(wp.uint32(0x7E))  # points 1 to 6
HALF_BITS = wp.constant(wp.uint32(0x1FFE))  # points 1 to 12
POINT_INPUTS = wp.constant(4)
SIDE_INPUTS = wp.constant(101)
BOARD_INPUTS = wp.constant(202)
# A play of four moves leaves four points, reaches four, hits four and fills one bar; the counted cells may all change.
# A number that changes by one reads one row, any other two.
MAX_ROWS = wp.constant(2 * (13 + len(COUNTED_SIZES)) + 3)
NUM_ROWS = wp.constant((52 + len(COUNTED_SIZES)) * MAX_COUNT)


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
def _pip_lead(boards: wp.array2d(dtype=wp.int8), row: int, swap: int) -> int:
    """Pips that the other side is behind the player on roll, who is side ``swap``."""
    lead = int(0)
    for point in range(1, 26):
        lead += (int(boards[row, 26 + point]) - int(boards[row, point])) * point
    return lead * (1 - 2 * swap)


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
def describe_blocking(board: PACKED_BOARD, lead: int, swap: int) -> COUNTED:
    """`describe` for a discipline without hits, where both sides travel the same way round and one checker is a point.

    Race: the routes still to travel have no point in common. Home points and prime (along the other's route): those
    held at all. In the place of blots: points closed by the other among the six before the rearmost checker.
    """
    held = _cells_holding(board, 1)
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
def describe(board: PACKED_BOARD, lead: int, swap: int) -> COUNTED:
    """The counted cells of a board, the player on roll first; with ``swap`` 1 its side 1 is on roll.

    Race: have the sides passed each other? Prime: longest run of points with two or more checkers, at most 7.
    Rearmost: half the highest point held, rounded up. Blots: single checkers that an opposing one behind them reaches
    with one die, at most 4. Pip lead: see `_tenths`.
    """
    held = _cells_holding(board, 1)
    made = _cells_holding(board, 2)
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
def _describe_for(board: PACKED_BOARD, lead: int, swap: int, blocking: bool) -> COUNTED:
    counted = COUNTED()
    if blocking:  # noqa: SIM108  # a conditional expression computes both in Warp
        counted = describe_blocking(board, lead, swap)
    else:
        counted = describe(board, lead, swap)
    return counted


@wp.kernel
def count_cells(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    swap: int,
    blocking: bool,
    counted: wp.array(dtype=COUNTED),
    leads: wp.array(dtype=wp.int32),
):
    """The counted cells of every board, and its pip lead."""
    row = first + wp.tid()
    lead = _pip_lead(boards, row, swap)
    leads[row] = lead
    counted[row] = _describe_for(packed[row], lead, swap, blocking)


@wp.kernel
def encode(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    blocking: bool,
    inputs: wp.array2d(dtype=wp.float32),
):
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
    counted = _describe_for(packed[row], _pip_lead(boards, row, 0), 0, blocking)
    at = wp.int32(BOARD_INPUTS)
    for cell in range(wp.static(len(COUNTED_SIZES))):
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
    leads: wp.array(dtype=wp.int32),
    sums: wp.array2d(dtype=UNITS),
    games: wp.array(dtype=wp.int64),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
    table: wp.array2d(dtype=UNITS),
    blocking: bool,
    out_first: int,
    hidden: wp.array2d(dtype=UNITS),
):
    """First-layer activations (ReLU) of one afterstate, seen by the player who is on roll after the play.

    ``packed`` ``[N]`` and ``packed_afterstates`` ``[M]`` have the mover as side 0; ``counted``, ``leads`` and ``sums``
    describe the positions before the play with the opponent as side 0, the sums being their pre-activations, bias
    included; ``table`` ``[2 * 62 * 16, units]`` is what each number adds, then each step from a number to the next. Row
    ``r`` goes to row ``r - out_first`` of ``hidden``.
    """
    row = first + wp.tid()
    game = int(games[row])
    before = packed[game]
    after = packed_afterstates[row]
    rows = wp.zeros(shape=(MAX_ROWS,), dtype=wp.int32)
    signs = wp.zeros(shape=(MAX_ROWS,), dtype=wp.float32)
    num_rows = int(0)
    lead = wp.int32(leads[game])
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
                    if cell < 26:
                        lead += (new_count - old_count) * cell
                    else:
                        lead -= (new_count - old_count) * (cell - 26)
    old_counted = counted[game]
    new_counted = _describe_for(after, lead, 1, blocking)
    for cell in range(NUM_COUNTED):
        if old_counted[cell] != new_counted[cell]:
            num_rows = _change_cell(52 + cell, old_counted[cell], new_counted[cell], rows, signs, num_rows)
    out = row - out_first
    # Four table rows at a time are read from end to end, as the memory likes it; the sums stay in the nearest cache.
    num_units = sums.shape[1]
    for block in range(num_units):
        hidden[out, block] = sums[game, block]
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
