"""A match, or a session of money games, as a referee keeps it: the game on the board, clocks, score, penalties, log.

Nobody is asked anything here (`referee` does that); whoever conducts the match calls the penalties of rules.md 5.4
between two turns. Players are numbered 0 and 1. A batch of one game.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from ..env import GameEnd, Games
from ..env.clock import Clock
from ..env.cube import CENTRED
from ..env.formats import Format
from ..env.notation import CubeAction, Resignation
from .match_log import GameLog, MatchEvent, MatchLog, Turn, position

__all__ = ["Match"]

_LEVELS = ("drop", "single", "gammon", "backgammon")


class Match:
    """One match, or ``num_games`` money games.

    Attributes:
        games: the game as it stands: position, dice, cube, score.
        clock: both clocks, None in a format without them.
        log: what has happened so far.
        over: is the match, or the last money game, finished?
    """

    def __init__(
        self,
        names: tuple[str, str],
        options: Format,
        seed: int = 0,
        slot: int = 0,
        num_games: int = 1,
        partners: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Deal the first game.

        Args:
            names: of the players.
            options: what is played.
            seed: of the dice, which with ``slot`` are those of that slot in any other batch of games.
            num_games: of a money session; a match ends when it is won.
            partners: in a format for pairs, who may own a side's moves: they take turns, game by game.
            now: the time in seconds, for the clocks and for breaks that come late in a match.
        """
        if num_games < 1:
            raise ValueError(f"games: found {num_games}, wanted at least 1")
        rules = options.rules
        if rules.match_length and not rules.cube:
            rules = replace(rules, max_cube=1)  # bots are told the score, and that the cube cannot be turned
        self.format = options
        self.games = Games(1, rules, seed, first_slot=slot)
        self.clock = Clock(options.clock, now) if options.clock.used else None
        self.log = MatchLog(names, options, seed, slot)
        self.over = False
        self._num_games = num_games
        self._partners = partners if partners and options.pairs else tuple((name,) for name in names)
        self._now, self._started = now, now()
        self._breaks = [0, 0]
        self._begin()

    @property
    def on_roll(self) -> int:
        """The player on roll."""
        return int(self.games.player[0])

    @property
    def dice(self) -> tuple[int, int]:
        """On the table; 0 0 before the roll."""
        first, second = self.games.dice[0].tolist()
        return int(first), int(second)

    @property
    def owners(self) -> tuple[str, str]:
        """Who makes the moves of either side in this game, and in no other way until it is over."""
        number = len(self.log.games)
        first, second = (names[number % len(names)] for names in self._partners)
        return first, second

    def add(self, action: CubeAction | Resignation) -> None:
        """Write down what a player did."""
        self._actions.append(action)

    def move(self, after: Tensor, legal: bool = True) -> bool:
        """Play to ``after`` ``[2, 26]``, the mover side 0; True if that ended the game."""
        games = self.games
        self._actions.append(Turn(self.on_roll, self.dice, position(games.boards[0]), position(after), legal))
        return self.ended(games.play(after[None]))

    def ended(self, end: GameEnd) -> bool:
        """Take in what a step of `Games` has ended; True if it was the game."""
        if not bool(end.finished[0]):
            return False
        points = int(end.points[0])
        how = "resignation" if bool(end.resigned[0]) else _LEVELS[abs(int(end.level[0]))]
        self._finish(how, 0 if points > 0 else 1, abs(points))
        return True

    def note(self, kind: str, player: int, reason: str, amount: float = 0.0) -> None:
        """Write down an event; ``ValueError`` if all is over or there is no such player."""
        if player not in (0, 1):
            raise ValueError(f"{kind}: found player {player}, wanted 0 or 1")
        if self.over:
            raise ValueError(f"{kind}: found the match over, wanted one that is played")
        self.log.events.append(MatchEvent(kind, player, len(self.log.games) + 1, reason, amount))

    def flag(self, player: int) -> None:
        """The flag of ``player`` has fallen: he loses the match, the opponent has the points that he lacked (5.2)."""
        self.note("flag", player, "no time left")
        self._lose("flag", player)

    def warn(self, player: int, reason: str) -> None:
        """Warn ``player``."""
        self.note("warning", player, reason)

    def take_time(self, player: int, seconds: float, reason: str) -> None:
        """Take up to half of the time that ``player`` has left."""
        clock = self._clock_for("time taken", player, seconds)
        self.note("time taken", player, reason, seconds)
        clock.take_time(player, seconds)

    def give_time(self, player: int, seconds: float, reason: str) -> None:
        """Give the opponent of ``player``, the offender, up to half of the time that he himself has left."""
        clock = self._clock_for("time given", player, seconds)
        self.note("time given", player, reason, seconds)
        clock.add_time(1 - player, seconds)

    def deduct_point(self, player: int, reason: str) -> None:
        """Take one point of the match score from ``player``, if he has any."""
        self._only_in_matches("point deducted")
        taken = min(1, int(self.games.score[0, player]))
        self.note("point deducted", player, reason, taken)
        self.games.score[0, player] -= taken
        self._keep_score()

    def award_game(self, player: int, reason: str, cube_value: int | None = None) -> None:
        """Award the game to the opponent of ``player``, the offender: a single game at the cube as it stands.

        ``cube_value`` is what it stands at in an exchange of beavers, which `Games` hears of in the end.
        """
        points = int(self.games.cube_value[0]) if cube_value is None else cube_value
        self.note("game awarded", player, reason, points)
        if self.format.match_length:
            score = int(self.games.score[0, 1 - player]) + points
            self.games.score[0, 1 - player] = min(score, self.format.match_length)
        self._finish("awarded", 1 - player, points)

    def disqualify(self, player: int, reason: str) -> None:
        """Let ``player`` lose the match, the opponent having the points that he lacked."""
        self._only_in_matches("disqualified")
        self.note("disqualified", player, reason)
        self._lose("disqualified", player)

    def take_break(self, player: int) -> None:
        """Give ``player`` a break; ``ValueError`` if he has none left, or it is too early in the match."""
        allowed = self.format.allowed_breaks
        taken = sum(self._breaks) if allowed.common else self._breaks[player]
        minute = int((self._now() - self._started) // 60)
        if taken >= allowed.count:
            raise ValueError(f"break: found {taken} taken, wanted at most {allowed.count} in this match")
        if minute < allowed.not_before:
            raise ValueError(f"break: found minute {minute} of the match, wanted {allowed.not_before} or later")
        self.note("break", player, f"{allowed.minutes} minutes at most", 60 * allowed.minutes)
        self._breaks[player] += 1

    def _clock_for(self, kind: str, player: int, seconds: float) -> Clock:
        if self.clock is None:
            raise ValueError(f"{kind}: found no clock, wanted a format with one")
        most = self.clock.left(player) / 2
        if not 0 < seconds <= most:
            raise ValueError(f"{kind}: found {seconds:g} seconds, wanted up to half of what is left, {most:g}")
        return self.clock

    def _only_in_matches(self, kind: str) -> None:
        if not self.format.match_length:
            raise ValueError(f"{kind}: found money games, wanted a match")

    def _lose(self, how: str, player: int) -> None:
        winner, length = 1 - player, self.format.match_length
        missing = length - int(self.games.score[0, winner])
        self.games.score[0, winner] = length
        self._finish(how, winner, missing)

    def _begin(self) -> None:
        games = self.games
        self._actions: list[Turn | CubeAction | Resignation] = []
        self._score_before = self.log.score
        self._crawford = bool(games.crawford[0])
        self._automatic_doubles = int(games.cube_value[0]).bit_length() - 1

    def _finish(self, how: str, winner: int, points: int) -> None:
        """Close the game; go on to the next one if there is one."""
        games = self.games
        if self.dice != (0, 0):  # rolled and not played
            self._actions.append(Turn(self.on_roll, self.dice, position(games.boards[0]), None))
        if self.clock is not None:
            self.clock.stop()
        game = GameLog(
            number=len(self.log.games) + 1,
            score=self._score_before,
            crawford=self._crawford,
            owners=self.owners,
            actions=tuple(self._actions),
            end=how,
            winner=winner,
            points=points,
            cube_value=int(games.cube_value[0]),
            turned=int(games.cube_owner[0]) != CENTRED,
            automatic_doubles=self._automatic_doubles,
            left=None if self.clock is None else (self.clock.left(0), self.clock.left(1)),
        )
        self.log.games.append(game)
        self._keep_score(winner, points)
        length = self.format.match_length
        if length and max(self.log.score) >= length:
            self.log.winner = winner
        self.over = self.log.winner is not None if length else len(self.log.games) >= self._num_games
        if not self.over:
            games.deal(torch.ones(1, dtype=torch.bool))
            self._begin()

    def _keep_score(self, winner: int = 0, points: int = 0) -> None:
        """Write the score down: of a match what `Games` keeps, of money games the points won."""
        score = self.games.score[0].tolist() if self.format.match_length else list(self.log.score)
        if not self.format.match_length:
            score[winner] += points
        self.log.score = int(score[0]), int(score[1])
