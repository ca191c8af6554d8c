"""Does a bot accept that its opponent resigns? Bots are not asked, for none has learned it: arithmetic answers."""

from __future__ import annotations

import torch

from ...env import Cube
from ...env.board import outcome
from ...env.notation import GameState
from ...models.values import LEVELS
from ..bots import Bot, ModelBot

__all__ = ["accepts_resignation"]


def accepts_resignation(bot: Bot, state: GameState, level: int) -> bool:
    """Is ``level`` (1 to 3), offered by the player on roll in ``state``, as much as ``bot`` could hope for?

    A model compares it with the points that its own outcome probabilities promise, without further turns of the cube.
    A bot without one waits for the most that it would win by bearing off at once. Of a match no more is counted than
    either side still needs.
    """
    cube = state.cube()
    if cube.jacoby and cube.owner == "centred":
        return True  # no level counts more than 1
    if not isinstance(bot, ModelBot):
        return _points(-level, cube) <= _points(-_highest(state), cube)
    outcome_of_loser = bot.evaluator.outcome(state.tensor()[None])[0].double().cpu()
    worth = torch.tensor([_points(signed, cube) for signed in LEVELS], dtype=torch.float64)
    return _points(-level, cube) <= float(outcome_of_loser @ worth) + 1e-6


def _points(level: float, cube: Cube) -> float:
    """What a signed level is worth to the player on roll, in points that still count."""
    points = level * int(cube.value)
    if cube.away is None:
        return points
    mine, theirs = (int(away) for away in cube.away)
    return max(-theirs, min(mine, points))


def _highest(state: GameState) -> int:
    """The most that the player on roll can still lose, did the opponent bear off at once."""
    board = state.tensor()
    total = int(board[1].sum())
    board[1] = 0
    board[1, 0] = total
    return -int(outcome(board[None], state.variant))
