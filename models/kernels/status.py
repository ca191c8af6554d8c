"""What can still happen in a position."""

from __future__ import annotations

import warp as wp

__all__ = ["highest_loss", "possible_outcomes", "rearmost"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.func
def rearmost(boards: wp.array2d(dtype=wp.int8), row: int, base: int) -> int:
    """Highest point held by the side whose cells begin at ``base``, 25 for the bar, 0 if all are off."""
    point = int(25)
    while point > 0 and boards[row, base + point] == wp.int8(0):
        point -= 1
    return point


@wp.func
def highest_loss(
    boards: wp.array2d(dtype=wp.int8), row: int, base: int, rear: int, contact: bool, max_level: int
) -> int:
    """Highest level that a side can still lose: 1, 2 or 3, never above ``max_level``.

    A side with a checker off loses no gammon. A backgammon needs a loser's checker in the winner's home or on the
    bar: once the sides have passed each other and none stands there, none will.
    """
    level = int(1)
    if boards[row, base] == wp.int8(0):
        level = int(2)
        if contact or rear >= 19:
            level = int(3)
    return wp.min(level, max_level)


@wp.kernel
def possible_outcomes(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    swap: int,
    max_level: int,
    possible: wp.array2d(dtype=wp.bool),
):
    """Fill ``possible`` ``[N, 6]`` for ``boards`` ``[N, 52]``; with ``swap`` 1 from the view of side 1."""
    row = first + wp.tid()
    rear_0 = rearmost(boards, row, 0)
    rear_1 = rearmost(boards, row, 26)
    contact = rear_0 + rear_1 > 25
    loss_0 = highest_loss(boards, row, 0, rear_0, contact, max_level)
    loss_1 = highest_loss(boards, row, 26, rear_1, contact, max_level)
    # What a side loses: the columns 3 to 5 for the player on roll, 0 to 2 for the other.
    for level in range(3):
        possible[row, 3 * (1 - swap) + level] = level < loss_0
        possible[row, 3 * swap + level] = level < loss_1
