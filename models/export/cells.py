"""The encodings and the mask of possible outcomes as plain tensor operations, for export.

What `models.encoding.encode` and `models.values.possible_outcomes` compute by kernels is written here without bits,
loops over games or branches, so that it can be traced; tests hold it to them, number for number. Speed is no aim.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...env.variants import Variant
from ..encoding import NUM_BASIC_INPUTS
from ..kernels.cells import BASIC_SIZES, DETAIL_SIZES
from .details import detailed_board_inputs, detailed_cells, numbers, rear

__all__ = ["exact_outcomes", "plain_encode", "plain_possible"]

_LONGEST = 7  # a prime of more points counts as this
_MOST_SEEN = 4  # more blots, or closed points, count as this


def plain_encode(boards: Tensor, rules: Variant, num_inputs: int) -> Tensor:
    """The first ``num_inputs`` inputs, float32, of ``boards`` ``[N, 2, 26]``, any number type, side 0 on roll."""
    counts = boards.float()
    sides = torch.cat([_side_inputs(counts[:, side]) for side in (0, 1)], 1)  # [N, 202]
    cells = _blocking_cells(counts) if rules.blocking else _cells(counts)  # ten of [N]
    lead = ((counts[:, 1] - counts[:, 0]) * numbers(0, 26, counts)).sum(-1)
    cells.append(torch.floor((lead + 85) / 10).clamp(0, 15))
    hot = [_one_hot(cell, size) for cell, size in zip(cells, BASIC_SIZES, strict=True)]
    if num_inputs > NUM_BASIC_INPUTS:
        hot += [detailed_board_inputs(counts[:, side]) for side in (0, 1)]
        both = [
            _one_hot(cell, size)
            for cell, size in zip(detailed_cells(counts, counts.flip(1), rules), DETAIL_SIZES, strict=True)
        ]
        hot += [cell[:, side] for side in (0, 1) for cell in both]
    return torch.cat([sides, *hot], 1)


def _one_hot(cell: Tensor, size: int) -> Tensor:
    return (cell[..., None] == numbers(0, size, cell)).float()


def _side_inputs(side: Tensor) -> Tensor:
    """A side's 101 inputs from its 26 cells ``[N, 26]``."""
    points, bar, off = side[:, 1:25], side[:, 25:], side[:, :1]
    four = [(points == 1).float(), (points >= 2).float(), (points >= 3).float(), (points - 3).clamp(min=0) * 0.5]
    pips = (side * numbers(0, 26, side)).sum(-1, keepdim=True)
    rest = [(bar >= 1).float(), bar * 0.5, (off >= 1).float(), off / 15.0, pips / 167.0]
    return torch.cat([torch.stack(four, -1).flatten(1), *rest], 1)


def _longest_run(made: Tensor) -> Tensor:
    """Most neighbouring ones in a row of ``made`` ``[N, 24]``, at most 7."""
    run = made
    longest = made.amax(-1)
    for length in range(2, _LONGEST + 1):
        run = run[:, :-1] * made[:, length - 1 :]
        longest = longest + run.amax(-1)
    return longest


def _in_direct_range(side: Tensor, other: Tensor) -> Tensor:
    """How many of ``side``'s single checkers one of ``other``'s reaches with one die, at most 4."""
    single = (side[:, 1:25] == 1).float()
    behind = torch.nn.functional.pad((other[:, 1:] > 0).float().flip(-1), (5, 0))  # from five below the bar up
    reached = torch.stack([behind[:, 6 - die : 30 - die] for die in range(1, 7)]).amax(0)
    return (single * reached).sum(-1).clamp(max=_MOST_SEEN)


def _half_up(rear: Tensor) -> Tensor:
    return torch.floor((rear + 1) / 2)


def _cells(counts: Tensor) -> list[Tensor]:
    """The counted cells but the pip lead, where the sides meet (`kernels.cells.describe`)."""
    rears = [rear(counts[:, side]) for side in (0, 1)]
    cells = [(rears[0] + rears[1] <= 25).float()]
    for side in (0, 1):
        made = (counts[:, side, 1:25] >= 2).float()
        blots = _in_direct_range(counts[:, side], counts[:, 1 - side])
        cells += [made[:, :6].sum(-1), _longest_run(made), _half_up(rears[side]), blots]
    return cells


def _blocking_cells(counts: Tensor) -> list[Tensor]:
    """The same where both sides travel the same way round (`kernels.cells.describe_blocking`)."""
    rears = [rear(counts[:, side]) for side in (0, 1)]
    held = [(counts[:, side, 1:25] > 0).float() for side in (0, 1)]
    turned = [points.roll(12, -1) for points in held]  # in the other side's numbers
    cells = [((rears[0] <= 12) & (rears[1] <= 12)).float()]
    points = numbers(1, 25, counts)
    for side in (0, 1):
        distance = rears[side][:, None] - points
        ahead = ((distance >= 1) & (distance <= 6)).float()
        closed = (ahead * turned[1 - side]).sum(-1).clamp(max=_MOST_SEEN)
        cells += [held[side][:, :6].sum(-1), _longest_run(turned[side]), _half_up(rears[side]), closed]
    return cells


def plain_possible(boards: Tensor, rules: Variant) -> Tensor:
    """Which outcomes can still happen, ``[N, 6]`` bool, for side 0 of ``boards`` ``[N, 2, 26]``."""
    counts = boards.float()
    rears = [rear(counts[:, side]) for side in (0, 1)]
    contact = rears[0] + rears[1] > 25
    lost = []
    for side in (0, 1):
        none_off = counts[:, side, 0] == 0
        backgammon = none_off & (contact | (rears[side] >= 19))
        levels = [none_off | True, none_off, backgammon]
        lost.append(torch.stack([level & (rules.max_level > place) for place, level in enumerate(levels)], 1))
    return torch.cat([lost[1], lost[0]], 1)


def exact_outcomes(boards: Tensor, rules: Variant) -> tuple[Tensor, Tensor]:
    """Where a game is over, ``[N]`` bool, and its outcome there as probabilities ``[N, 6]``."""
    counts = boards.float()
    off = counts[:, :, 0]
    over = off == rules.num_checkers  # [N, 2], this side has won
    behind = counts[:, :, 19:].sum(-1) > 0
    backgammon = behind if rules.max_level > 2 else behind & False
    level = torch.where(off > 0, 0.0, torch.where(backgammon, 2.0, 1.0))  # lost by this side, from 0
    column = torch.where(over[:, 0], level[:, 1], level[:, 0] + 3)
    return over.any(1), _one_hot(column, 6)
