"""A model's values of many recorded states at once, brought to one scale.

Equities are in units of the cube before it is turned; at a match score they are normalised, +1 what winning a single
game at this cube is worth, -1 what losing one is. So errors for money and at any score can be added and compared.
Values themselves are points per unit of the cube, or match-winning chances. All are the player's on roll.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ...env import Cube, afterstates, flip
from ...env.cube import CubeTensors
from ...env.notation import GameState
from ...models import Evaluator
from ...models.judgement import beaver_value, may_beaver, offered_value
from ...models.stakes import match_stakes
from ...models.values import flip_probabilities
from ..bots import pick_highest

__all__ = ["CubeValues", "PlayValues", "Scale", "cube_of", "cube_values", "play_values"]


@dataclass(frozen=True)
class Scale:
    """How values become equities, ``[N]`` each: a value v is the equity ``(v - middle) / half``."""

    middle: Tensor
    half: Tensor

    def equity(self, value: Tensor) -> Tensor:
        """Equities of values ``[N]``."""
        return (value - self.middle) / self.half

    def rows(self, rows: Tensor) -> Scale:
        """The scales of some states."""
        return Scale(self.middle[rows], self.half[rows])


def cube_of(states: Sequence[GameState]) -> Cube:
    """The cubes of N states, of one match, as the players on roll see them."""
    each = [state.cube().as_tensors(1) for state in states]
    names = ("value", "owner", "jacoby", "beavers", "away", "crawford")
    fields = {name: torch.cat([getattr(one, name) for one in each]) for name in names}
    return Cube.unchecked(**fields, max_cube=each[0].max_cube)


def _scale(evaluator: Evaluator, cube: CubeTensors) -> Scale:
    match = cube.away[:, 0] > 0
    zero = torch.zeros(len(match))
    if not bool(match.any()):
        return Scale(zero, zero + 1)
    table = evaluator.table.to("cpu")
    stakes = match_stakes(cube.value, cube.away.clamp(min=1), cube.crawford, cube.max_cube, table)
    return Scale(torch.where(match, stakes.middle, zero), torch.where(match, stakes.half, zero + 1))


def boards_of(states: Sequence[GameState]) -> Tensor:
    """The boards of N states, ``[N, 2, 26]`` int8."""
    return torch.stack([state.tensor() for state in states])


@dataclass(frozen=True)
class PlayValues:
    """Every legal play of N states with dice, M in all.

    Attributes:
        game: ``[M]``, non-decreasing, the state of each. boards: ``[M, 2, 26]``, after the play, the mover side 0.
        value: ``[M]``. equity: ``[M]``. outcome: ``[M, 6]`` probabilities for the mover.
    """

    game: Tensor
    boards: Tensor
    value: Tensor
    equity: Tensor
    outcome: Tensor

    def best(self) -> Tensor:
        """The row of each state's best play, ``[N]``, ties to the lowest."""
        return pick_highest(self.game, self.value, torch.zeros(int(self.game[-1]) + 1))


def play_values(evaluator: Evaluator, states: Sequence[GameState], second_first: Tensor | None = None) -> PlayValues:
    """The legal plays of ``states``, which all have dice; ``second_first`` as in `env.afterstates`."""
    dice = torch.tensor([state.dice for state in states])
    game, after = afterstates(boards_of(states), dice, evaluator.variant, second_first)
    cube = cube_of(states)
    scale = _scale(evaluator, cube.as_tensors(len(states))).rows(game)
    theirs = evaluator.equity(flip(after), cube.rows(game).flip())
    match = torch.tensor([state.match_length > 0 for state in states])[game]
    value = torch.where(match, 1 - theirs, -theirs)
    outcome = flip_probabilities(evaluator.outcome(flip(after)))
    return PlayValues(game, after, value, scale.equity(value), outcome)


@dataclass(frozen=True)
class CubeValues:
    """The cube before the roll in N states, all ``[N]``: equities, but for those in ``value``.

    Attributes:
        no_double: of rolling. double_take, double_pass: of doubling, if the opponent takes, drops.
        beaver: of doubling if he beavers, meaningful where he may (``may_beaver``).
        offered: of doubling if he answers best.
        may_double: bool. may_beaver: bool.
        value: ``[N, 3]`` no double, double and take, double and drop as points or match-winning chances.
        half: what an equity of 1 is worth as such.
        outcome: ``[N, 6]`` probabilities. cubeless: ``[N]`` money equity without a cube.
    """

    no_double: Tensor
    double_take: Tensor
    double_pass: Tensor
    beaver: Tensor
    offered: Tensor
    may_double: Tensor
    may_beaver: Tensor
    value: Tensor
    half: Tensor
    outcome: Tensor
    cubeless: Tensor


def cube_values(evaluator: Evaluator, states: Sequence[GameState]) -> CubeValues:
    """What the model says of doubling in ``states``; an offer on the table is looked at as before it was made."""
    boards, cube = boards_of(states), cube_of(states)
    tensors = cube.as_tensors(len(states))
    action = evaluator.cube_action(boards, cube)
    scale = _scale(evaluator, tensors)
    values = (action.no_double, action.double_take, action.double_pass)
    no_double, double_take, double_pass = (scale.equity(value) for value in values)
    return CubeValues(
        no_double=no_double,
        double_take=double_take,
        double_pass=double_pass,
        beaver=beaver_value(double_take),
        offered=offered_value(double_take, double_pass, tensors),
        may_double=tensors.may_double(),
        may_beaver=may_beaver(tensors),
        value=torch.stack(values, 1),
        half=scale.half,
        outcome=evaluator.outcome(boards),
        cubeless=evaluator.equity(boards),
    )
