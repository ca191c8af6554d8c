"""The referee of a `Match`: asks each player for every decision with his clock running, and rules on the answers.

He lets a fallen flag lose the match, treats illegal answers as the format says, and awards the game to the opponent
of a player who gives no legal one; all other penalties are decided by whoever conducts the match, and are methods
of `Match`. Nobody is interrupted: who never answers holds up the match, and his flag falls when he does.

Cost a turn: the players' own work and some hundred tensor operations on a batch of one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from ..env import Cube, Games, afterstates, flip
from ..env.dice import Purpose, uniforms
from ..env.formats import Format
from ..env.notation import CubeAction, Resignation
from .bots import BeaveringBot
from .match import Match
from .match_log import MatchLog
from .players import BotPlayer, Player, PlayerFailedError, View
from .rulings import Ruling, rule_on_play, rule_on_word

__all__ = ["REPEATS", "Referee"]

T = TypeVar("T")

REPEATS = 3  # how often a player is asked again for a legal answer
_AGAIN = ("beaver", "raccoon")
_LEVELS = ("", "single", "gammon", "backgammon")
_NONE = object()  # no answer at all


class Referee:
    """Conducts one match, or ``num_games`` money games, between player 0 and player 1.

    Attributes:
        match: the match, with score, clocks, penalties and log.
    """

    def __init__(
        self,
        players: tuple[Player, Player],
        options: Format,
        seed: int = 0,
        slot: int = 0,
        num_games: int = 1,
        now: Callable[[], float] = time.monotonic,
        rolled: Callable[[Games], None] | None = None,
    ) -> None:
        """Deal the first game; ``rolled`` is shown it when dice are on the table, the rest is as for `Match`."""
        for player in players:
            if options.beavers and isinstance(player, BotPlayer) and not isinstance(player.bot, BeaveringBot):
                raise ValueError(f"beavers: found them on, wanted them off: {player.name} has no answer to one")
        names, partners = (players[0].name, players[1].name), (players[0].partners, players[1].partners)
        self.players = players
        self._rolled = rolled
        self.match = Match(names, options, seed, slot, num_games, partners, now)

    def play(self) -> MatchLog:
        """Play until all is over."""
        while not self.match.over:
            self.turn()
        return self.match.log

    def turn(self) -> None:
        """Play one turn, or as much of it as there is before the game ends."""
        player = self.match.on_roll
        if self._before_the_roll(player):
            self.match.games.roll()
            if self._rolled is not None:
                self._rolled(self.match.games)
            self._play(player)

    def _before_the_roll(self, player: int) -> bool:
        """Cube and resignations of a turn; False if the game has ended."""
        games = self.match.games
        while True:
            levels = (games.may_resign()[0].nonzero()[:, 0] + 1).tolist()
            double = ("double",) if bool(games.may_double()[0]) else ()
            choices = ("roll", *double, *(f"resign {_LEVELS[level]}" for level in levels))
            word = self._choose(player, choices) if len(choices) > 1 else "roll"
            if word is None:
                return False
            if word == "roll":
                return True
            if word == "double":
                return self._double(player)
            if not self._resign(player, _LEVELS.index(word.removeprefix("resign "))):
                return False

    def _double(self, player: int) -> bool:
        """``player`` doubles, and whoever is doubled answers; False if the game has ended."""
        match = self.match
        value, most = int(match.games.cube_value[0]), int(match.games.may_turn_again()[0])
        match.add(CubeAction(player, "double"))
        turned_again, answering = 0, 1 - player
        while True:
            choices = ("take", "drop", *_AGAIN[:most][turned_again : turned_again + 1])
            word = self._choose(answering, choices, offered=value << turned_again + 1)
            if word is None:
                return False
            match.add(CubeAction(answering, word))
            if word not in _AGAIN:
                break
            turned_again, answering = turned_again + 1, 1 - answering
        take, times = torch.tensor([word == "take"]), torch.tensor([turned_again], dtype=torch.int8)
        return not match.ended(match.games.double(torch.tensor([True]), take, times))

    def _resign(self, player: int, level: int) -> bool:
        """``player`` offers to lose at ``level``; False if the game has ended."""
        match = self.match
        word = self._choose(1 - player, ("accept", "refuse"), resigned=level)
        if word is None:
            return False
        accept = word == "accept"
        match.add(Resignation(player, level, accept))
        return not match.ended(match.games.resign(torch.tensor([level]), torch.tensor([accept])))

    def _play(self, player: int) -> None:
        """The play of the dice on the table, a forced pass included."""
        match, variant = self.match, self.match.format.variant
        games, dice, second_first = match.games, match.dice, bool(match.games.second_first()[0])
        board = games.boards[0]
        _, legal = afterstates(games.boards, games.dice, variant, games.second_first())
        ruling: Ruling[Tensor] | None = Ruling(board)
        if len(legal) > 1 or not torch.equal(legal[0], board):
            tie = float(uniforms(games.seed, games.slots, games.num_rolls, Purpose.TIE)[0])
            view = replace(self._view(player), dice=dice, second_first=second_first, tie=tie)
            ruling = self._ask(player, view, lambda answer: rule_on_play(answer, view, legal))
        if ruling is None:
            return
        assert ruling.value is not None
        if match.clock is not None:
            match.clock.press(player)
        match.move(ruling.value, legal=not ruling.fault)

    def _choose(self, player: int, choices: tuple[str, ...], offered: int = 0, resigned: int = 0) -> str | None:
        """A word of ``choices``; None if the game has ended instead."""
        view = replace(self._view(player), choices=choices, offered=offered, resigned=resigned)
        ruling = self._ask(player, view, lambda answer: rule_on_word(answer, choices))
        return None if ruling is None else ruling.value

    def _ask(self, player: int, view: View, rule: Callable[[object], Ruling[T]]) -> Ruling[T] | None:
        """The ruling on the first answer that stands; None if the game has ended instead."""
        match, policy = self.match, self.match.format.illegal
        before = match.clock.left(player) if match.clock is not None else 0.0
        for _ in range(1 + REPEATS):
            answer = self._answer(player, view)
            if answer is _NONE:
                return None
            ruling = rule(answer)
            if not ruling.fault:
                return ruling
            match.note("illegal", player, ruling.fault)
            if policy == "accept" and ruling.value is not None:
                match.note("accepted", player, ruling.fault)
                return ruling
            if policy == "forfeit":
                break
            if match.clock is not None and policy != "correct":
                match.clock.restore(player, before)
            view = replace(view, refusal=ruling.fault, left=self._left(player))
        self._award(player, view, ruling.fault)
        return None

    def _answer(self, player: int, view: View) -> object:
        """What a player says, his clock running meanwhile; `_NONE` if that cost him the game or the match."""
        match = self.match
        if match.clock is not None:
            match.clock.start(player)
        try:
            answer: object = self.players[player].decide(view)
        except PlayerFailedError as error:
            match.note("failed", player, str(error))
            self._award(player, view, str(error))
            return _NONE
        if match.clock is not None:
            match.clock.stop()
            if match.clock.flag(player):
                match.flag(player)
                return _NONE
        return answer

    def _award(self, player: int, view: View, reason: str) -> None:
        """Award the game to the opponent of ``player``, who owed an answer; to a turn of the cube, as by a drop."""
        self.match.award_game(player, reason, view.offered // 2 or None)

    def _view(self, player: int) -> View:
        """What ``player`` sees of the game."""
        games, options = self.match.games, self.match.format
        boards = games.boards
        cube: Cube | None = games.cube() if options.cube or options.match_length else None
        if player != self.match.on_roll:
            boards, cube = flip(boards), cube and cube.flip()
        return View(boards[0].clone(), cube, options.variant, left=self._left(player))

    def _left(self, player: int) -> tuple[float, float] | None:
        clock = self.match.clock
        return None if clock is None else (clock.left(player), clock.left(1 - player))
