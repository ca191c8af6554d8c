"""Keeps a record of an environment's game while it is played, for `saved_game_text` and `match_text`.

It sees what a player sees: observations as the environments and `Decisions.observation` give them, one game at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..decisions import (
    ACCEPT,
    BEAVER,
    DOUBLE,
    DROP,
    NUM_MOVES,
    PASS,
    RACCOON,
    REFUSE,
    RESIGN_BACKGAMMON,
    RESIGN_SINGLE,
    TAKE,
    Phase,
)
from ..games import GameOptions
from .errors import NotationError
from .hops import apply_hops
from .match_walk import crawford_game
from .moves import Hop
from .record import Action, CubeAction, GameRecord, MatchRecord, Resignation, Roll
from .state import OFF
from .walk import Walk

__all__ = ["Recorder"]

_CUBE_ACTIONS = {DOUBLE: "double", TAKE: "take", DROP: "drop", BEAVER: "beaver", RACCOON: "raccoon"}


class Recorder:
    """One game, or match, from its start on.

    Call `step` after every step of the environment; a match's next game begins by itself. After the end of a money game
    `start` adds another one to the session.
    """

    def __init__(
        self,
        rules: GameOptions,
        observation: Mapping[str, Any],
        player: int,
        names: tuple[str, str] = ("player 0", "player 1"),
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self._rules, self._names, self._headers = rules, names, headers
        self._games: list[GameRecord] = []
        self.start(observation, player)

    def start(self, observation: Mapping[str, Any], player: int) -> None:
        """A game begins with what ``player`` observes before its first decision."""
        score = self._score()
        doubles = _number(observation["cube_value"]).bit_length() - 1
        begun = self._match([*self._games, GameRecord(score, (), None, 0, doubles)])
        crawford = crawford_game(begun, len(self._games))
        self._walk = Walk(self._rules.match_length, score, crawford, self._rules.variant, self._rules, doubles)
        self._actions: list[Action] = []
        self._doubles = doubles
        self._offered: Resignation | None = None
        self._dice: tuple[int, int] | None = None
        self._moves: list[int] = []
        self._look(observation, player)

    def step(self, action: int, observation: Mapping[str, Any], player: int) -> None:
        """``action`` was taken, and legal; ``player`` decides next and observes ``observation``.

        `NotationError` if the record so far does not allow it.
        """
        if self._over():
            raise NotationError("recorder: found an action after the end, wanted `start` first")
        action = int(action)
        if action < NUM_MOVES or action == PASS:
            self._move(action, observation, player)
        elif action in _CUBE_ACTIONS:
            self._add(CubeAction(self._player, _CUBE_ACTIONS[action]))
        elif RESIGN_SINGLE <= action <= RESIGN_BACKGAMMON:
            self._offered = Resignation(self._player, action - RESIGN_SINGLE + 1, None)
        elif action in (ACCEPT, REFUSE) and self._offered is not None:
            self._add(Resignation(self._offered.player, self._offered.level, action == ACCEPT))
            self._offered = None
        if self._over():
            self._games.append(self._game())
            if _number(observation["phase"]) != Phase.OVER:
                self.start(observation, player)
        self._look(observation, player)

    def record(self) -> MatchRecord:
        """All that was played so far, the dice on the table and the moves made with them included."""
        return self._match(self._games if self._over() else [*self._games, self._game()])

    def _over(self) -> bool:
        return self._walk.winner is not None

    def _match(self, games: list[GameRecord]) -> MatchRecord:
        rules = self._rules
        return MatchRecord(self._names, rules.match_length, tuple(games), self._headers, rules.variant, rules)

    def _score(self) -> tuple[int, int]:
        if not self._games:
            return 0, 0
        last = self._games[-1]
        return last.score[0] + last.points * (last.winner == 0), last.score[1] + last.points * (last.winner == 1)

    def _look(self, observation: Mapping[str, Any], player: int) -> None:
        self._player = int(player)
        self._phase = _number(observation["phase"])
        if self._phase == Phase.MOVE and self._dice is None:
            first, second = _dice(observation)[:2]
            self._dice = first, second

    def _move(self, action: int, observation: Mapping[str, Any], player: int) -> None:
        if self._dice is None:
            raise NotationError("recorder: found a move without dice, wanted them in the observation before it")
        if action != PASS:
            self._moves.append(action)
        hops = self._hops()
        after, _ = apply_hops(self._walk.state.board, hops, self._rules.variant)
        goes_on = player == self._player and _number(observation["phase"]) == Phase.MOVE and action != PASS
        if goes_on and after[0][OFF] < sum(after[0]):
            return
        roll = Roll(self._player, self._dice, hops)
        self._dice, self._moves = None, []
        self._add(roll)

    def _hops(self) -> tuple[Hop, ...]:
        """The moves of this turn."""
        return tuple((move % 25 + 1, max(move % 25 - move // 25, OFF)) for move in self._moves)

    def _add(self, action: Action) -> None:
        self._walk.add(action)
        self._actions.append(action)

    def _game(self) -> GameRecord:
        """This game as it is now."""
        actions = list(self._actions)
        if self._offered is not None:
            actions.append(self._offered)
        if self._dice is not None:
            actions.append(Roll(self._player, self._dice, None, tuple(self._moves)))
        state, winner = self._walk.state, self._walk.winner
        return GameRecord(state.score, tuple(actions), winner, self._walk.points(), self._doubles)


def _number(value: Any) -> int:
    """A number that may come as an array of one."""
    return int(np.ravel(value)[0])


def _dice(observation: Mapping[str, Any]) -> list[int]:
    return [int(die) for die in observation["dice"] if die]
