"""Players as a referee asks them, one decision at a time: outside programs, people, our batched bots behind one face.

A player answers with a word of `View.choices` or with a play; what it answers is checked by whoever asks. What a
decision costs is the player's own work and, for a bot, a batch of one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..env import Cube, flip, get_variant
from .bots import BeaveringBot, Bot
from .outside.failure import BotFailedError

__all__ = ["BotPlayer", "Player", "PlayerFailedError", "View"]


class PlayerFailedError(Exception):
    """A player cannot go on: an outside program that ended, a line that was closed. It loses the game."""


@dataclass(frozen=True)
class View:
    """One decision, all from the side of the player who is asked.

    Attributes:
        board: ``[2, 26]`` int8, side 0 is the one asked, whoever is on roll.
        cube: as he sees it, before an offer is answered with the value before; None in money games without a cube.
        variant: name of the discipline.
        choices: the words to choose from; empty where a play is wanted. Before the roll "roll", "double", "resign
            single" and the other levels; to a turn of the cube "take", "drop", "beaver", "raccoon"; to a resignation
            "accept", "refuse".
        dice: of a play.
        second_first: of a play, see `env.afterstates`.
        offered: what the cube will show after a take, 0 where none is offered.
        resigned: the level that the opponent offers to lose, 0 for none.
        tie: of a play, a number in [0, 1) from the game's own stream, to settle ties with.
        left: seconds on the clocks of the player asked and of the other; None without a clock.
        refusal: why his last answer to this was refused, an empty text at first.
    """

    board: Tensor
    cube: Cube | None
    variant: str
    choices: tuple[str, ...] = ()
    dice: tuple[int, int] = (0, 0)
    second_first: bool = False
    offered: int = 0
    resigned: int = 0
    tie: float = 0.0
    left: tuple[float, float] | None = None
    refusal: str = ""


class Player(Protocol):
    """Whoever sits at the board."""

    @property
    def name(self) -> str:
        """What it is called in tables and records."""
        ...

    @property
    def partners(self) -> tuple[str, ...]:
        """Who may own the moves of a game: the names of a pair, or the one name."""
        ...

    def decide(self, view: View) -> Tensor | str:
        """One of ``view.choices``; where there are none the board after the play, or the play as text.

        The board is ``[2, 26]`` of an integer type, the player's own side 0; a text is as `env.notation` reads it.
        """
        ...


class BotPlayer:
    """A bot at the board. It doubles, takes, beavers and plays as the bot does; it never raccoons and never resigns.

    It accepts a resignation at the highest level that it could still win.
    """

    def __init__(self, bot: Bot, think: Callable[[], None] | None = None) -> None:
        """``think``, if given, is called at each decision: simulated time goes by in it."""
        self.bot = bot
        self._think = think

    @property
    def name(self) -> str:
        """The bot's specification."""
        return self.bot.name

    @property
    def partners(self) -> tuple[str, ...]:
        """Of a consulting pair the two specifications."""
        partners: tuple[str, ...] = getattr(self.bot, "partners", (self.name,))
        return partners

    def decide(self, view: View) -> Tensor | str:
        """See `Player`; a `BotFailedError` that shall stop everything is passed on."""
        try:
            return self._decide(view)
        except BotFailedError as failure:
            if failure.stop:
                raise
            raise PlayerFailedError(str(failure)) from None

    def _decide(self, view: View) -> Tensor | str:
        if self._think is not None:
            self._think()
        if not view.choices:
            return self._play(view)
        if "accept" in view.choices:
            return "accept" if view.resigned >= self._highest_win(view) else "refuse"
        assert view.cube is not None
        if "take" in view.choices and view.offered > 2 * int(view.cube.as_tensors(1).value[0]):
            assert isinstance(self.bot, BeaveringBot)
            return "take" if bool(self.bot.take_beaver(view.board[None], view.cube)[0]) else "drop"
        if "beaver" in view.choices and isinstance(self.bot, BeaveringBot):
            doubled = flip(view.board[None]), view.cube.flip()
            if bool(self.bot.take(*doubled)[0]) and bool(self.bot.beaver(*doubled)[0]):
                return "beaver"
        if "take" in view.choices:
            return "take" if bool(self.bot.take(flip(view.board[None]), view.cube.flip())[0]) else "drop"
        if "double" in view.choices and bool(self.bot.double(view.board[None], view.cube)[0]):
            return "double"
        return "roll"

    def _play(self, view: View) -> Tensor:
        dice, second_first = torch.tensor([view.dice], dtype=torch.int8), torch.tensor([view.second_first])
        return self.bot.choose(view.board[None], dice, view.cube, torch.tensor([view.tie]), second_first)[0]

    @staticmethod
    def _highest_win(view: View) -> int:
        return 1 if int(view.board[1, 0]) else get_variant(view.variant).max_level
