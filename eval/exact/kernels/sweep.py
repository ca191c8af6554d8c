"""One step of value iteration: values of positions from those of the positions a turn later, eight columns at once.

A value is kept as the player sees it who has just moved and whose opponent is on roll: so the mover takes the greatest
of what his plays lead to, column by column. Eight numbers are one line of a processor's cache, and the plays of
positions that follow each other lead to a few hundred lines.
"""

from __future__ import annotations

import warp as wp

__all__ = ["COLUMNS", "VALUES", "commit", "follow", "sweep"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 8})

COLUMNS = 8
VALUES = wp.types.vector(length=COLUMNS, dtype=wp.float64)
LOWEST = wp.constant(wp.float64(-1.0e30))
DOUBLE_ROLL = wp.constant(wp.float64(1.0 / 36.0))
OTHER_ROLL = wp.constant(wp.float64(2.0 / 36.0))


@wp.func
def _share(roll: int) -> wp.float64:
    """How often a roll comes up; the six doubles come first."""
    share = wp.float64(OTHER_ROLL)
    if roll < 6:
        share = wp.float64(DOUBLE_ROLL)
    return share


@wp.func
def _cell(code: int, other: int, after_hits: wp.array2d(dtype=wp.int16)) -> int:
    """Where the value after a play is kept: the other side, then on roll, and the side that has moved."""
    return int(after_hits[other, (code >> 12) & 7]) * after_hits.shape[0] + (code & 4095)


@wp.kernel
def sweep(
    first: int,
    movers: wp.array(dtype=wp.int16),
    others: wp.array(dtype=wp.int16),
    begins: wp.array(dtype=wp.int32),
    codes: wp.array(dtype=wp.int16),
    after_hits: wp.array2d(dtype=wp.int16),
    values: wp.array(dtype=VALUES),
    flips: wp.array(dtype=wp.int32),
    doubles: wp.array(dtype=wp.int32),
    stakes: wp.array(dtype=wp.float64),
    drops: wp.array(dtype=wp.float64),
    no_double: bool,
    out_first: int,
    found: wp.array(dtype=VALUES),
    changes: wp.array(dtype=wp.float64),
):
    """The best reply to each roll, the average over the rolls, the cube, and the other player's view of it.

    ``values`` ``[S * S]`` is read only. Row ``r`` goes to row ``r - out_first`` of ``found``: its new value or, with
    ``no_double``, that of not doubling for the player on roll. ``changes[r]`` is how far the new value is from the old.
    The columns are described by ``flips`` to ``drops`` ``[8]`` as in `payoffs.Payoffs`.
    """
    row = first + wp.tid()
    other = int(others[row])
    at = int(begins[row])
    rolling = VALUES()
    for roll in range(21):
        best = VALUES(LOWEST)
        more = bool(True)
        while more:
            code = int(codes[at])
            best = wp.max(best, values[_cell(code, other, after_hits)])
            more = code >= 0
            at += 1
        rolling = rolling + _share(roll) * best
    before = VALUES()
    for column in range(COLUMNS):
        after_double = doubles[column]
        offered = wp.min(stakes[column] * rolling[wp.max(after_double, 0)], drops[column])
        before[column] = wp.where(after_double >= 0, wp.max(rolling[column], offered), rolling[column])
    seen = VALUES()
    for column in range(COLUMNS):
        seen[column] = -before[flips[column]]
    changes[row] = wp.max(wp.abs(seen - values[int(movers[row]) * after_hits.shape[0] + other]))
    if no_double:
        found[row - out_first] = rolling
    else:
        found[row - out_first] = seen


@wp.kernel
def follow(
    first: int,
    movers: wp.array(dtype=wp.int16),
    others: wp.array(dtype=wp.int16),
    begins: wp.array(dtype=wp.int32),
    codes: wp.array(dtype=wp.int16),
    after_hits: wp.array2d(dtype=wp.int16),
    guide: wp.array(dtype=wp.float64),
    values: wp.array(dtype=VALUES),
    flips: wp.array(dtype=wp.int32),
    out_first: int,
    found: wp.array(dtype=VALUES),
    changes: wp.array(dtype=wp.float64),
):
    """As `sweep` for probabilities: each roll is played as ``guide`` ``[S * S]`` has it best, ties to the first play,
    and the other player's view keeps the sign.
    """
    row = first + wp.tid()
    other = int(others[row])
    at = int(begins[row])
    rolling = VALUES()
    for roll in range(21):
        highest = wp.float64(LOWEST)
        choice = int(0)
        more = bool(True)
        while more:
            code = int(codes[at])
            cell = _cell(code, other, after_hits)
            if guide[cell] > highest:
                highest = wp.float64(guide[cell])
                choice = wp.int32(cell)
            more = code >= 0
            at += 1
        rolling = rolling + _share(roll) * values[choice]
    seen = VALUES()
    for column in range(COLUMNS):
        seen[column] = rolling[flips[column]]
    changes[row] = wp.max(wp.abs(seen - values[int(movers[row]) * after_hits.shape[0] + other]))
    found[row - out_first] = seen


@wp.kernel
def commit(
    first: int,
    movers: wp.array(dtype=wp.int16),
    others: wp.array(dtype=wp.int16),
    num_sides: int,
    out_first: int,
    found: wp.array(dtype=VALUES),
    values: wp.array(dtype=VALUES),
):
    """Put the new values of some positions in their places."""
    row = first + wp.tid()
    values[int(movers[row]) * num_sides + int(others[row])] = found[row - out_first]
