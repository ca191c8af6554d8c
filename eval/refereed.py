"""Matches of two bots under a referee, one after the other: for formats with a clock, pairs, or illegal plays.

The games are those of the arena: the same deals in both seatings, from the same dice, so that without a clock both give
the same result. What a referee adds is counted beside it. Cost: a batch of one, some milliseconds a turn.
"""

from __future__ import annotations

import time

import torch

from ..env.clock import SimulatedTime
from ..env.formats import Format
from ..env.notation import CubeAction
from .arena import GAME_COLUMNS, SEAT_COLUMNS, Progress, Record
from .bots import Bot
from .match_log import EVENTS, GameLog, MatchLog, Turn
from .outside import BotFailedError
from .players import BotPlayer
from .referee import Referee
from .results import ArenaResult, check_bots, check_num_games, summarise

__all__ = ["compare_refereed", "play_match"]

_WINS = {"single": "singles", "gammon": "gammons", "backgammon": "backgammons", "drop": "drop_wins"}


def play_match(bots: tuple[Bot, Bot], options: Format, seed: int = 0, slot: int = 0) -> MatchLog:
    """One match, or money game, between player 0 and player 1, by the clock that ``options`` asks for."""
    if options.clock.time == "real":
        one, other = (BotPlayer(bot) for bot in bots)
        return Referee((one, other), options, seed, slot).play()
    now = SimulatedTime()
    one, other = (BotPlayer(bot, lambda: now.advance(options.clock.per_decision)) for bot in bots)
    return Referee((one, other), options, seed, slot, now=now).play()


def compare_refereed(
    bot: Bot,
    opponent: Bot,
    num_games: int,
    options: Format,
    seed: int = 0,
    progress: Progress | None = None,
) -> ArenaResult:
    """`compare_bots` under a referee: ``num_games`` matches, or money games, every deal in both seatings."""
    check_num_games(num_games)
    check_bots(options, bot, opponent)
    num_deals = num_games // 2
    points = torch.zeros((2, num_deals), dtype=torch.int64)
    seats = torch.zeros((2, num_deals, 2, len(SEAT_COLUMNS)), dtype=torch.int64)
    games = torch.zeros((2, num_deals, len(GAME_COLUMNS)), dtype=torch.int64)
    events = {kind: [0, 0] for kind in EVENTS}
    started = time.perf_counter()
    played, stopped = 0, ""
    try:
        for deal in range(num_deals):
            pair: list[MatchLog] = []
            for bots in ((bot, opponent), (opponent, bot)):
                pair.append(play_match(bots, options, seed, deal))
                if progress is not None:
                    progress(2 * deal + len(pair), num_games)
            for seating, log in enumerate(pair):
                points[seating, deal] = _points(log, seating)
                for game in log.games:
                    _count(game, seats[seating, deal], games[seating, deal])
                for event in log.events:
                    events[event.kind][event.player ^ seating] += 1
            played += 1
    except BotFailedError as failure:
        if not played:
            raise
        stopped = str(failure)
    seats[1] = seats[1].flip(1)  # by bot, no longer by player
    seconds = time.perf_counter() - started
    record = Record(points[:, :played], seats[:, :played], games[:, :played], seconds)
    counted = {kind: (own, other) for kind, (own, other) in events.items()}
    return summarise(record, bot.name, opponent.name, options, seed, events=counted, stopped=stopped)


def _points(log: MatchLog, player: int) -> int:
    """What ``player`` has won: a match, or the points of money games."""
    if log.format.match_length:
        return 1 if log.winner == player else -1
    return log.score[player] - log.score[1 - player]


def _count(game: GameLog, seats: torch.Tensor, totals: torch.Tensor) -> None:
    """Add a game to the counts of a deal, ``[2, 6]`` by player and ``[4]``, in place."""
    if game.end in _WINS:
        seats[game.winner, SEAT_COLUMNS.index(_WINS[game.end])] += 1
    for action in game.actions:
        if isinstance(action, CubeAction) and action.kind in ("double", "take"):
            seats[action.player, SEAT_COLUMNS.index(f"{action.kind}s")] += 1
    plies = sum(isinstance(action, Turn) and action.after is not None for action in game.actions)
    counted = {"games": 1, "plies": plies, "turned": game.turned, "cube": game.cube_value}
    for column, amount in counted.items():
        totals[GAME_COLUMNS.index(column)] += int(amount)
