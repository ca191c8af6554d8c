"""Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) as a Warp function.

A draw is a function of its key and counter alone: key = seed (64 bits), counter = (draw number, 64 bits; game slot;
purpose). So the dice of a slot do not depend on how many slots there are, on how they are split over
processes, or on what was drawn before.
"""

from __future__ import annotations

import warp as wp

__all__ = ["draw_uniform", "draw_words", "philox", "roll_dice"]

wp.set_module_options({"enable_backward": False, "fast_math": False})

WORD = wp.constant(wp.uint64(0xFFFFFFFF))
MULTIPLIER_0 = wp.constant(wp.uint64(0xD2511F53))
MULTIPLIER_1 = wp.constant(wp.uint64(0xCD9E8D57))
WEYL_0 = wp.constant(wp.uint32(0x9E3779B9))
WEYL_1 = wp.constant(wp.uint32(0xBB67AE85))
WORDS = wp.types.vector(length=4, dtype=wp.uint32)


@wp.func
def philox(counter: WORDS, key_0: wp.uint32, key_1: wp.uint32) -> WORDS:
    """Four random 32-bit words for a counter of four words and a key of two."""
    x0 = wp.uint32(counter[0])
    x1 = wp.uint32(counter[1])
    x2 = wp.uint32(counter[2])
    x3 = wp.uint32(counter[3])
    k0 = wp.uint32(key_0)
    k1 = wp.uint32(key_1)
    for _ in range(10):
        product_0 = MULTIPLIER_0 * wp.uint64(x0)
        product_1 = MULTIPLIER_1 * wp.uint64(x2)
        y0 = wp.uint32(product_1 >> wp.uint64(32)) ^ x1 ^ k0
        y2 = wp.uint32(product_0 >> wp.uint64(32)) ^ x3 ^ k1
        x1 = wp.uint32(product_1 & WORD)
        x3 = wp.uint32(product_0 & WORD)
        x0 = wp.uint32(y0)
        x2 = wp.uint32(y2)
        k0 = k0 + WEYL_0
        k1 = k1 + WEYL_1
    return WORDS(x0, x1, x2, x3)


@wp.func
def _draw(seed: wp.int64, slot: wp.int64, number: wp.int64, purpose: int) -> WORDS:
    counter = WORDS(
        wp.uint32(wp.uint64(number) & WORD),
        wp.uint32(wp.uint64(number) >> wp.uint64(32)),
        wp.uint32(wp.uint64(slot) & WORD),
        wp.uint32(purpose),
    )
    return philox(counter, wp.uint32(wp.uint64(seed) & WORD), wp.uint32(wp.uint64(seed) >> wp.uint64(32)))


@wp.func
def _below(word: wp.uint32, bound: int) -> int:
    """A number from 0 to ``bound`` - 1; each has probability 1 / bound to within 2^-32."""
    return int((wp.uint64(word) * wp.uint64(bound)) >> wp.uint64(32))


@wp.kernel
def draw_words(
    first: int,
    seed: wp.int64,
    slots: wp.array(dtype=wp.int64),
    numbers: wp.array(dtype=wp.int64),
    purpose: int,
    words: wp.array2d(dtype=wp.int64),
):
    """The four words of each slot's draw, 0 to 2^32 - 1."""
    row = first + wp.tid()
    drawn = _draw(seed, slots[row], numbers[row], purpose)
    for i in range(4):
        words[row, i] = wp.int64(drawn[i])


@wp.kernel
def draw_uniform(
    first: int,
    seed: wp.int64,
    slots: wp.array(dtype=wp.int64),
    numbers: wp.array(dtype=wp.int64),
    purpose: int,
    uniforms: wp.array(dtype=wp.float32),
):
    """One number in [0, 1) a slot, a multiple of 2^-24."""
    row = first + wp.tid()
    drawn = _draw(seed, slots[row], numbers[row], purpose)
    uniforms[row] = wp.float32(drawn[0] >> wp.uint32(8)) * wp.float32(5.9604644775390625e-8)


@wp.kernel
def roll_dice(
    first: int,
    seed: wp.int64,
    slots: wp.array(dtype=wp.int64),
    numbers: wp.array(dtype=wp.int64),
    purpose: int,
    opening: wp.array(dtype=wp.bool),
    dice: wp.array2d(dtype=wp.int8),
):
    """Two dice a slot. An opening roll is one of the 30 ordered pairs of different numbers, all equally likely."""
    row = first + wp.tid()
    drawn = _draw(seed, slots[row], numbers[row], purpose)
    if opening[row]:
        pair = _below(drawn[0], 30)
        die = pair / 5
        other = pair % 5
        if other >= die:
            other += 1
        dice[row, 0] = wp.int8(die + 1)
        dice[row, 1] = wp.int8(other + 1)
    else:
        dice[row, 0] = wp.int8(_below(drawn[0], 6) + 1)
        dice[row, 1] = wp.int8(_below(drawn[1], 6) + 1)
