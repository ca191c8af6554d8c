"""Matches of two bots under a referee, one after the other: for formats with a clock, pairs, or illegal plays.

The games are those of the arena: the same deals in both seatings, from the same dice, so that without a clock both give
the same result. What a referee adds is counted beside it. Cost: a batch of one, some milliseconds a turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from ..env import Games
from ..env.clock import SimulatedTime
from ..env.formats import Format
from ..env.notation import CubeAction, MatchRecord
from .arena import GAME_COLUMNS, SEAT_COLUMNS, Progress, Record
from .bots import Bot
from .luck import Luck
from .match_log import EVENTS, GameLog, MatchLog, Turn
from .players import BotPlayer
from .recording import match_of_bots
from .referee import Referee
from .results import ArenaResult, compare, compare_bots
from .session import Keeper, SessionOptions

__all__ = ["compare_in_format", "compare_refereed", "play_match"]

_WINS = {"single": "singles", "gammon": "gammons", "backgammon": "backgammons", "drop": "drop_wins"}


def play_match(
    bots: tuple[Bot, Bot], options: Format, seed: int = 0, slot: int = 0, rolled: Callable[[Games], None] | None = None
) -> MatchLog:
    """One match, or money game, between player 0 and player 1, by the clock that ``options`` asks for.

    ``rolled`` is shown the game whenever dice are on the table, before they are played.
    """
    if options.clock.time == "real":
        one, other = (BotPlayer(bot) for bot in bots)
        return Referee((one, other), options, seed, slot, rolled=rolled).play()
    now = SimulatedTime()
    one, other = (BotPlayer(bot, lambda: now.advance(options.clock.per_decision)) for bot in bots)
    return Referee((one, other), options, seed, slot, now=now, rolled=rolled).play()


def compare_refereed(
    bot: Bot,
    opponent: Bot,
    num_games: int,
    options: Format,
    seed: int = 0,
    progress: Progress | None = None,
    session: SessionOptions | None = None,
    luck: Luck | None = None,
    keeper: Keeper | None = None,
) -> ArenaResult:
    """`compare_bots` under a referee: ``num_games`` matches, or money games, every deal in both seatings.

    Every deal is a part of the session by itself.
    """

    recorded = 0 if session is None else session.recorded_deals

    def play(first: int, deals: int, report: Progress) -> Record:
        numbers = range(first, first + deals)
        return Record.join(
            *(_play_deal((bot, opponent), options, seed, n, luck, n < recorded, report) for n in numbers)
        )

    return compare(play, bot, opponent, num_games, options, seed, progress, session, luck, keeper, at_once=[1])


def compare_in_format(
    bot: Bot,
    opponent: Bot,
    num_games: int,
    options: Format,
    seed: int = 0,
    batch: int = 4096,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    session: SessionOptions | None = None,
    luck: Luck | None = None,
    keeper: Keeper | None = None,
) -> ArenaResult:
    """`compare_refereed` if the format takes a referee, else `compare_bots`, many games at a time."""
    if options.refereed:
        return compare_refereed(bot, opponent, num_games, options, seed, progress, session, luck, keeper)
    rules = options.rules
    return compare_bots(bot, opponent, num_games, rules, seed, batch, device, progress, session, luck, keeper)


def _play_deal(
    bots: tuple[Bot, Bot],
    options: Format,
    seed: int,
    deal: int,
    luck: Luck | None,
    recorded: bool,
    report: Progress,
) -> Record:
    """One deal in both seatings, seen by the first bot; ``recorded`` keeps the moves."""
    points = torch.zeros((2, 1), dtype=torch.int64)
    seats = torch.zeros((2, 1, 2, len(SEAT_COLUMNS)), dtype=torch.int64)
    games = torch.zeros((2, 1, len(GAME_COLUMNS)), dtype=torch.int64)
    lucky = torch.zeros((2, 1), dtype=torch.float64)
    events = {kind: [0, 0] for kind in EVENTS}
    matches: list[MatchRecord] = []
    started = time.perf_counter()
    for seating, seated in enumerate((bots, bots[::-1])):

        def rolled(state: Games, place: Tensor = lucky[seating]) -> None:
            if luck is not None:
                place += luck.of(state, torch.zeros(1, dtype=torch.int64))

        log = play_match(seated, options, seed, deal, rolled)
        report(seating + 1, 2)
        if recorded:
            matches.append(match_of_bots(log, seating))
        points[seating, 0] = _points(log, seating)
        for game in log.games:
            _count(game, seats[seating, 0], games[seating, 0])
        for event in log.events:
            events[event.kind][event.player ^ seating] += 1
    seats[1], lucky[1] = seats[1].flip(1), -lucky[1]  # by bot, no longer by player
    counted = {kind: (own, other) for kind, (own, other) in events.items()}
    seconds = time.perf_counter() - started
    return Record(points, seats, games, seconds, None if luck is None else lucky, counted, tuple(matches))


def _points(log: MatchLog, player: int) -> int:
    """What ``player`` has won: a match, or the points of money games."""
    if log.format.match_length:
        return 1 if log.winner == player else -1
    return log.score[player] - log.score[1 - player]


def _count(game: GameLog, seats: Tensor, totals: Tensor) -> None:
    """Add a game to the counts of a deal, ``[2, 8]`` by player and ``[5]``, in place."""
    if game.end in _WINS:
        seats[game.winner, SEAT_COLUMNS.index(_WINS[game.end])] += 1
    beavered = False
    for action in game.actions:
        if isinstance(action, CubeAction) and action.kind in ("double", "take", "beaver"):
            if action.kind == "take" and beavered:
                continue  # the taker of the double has beavered it, and was counted
            seats[action.player, SEAT_COLUMNS.index(f"{action.kind}s")] += 1
            if beavered := action.kind == "beaver":
                seats[action.player, SEAT_COLUMNS.index("takes")] += 1
    plies = sum(isinstance(action, Turn) and action.after is not None for action in game.actions)
    counted = {"games": 1, "plies": plies, "turned": game.turned, "cube": game.cube_value}
    for column, amount in counted.items():
        totals[GAME_COLUMNS.index(column)] += int(amount)
