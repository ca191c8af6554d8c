"""Choosing among the afterstates of each game."""

from __future__ import annotations

import warp as wp

__all__ = ["best_rows", "keep_rows"]

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


SURELY_KEPT = wp.constant(wp.float32(3.0e38))
ABOVE_ALL = wp.constant(wp.float32(3.3e38))


@wp.func
def _rank(
    row: wp.int64, scores: wp.array(dtype=wp.float32), boards: wp.array2d(dtype=wp.int8), num_checkers: int
) -> wp.float32:
    """A row's score; above all where the play wins the game, below all where it is not a number."""
    score = scores[int(row)]
    if int(boards[int(row), 0]) == num_checkers:
        score = SURELY_KEPT
    if not (score >= -SURELY_KEPT):
        score = -SURELY_KEPT
    return score


@wp.kernel
def keep_rows(
    first: int,
    ends: wp.array(dtype=wp.int64),
    kept_ends: wp.array(dtype=wp.int64),
    scores: wp.array(dtype=wp.float32),
    boards: wp.array2d(dtype=wp.int8),
    num_checkers: int,
    kept: wp.array(dtype=wp.int64),
):
    """The rows of each game with the highest scores, in their order, ties to the lowest.

    Game g owns the rows ``ends[g - 1]`` up to ``ends[g]`` of ``scores`` ``[M]`` and of ``boards`` ``[M, 52]``, whose
    mover is side 0 and has won with ``num_checkers`` off; and the places ``kept_ends[g - 1]`` up to ``kept_ends[g]`` of
    ``kept``, not more than it has rows.
    """
    game = first + wp.tid()
    begin = wp.int64(0)
    place = wp.int64(0)
    if game > 0:
        begin = ends[game - 1]
        place = kept_ends[game - 1]
    number = int(kept_ends[game] - place)
    # The last row to be kept: as many times the next lower one.
    last = wp.float32(ABOVE_ALL)
    last_row = wp.int64(-1)
    if wp.int64(number) < ends[game] - begin:
        for _ in range(number):
            best = wp.float32(-ABOVE_ALL)
            best_row = wp.int64(-1)
            row = wp.int64(begin)
            while row < ends[game]:
                score = _rank(row, scores, boards, num_checkers)
                if score > best and (score < last or (score == last and row > last_row)):
                    best = wp.float32(score)
                    best_row = wp.int64(row)
                row += wp.int64(1)
            last = wp.float32(best)
            last_row = wp.int64(best_row)
    else:
        last = wp.float32(-ABOVE_ALL)
    row = wp.int64(begin)
    while row < ends[game]:
        score = _rank(row, scores, boards, num_checkers)
        if score > last or (score == last and row <= last_row):
            kept[int(place)] = wp.int64(row)
            place += wp.int64(1)
        row += wp.int64(1)
