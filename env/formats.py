"""Formats of play: everything that an event announces, the rules of the games and how a match is conducted (5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal

from .clock import Breaks, ClockOptions, breaks
from .games import GameOptions

__all__ = ["Format", "IllegalPlay"]

IllegalPlay = Literal["reject", "correct", "accept", "forfeit"]


@dataclass(frozen=True)
class Format(GameOptions):
    """The rules of the games, and how a match is conducted.

    Attributes:
        clock: time a side has; matches only, since a fallen flag loses the match.
        breaks: are there breaks? Blitz has none.
        pairs: do two partners a side decide together, one of them the owner of a game's moves?
        illegal: what follows an illegal play. "reject": it is refused with the reason, the clock goes back, and the
            player is asked again. "correct": the same, but his time is gone. "accept": it stands if the position has
            the right number of checkers and no point of both colours, else as "reject". "forfeit": the game is lost.
    """

    clock: ClockOptions = field(default_factory=ClockOptions)
    breaks: bool = True
    pairs: bool = False
    illegal: IllegalPlay = "reject"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.clock.used and not self.match_length:
            raise ValueError(
                f"clock: found a bank of {self.clock.bank:g} seconds with match_length 0, wanted a match: "
                "a fallen flag loses one"
            )

    @property
    def rules(self) -> GameOptions:
        """The rules of the games alone."""
        return GameOptions(**{each.name: getattr(self, each.name) for each in fields(GameOptions)})

    @property
    def refereed(self) -> bool:
        """Does it take a referee? Without one, players only have to play by the rules."""
        return self.clock.used or self.pairs or self.illegal != "reject"

    @property
    def allowed_breaks(self) -> Breaks:
        """The breaks of this match."""
        return breaks(self.match_length, self.variant, blitz=not self.breaks)
