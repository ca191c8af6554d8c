"""The rules of moving as Warp functions: which checkers a die may move, and how a turn's plays are listed once.

Everything works on bit masks over the mover's points: bit p of ``occupied`` says that the mover has a checker on
p (25 is the bar), bit p of ``open_points`` that a checker may land there. Rule numbers are those of
``docs/rules.md``. One source serves CPU and CUDA; no function allocates.
"""

from __future__ import annotations

import warp as wp

__all__ = [
    "PACKED_BOARD",
    "clear_if_last",
    "count_bits",
    "highest",
    "land",
    "lowest",
    "occupied_points",
    "open_points",
    "reverse_bits",
    "sources",
]

wp.set_module_options({"enable_backward": False, "fast_math": False, "max_unroll": 4})

# A board is 52 bytes, so one load and one store move it whole.
PACKED_BOARD = wp.types.vector(length=13, dtype=wp.int32)

BAR = wp.constant(25)
BAR_BIT = wp.constant(wp.uint32(1 << 25))
POINT_BITS = wp.constant(wp.uint32(0x01FFFFFE))  # points 1 to 24
ONE = wp.constant(wp.uint32(1))


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return 31 - __clz((int)mask);
#else
    return mask ? 31 - __builtin_clz(mask) : -1;
#endif
""")
def highest(mask: wp.uint32) -> int:
    """Number of the highest bit that is set, -1 if none is."""
    ...


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return __ffs((int)mask) - 1;
#else
    return mask ? __builtin_ctz(mask) : -1;
#endif
""")
def lowest(mask: wp.uint32) -> int:
    """Number of the lowest bit that is set, -1 if none is."""
    ...


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return __popc((int)mask);
#else
    return __builtin_popcount(mask);
#endif
""")
def count_bits(mask: wp.uint32) -> int:
    """Number of bits that are set."""
    ...


@wp.func_native("""
#if defined(__CUDA_ARCH__)
    return __brev(mask);
#else
    return __builtin_bitreverse32(mask);
#endif
""")
def reverse_bits(mask: wp.uint32) -> wp.uint32:
    """Bit i becomes bit 31 - i."""
    ...


@wp.func
def occupied_points(boards: wp.array2d(dtype=wp.int8), row: int, side: int) -> wp.uint32:
    """Points of ``side`` (its own numbering, bar included, off not) that hold at least one of its checkers."""
    mask = wp.uint32(0)
    for point in range(1, 26):
        if boards[row, side * 26 + point] > wp.int8(0):
            mask = mask | (ONE << wp.uint32(point))
    return mask


@wp.func
def open_points(boards: wp.array2d(dtype=wp.int8), row: int) -> wp.uint32:
    """Points (mover's numbering) where side 0 may land: the opponent holds at most one checker there (1.4)."""
    mask = wp.uint32(0)
    for point in range(1, 25):
        if boards[row, 26 + point] < wp.int8(2):
            mask = mask | (ONE << wp.uint32(25 - point))
    return mask


@wp.func
def sources(occupied: wp.uint32, landing: wp.uint32, die: int) -> wp.uint32:
    """Points from which one checker may be moved with ``die`` now (1.4, 1.6); several answers as bits."""
    mask = occupied & (landing << wp.uint32(die))
    if (occupied & BAR_BIT) != wp.uint32(0):
        mask = mask & BAR_BIT  # enter first
    elif (occupied >> wp.uint32(7)) == wp.uint32(0):  # all at home: bear off, exactly or from the highest point
        rest = occupied >> wp.uint32(die)
        if (rest & ONE) != wp.uint32(0):
            mask = mask | (ONE << wp.uint32(die))
        elif rest == wp.uint32(0) and occupied != wp.uint32(0):
            mask = mask | (ONE << wp.uint32(highest(occupied)))
    return mask


@wp.func
def clear_if_last(occupied: wp.uint32, point: int, remaining: int) -> wp.uint32:
    """``occupied`` after a checker has left ``point``, where ``remaining`` checkers stood before it left."""
    result = occupied
    if remaining == 1:
        result = result & (~(ONE << wp.uint32(point)))
    return result


@wp.func
def land(occupied: wp.uint32, point: int) -> wp.uint32:
    """``occupied`` after a checker has come to ``point``; at 0 or below it is off."""
    result = occupied
    if point > 0:
        result = result | (ONE << wp.uint32(point))
    return result
