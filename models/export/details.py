"""The detailed inputs (`models.kernels.cells.detail`) as plain tensor operations, for `cells.plain_encode`.

Points are columns: a mask ``[..., 24]`` speaks of points 1 to 24 of its side, so a move by a die shifts it to the left.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from ...env.variants import Variant

__all__ = ["detailed_board_inputs", "detailed_cells", "numbers", "rear"]

_DICE = range(1, 7)
_PRIME = 7


def detailed_board_inputs(side: Tensor) -> Tensor:
    """A side's 62 detailed inputs from its 26 cells ``[N, 26]``."""
    points, off = side[:, 1:25, None], side[:, :1]
    more = (points >= numbers(4, 6, side)).float().flatten(1)
    return torch.cat([more, (off >= numbers(2, 16, side)).float()], 1)


def detailed_cells(counts: Tensor, side: int, rules: Variant) -> list[Tensor]:
    """Seven counted cells ``[N]`` of one side of ``counts`` ``[N, 2, 26]``, as whole numbers in float32."""
    own, other = counts[:, side], counts[:, 1 - side]
    points = numbers(0, 26, own)
    if rules.blocking:
        closed = (other[:, 1:25] > 0).float().roll(12, -1)
        blots = closed * 0
        left = own[:, 13:].sum(-1)
    else:
        theirs = other[:, 1:25].flip(-1)
        closed, blots = (theirs >= 2).float(), (theirs == 1).float()
        left = (own * (points >= 26 - rear(other)[:, None])).sum(-1)
    last = rear(own)
    following = rear(own - (points == last[:, None]).float())
    rolls = [_hitting(own, blots, closed), _escaping(last, closed), _escaping(following, closed)]
    sums = [left, own[:, 1:7].sum(-1), own[:, 1:4].sum(-1), torch.floor((own * points).sum(-1) / 8)]
    return [*(total.clamp(max=15) for total in sums), *(torch.floor((number + 2) / 3) for number in rolls)]


def rear(side: Tensor) -> Tensor:
    """The highest point held ``[N]``, 25 the bar, 0 if all are off."""
    return ((side > 0) * numbers(0, 26, side)).amax(-1)


def numbers(first: int, end: int, like: Tensor) -> Tensor:
    """``first`` to ``end - 1`` as float32 on the device of ``like``."""
    return torch.arange(first, end, dtype=torch.float32, device=like.device)


def _moved(points: Tensor, die: int) -> Tensor:
    return pad(points[..., die:], (0, die))


def _each_moved(points: Tensor) -> Tensor:
    """``[N, 6, 24]`` moved once, row d - 1 by d."""
    return torch.stack([_moved(points[:, die - 1], die) for die in _DICE], 1)


def _count(doubles: Tensor, others: Tensor) -> Tensor:
    """Of 36 rolls, from 0 or 1 for each of the doubles ``[N, 6]`` and each pair of dice ``[N, 6, 6]``, symmetric."""
    different = 1 - torch.eye(6, device=others.device)
    return doubles.sum(-1) + (others * different).sum((-1, -2))


def _either(by_first: Tensor) -> Tensor:
    """Of each pair of dice: is it so in one order or the other?"""
    return torch.maximum(by_first, by_first.transpose(-1, -2))


def _hitting(own: Tensor, blots: Tensor, closed: Tensor) -> Tensor:
    """By how many of 36 rolls a checker of ``own`` ``[N, 26]`` hits (`kernels.cells._hitting_rolls`)."""
    free, bar = 1 - closed, own[:, 25]
    others = (own[:, 1:25] > 0).float()[:, None].expand(-1, 6, -1)
    entry = free[:, 18:].flip(-1)  # [N, 6] by die
    entry_hits = entry * blots[:, 18:].flip(-1)
    entered = torch.maximum(others, entry[..., None] * torch.eye(24, device=own.device)[18:].flip(0))

    def hits(points: Tensor) -> Tensor:
        return (points * blots.view(-1, *[1] * (points.dim() - 2), 24)).amax(-1)

    def then(points: Tensor) -> Tensor:
        """``[N, 6, 6]``: does the second die hit, from ``points`` ``[N, 6, 24]`` where the first has led?"""
        return torch.stack([hits(_moved(points, die)) for die in _DICE], -1)

    once = _each_moved(others) * free[:, None]
    on_board = torch.maximum(_either(hits(once)[:, :, None].expand(-1, -1, 6)), _either(then(once)))
    one_entering = _either(torch.maximum(entry_hits[:, :, None], entry[:, :, None] * then(entered)))
    more_entering = _either(entry_hits[:, :, None].expand(-1, -1, 6))
    on_bar = bar[:, None, None]
    different = torch.where(on_bar == 0, on_board, torch.where(on_bar == 1, one_entering, more_entering))
    movers = torch.where(on_bar == 0, others, entered)
    doubles = torch.where(bar[:, None] > 0, entry_hits, entry_hits * 0)
    steps = torch.where(bar[:, None] > 0, entry * (4 - bar[:, None]), torch.full_like(entry, 4.0))
    for step in range(1, 5):
        movers = _each_moved(movers) * free[:, None]
        doubles = torch.maximum(doubles, hits(movers) * (steps >= step))
    return _count(doubles, different)


def _escaping(point: Tensor, closed: Tensor) -> Tensor:
    """By how many of 36 rolls a checker on ``point`` ``[N]`` escapes (`kernels.cells._escaping_rolls`)."""
    target = point[:, None] - numbers(0, 25, closed)  # [N, 25], the point at each distance
    ahead = closed.gather(1, (target - 1).clamp(0, 23).long()) * (target >= 1)
    far = (ahead[:, 1 : _PRIME + 1] * numbers(1, _PRIME + 1, closed)).amax(-1, keepdim=True)
    dice = numbers(1, 7, closed)
    sums = dice[:, None] + dice
    alone = (1 - ahead[:, 1:7]) * (dice > far)
    way = _either((1 - ahead[:, 1:7])[:, :, None].expand(-1, -1, 6))
    landing = (1 - ahead)[:, sums.long().flatten()].view(-1, 6, 6) * (sums > far[:, :, None])
    others = torch.maximum(way * landing, _either(alone[:, :, None].expand(-1, -1, 6)))
    doubles, alive = alone, 1 - ahead[:, 1:7]
    for step in range(2, 5):
        alive = alive * (1 - ahead[:, step : 6 * step + 1 : step])
        doubles = torch.maximum(doubles, alive * (step * dice > far))
    return torch.where(far[:, 0] == 0, torch.full_like(point, 36.0), _count(doubles, others))
