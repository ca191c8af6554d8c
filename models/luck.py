"""The luck of a roll: what it is worth if it is played best, less the mean over all rolls that could have come.

The dice know nothing of the players, so in every position the luck has mean 0, however rough the values are: taking
the luck of all rolls off a game's result leaves its mean as it is, and removes what the values explain of its variance.
That holds only because a roll's worth asks for the best play by the same values, not for the play that was made.

Cost: the values of all plays of 21 rolls a position, some twenty turns of play; an opening roll takes 42.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from ..env.board import flip
from ..env.cube import Cube
from .rolls import NUM_ROLLS, every_roll, opening_chances, roll_chances, roll_numbers

__all__ = ["RollJudge", "roll_luck"]

_CHUNK = 256  # positions at once, 21 times as many turns


class RollJudge(Protocol):
    """Whatever says what a roll is worth."""

    def roll_value(
        self, boards: Tensor, dice: Tensor, cube: Cube | None = None, second_first: Tensor | None = None
    ) -> Tensor:
        """Value ``[N]`` for side 0 of its best play: points per unit of the cube, or the chance to win the match."""
        ...


def roll_luck(
    judge: RollJudge, boards: Tensor, dice: Tensor, cube: Cube | None, second_first: Tensor, opening: Tensor
) -> Tensor:
    """How lucky the player on roll was, ``[N]`` float64: points per unit of the cube, or chance to win the match.

    Args:
        judge: says what rolls are worth.
        boards: ``[N, 2, 26]`` int8, side 0 on roll. dice: ``[N, 2]``, the roll that came.
        cube: as side 0 sees it, with fields ``[N]`` or one value for all; None without one.
        second_first: ``[N]`` bool, see `env.afterstates`.
        opening: ``[N]`` bool, the first roll of a game: never a double, and it has decided who is on roll. Both are
            luck: the mean is over all opening rolls of either side.
    """
    luck = torch.empty(len(boards), dtype=torch.float64, device=boards.device)
    for where, mean in ((~opening, _mean), (opening, _opening_mean)):
        for rows in torch.split(where.nonzero()[:, 0], _CHUNK):
            some = None if cube is None else cube.rows(rows)
            values = _roll_values(judge, boards[rows], some, second_first[rows])
            came = values.gather(1, roll_numbers(dice[rows])[:, None])[:, 0]
            luck[rows] = came - mean(judge, values, boards[rows], some, second_first[rows])
    return luck


def _roll_values(judge: RollJudge, boards: Tensor, cube: Cube | None, second_first: Tensor) -> Tensor:
    """What each of `ROLLS` is worth, ``[N, 21]`` float64."""
    rows = torch.arange(len(boards), device=boards.device).repeat_interleave(NUM_ROLLS)
    dice = every_roll(len(boards), boards.device)
    values = judge.roll_value(boards[rows], dice, None if cube is None else cube.rows(rows), second_first[rows])
    return values.double().view(len(boards), NUM_ROLLS)


def _mean(judge: RollJudge, values: Tensor, boards: Tensor, cube: Cube | None, second_first: Tensor) -> Tensor:
    """The mean of the rolls' ``values``."""
    return values @ roll_chances(values.device).double()


def _opening_mean(judge: RollJudge, values: Tensor, boards: Tensor, cube: Cube | None, second_first: Tensor) -> Tensor:
    """The mean over who starts and with which roll, for the player who did start with ``values``."""
    theirs = _roll_values(judge, flip(boards), cube and cube.flip(), second_first)
    total = 0.0 if cube is None else (cube.as_tensors(len(boards), boards.device).away[:, 0] > 0).double()
    return (total + (values - theirs) @ opening_chances(values.device).double()) / 2
