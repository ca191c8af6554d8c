"""Choosing among the afterstates of each game."""

from __future__ import annotations

import warp as wp

__all__ = ["best_rows"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.kernel
def best_rows(
    first: int,
    ends: wp.array(dtype=wp.int64),
    values: wp.array2d(dtype=wp.float32),
    best: wp.array2d(dtype=wp.int64),
):
    """For each column of ``values`` ``[M, K]``, the row with the highest value among one game's; ties to the lowest.

    Game g owns the rows ``ends[g - 1]`` up to ``ends[g]``.
    """
    game = first + wp.tid()
    begin = wp.int64(0)
    if game > 0:
        begin = ends[game - 1]
    for column in range(values.shape[1]):
        row = wp.int64(begin)
        choice = wp.int64(begin)
        highest = values[int(begin), column]
        while row < ends[game]:
            value = values[int(row), column]
            if value > highest:
                highest = wp.float32(value)
                choice = wp.int64(row)
            row += wp.int64(1)
        best[game, column] = choice
