"""A session of deals: played in parts, each kept as soon as it is over, until enough are played.

What is played is left to the caller. A part is whole or was never played: a stopped session has its first deals, so
short games have no better chance to be among them, and one that goes on gives what an uninterrupted one would.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .arena import Progress, Record
from .outside import BotFailedError
from .statistics import Interval, IntervalMethod, interval

__all__ = ["MIN_DEALS", "Estimates", "Keeper", "PlayPart", "SessionOptions", "estimate", "play_session"]

# The stopping rule does not look before: a variance from fewer deals may be small by chance.
MIN_DEALS = 200

PlayPart = Callable[[int, int, Progress], Record]  # first deal, number of deals, progress within the part


class Keeper(Protocol):
    """Where the parts of a session are kept, in order."""

    def parts(self) -> list[Record]:
        """Those kept so far."""
        ...

    def keep(self, part: Record) -> None:
        """Keep one more; it is safe when this returns."""
        ...


@dataclass(frozen=True)
class SessionOptions:
    """How a session is divided, judged and ended.

    Attributes:
        interval: how the width of intervals is found.
        until: end at a half width of so much, in points a game (of matches: in the share won); None plays all deals.
        part_deals: deals to a part; None plays all deals as one.
        recorded_deals: of how many deals, from the first, the moves are kept.
    """

    interval: IntervalMethod = "normal"
    until: float | None = None
    part_deals: int | None = None
    recorded_deals: int = 0

    def __post_init__(self) -> None:
        if self.until is not None and not self.until > 0:
            raise ValueError(f"until: found {self.until:g}, wanted a half width above 0, or null")
        if self.part_deals is not None and self.part_deals < 1:
            raise ValueError(f"part: found {self.part_deals} deals, wanted at least 1")


@dataclass(frozen=True)
class Estimates:
    """What a record says of the first bot, in points a game; of matches in wins (+1) and losses (-1).

    Attributes:
        points: as played.
        luck: how much of that was luck of the dice; None if nobody asked.
        adjusted: points less luck, which has the same expectation.
    """

    points: Interval
    luck: Interval | None = None
    adjusted: Interval | None = None

    @property
    def best(self) -> Interval:
        """The narrower one of ``points`` and ``adjusted``: errors of a weak bot may vary more than the dice."""
        if self.adjusted is None or self.adjusted.half_width >= self.points.half_width:
            return self.points
        return self.adjusted


def estimate(record: Record, method: IntervalMethod = "normal") -> Estimates:
    """Means over deals, each the mean of its two games on the same dice: deals are independent, the games are not."""
    points = record.points.double()
    if record.luck is None:
        return Estimates(interval(points.mean(0), method))
    each = (points, record.luck, points - record.luck)
    return Estimates(*(interval(games.mean(0), method) for games in each))


def play_session(
    play: PlayPart,
    num_deals: int,
    options: SessionOptions,
    matches: bool = False,
    keeper: Keeper | None = None,
    progress: Progress | None = None,
) -> tuple[Record, str]:
    """Play up to ``num_deals`` deals by ``play``, after those that ``keeper`` has; ``(record, why it stopped early)``.

    The text is empty unless an outside bot ended the session; then the parts before count, and if there are none
    `BotFailedError` is passed on. The stopping rule is a fixed-width one (Chow and Robbins 1965): it looks at the width
    alone, never at the mean, after every part from `MIN_DEALS` deals on.
    """
    parts = [] if keeper is None else keeper.parts()
    played, stopped = sum(part.num_deals for part in parts), ""
    if played > num_deals:
        raise ValueError(f"games: found {2 * num_deals:,}, wanted at least the {2 * played:,} that are kept")
    while played < num_deals and not _enough(parts, options, matches):
        deals = min(options.part_deals or num_deals, num_deals - played)

        def report(finished: int, _wanted: int, before: int = 2 * played) -> None:
            if progress is not None:
                progress(before + finished, 2 * num_deals)

        try:
            part = play(played, deals, report)
        except BotFailedError as failure:
            if not parts:
                raise
            stopped = str(failure)
            break
        if keeper is not None:
            keeper.keep(part)
        parts.append(part)
        played += part.num_deals
    return Record.join(*parts), stopped


def _enough(parts: list[Record], options: SessionOptions, matches: bool) -> bool:
    if options.until is None or sum(part.num_deals for part in parts) < MIN_DEALS:
        return False
    width = estimate(Record.join(*parts), options.interval).best.half_width
    return width * (0.5 if matches else 1.0) <= options.until
