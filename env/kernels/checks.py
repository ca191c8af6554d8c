"""Checking boards that come from outside, one pass a board."""

from __future__ import annotations

import warp as wp

__all__ = ["board_faults"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.kernel
def board_faults(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    num_checkers: int,
    same_way: bool,
    faults: wp.array(dtype=wp.int8),
):
    """0 for a proper board ``[52]``, else what is wrong with it.

    1 a negative count, 2 a wrong total, 3 a point with two owners, 4 both sides off, 5 a checker on the bar where there
    is none. ``same_way`` says how the sides number their points, and that there is no bar; see `Variant`.
    """
    row = first + wp.tid()
    fault = int(0)
    mine = int(0)
    theirs = int(0)
    for cell in range(26):
        my_count = int(boards[row, cell])
        their_count = int(boards[row, 26 + cell])
        if (my_count | their_count) < 0:
            fault = int(1)
        mine += my_count
        theirs += their_count
    if fault == 0 and (mine != num_checkers or theirs != num_checkers):
        fault = int(2)
    if fault == 0:
        if same_way:
            if boards[row, 25] > wp.int8(0) or boards[row, 51] > wp.int8(0):
                fault = int(5)
            for point in range(1, 25):
                theirs_there = 27 + (point + 11) % 24
                if boards[row, point] > wp.int8(0) and boards[row, theirs_there] > wp.int8(0):
                    fault = int(3)
        else:
            for point in range(1, 25):
                if boards[row, point] > wp.int8(0) and boards[row, 51 - point] > wp.int8(0):
                    fault = int(3)
        if int(boards[row, 0]) == num_checkers and int(boards[row, 26]) == num_checkers:
            fault = int(4)
    faults[row] = wp.int8(fault)
