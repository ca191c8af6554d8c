"""What was played in some of the arena's games, written down as a referee would; and as match text.

Cost: a host synchronisation and a loop over the recorded games each turn, so only a few are recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from torch import Tensor

from ..env import GameEnd, GameOptions, Games
from ..env.cube import CENTRED
from ..env.formats import Format
from ..env.notation import CubeAction, GameRecord, MatchRecord, Resignation, Roll, match_text
from .match_log import GameLog, MatchLog, Turn, match_record, position

__all__ = ["Recording", "mat_texts", "match_from_json", "match_of_bots"]

_ENDS = ("drop", "single", "gammon", "backgammon")
_MOST_NAME = 20  # characters that .mat has for a name beside the score


class Recording:
    """Logs of the deals 0 to ``num_deals`` - 1 of a batch, in one seating; players by seat."""

    def __init__(
        self, names: tuple[str, str], options: GameOptions, seed: int, first_deal: int, num_deals: int
    ) -> None:
        rules = Format(**{field.name: getattr(options, field.name) for field in fields(GameOptions)})
        self._logs = [MatchLog(names, rules, seed, first_deal + deal) for deal in range(num_deals)]
        self._actions: list[list[Turn | CubeAction | Resignation]] = [[] for _ in range(num_deals)]
        self._doubles = [0] * num_deals  # automatic ones, of the game in progress

    def logs(self) -> list[MatchLog]:
        """The finished matches and money games."""
        return [log for log in self._logs if log.games]

    def cube(self, games: Games, deal: Tensor, offer: Tensor, answers: Sequence[tuple[str, Tensor]]) -> None:
        """Doubles where ``offer`` ``[B]`` holds, each with the first of ``answers`` whose mask ``[B]`` does, if one."""
        for row, number in self._rows(deal, offer):
            player = int(games.player[row])
            self._actions[number].append(CubeAction(player, "double"))
            answered = [word for word, where in answers if bool(where[row])]
            for place, word in enumerate(answered):
                self._actions[number].append(CubeAction((1 - player) if place % 2 == 0 else player, word))

    def turn(self, games: Games, deal: Tensor, afterstates: Tensor, active: Tensor, failed: Tensor) -> None:
        """Rolls and plays of the games ``active`` ``[B]``; none where the bot has ``failed``."""
        for row, number in self._rows(deal, active):
            first, second = (int(die) for die in games.dice[row])
            after = None if bool(failed[row]) else position(afterstates[row])
            turn = Turn(int(games.player[row]), (first, second), position(games.boards[row]), after)
            self._actions[number].append(turn)
            if int(games.turn[row]) == 0:
                self._doubles[number] = int(games.cube_value[row]).bit_length() - 1

    def end(self, games: Games, deal: Tensor, end: GameEnd, finished: Tensor) -> None:
        """The games ``finished`` ``[B]`` are over; to be told before the next ones are dealt."""
        for row, number in self._rows(deal, finished):
            log, points = self._logs[number], int(end.points[row])
            winner, level = (0 if points > 0 else 1), abs(int(end.level[row]))
            game = GameLog(
                number=len(log.games) + 1,
                score=log.score,
                crawford=bool(games.crawford[row]),
                owners=log.names,
                actions=tuple(self._actions[number]),
                end="awarded" if level == 0 and not bool(end.dropped[row]) else _ENDS[level],
                winner=winner,
                points=abs(points),
                cube_value=int(games.cube_value[row]),
                turned=int(games.cube_owner[row]) != CENTRED,
                automatic_doubles=self._doubles[number],
                left=None,
            )
            log.games.append(game)
            score = [log.score[player] + abs(points) * (player == winner) for player in (0, 1)]
            length = log.format.match_length
            log.score = (min(score[0], length), min(score[1], length)) if length else (score[0], score[1])
            log.winner = winner if length and max(log.score) >= length else None
            self._actions[number] = []

    def give_up(self, deal: Tensor, endless: Tensor) -> None:
        """The deals of ``endless`` ``[B]`` are not played to their end, and not recorded."""
        for _, number in self._rows(deal, endless):
            self._logs[number].games.clear()

    def _rows(self, deal: Tensor, where: Tensor) -> list[tuple[int, int]]:
        """Rows and deals of the recorded games where ``where`` holds."""
        rows = (where & (deal < len(self._logs))).nonzero()[:, 0]
        return list(zip(rows.tolist(), deal[rows].tolist(), strict=True))


def match_of_bots(log: MatchLog, seating: int) -> MatchRecord:
    """The record of ``log`` with player 0 the bot that sat there in seating 0; no rules are told.

    `NotationError` for an illegal play that stood.
    """
    record = replace(match_record(log), rules=None)
    if seating == 0:
        return record
    games = tuple(
        GameRecord(
            (game.score[1], game.score[0]),
            tuple(_other_seat(action) for action in game.actions),
            None if game.winner is None else 1 - game.winner,
            game.points,
            game.automatic_doubles,
        )
        for game in record.games
    )
    return replace(record, names=(record.names[1], record.names[0]), games=games)


def _other_seat(action: Roll | CubeAction | Resignation) -> Roll | CubeAction | Resignation:
    if isinstance(action, Roll):
        return replace(action, player=1 - action.player, dice=(action.dice[1], action.dice[0]))
    return replace(action, player=1 - action.player)


def match_from_json(values: Mapping[str, Any]) -> MatchRecord:
    """A record without rules from its ``dataclasses.asdict`` as JSON has it."""
    games = [
        GameRecord(
            _pair(game["score"]),
            tuple(_action(action) for action in game["actions"]),
            game["winner"],
            game["points"],
            game["automatic_doubles"],
        )
        for game in values["games"]
    ]
    return MatchRecord(_pair(values["names"]), values["match_length"], tuple(games), (), values["variant"])


def _pair(values: Sequence[Any]) -> tuple[Any, Any]:
    first, second = values
    return first, second


def _action(values: Mapping[str, Any]) -> Roll | CubeAction | Resignation:
    if "kind" in values:
        return CubeAction(values["player"], values["kind"])
    if "level" in values:
        return Resignation(values["player"], values["level"], values["accepted"])
    hops = values["hops"]
    return Roll(values["player"], _pair(values["dice"]), None if hops is None else tuple(map(_pair, hops)))


def mat_texts(matches: Sequence[MatchRecord]) -> list[str]:
    """Match text of every match; money games become one session with a running score. Names are made to fit.

    `NotationError` for what the layout cannot hold, longgammon or automatic doubles for example.
    """
    if not matches:
        return []
    if not matches[0].match_length:
        score, games = [0, 0], []
        for match in matches:
            for game in match.games:
                games.append(replace(game, score=(score[0], score[1])))
                score[game.winner or 0] += game.points
        matches = [replace(matches[0], games=tuple(games))]
    names = [_fitting(name) for name in matches[0].names]
    if names[0] == names[1]:
        names = [f"{name[: _MOST_NAME - 2]} {number}" for number, name in enumerate(names, start=1)]
    return [match_text(replace(match, names=(names[0], names[1]))) for match in matches]


def _fitting(name: str) -> str:
    """A bot's specification as ``.mat`` can hold it."""
    kept = re.sub(r"[^\w.+-]+", " ", name, flags=re.ASCII).strip()
    return kept[-_MOST_NAME:].strip() or "bot"
