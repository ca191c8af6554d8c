"""The values of afterstates in one pass: the inference form of `models.values`, which tests hold them to."""

from __future__ import annotations

import warp as wp

from .status import highest_loss, rearmost

__all__ = ["context_values", "play_values"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})


@wp.func
def _softplus(x: wp.float32) -> wp.float32:
    result = wp.float32(x)
    if x < 20.0:
        result = wp.log(1.0 + wp.exp(x))
    return result


CHANCES = wp.types.vector(length=6, dtype=wp.float32)
NUM_NUMBERS = wp.constant(9)  # raw outputs before the context units


@wp.func
def _chances(raw: wp.array2d(dtype=wp.float32), row: int, can_win: int, can_lose: int) -> CHANCES:
    """Outcome probabilities for the player on roll, who can win levels up to ``can_win`` and lose to ``can_lose``."""
    top = wp.float32(raw[row, 0])
    for level in range(3):
        if level < can_win:
            top = wp.max(top, raw[row, level])
        if level < can_lose:
            top = wp.max(top, raw[row, 3 + level])
    chances = CHANCES()
    total = float(0.0)
    for level in range(3):
        if level < can_win:
            chances[level] = wp.exp(raw[row, level] - top)
            total += chances[level]
        if level < can_lose:
            chances[3 + level] = wp.exp(raw[row, 3 + level] - top)
            total += chances[3 + level]
    return chances / total


@wp.kernel
def play_values(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    raw: wp.array2d(dtype=wp.float32),
    max_level: int,
    values: wp.array2d(dtype=wp.float32),
):
    """Fill the first four columns of ``values`` for the mover of the afterstates ``boards`` ``[M, 52]`` (mover side 0).

    ``raw`` ``[M, 9 + U]`` is the network's output for the player on roll next. Columns: cubeless equity, then the cube
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
        chances = _chances(raw, row, mine_lose, their_lose)
        equity = float(0.0)
        for level in range(3):
            equity += (chances[level] - chances[3 + level]) * wp.float32(level + 1)
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


@wp.func
def _heads(
    raw: wp.array2d(dtype=wp.float32),
    row: int,
    joined: wp.array2d(dtype=wp.float32),
    game: int,
    weights: wp.array2d(dtype=wp.float32),
) -> wp.vec3:
    """The cube head's three numbers at the stake whose description is ``joined`` to the context units."""
    heads = wp.vec3(raw[row, 6], raw[row, 7], raw[row, 8])
    for unit in range(joined.shape[1]):
        own = raw[row, NUM_NUMBERS + unit]
        change = wp.max(own + joined[game, unit], 0.0) - wp.max(own, 0.0)
        for state in range(3):
            heads[state] += change * weights[state, unit]
    return heads


@wp.kernel
def context_values(
    first: int,
    boards: wp.array2d(dtype=wp.int8),
    raw: wp.array2d(dtype=wp.float32),
    max_level: int,
    games: wp.array(dtype=wp.int64),
    payoffs: wp.array2d(dtype=wp.float32),
    doubled_payoffs: wp.array2d(dtype=wp.float32),
    scales: wp.array2d(dtype=wp.float32),
    may: wp.array2d(dtype=wp.bool),
    joined: wp.array2d(dtype=wp.float32),
    doubled_joined: wp.array2d(dtype=wp.float32),
    weights: wp.array2d(dtype=wp.float32),
    values: wp.array2d(dtype=wp.float32),
):
    """Fill columns 4 to 6 of ``values``: the cube centred, mine, theirs at each game's own stake, normalised.

    All but ``boards``, ``raw`` and ``values`` is by game, from the view of the player on roll next: the normalised
    worth of the outcomes ``[N, 6]`` now and at the doubled cube; ``scales`` ``[N, 2]`` and ``may`` ``[N, 3]`` (he may
    double, the other may, the other may redouble) as in `models.stakes.Stakes`; the stake's part of the context units
    ``[N, U]``, now and doubled. ``weights`` ``[3, U]`` lead from those units to the cube head.
    """
    row = first + wp.tid()
    game = int(games[row])
    mine_rear = rearmost(boards, row, 0)
    their_rear = rearmost(boards, row, 26)
    contact = mine_rear + their_rear > 25
    mine_lose = highest_loss(boards, row, 0, mine_rear, contact, max_level)
    their_lose = highest_loss(boards, row, 26, their_rear, contact, max_level)
    if mine_rear == 0:
        for column in range(3):
            values[row, 4 + column] = -payoffs[game, 2 + their_lose]
    else:
        chances = _chances(raw, row, mine_lose, their_lose)
        cubeless = float(0.0)
        doubled_cubeless = float(0.0)
        for outcome in range(6):
            cubeless += chances[outcome] * payoffs[game, outcome]
            doubled_cubeless += chances[outcome] * doubled_payoffs[game, outcome]
        worst = payoffs[game, 2 + their_lose]
        best = payoffs[game, mine_lose - 1]
        heads = _heads(raw, row, joined, game, weights)
        centred = cubeless + heads[0]
        owned = wp.clamp(centred + _softplus(heads[1]), worst, best)
        unavailable = wp.clamp(centred - _softplus(heads[2]), worst, best)
        centred = wp.clamp(centred, worst, best)
        if not may[game, 0]:
            owned = wp.float32(cubeless)
        if not may[game, 1]:
            unavailable = wp.float32(cubeless)
        if not (may[game, 0] or may[game, 1]):
            centred = wp.float32(cubeless)
        if may[game, 0]:
            taken = wp.float32(doubled_cubeless)
            if may[game, 2]:
                doubled_heads = _heads(raw, row, doubled_joined, game, weights)
                taken = doubled_cubeless + doubled_heads[0] - _softplus(doubled_heads[2])
                taken = wp.clamp(taken, doubled_payoffs[game, 2 + their_lose], doubled_payoffs[game, mine_lose - 1])
            doubled = wp.min(scales[game, 1] + scales[game, 0] * taken, 1.0)
            centred = wp.max(centred, doubled)
            owned = wp.max(owned, doubled)
        values[row, 4] = -centred
        values[row, 5] = -unavailable
        values[row, 6] = -owned
