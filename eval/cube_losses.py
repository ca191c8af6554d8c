"""What cube decisions cost where the equities are known, for one player and for two over the same positions.

Losses are in millipoints (0.001 of a point per unit of the cube before doubling) a decision. A take is judged only
where doubling is right or costs less than 0.1 of a point. Positions count as independent in standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["CubeComparison", "CubeLosses", "Less", "compare_cubes", "cube_losses"]

_DOUBTFUL = 0.1  # a take is judged where doubling is right or costs less than this, in points


@dataclass(frozen=True)
class CubeLosses:
    """Doubling before the roll, judged by equities of no double and of double and take.

    ``double`` and ``take`` are millipoints a decision, ``wrong_double`` and ``wrong_take`` shares of decisions; takes
    are judged in ``takes`` positions, those where doubling is right or nearly so.
    """

    double: float
    take: float
    wrong_double: float
    wrong_take: float
    positions: int
    takes: int


@dataclass(frozen=True)
class Less:
    """How much less the first of two players loses, millipoints a decision, paired by position; its standard error."""

    mean: float
    standard_error: float


@dataclass(frozen=True)
class CubeComparison:
    """A player beside another: what the ``other`` loses, and how much less the player does."""

    other: CubeLosses
    double: Less
    take: Less


def cube_losses(no_double: Tensor, double_take: Tensor, double: Tensor, take: Tensor) -> CubeLosses:
    """What cube decisions cost.

    Args:
        no_double: ``[n]`` float64, reference equity of rolling, in units of the cube before doubling.
        double_take: ``[n]`` float64, of doubling if taken; a drop is worth 1.
        double: ``[n]`` bool, the player on roll doubles.
        take: ``[n]`` bool, the opponent takes.
    """
    doubles, takes = _lost(no_double, double_take, double, take)
    return CubeLosses(
        double=_mean(doubles),
        take=_mean(takes),
        wrong_double=_mean(doubles > 0) / 1000,
        wrong_take=_mean(takes > 0) / 1000,
        positions=len(doubles),
        takes=len(takes),
    )


def compare_cubes(
    no_double: Tensor,
    double_take: Tensor,
    answers: tuple[Tensor, Tensor],
    others: tuple[Tensor, Tensor],
) -> CubeComparison:
    """One player's ``(double, take)`` beside another's over the same positions; equities as in `cube_losses`."""
    doubles, takes = _lost(no_double, double_take, *answers)
    other_doubles, other_takes = _lost(no_double, double_take, *others)
    return CubeComparison(
        other=cube_losses(no_double, double_take, *others),
        double=_less(other_doubles - doubles),
        take=_less(other_takes - takes),
    )


def _lost(no_double: Tensor, double_take: Tensor, double: Tensor, take: Tensor) -> tuple[Tensor, Tensor]:
    """Points lost by each double, ``[n]``, and by each take that is judged, ``[k]``: the same for all players."""
    offered = double_take.clamp(max=1.0)
    doubles = torch.maximum(no_double, offered) - torch.where(double, offered, no_double)
    judged = offered > no_double - _DOUBTFUL
    return doubles, (torch.where(take, double_take, 1.0) - offered)[judged]


def _mean(losses: Tensor) -> float:
    return 1000 * float(losses.double().mean()) if len(losses) else 0.0


def _less(difference: Tensor) -> Less:
    """Mean and standard error of paired differences in points."""
    error = 1000 * float(difference.std(correction=0)) / len(difference) ** 0.5 if len(difference) else 0.0
    return Less(_mean(difference), error)
