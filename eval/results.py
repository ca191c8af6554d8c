"""What a session of games between two bots says: points with an interval, wins by kind, cube, speed; and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from ..env import GameOptions
from ..env.clock import ClockOptions
from ..env.formats import Format
from ..env.notation import MatchRecord
from .arena import GAME_COLUMNS, SEAT_COLUMNS, Progress, Record, play_deals
from .bots import BeaveringBot, Bot
from .luck import Luck
from .outside import OutsideBot
from .session import Estimates, Keeper, PlayPart, SessionOptions, estimate, play_session
from .statistics import Interval, IntervalMethod

__all__ = ["ArenaResult", "SideResult", "check_bots", "check_num_games", "compare", "compare_bots", "summarise"]

_INTERVALS = ("points", "luck", "adjusted")


@dataclass(frozen=True)
class SideResult:
    """Counts of one bot over all games of a session.

    ``singles``, ``gammons``, ``backgammons`` are wins over the board by their level on the board (under Jacoby a
    gammon with the cube centred is counted here as a gammon and scored as a single game); ``drop_wins`` are games
    that the other bot gave up when doubled; ``forfeits`` are games that this bot lost because it owed an answer, and
    that are wins of neither; a double that was beavered counts as taken too.
    """

    singles: int
    gammons: int
    backgammons: int
    drop_wins: int
    doubles: int
    takes: int
    forfeits: int = 0
    beavers: int = 0

    @property
    def wins(self) -> int:
        """Games won in any way."""
        return self.singles + self.gammons + self.backgammons + self.drop_wins


@dataclass(frozen=True)
class ArenaResult:
    """A session of ``num_deals`` deals, each played twice with the seats swapped; all from the view of ``bot``.

    Attributes:
        bot: specification of the bot measured.
        opponent: of the other.
        options: what was played.
        seed: of dice and ties.
        first_deal: number of the first deal.
        num_deals: deals, half the games (of a match: half the matches).
        points: points a game; of matches, +1 for a match won and -1 for one lost. The 95 % interval, normal or by
            bootstrap as it says, is over the means of the pairs of games with the same dice.
        side: counts of ``bot``.
        other: counts of ``opponent``.
        num_games: games played, those within matches included.
        plies_per_game: turns a game, both sides counted.
        turned_games: games in which a double was taken.
        mean_cube: cube value at the end, mean over all games.
        decisions_per_second: plays chosen, forced ones included, by the clock on the wall.
        abandoned_games: games given up because they did not end (`arena.MAX_TURNS`); their deal counts as drawn.
        events: what a referee has noted, by kind (`match_log.EVENTS`), of ``bot`` and of ``opponent``; None without a
            referee. Games that a flag, an award or a disqualification ended are wins of neither `side` nor `other`.
        stopped: why the session ended before all deals were played, an empty text if it did not. ``num_deals`` are
            those that count: the first ones, whole, so that short games have no better chance to be among them.
        luck: how much of ``points`` was luck of the dice; None if nobody asked.
        adjusted: ``points`` less ``luck``, another estimate of the same strength; None if nobody asked.
        luck_by: whose values said what a roll was worth.
        until: half width at which the session was to end, in the unit of `estimates`; None if all deals were wanted.
        deals_wanted: how many deals there would have been at most.
        matches: the recorded games, see `Record`; they are no part of the JSON.
    """

    bot: str
    opponent: str
    options: GameOptions
    seed: int
    first_deal: int
    num_deals: int
    points: Interval
    side: SideResult
    other: SideResult
    num_games: int
    plies_per_game: float
    turned_games: int
    mean_cube: float
    decisions_per_second: float
    abandoned_games: int = 0
    events: Mapping[str, tuple[int, int]] | None = None
    stopped: str = ""
    luck: Interval | None = None
    adjusted: Interval | None = None
    luck_by: str | None = None
    until: float | None = None
    deals_wanted: int = 0
    matches: tuple[MatchRecord, ...] = field(default=(), compare=False, repr=False)

    @property
    def estimates(self) -> Estimates:
        """Result, luck and adjusted result together."""
        return Estimates(self.points, self.luck, self.adjusted)

    @property
    def best(self) -> Interval:
        """The narrower one of result and luck-adjusted result."""
        return self.estimates.best

    @property
    def match_wins(self) -> Interval | None:
        """Share of matches won with its 95 % interval; None for money games."""
        return self.points.scaled(0.5, 0.5) if self.options.match_length else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        intervals = {name: getattr(self, name) for name in _INTERVALS}
        values = asdict(replace(self, matches=()))
        del values["matches"]
        return {**values, **{name: found and found.to_dict() for name, found in intervals.items()}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ArenaResult:
        """The inverse of `to_dict`."""
        events = values.get("events")
        return cls(
            **{
                **values,
                "options": _options_from_dict(values["options"]),
                "events": events and {kind: (own, other) for kind, (own, other) in events.items()},
                **{name: Interval.from_dict(values[name]) for name in _INTERVALS if values.get(name)},
                "side": SideResult(**values["side"]),
                "other": SideResult(**values["other"]),
            }
        )


def _options_from_dict(values: Mapping[str, Any]) -> GameOptions:
    """The rules, or the whole format where there was a referee."""
    if "clock" in values:
        return Format(**{**values, "clock": ClockOptions(**values["clock"])})
    return GameOptions(**values)


def summarise(
    record: Record,
    bot: str,
    opponent: str,
    options: GameOptions,
    seed: int,
    first_deal: int = 0,
    stopped: str = "",
    interval: IntervalMethod = "normal",
) -> ArenaResult:
    """The figures of a record, which holds the view of ``bot``."""
    totals = dict(zip(GAME_COLUMNS, _totals(record.games), strict=True))
    num_games = max(1, totals["games"])
    sides = [SideResult(**dict(zip(SEAT_COLUMNS, _totals(record.seats[:, :, i]), strict=True))) for i in (0, 1)]
    estimates = estimate(record, interval)
    return ArenaResult(
        bot=bot,
        opponent=opponent,
        options=options,
        seed=seed,
        first_deal=first_deal,
        num_deals=record.num_deals,
        points=estimates.points,
        side=sides[0],
        other=sides[1],
        num_games=totals["games"],
        plies_per_game=totals["plies"] / num_games,
        turned_games=totals["turned"],
        mean_cube=totals["cube"] / num_games,
        decisions_per_second=totals["plies"] / max(record.seconds, 1e-9),
        abandoned_games=totals["abandoned"],
        events=record.events,
        stopped=stopped,
        luck=estimates.luck,
        adjusted=estimates.adjusted,
        deals_wanted=record.num_deals,
        matches=record.matches,
    )


def _totals(counts: Tensor) -> list[int]:
    return [int(n) for n in counts.sum((0, 1))]


def check_num_games(num_games: int) -> None:
    """``ValueError`` unless the games can be pairs of games on the same dice."""
    if num_games < 2 or num_games % 2:
        raise ValueError(f"games: found {num_games}, wanted an even number from 2 up: every deal is played twice")


def check_bots(options: GameOptions, *bots: Bot) -> None:
    """``ValueError`` if one of ``bots`` does not know the rules."""
    for bot in bots:
        if isinstance(bot, OutsideBot):
            bot.check_can_play(options)
        if options.beavers and not isinstance(bot, BeaveringBot):
            raise ValueError(f"bot: {bot.name} has no answer to a beaver: found env.beavers=true, wanted false")


def compare_bots(
    bot: Bot,
    opponent: Bot,
    num_games: int = 4000,
    options: GameOptions | None = None,
    seed: int = 0,
    batch: int = 4096,
    device: torch.device | str = "cpu",
    progress: Progress | None = None,
    session: SessionOptions | None = None,
    luck: Luck | None = None,
    keeper: Keeper | None = None,
) -> ArenaResult:
    """Play ``num_games`` games (matches, if ``options`` has a length) between two bots and summarise them.

    ``num_games`` is even, every deal being played in both seatings, and fewer are played if ``session`` has a stopping
    rule; ``keeper`` keeps the parts as they come and has those of a session to go on with; the other arguments are
    those of `play_deals`. Against outside bots the deals are played in parts. If one stops the session the parts before
    count, and `ArenaResult.stopped` says why; `BotFailedError` if there are none.
    """
    options = options or GameOptions()
    at_once = [each.deals_at_once for each in (bot, opponent) if isinstance(each, OutsideBot)]

    recorded = 0 if session is None else session.recorded_deals

    def play(first: int, deals: int, report: Progress) -> Record:
        return play_deals(bot, opponent, deals, options, seed, first, batch, device, report, luck, recorded)

    return compare(play, bot, opponent, num_games, options, seed, progress, session, luck, keeper, at_once)


def compare(
    play: PlayPart,
    bot: Bot,
    opponent: Bot,
    num_games: int,
    options: GameOptions,
    seed: int,
    progress: Progress | None,
    session: SessionOptions | None,
    luck: Luck | None,
    keeper: Keeper | None,
    at_once: Sequence[int],
) -> ArenaResult:
    """Play a session by ``play``, no more deals to a part than any of ``at_once``, and summarise it."""
    check_num_games(num_games)
    check_bots(options, bot, opponent)
    session = session or SessionOptions()
    num_deals, matches = num_games // 2, options.match_length > 0
    limits = [*at_once, *([session.part_deals] if session.part_deals else [])]
    session = replace(session, part_deals=min(limits, default=num_deals))
    record, stopped = play_session(play, num_deals, session, matches, keeper, progress)
    result = summarise(record, bot.name, opponent.name, options, seed, 0, stopped, session.interval)
    return replace(result, until=session.until, deals_wanted=num_deals, luck_by=None if luck is None else luck.name)
