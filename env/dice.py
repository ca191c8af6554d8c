"""Dice and the other random choices of games, from counter-based streams.

Every draw is a pure function of (seed, slot, number, purpose), so games replay exactly and do not depend on how
their slots are split over processes. ``slots`` and ``numbers`` are ``[N]`` int64: the game slot, numbered over all
processes, and how often that slot has drawn for this purpose. A seed is any 64-bit integer.
"""

from __future__ import annotations

from enum import IntEnum

import torch
from torch import Tensor

from .kernels.random import draw_uniform, draw_words, roll_dice
from .launch import launch_rows

__all__ = ["Purpose", "check_seed", "opening_rolls", "opening_ties", "random_words", "rolls", "uniforms"]


class Purpose(IntEnum):
    """What a stream is for; different purposes never share a number."""

    DICE = 0
    TIE = 1
    POLICY = 2
    LEARNER = 3
    OPENING_TIES = 4


def check_seed(seed: int) -> int:
    """Return ``seed`` as a signed 64-bit integer, or raise ``ValueError``."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed: found {seed}, wanted an integer from 0 to 2^64 - 1")
    return seed - 2**64 if seed >= 2**63 else seed


def rolls(seed: int, slots: Tensor, numbers: Tensor, opening: Tensor | None = None) -> Tensor:
    """Two dice a slot, ``[N, 2]`` int8. Where ``opening`` ``[N]`` bool holds, the two differ (rules.md 1.2):

    the first die is player 0's, the second player 1's, and ties have been rolled again.
    """
    if opening is None:
        opening = torch.zeros_like(slots, dtype=torch.bool)
    dice = torch.empty((slots.shape[0], 2), dtype=torch.int8, device=slots.device)
    arguments = (check_seed(seed), slots, numbers, int(Purpose.DICE), opening, dice)
    launch_rows(roll_dice, slots.shape[0], *arguments, device=slots.device)
    return dice


def opening_rolls(seed: int, slots: Tensor, numbers: Tensor) -> Tensor:
    """Opening rolls, ``[N, 2]`` int8: player 0's die and player 1's; the higher one starts with both numbers."""
    return rolls(seed, slots, numbers, torch.ones_like(slots, dtype=torch.bool))


def opening_ties(seed: int, slots: Tensor, numbers: Tensor, most: int) -> Tensor:
    """How often an opening roll was a tie before it was the one of `opening_rolls`, ``[N]`` int64, at most ``most``.

    Each further tie has probability 1/6. Their numbers are in no stream; how many there were has its own.
    """
    word = random_words(seed, slots, numbers, Purpose.OPENING_TIES)[:, 0]
    ties = torch.zeros_like(slots)
    for tie in range(1, most + 1):
        ties = ties + (word < 2**32 // 6**tie)
    return ties


def uniforms(seed: int, slots: Tensor, numbers: Tensor, purpose: Purpose) -> Tensor:
    """One number in [0, 1) a slot, ``[N]`` float32."""
    result = torch.empty(slots.shape[0], dtype=torch.float32, device=slots.device)
    arguments = (check_seed(seed), slots, numbers, int(purpose), result)
    launch_rows(draw_uniform, slots.shape[0], *arguments, device=slots.device)
    return result


def random_words(seed: int, slots: Tensor, numbers: Tensor, purpose: Purpose) -> Tensor:
    """Four independent numbers from 0 to 2^32 - 1 a slot, ``[N, 4]`` int64."""
    result = torch.empty((slots.shape[0], 4), dtype=torch.int64, device=slots.device)
    arguments = (check_seed(seed), slots, numbers, int(purpose), result)
    launch_rows(draw_words, slots.shape[0], *arguments, device=slots.device)
    return result
