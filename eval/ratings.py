"""Ratings from the results of pairs: points a game by least squares, Elo by the Bradley-Terry model.

Both are relative to one bot, whose rating is 0, and suppose that strength is one number: of two bots the difference of
ratings tells the result. It is not quite: nobody can win more than every game, and some bots suit each other. How far
the pairs' results are from what the ratings say is said beside them. Cost: a few small matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .statistics import Z95, Interval

__all__ = ["ELO_SCALE", "PairResult", "Ratings", "elo_ratings", "point_ratings"]

ELO_SCALE = 400 / math.log(10)  # Elo points to a unit of the logistic curve


@dataclass(frozen=True)
class PairResult:
    """What bot number ``first`` has reached against ``second``: points a game or, of matches, the share won.

    ``games`` are those that count, of matches the matches.
    """

    first: int
    second: int
    result: Interval
    games: int


@dataclass(frozen=True)
class Ratings:
    """Ratings of N bots.

    Attributes:
        values: the rating of each with its 95 % interval, relative to the bot ``zero``, whose own width is 0.
        residuals: of each pair, its result less what the ratings say, in points a game or the share won.
        zero: number of the bot rated 0.
        misfit: the residuals' root mean square.
        by_chance: what that would be if strength were one number.
    """

    values: tuple[Interval, ...]
    residuals: tuple[float, ...]
    zero: int
    misfit: float
    by_chance: float


def point_ratings(pairs: Sequence[PairResult], num_bots: int, zero: int = 0) -> Ratings:
    """Ratings in points a game, by least squares.

    Pairs count by their games, not by their intervals: those of a bot that wins every game are narrow, and tell the
    least. The ratings' widths follow from the pairs' own. ``ValueError`` if some bot is not connected with ``zero``.
    """
    design = _design(pairs, num_bots, zero)
    means = torch.tensor([pair.result.mean for pair in pairs], dtype=torch.float64)
    variances = torch.tensor([(pair.result.half_width / Z95) ** 2 for pair in pairs], dtype=torch.float64)
    weighted = design * torch.tensor([float(pair.games) for pair in pairs], dtype=torch.float64)[:, None]
    solve = torch.linalg.inv(weighted.T @ design) @ weighted.T
    values = solve @ means
    covariance = (solve * variances) @ solve.T
    return _ratings(values, covariance, means - design @ values, variances, zero)


def elo_ratings(pairs: Sequence[PairResult], num_bots: int, zero: int = 0) -> Ratings:
    """Ratings in Elo points, by maximum likelihood of the shares of matches won.

    A share counts for as many matches as its interval is worth: those on the same dice are less than independent, those
    less luck more. One drawn match more a pair keeps the rating of a bot that won them all finite. ``ValueError`` as
    for `point_ratings`.
    """
    design = _design(pairs, num_bots, zero)
    counts = torch.tensor([_matches(pair) for pair in pairs], dtype=torch.float64)
    shares = torch.tensor([min(max(pair.result.mean, 0.0), 1.0) for pair in pairs], dtype=torch.float64)
    shares, counts = (shares * counts + 0.5) / (counts + 1), counts + 1
    values = torch.zeros(num_bots - 1, dtype=torch.float64)
    for _ in range(100):
        expected = torch.sigmoid(design @ values)
        covariance = torch.linalg.inv((design * (counts * expected * (1 - expected))[:, None]).T @ design)
        step = covariance @ (design.T @ (counts * (shares - expected)))
        values = values + step.clamp(-1, 1)  # Newton's method may leap where all was won
        if float(step.abs().max()) < 1e-10:
            break
    variances = expected * (1 - expected) / counts
    return _ratings(values * ELO_SCALE, covariance * ELO_SCALE**2, shares - expected, variances, zero)


def _matches(pair: PairResult) -> float:
    """How many independent matches have a share with this interval."""
    share, error = pair.result.mean, pair.result.half_width / Z95
    if not 0 < share < 1 or error <= 0:
        return float(pair.games)
    return share * (1 - share) / error**2


def _design(pairs: Sequence[PairResult], num_bots: int, zero: int) -> Tensor:
    """``[pairs, num_bots - 1]``: +1 for the first bot, -1 for the second, without the column of ``zero``."""
    design = torch.zeros((len(pairs), num_bots), dtype=torch.float64)
    for row, pair in enumerate(pairs):
        design[row, pair.first], design[row, pair.second] = 1.0, -1.0
    known = {zero}
    for _ in range(num_bots):
        known |= {bot for pair in pairs for bot in (pair.first, pair.second) if {pair.first, pair.second} & known}
    missing = sorted(set(range(num_bots)) - known)
    if missing:
        raise ValueError(f"ladder: found no chain of results between bots {zero} and {missing[0]}, wanted one")
    return design[:, [bot for bot in range(num_bots) if bot != zero]]


def _ratings(values: Tensor, covariance: Tensor, residuals: Tensor, variances: Tensor, zero: int) -> Ratings:
    """``values`` ``[N - 1]`` and their ``covariance``; of each pair its residual and the variance of its result."""
    widths = Z95 * covariance.diagonal().sqrt()
    found = [Interval(mean, width) for mean, width in zip(values.tolist(), widths.tolist(), strict=True)]
    found.insert(zero, Interval(0.0, 0.0))
    spare = 1 - len(values) / len(residuals)  # the share of chance that the fit does not follow
    misfit, by_chance = residuals.square().mean().sqrt(), (spare * variances.mean()).sqrt()
    return Ratings(tuple(found), tuple(residuals.tolist()), zero, float(misfit), float(by_chance))
