"""What a bot decides in one state of a game, whatever the protocol that asks.

Cost a decision: the bot's own for a batch of one and, of a play, its text: some ten milliseconds.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from ...env import Cube, GameOptions, flip
from ...env.notation import GameState, NotationError, Offer, Play, play_to, plays
from ..bots import BeaveringBot, Bot

__all__ = ["Decider"]

_FOR_ONE_ROLL = 4  # checkers: no roll bears off more


class Decider:
    """Asks ``bot`` one question at a time, from one thread.

    Attributes:
        bot: who decides.
        rules: what a state does not say: Jacoby, beavers, the highest cube, and whether there is a cube at all.
    """

    def __init__(self, bot: Bot, rules: GameOptions) -> None:
        self.bot = bot
        self.rules = rules
        self._ties = torch.Generator().manual_seed(0)  # of bots that see no difference

    def play(self, state: GameState) -> Play:
        """What the player on roll plays with the dice of ``state``; ``ValueError`` if there is nothing to play."""
        if state.dice is None:
            raise NotationError("dice: found none, wanted two")
        board = self._board(state)
        cube = self._cube(state) if self.rules.cube or state.match_length else None
        dice = torch.tensor([state.dice], dtype=torch.int8)
        ties = torch.rand(1, generator=self._ties)
        after = self.bot.choose(board[None], dice, cube, ties, torch.zeros(1, dtype=torch.bool))[0]
        return play_to(after, plays(board, state.dice), state.dice)

    def double(self, state: GameState) -> bool:
        """Does the player on roll double, where he may?"""
        board, cube = self._board(state), self._cube(state)
        return bool(cube.may_double()[0]) and bool(self.bot.double(board[None], cube)[0])

    def answer(self, state: GameState) -> str:
        """The answer to the double or the beaver on offer: take, drop or beaver."""
        board, cube = self._board(state)[None], self._cube(state, offered=True)
        if state.offer is Offer.BEAVER:
            return "take" if self._takes_beaver(state, cube) else "drop"
        if not bool(self.bot.take(board, cube)[0]):
            return "drop"
        may_beaver = bool(cube.beavers) and 4 * state.cube_value <= cube.max_cube
        if may_beaver and isinstance(self.bot, BeaveringBot) and bool(self.bot.beaver(board, cube)[0]):
            return "beaver"
        return "take"

    @staticmethod
    def is_lost(state: GameState) -> bool:
        """Is the game lost as a single one whatever the dice? Plain arithmetic, and only at the very end.

        The opponent bears off with his next roll whatever it is and cannot be hit, while the player on roll has borne
        off a checker and has more left than one roll can bear off.
        """
        mine, theirs = state.board
        left = [point for point in range(1, 26) for _ in range(theirs[point])]
        at_once = left in ([1], [2], [3], [1, 1], [1, 2])  # also with 2-1
        return at_once and bool(mine[0]) and not any(mine[22:]) and sum(mine[1:]) > _FOR_ONE_ROLL

    def _takes_beaver(self, state: GameState, cube: Cube) -> bool:
        """The cube of ``state`` shows what it did before the beaver, in the hands of who beavered."""
        board = self._board(state)[None]
        if isinstance(self.bot, BeaveringBot):
            before = replace(cube, value=state.cube_value // 2, owner="mine" if state.cube_value > 2 else "centred")
            return bool(self.bot.take_beaver(board, before)[0])
        return bool(self.bot.take(flip(board), cube.flip())[0])  # to those who know of none it is a redouble

    @staticmethod
    def _board(state: GameState) -> torch.Tensor:
        if not all(sum(side[1:]) for side in state.board):
            raise NotationError("board: found a side with all its checkers off, wanted a game that is played")
        return state.tensor()

    def _cube(self, state: GameState, offered: bool = False) -> Cube:
        """Cube and score as the player on roll sees them; one that nobody may turn where the rules have none."""
        money = not state.match_length
        return replace(
            state.cube(),
            jacoby=money and (self.rules.jacoby if state.jacoby is None else state.jacoby),
            beavers=money and (self.rules.beavers if state.beavers is None else state.beavers),
            max_cube=self.rules.max_cube if self.rules.cube or offered else 1,
        )
