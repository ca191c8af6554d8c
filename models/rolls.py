"""The 21 rolls of two dice and their chances."""

from __future__ import annotations

import torch
from torch import Tensor

from .constants import constant

__all__ = ["NUM_ROLLS", "ROLLS", "every_roll", "opening_chances", "roll_chances", "roll_numbers"]

# Higher die first: (1, 1), (2, 1), (2, 2), (3, 1) and so on; the order of every table by rolls.
ROLLS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]
NUM_ROLLS = len(ROLLS)


def every_roll(number: int, device: torch.device) -> Tensor:
    """The dice of all `ROLLS` for each of ``number`` positions in a row, ``[number * 21, 2]`` int8."""
    dice = constant(tuple(die for roll in ROLLS for die in roll), device, torch.int8)
    return dice.view(NUM_ROLLS, 2).repeat(number, 1)


def roll_chances(device: torch.device) -> Tensor:
    """Chances of `ROLLS`, ``[21]`` float32."""
    return constant(tuple((1 if high == low else 2) / 36 for high, low in ROLLS), device)


def opening_chances(device: torch.device) -> Tensor:
    """Chances of `ROLLS` as the opening roll, which is never a double: ``[21]`` float32."""
    return constant(tuple(0.0 if high == low else 1 / 15 for high, low in ROLLS), device)


def roll_numbers(dice: Tensor) -> Tensor:
    """Places in `ROLLS` of dice ``[..., 2]`` in any order, ``[...]`` int64."""
    high, low = dice.long().amax(-1), dice.long().amin(-1)
    return high * (high - 1) // 2 + low - 1
