"""Encoding positions, and the first layer of afterstates from that of the position before the play.

The first layer is a sum of one table row for each (side, point, number of checkers). A play changes few of them, so
an afterstate's pre-activation is its position's plus the rows that differ: about nine rows of the table instead of a
product with all inputs. Every afterstate starts from the position's own sum, so no rounding error piles up.
"""

from __future__ import annotations

import warp as wp

from ...env.kernels.rules import PACKED_BOARD

__all__ = ["BLOCK", "encode", "first_layer"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

BLOCK = 16  # hidden units handled at once; the width of a first layer must be a multiple of it
UNITS = wp.types.vector(length=BLOCK, dtype=wp.float32)

POINT_INPUTS = wp.constant(4)
SIDE_INPUTS = wp.constant(101)
# A play of four moves leaves four points, reaches four, hits four and fills one bar: 13 cells; off is one of them.
MAX_CHANGES = wp.constant(16)


@wp.kernel
def encode(first: int, boards: wp.array2d(dtype=wp.int8), inputs: wp.array2d(dtype=wp.float32)):
    """The inputs of one position (`models.encoding` lists them), ``boards`` ``[N, 52]``, ``inputs`` ``[N, 202]``."""
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


@wp.kernel
def first_layer(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    sums: wp.array2d(dtype=UNITS),
    games: wp.array(dtype=wp.int64),
    packed_afterstates: wp.array(dtype=PACKED_BOARD),
    table: wp.array2d(dtype=UNITS),
    out_first: int,
    hidden: wp.array2d(dtype=UNITS),
):
    """First-layer activations (ReLU) of one afterstate, seen by the player who is on roll after the play.

    ``packed`` and ``packed_afterstates`` have the mover as side 0; ``sums`` are the pre-activations of the positions
    before the play with the opponent as side 0, bias included; ``table`` ``[2 * 26 * 16, units]`` has the opponent's
    sides first. Row ``r`` goes to row ``r - out_first`` of ``hidden``.
    """
    row = first + wp.tid()
    game = int(games[row])
    before = packed[game]
    after = packed_afterstates[row]
    removed = wp.zeros(shape=(MAX_CHANGES,), dtype=wp.int32)
    added = wp.zeros(shape=(MAX_CHANGES,), dtype=wp.int32)
    num_changes = int(0)
    for word in range(13):
        old = before[word]
        new = after[word]
        if old != new:
            for byte in range(4):
                shift = 8 * byte
                old_count = (old >> shift) & 15
                new_count = (new >> shift) & 15
                if old_count != new_count:
                    cell = word * 4 + byte
                    cell = (cell + 26) % 52  # the other player is side 0 of the network's view
                    removed[num_changes] = cell * 16 + old_count
                    added[num_changes] = cell * 16 + new_count
                    num_changes += 1
    out = row - out_first
    for block in range(sums.shape[1]):
        units = sums[game, block]
        for change in range(num_changes):
            units = units + (table[added[change], block] - table[removed[change], block])
        hidden[out, block] = wp.max(units, UNITS())
