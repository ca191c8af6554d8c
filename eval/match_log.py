"""What a referee writes down of a match: every game with its plays and cube actions, every event with its reason.

Plain values only, so that a log can be compared, and written as JSON by ``dataclasses.asdict``. Players are numbered 0
and 1; positions are those of the mover, side 0, as in `env.notation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..env.formats import Format
from ..env.notation import CubeAction, GameRecord, MatchRecord, Resignation, Roll, recorded_roll
from ..env.notation.errors import naming

__all__ = ["EVENTS", "GameLog", "MatchEvent", "MatchLog", "Turn", "match_record", "position"]

Position = tuple[tuple[int, ...], tuple[int, ...]]

EVENTS = {
    "flag": "flag fallen",
    "illegal": "illegal plays",
    "accepted": "illegal plays that stood",
    "failed": "player failed",
    "warning": "warnings",
    "time taken": "time taken",
    "time given": "time given to the opponent",
    "point deducted": "points deducted",
    "game awarded": "games awarded to the opponent",
    "disqualified": "disqualified",
    "break": "breaks",
}
"""What can be noted of a player, each with the words that a table has for it."""


@dataclass(frozen=True)
class Turn:
    """A roll and the play made with it.

    Attributes:
        player: who rolled. dice: in the order rolled.
        before: the position with the dice on the table, the mover side 0.
        after: the position after the play, the mover still side 0; None if the game ended before a play stood.
        legal: False for an illegal play that stood.
    """

    player: int
    dice: tuple[int, int]
    before: Position
    after: Position | None
    legal: bool = True


@dataclass(frozen=True)
class MatchEvent:
    """Something noted of ``player``: ``kind`` is one of `EVENTS`, ``game`` the game's number from 1 on.

    ``amount`` is in seconds or points where the kind has any: time, deducted points, points of an awarded game.
    """

    kind: str
    player: int
    game: int
    reason: str
    amount: float = 0.0


@dataclass(frozen=True)
class GameLog:
    """One game.

    Attributes:
        number: from 1 on.
        score: points of player 0 and player 1 before it; of money games, the points won so far.
        crawford: was it the Crawford game?
        owners: who made the moves of either side: of a pair the partner whose game it was.
        actions: rolls with plays, turns of the cube and answers, resignations, in order.
        end: "single", "gammon", "backgammon" (over the board), "drop", "resignation", "awarded", or "flag" and
            "disqualified", which end the match with it.
        winner: of the game, or of the match that ended with it.
        points: what the winner got for it, surplus points of a match counted; by a flag or a disqualification, the
            points that he lacked.
        cube_value: what the cube showed at the end. turned: was it some player's then?
        automatic_doubles: how often the opening roll had doubled it.
        left: seconds left on both clocks at the end, None without a clock.
    """

    number: int
    score: tuple[int, int]
    crawford: bool
    owners: tuple[str, str]
    actions: tuple[Turn | CubeAction | Resignation, ...]
    end: str
    winner: int
    points: int
    cube_value: int
    turned: bool
    automatic_doubles: int
    left: tuple[float, float] | None


@dataclass
class MatchLog:
    """A match, or a session of money games; grows while it is played.

    Attributes:
        names: of player 0 and player 1.
        format: what was played.
        seed: of the dice, with ``slot`` the stream that they came from.
        games: the finished games. events: in order.
        score: points of both now; of a match capped at its length.
        winner: of a finished match; None for money games.
    """

    names: tuple[str, str]
    format: Format
    seed: int
    slot: int
    games: list[GameLog] = field(default_factory=list)
    events: list[MatchEvent] = field(default_factory=list)
    score: tuple[int, int] = (0, 0)
    winner: int | None = None

    def count(self, kind: str, player: int) -> int:
        """How often ``kind`` was noted of ``player``."""
        return sum(event.kind == kind and event.player == player for event in self.events)


def position(board: Tensor) -> Position:
    """A board ``[2, 26]`` as plain numbers."""
    mine, theirs = board.tolist()
    return tuple(mine), tuple(theirs)


def match_record(log: MatchLog, names: tuple[str, str] | None = None) -> MatchRecord:
    """The log as `env.notation` writes it, in ``.mat`` for example.

    A game awarded to a player is one that the other resigned as a single game; a game cut short by a flag or a
    disqualification stays unfinished. ``names`` stand in for those of the players, which ``.mat`` wants without a
    colon.

    Raises:
        NotationError: for an illegal play that stood. What else such a record cannot say, deducted points for example,
            is refused by what writes it.
    """
    games = tuple(_game_record(game, log) for game in log.games)
    rules = log.format.rules
    awarded = any(game.end == "awarded" for game in log.games)
    return MatchRecord(
        names or log.names,
        rules.match_length,
        games,
        variant=rules.variant,
        rules=None if awarded else rules,  # which would let nobody resign but the player on roll, before the roll
    )


def _game_record(game: GameLog, log: MatchLog) -> GameRecord:
    actions: list[Roll | CubeAction | Resignation] = []
    rolls = 0
    for action in game.actions:
        if isinstance(action, Turn):
            with naming(f"game {game.number}: turn {rolls + 1}"):
                actions.append(_roll(action, log.format.variant, second_first=rolls == 1))
            rolls += 1
        else:
            actions.append(action)
    if game.end in ("flag", "disqualified"):
        return GameRecord(game.score, tuple(actions), None, 0, game.automatic_doubles)
    if game.end == "awarded":
        actions.append(Resignation(1 - game.winner, 1))
    return GameRecord(game.score, tuple(actions), game.winner, game.points, game.automatic_doubles)


def _roll(turn: Turn, variant: str, second_first: bool) -> Roll:
    if turn.after is None:
        return Roll(turn.player, turn.dice, None)
    before, after = (torch.tensor(board, dtype=torch.int8) for board in (turn.before, turn.after))
    return recorded_roll(turn.player, turn.dice, before, after, variant, second_first)
