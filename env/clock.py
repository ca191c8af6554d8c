"""Clocks: each side's time for a match, what a turn adds to it, the flag, and the breaks that a match allows (5.2).

Seconds everywhere, as floats. A clock waits for nothing and asks nobody: it reads a source of time, the machine's or a
counter that somebody advances (`SimulatedTime`), when one of its methods is called. What a fallen flag costs is the
referee's business.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Breaks", "Clock", "ClockOptions", "SimulatedTime", "breaks"]


@dataclass(frozen=True)
class ClockOptions:
    """How much time a side has. All in seconds.

    Attributes:
        bank: for the whole match; 0 plays without a clock.
        increment: added at the end of each of its turns.
        time: "real" measures what the players take; "simulated" charges bots what ``per_decision`` says, so that the
            result does not depend on the machine.
        per_decision: simulated time that one decision of a bot takes, a play or a word about the cube.
    """

    bank: float = 0.0
    increment: float = 0.0
    time: Literal["real", "simulated"] = "real"
    per_decision: float = 1.0

    def __post_init__(self) -> None:
        for name in ("bank", "increment", "per_decision"):
            seconds = getattr(self, name)
            if not 0 <= seconds < math.inf:
                raise ValueError(f"{name}: found {seconds}, wanted seconds, 0 or more")
        if self.increment and not self.bank:
            raise ValueError(f"increment: found {self.increment:g} without a bank, wanted a bank of seconds to add to")

    @property
    def used(self) -> bool:
        """Is there a clock?"""
        return self.bank > 0


class SimulatedTime:
    """A source of time that stands still until somebody advances it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.seconds

    def advance(self, seconds: float) -> None:
        """Let ``seconds``, not negative, go by."""
        if not 0 <= seconds < math.inf:
            raise ValueError(f"time: found {seconds} seconds to go by, wanted 0 or more")
        self.seconds += seconds


class Clock:
    """The clocks of players 0 and 1, of which at most one runs.

    Attributes:
        running: the player whose clock runs, None while both stand.
    """

    def __init__(self, options: ClockOptions, now: Callable[[], float]) -> None:
        """Both stand at ``options.bank``; ``now`` tells the time in seconds from any beginning."""
        self.options = options
        self.running: int | None = None
        self._now = now
        self._left = [options.bank, options.bank]
        self._since = 0.0

    def left(self, player: int) -> float:
        """Seconds that ``player`` has left, those running now taken off; 0 once his flag has fallen."""
        running = self._now() - self._since if self.running == player else 0.0
        return max(0.0, self._left[player] - running)

    def flag(self, player: int) -> bool:
        """Has the flag of ``player`` fallen, his time used up?"""
        return self.left(player) <= 0

    def start(self, player: int) -> None:
        """Let the clock of ``player`` run; the other's stands from now on, without an increment."""
        self.stop()
        self.running, self._since = player, self._now()

    def stop(self) -> None:
        """Let both stand."""
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
        self.running = None

    def press(self, player: int) -> None:
        """End a turn of ``player``: his clock stands and has the increment more, unless his flag has fallen."""
        if self.running == player:
            self.stop()
        if self._left[player] > 0:
            self._left[player] += self.options.increment

    def restore(self, player: int, seconds: float) -> None:
        """Set the clock of ``player`` back to what it showed before."""
        if self.running == player:
            self.stop()
        self._left[player] = seconds

    def take_time(self, player: int, seconds: float) -> None:
        """Take time from ``player``, whose flag falls if he has no more."""
        self._left[player] = max(0.0, self._left[player] - seconds)

    def add_time(self, player: int, seconds: float) -> None:
        """Give time to ``player``; it does not raise a fallen flag."""
        if not self.flag(player):
            self._left[player] += seconds


@dataclass(frozen=True)
class Breaks:
    """The breaks of a match.

    Attributes:
        count: how many each player may take; if ``common``, how many there are for both.
        common: both take it together.
        minutes: how long one may last.
        not_before: minute of the match from which on one may be taken.
    """

    count: int
    common: bool = False
    minutes: int = 5
    not_before: int = 0


# Match length from which on there are that many breaks (rules.md 5.2; 6, 8, 10, 12 and 14 are interpolated).
_BREAKS = ((14, 3), (10, 2), (6, 1), (0, 0))


def breaks(match_length: int, variant: str = "backgammon", blitz: bool = False) -> Breaks:
    """The breaks of a match to ``match_length``, 0 for money: none in blitz, a common one in sprintgammon."""
    if blitz or not match_length:
        return Breaks(0)
    if variant == "sprintgammon":
        return Breaks(1, common=True, not_before=45)
    return Breaks(next(count for length, count in _BREAKS if match_length >= length))
