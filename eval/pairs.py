"""Consulting pairs: two models that decide everything together, by the mean of what each thinks of it (rules.md 5.1).

Which of the two makes the moves of a game changes nothing about them; `Match` fixes it for each game. Cost a decision:
both models' evaluation of every afterstate.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env import Cube, afterstates, flip
from .bots import Judge, pick_highest

__all__ = ["ConsultingPair"]


@dataclass(frozen=True)
class ConsultingPair:
    """Two models as one bot.

    Attributes:
        judges: the partners, for the same discipline.
        partners: their specifications.
    """

    judges: tuple[Judge, Judge]
    partners: tuple[str, str]

    def __post_init__(self) -> None:
        one, other = (judge.variant for judge in self.judges)
        if one != other:
            raise ValueError(f"pair: found models for {one} and {other}, wanted two for the same discipline")

    @property
    def name(self) -> str:
        """The specification."""
        return f"pair:{'+'.join(self.partners)}"

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """Is doubling allowed, and on the mean better than rolling?"""
        no_double, double_take, double_pass = self._cube_values(boards, cube)
        doubled = torch.minimum(double_take, double_pass)
        state = cube.as_tensors(boards.shape[0], boards.device)
        may_beaver = state.beavers & (4 * state.value <= cube.max_cube)
        beavered = torch.clamp(2 * double_take, min=-2.0)  # at twice the stake, or dropped for 2 (rules.md 2.9)
        doubled = torch.where(may_beaver, torch.minimum(doubled, beavered), doubled)
        return state.may_double() & (doubled > no_double)

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """Does a take on the mean cost side 1 no more than a drop?"""
        _, double_take, double_pass = self._cube_values(boards, cube)
        return double_take <= double_pass

    def beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """Would side 0 on the mean lose by a take?"""
        return self._cube_values(boards, cube)[1] < 0

    def take_beaver(self, boards: Tensor, cube: Cube) -> Tensor:
        """Does side 0 on the mean lose no more than 2 points at the beaver's stake?"""
        return 2 * self._cube_values(boards, cube)[1] >= -2

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """The play of the highest mean value; exact ties go to the first, and ``uniforms`` are not used."""
        game, plays = afterstates(boards, dice, self.judges[0].variant, second_first)
        after = flip(plays)
        seen = None if cube is None else _of_rows(cube.flip(), boards.shape[0], game)
        theirs = sum((judge.equity(after, seen) for judge in self.judges), torch.zeros_like(game, dtype=torch.float32))
        return plays[pick_highest(game, -theirs, torch.zeros_like(uniforms))]

    def _cube_values(self, boards: Tensor, cube: Cube) -> tuple[Tensor, Tensor, Tensor]:
        """Means of the values without a double, of a double taken, of a double dropped, ``[N]`` each."""
        one, other = (judge.cube_action(boards, cube) for judge in self.judges)
        return (
            (one.no_double + other.no_double) / 2,
            (one.double_take + other.double_take) / 2,
            (one.double_pass + other.double_pass) / 2,
        )


def _of_rows(cube: Cube, num_games: int, game: Tensor) -> Cube:
    """The cube of each afterstate's game: ``game`` ``[M]``, fields ``[M]``."""
    spread = cube.as_tensors(num_games, game.device)
    return Cube.unchecked(
        value=spread.value[game],
        owner=spread.owner[game],
        jacoby=spread.jacoby[game],
        beavers=spread.beavers[game],
        away=None if cube.away is None else spread.away[game],
        crawford=spread.crawford[game],
        max_cube=cube.max_cube,
    )
