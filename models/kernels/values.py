"""The values of afterstates in one pass: the inference form of `models.values`, which a test holds it to."""

from __future__ import annotations

import warp as wp

from .status import highest_loss, rearmost

__all__ = ["play_values"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.func
def _softplus(x: wp.float32) -> wp.float32:
    result = wp.float32(x)
    if x < 20.0:
        result = wp.log(1.0 + wp.exp(x))
    return result


@wp.kernel
def play_values(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    raw: wp.array2d(dtype=wp.float32),
    max_level: int,
    values: wp.array2d(dtype=wp.float32),
):
    """Fill ``values`` ``[M, 4]`` for the mover of the afterstates ``boards`` ``[M, 52]`` (mover side 0).

    ``raw`` ``[M, 9]`` is the network's output for the player on roll next. Columns: cubeless equity, then the cube
    centred, mine, theirs as the mover sees it, in points per unit of the cube, the opponent's double included.
    """
    row = first + wp.tid()
    mine_rear = rearmost(boards, row, 0)
    their_rear = rearmost(boards, row, 26)
    contact = mine_rear + their_rear > 25
    mine_lose = highest_loss(boards, row, 0, mine_rear, contact, max_level)
    their_lose = highest_loss(boards, row, 26, their_rear, contact, max_level)
    if mine_rear == 0:  # over: the mover has borne off everything
        for column in range(4):
            values[row, column] = wp.float32(their_lose)
    else:
        # The player on roll next wins what the mover can lose: outcomes 0 to 2, and loses the rest.
        top = wp.float32(raw[row, 0])
        for level in range(3):
            if level < mine_lose:
                top = wp.max(top, raw[row, level])
            if level < their_lose:
                top = wp.max(top, raw[row, 3 + level])
        total = float(0.0)
        weighted = float(0.0)
        for level in range(3):
            if level < mine_lose:
                win = wp.exp(raw[row, level] - top)
                total += win
                weighted += win * wp.float32(level + 1)
            if level < their_lose:
                lose = wp.exp(raw[row, 3 + level] - top)
                total += lose
                weighted -= lose * wp.float32(level + 1)
        equity = weighted / total
        centred = equity + raw[row, 6]
        worst = -wp.float32(their_lose)
        best = wp.float32(mine_lose)
        owned = wp.clamp(centred + _softplus(raw[row, 7]), worst, best)
        unavailable = wp.clamp(centred - _softplus(raw[row, 8]), worst, best)
        doubled = wp.min(2.0 * unavailable, 1.0)
        values[row, 0] = -equity
        values[row, 1] = -wp.max(wp.clamp(centred, worst, best), doubled)
        values[row, 2] = -unavailable
        values[row, 3] = -wp.max(owned, doubled)
