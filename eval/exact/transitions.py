"""Every play of every roll in every running position, listed once by the rules engine and kept as two bytes each.

A play of the side on roll changes that side, and the other at most by hits. So the other side's number, the mover's
number after the play and a mask of the blots hit say where it leads.

Positions are kept in the order in which value iteration goes through them: by the pips of the side that has more of
them, and among those with equal pips first the positions in which that side is on roll. A play without a hit by the
side with more pips leads to an earlier group, one by the other side into the first part of the same group. Within a
part positions are sorted by the other side, because their plays lead to the same few rows of the table.

Cost for sprintgammon: 7,953,353 positions, 21 rolls each, 889,962,778 plays, 1.8 GB.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ...env.launch import launch_rows
from ...env.movegen import list_afterstates
from .kernels.sides import code_plays
from .positions import Positions

__all__ = ["ROLLS", "Progress", "Transitions", "list_transitions", "nothing"]

# The 21 rolls, the six doubles first.
ROLLS = (*((die, die) for die in range(1, 7)), *((high, low) for high in range(2, 7) for low in range(1, high)))

# Called with what is being done and the share of it that is done, 0 to 1.
Progress = Callable[[str, float], None]


def nothing(what: str, share: float) -> None:
    """A `Progress` that reports to nobody."""


_CHUNK_POSITIONS = 4096
# Pips that are taken for equal. With 2 a sweep of sprintgammon leaves 0.36 of the change before and takes 6.2 seconds
# of a core; with 1, 0.36 and 7.2; with 4, 0.41 and 5.6; ordered by the pips of both sides together, 0.50 and 7.1.
_BAND_PIPS = 2


@dataclass(frozen=True)
class Transitions:
    """The R running positions in the order of solving, and their T plays.

    Attributes:
        movers: ``[R]`` int16, number of the side on roll. others: ``[R]`` int16, of the other side.
        begins: ``[R]`` int32, where each position's plays begin in ``codes``.
        codes: ``[T]`` int16, the plays of all `ROLLS`, roll by roll; see `kernels.sides.code_plays`.
        bands: where each band of positions ends, a group's first part and its second being two bands.
    """

    movers: Tensor
    others: Tensor
    begins: Tensor
    codes: Tensor
    bands: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.movers)


def _in_order(positions: Positions) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """The running positions' sides in the order of solving, and where the bands end."""
    movers, others = positions.pairs()
    running = (movers != 0) & (others != 0)
    movers, others = movers[running], others[running]
    pips = positions.sides.pips // _BAND_PIPS
    band = 2 * torch.maximum(pips[movers], pips[others]) + (pips[others] >= pips[movers])
    num_sides = len(positions.sides)
    order = ((band * num_sides + others) * num_sides + movers).argsort()
    _, sizes = torch.unique_consecutive(band[order], return_counts=True)
    return movers[order].to(torch.int16), others[order].to(torch.int16), tuple(sizes.cumsum(0).tolist())


def list_transitions(positions: Positions, report: Progress) -> Transitions:
    """Ask the rules engine for all plays. Allocates twice the plays' memory while joining them."""
    device, sides = positions.device, positions.sides
    movers, others, bands = _in_order(positions)
    rolls = torch.tensor(ROLLS, dtype=torch.int8, device=device)
    begins, codes = [], []
    listed = 0
    for begin in range(0, len(movers), _CHUNK_POSITIONS):
        end = min(begin + _CHUNK_POSITIONS, len(movers))
        boards = positions.boards_of(movers[begin:end], others[begin:end]).repeat_interleave(len(ROLLS), 0)
        found = list_afterstates(boards, rolls.repeat(end - begin, 1))
        game, flat = found.game, found.boards.view(-1, 52)
        code = torch.empty(len(game), dtype=torch.int16, device=device)
        other = others[begin:end].repeat_interleave(len(ROLLS))
        arguments = (game, flat, flat.view(torch.int32), other, sides.blots, sides.by_key, code)
        launch_rows(code_plays, len(game), *arguments, device=device)
        codes.append(code)
        first_games = torch.arange(0, len(boards), len(ROLLS), device=device)
        begins.append(torch.searchsorted(game, first_games) + listed)
        listed += len(game)
        report("listing plays", end / len(movers))
    assert listed < 1 << 31
    return Transitions(movers, others, torch.cat(begins).to(torch.int32), torch.cat(codes), bands)
