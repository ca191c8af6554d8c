"""What a bot does with the cube and with resignations in one game of `env.decisions`.

No bot has learned to answer a resignation: arithmetic does it.
"""

from __future__ import annotations

import torch

from ...env import Cube
from ...env.board import outcome
from ...env.decisions import ACCEPT, BEAVER, DOUBLE, DROP, REFUSE, ROLL, TAKE, Decisions, Phase
from ...env.notation import GameState
from ...models.values import LEVELS
from ..bots import BeaveringBot, Bot, ModelBot

__all__ = ["accepts_resignation", "bot_decides"]


def bot_decides(bot: Bot, decisions: Decisions, state: GameState) -> int:
    """The action of ``bot``, who has to decide before the roll or to answer; ``state`` is that of the one game."""
    games = decisions.games
    phase, may = Phase(int(decisions.phase[0])), decisions.mask()[0]
    boards, cube = games.boards, games.cube()
    if phase is Phase.CUBE:
        return DOUBLE if bool(may[DOUBLE]) and bool(bot.double(boards, cube)[0]) else ROLL
    if phase is Phase.RESIGNED:
        return ACCEPT if accepts_resignation(bot, state, int(decisions.resignation[0])) else REFUSE
    if phase is Phase.BEAVERED:
        assert isinstance(bot, BeaveringBot)
        return TAKE if bool(bot.take_beaver(boards, cube)[0]) else DROP
    assert phase is Phase.ANSWER
    if not bool(bot.take(boards, cube)[0]):
        return DROP
    beavers = bool(may[BEAVER]) and isinstance(bot, BeaveringBot) and bool(bot.beaver(boards, cube)[0])
    return BEAVER if beavers else TAKE


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
