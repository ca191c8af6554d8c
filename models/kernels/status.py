"""What can still happen in a position."""

from __future__ import annotations

import warp as wp

__all__ = ["possible_outcomes"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.kernel
def possible_outcomes(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    swap: int,
    possible: wp.array2d(dtype=wp.bool),
):
    """Fill ``possible`` ``[N, 6]`` for ``boards`` ``[N, 52]``; with ``swap`` 1 from the view of side 1.

    A side with a checker off loses no gammon. A backgammon needs a loser's checker in the winner's home or on the
    bar: once the sides have passed each other and none stands there, none will.
    """
    row = first + wp.tid()
    rear_sum = int(0)
    for side in range(2):
        rear = int(25)
        base = side * 26
        while rear > 0 and boards[row, base + rear] == wp.int8(0):
            rear -= 1
        rear_sum += rear
    for side in range(2):
        base = side * 26
        gammon = boards[row, base] == wp.int8(0)
        far = bool(False)
        for point in range(19, 26):
            far = far or boards[row, base + point] > wp.int8(0)
        # Outcomes that this side loses: the columns 3 to 5 for the player on roll, 0 to 2 for the other.
        column = 3 * (1 - (side ^ swap))
        possible[row, column] = True
        possible[row, column + 1] = gammon
        possible[row, column + 2] = gammon and (far or rear_sum > 25)
