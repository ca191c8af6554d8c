"""Numbers for the ways a side's few checkers can stand, and short codes for plays."""

from __future__ import annotations

import warp as wp

from ....env.kernels.rules import PACKED_BOARD

__all__ = ["code_plays", "number_sides"]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

LAST_OF_ROLL = wp.constant(1 << 15)
BYTE = wp.constant(wp.uint32(255))


@wp.func
def _key(board: PACKED_BOARD, side: int) -> int:
    """The places of a side's checkers, lowest first, as digits to the base 26."""
    key = int(0)
    for word in range(13):
        rest = wp.uint32(board[word])
        cell = 4 * word - 26 * side
        while rest != wp.uint32(0):
            if cell >= 0 and cell < 26:
                for _ in range(int(rest & BYTE)):
                    key = key * 26 + cell
            rest = rest >> wp.uint32(8)
            cell += 1
    return key


@wp.kernel
def number_sides(
    first: int,
    packed: wp.array(dtype=PACKED_BOARD),
    by_key: wp.array(dtype=wp.int16),
    numbers: wp.array2d(dtype=wp.int64),
):
    """Fill ``numbers`` ``[N, 2]`` with the numbers of both sides of every board; ``by_key`` knows them."""
    row = first + wp.tid()
    numbers[row, 0] = wp.int64(by_key[_key(packed[row], 0)])
    numbers[row, 1] = wp.int64(by_key[_key(packed[row], 1)])


@wp.kernel
def code_plays(
    first: int,
    games: wp.array(dtype=wp.int64),
    afterstates: wp.array2d(dtype=wp.int8),
    packed: wp.array(dtype=PACKED_BOARD),
    others: wp.array(dtype=wp.int16),
    blots: wp.array2d(dtype=wp.int8),
    by_key: wp.array(dtype=wp.int16),
    codes: wp.array(dtype=wp.int16),
):
    """One number for every row of `env.afterstates`, the mover being side 0.

    Bits 0 to 11 are the mover's side after the play, bits 12 to 14 say which of the other side's blots it hit, bit 15
    marks the last play of a roll. ``others`` is the number of each game's other side before the play, ``blots``
    ``[S, 3]`` the points of its blots, 0 where it has fewer.
    """
    row = first + wp.tid()
    code = int(by_key[_key(packed[row], 0)])
    other = int(others[int(games[row])])
    for blot in range(3):
        point = int(blots[other, blot])
        if point > 0:
            if afterstates[row, 26 + point] == wp.int8(0):
                code = code | (4096 << blot)
    last = bool(True)
    if row + 1 < games.shape[0]:
        last = games[row + 1] != games[row]
    if last:
        code = code | LAST_OF_ROLL
    codes[row] = wp.int16(code)
