"""Doubling decided from values: what to do with the cube once rolling, double and take, and drop have each a value.

All values are from the view of the player on roll before the roll: points per unit of the cube as it stands, or
match-winning chances at a match score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..env.cube import CENTRED, CubeTensors, flip_owner
from .janowski import CubeEquities
from .match_equity import MatchEquityTable
from .values import LEVELS

__all__ = [
    "CubeAction",
    "Judgement",
    "beaver_value",
    "cube_rows",
    "flip_cube",
    "may_beaver",
    "offered_value",
    "outcome_worth",
    "settled",
]


@dataclass(frozen=True)
class CubeAction:
    """Doubling and answering before the roll, all ``[N]``, from the view of the player on roll.

    Attributes:
        no_double: equity of rolling without doubling, in units of the cube as it stands; in a match a match-winning
            chance, as the next two.
        double_take: equity of doubling if the opponent takes; for money twice the value with the opponent owning the
            cube.
        double_pass: equity if the opponent drops; for money 1.
        double: bool, doubling is allowed and better than rolling.
        take: bool, the opponent, if doubled, should take.
    """

    no_double: Tensor
    double_take: Tensor
    double_pass: Tensor
    double: Tensor
    take: Tensor

    @property
    def beaver(self) -> Tensor:
        """Should the opponent, doubled for money, turn the cube once more and keep it, where he may? ``[N]`` bool.

        At twice the stake, or for 2 points if it is dropped, he has more of whatever side 0 loses by a take.
        """
        return self.double_take < 0

    @property
    def take_beaver(self) -> Tensor:
        """Should side 0, beavered, play on at twice the stake rather than lose 2 points? ``[N]`` bool."""
        return 2 * self.double_take >= -2


@dataclass(frozen=True)
class Judgement:
    """N positions before the roll with their cubes.

    Attributes:
        equities: of rolling, of double and take, of double and drop.
        done: ``[N]`` bool, the game is over, and ``equities.no_double`` is its exact value.
        cube: as the player on roll sees it.
    """

    equities: CubeEquities
    done: Tensor
    cube: CubeTensors

    def action(self) -> CubeAction:
        """Doubling and answering."""
        values = self.equities
        take = values.double_take <= values.double_pass
        double = self.cube.may_double() & (self._doubled() > values.no_double)
        return CubeAction(values.no_double, values.double_take, values.double_pass, double, take)

    def value(self) -> Tensor:
        """Value before the roll with the right to double, ``[N]``."""
        here, doubled = self.equities.no_double, self._doubled()
        return torch.where(self.cube.may_double() & ~self.done, torch.maximum(here, doubled), here)

    def _doubled(self) -> Tensor:
        """Value of offering the cube."""
        return offered_value(self.equities.double_take, self.equities.double_pass, self.cube)


def offered_value(double_take: Tensor, double_pass: Tensor, cube: CubeTensors) -> Tensor:
    """Value of offering the cube, ``[N]``: the opponent answers with what costs the player on roll most.

    A beaver puts the cube at 4 for 2 in the opponent's hands, so it is worth twice a take; the player on roll may
    drop it and lose 2 (rules.md 2.9).
    """
    answered = torch.minimum(double_take, double_pass)
    return torch.where(may_beaver(cube), torch.minimum(answered, beaver_value(double_take)), answered)


def may_beaver(cube: CubeTensors) -> Tensor:
    """May the opponent, if doubled, beaver? ``[N]`` bool."""
    return cube.beavers & (4 * cube.value <= cube.max_cube)


def beaver_value(double_take: Tensor) -> Tensor:
    """What a double is worth that is beavered, ``[N]``."""
    return torch.clamp(2.0 * double_take, min=-2.0)


def outcome_worth(cube: CubeTensors, table: MatchEquityTable | None) -> Tensor:
    """What the six outcomes are worth at each game's cube, ``[N, 6]``; a ``table`` is needed where a score is set."""
    levels = torch.tensor(LEVELS, device=cube.value.device).expand(len(cube.value), 6)
    jacoby = (cube.jacoby & (cube.owner == CENTRED))[:, None]
    worth = torch.where(jacoby, levels.sign(), levels)
    if table is None:
        return worth
    points = cube.value[:, None].long() * levels.long()
    chances = table.after_points(cube.away.clamp(min=1), cube.crawford, points)
    return torch.where(cube.away[:, :1] > 0, chances, worth)


def settled(
    equities: CubeEquities, probs: Tensor, done: Tensor, cube: CubeTensors, table: MatchEquityTable | None
) -> CubeEquities:
    """``equities`` with the exact worth of the game, by its outcome ``probs`` ``[N, 6]``, where it is ``done``."""
    worth = (probs * outcome_worth(cube, table)).sum(-1)
    return replace(equities, no_double=torch.where(done, worth, equities.no_double))


def cube_rows(cube: CubeTensors, rows: Tensor | slice) -> CubeTensors:
    """The cubes of some of the games."""
    fields = {name: value[rows] for name, value in vars(cube).items() if isinstance(value, Tensor)}
    return CubeTensors(max_cube=cube.max_cube, **fields)


def flip_cube(cube: CubeTensors) -> CubeTensors:
    """The same cubes as the other player sees them."""
    fields = vars(cube) | {"owner": flip_owner(cube.owner), "away": cube.away.flip(1)}
    return CubeTensors(**fields)
