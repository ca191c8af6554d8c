"""Rates: a sum of one thing over a sum of another, both gathered game by game, with a standard error.

Decisions of one game are no independent samples, games are; so the error comes from how the games differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch import Tensor

__all__ = ["Rate", "rate"]


@dataclass(frozen=True)
class Rate:
    """``total / count`` with its standard error, None where there were too few games to tell."""

    mean: float
    standard_error: float | None
    count: int

    def times(self, factor: float) -> Rate:
        """In another unit."""
        error = None if self.standard_error is None else factor * self.standard_error
        return Rate(factor * self.mean, error, self.count)

    def __str__(self) -> str:
        if not self.count:
            return "–"
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2f}"
        return f"{self.mean:.2f}{error}"


def rate(amounts: Tensor, counts: Tensor) -> Rate:
    """The rate of ``amounts`` ``[G]`` to ``counts`` ``[G]`` over G independent games.

    The standard error is that of a ratio of sums (linearised, as surveys do for clusters); nothing is known of it from
    one game.
    """
    amounts, counts = amounts.double(), counts.double()
    games, total = len(counts), float(counts.sum())
    if not total:
        return Rate(0.0, None, 0)
    mean = float(amounts.sum()) / total
    if games < 2:
        return Rate(mean, None, round(total))
    square = float((amounts - mean * counts).square().sum()) * games / (games - 1)
    return Rate(mean, math.sqrt(square) / total, round(total))
