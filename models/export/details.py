"""The detailed inputs (`models.kernels.cells.detail`) as plain tensor operations, for `cells.plain_encode`.

Points are columns: a mask ``[..., 24]`` speaks of points 1 to 24 of its side, so a move by a die shifts it to the left,
which is a product here: the fewer operations, the sooner a model is traced and the smaller its file.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...env.variants import Variant

__all__ = ["detailed_board_inputs", "detailed_cells", "numbers", "rear"]

_PRIME = 7


def detailed_board_inputs(side: Tensor) -> Tensor:
    """A side's 62 detailed inputs from its 26 cells ``[N, 26]``."""
    points, off = side[:, 1:25, None], side[:, :1]
    more = (points >= numbers(4, 6, side)).float().flatten(1)
    return torch.cat([more, (off >= numbers(2, 16, side)).float()], 1)


def detailed_cells(own: Tensor, other: Tensor, rules: Variant) -> list[Tensor]:
    """Seven counted cells ``[...]`` of the sides ``own`` against ``other`` ``[..., 26]``, whole numbers in float32."""
    points = numbers(0, 26, own)
    if rules.blocking:
        closed = (other[..., 1:25] > 0).float().roll(12, -1)
        blots = closed * 0
        left = own[..., 13:].sum(-1)
    else:
        theirs = other[..., 1:25].flip(-1)
        closed, blots = (theirs >= 2).float(), (theirs == 1).float()
        left = (own * (points >= 26 - rear(other)[..., None])).sum(-1)
    last = rear(own)
    following = rear(own - (points == last[..., None]).float())
    escaping = _escaping(torch.stack([last, following], -1), closed)
    rolls = [_hitting(own, blots, closed), *escaping.unbind(-1)]
    sums = [left, own[..., 1:7].sum(-1), own[..., 1:4].sum(-1), torch.floor((own * points).sum(-1) / 8)]
    return [*(total.clamp(max=15) for total in sums), *(torch.floor((number + 2) / 3) for number in rolls)]


def rear(side: Tensor) -> Tensor:
    """The highest point held ``[N]``, 25 the bar, 0 if all are off."""
    return ((side > 0) * numbers(0, 26, side)).amax(-1)


def numbers(first: int, end: int, like: Tensor) -> Tensor:
    """``first`` to ``end - 1`` as float32 on the device of ``like``."""
    return torch.arange(first, end, dtype=torch.float32, device=like.device)


def _shifts(like: Tensor) -> Tensor:
    """``[6, 24, 24]``: points times row d - 1 are the points moved by d, those that come below the first left out."""
    point = numbers(0, 24, like)
    return ((point[:, None] - point)[None] == numbers(1, 7, like)[:, None, None]).float()


def _each_moved(points: Tensor, shifts: Tensor) -> Tensor:
    """``points`` ``[..., 6, 24]``, or ``[..., 1, 24]`` for all dice, moved once by `_shifts`: row d - 1 by d."""
    return (points[..., None, :] @ shifts)[..., 0, :]


def _count(doubles: Tensor, others: Tensor) -> Tensor:
    """Of 36 rolls, from 0 or 1 for each double ``[..., 6]`` and each pair of dice ``[..., 6, 6]``, symmetric."""
    different = 1 - torch.eye(6, device=others.device)
    return doubles.sum(-1) + (others * different).sum((-1, -2))


def _either(by_first: Tensor) -> Tensor:
    """Of each pair of dice ``[..., 6, 6]``: is it so in one order or the other?"""
    return torch.maximum(by_first, by_first.transpose(-1, -2))


def _either_die(by_die: Tensor) -> Tensor:
    """Of each pair of dice: is it so, ``[..., 6]``, for one of them?"""
    return torch.maximum(by_die[..., :, None], by_die[..., None, :])


def _hitting(own: Tensor, blots: Tensor, closed: Tensor) -> Tensor:
    """By how many of 36 rolls a checker of ``own`` ``[..., 26]`` hits (`kernels.cells._hitting_rolls`)."""
    free, bar = 1 - closed, own[..., 25:]
    others = (own[..., 1:25] > 0).float()[..., None, :]  # [..., 1, 24], alike for all dice
    entry = free[..., 18:].flip(-1)  # [..., 6] by die
    entry_hits = entry * blots[..., 18:].flip(-1)
    entered = torch.maximum(others, entry[..., None] * torch.eye(24, device=own.device)[18:].flip(0))
    shifts = _shifts(own)
    in_reach = _each_moved(blots[..., None, :], shifts.transpose(-1, -2))  # [..., 6, 24]: from where each die hits

    def then(points: Tensor) -> Tensor:
        """``[..., 6, 6]``: does the second die hit, from ``points`` ``[..., 6, 24]`` where the first has led?"""
        return (points[..., :, None, :] * in_reach[..., None, :, :]).amax(-1)

    def hits(points: Tensor) -> Tensor:
        return (points * blots[..., None, :]).amax(-1)

    once = _each_moved(others, shifts) * free[..., None, :]
    on_board = torch.maximum(_either_die(hits(once)), _either(then(once)))
    one_entering = _either(torch.maximum(entry_hits[..., :, None], entry[..., :, None] * then(entered)))
    on_bar = bar[..., None]
    several = torch.where(on_bar == 1, one_entering, _either_die(entry_hits))
    different = torch.where(on_bar == 0, on_board, several)
    movers = torch.where(on_bar == 0, others, entered)
    doubles = torch.where(bar > 0, entry_hits, entry_hits * 0)
    steps = torch.where(bar > 0, entry * (4 - bar), torch.full_like(entry, 4.0))
    for step in range(1, 5):
        movers = _each_moved(movers, shifts) * free[..., None, :]
        doubles = torch.maximum(doubles, hits(movers) * (steps >= step))
    return _count(doubles, different)


def _escaping(point: Tensor, closed: Tensor) -> Tensor:
    """By how many of 36 rolls checkers on ``point`` ``[..., K]`` escape (`kernels.cells._escaping_rolls`)."""
    target = point[..., None] - numbers(0, 25, closed)  # [..., K, 25], the point at each distance
    board = closed[..., None, :].expand(*point.shape, 24)
    ahead = board.gather(-1, (target - 1).clamp(0, 23).long()) * (target >= 1)
    far = (ahead[..., 1 : _PRIME + 1] * numbers(1, _PRIME + 1, closed)).amax(-1, keepdim=True)
    dice = numbers(1, 7, closed)
    sums = dice[:, None] + dice
    free = 1 - ahead
    alone = free[..., 1:7] * (dice > far)
    landing = free[..., sums.long().flatten()].view(*point.shape, 6, 6) * (sums > far[..., None])
    others = torch.maximum(_either_die(free[..., 1:7]) * landing, _either_die(alone))
    doubles, alive = alone, free[..., 1:7]
    for step in range(2, 5):
        alive = alive * free[..., step : 6 * step + 1 : step]
        doubles = torch.maximum(doubles, alive * (step * dice > far))
    return torch.where(far[..., 0] == 0, torch.full_like(point, 36.0), _count(doubles, others))
