"""What was played, written down as it happens: finished games, and the one in progress. It knows no rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...env.notation import GameRecord, NotationError, Roll
from ...env.notation.record import Action

__all__ = ["Recording"]


@dataclass(frozen=True)
class Recording:
    """A match or a session of money games so far; changes are new ones, so that undo keeps the old.

    Attributes:
        games: those finished. actions: of the game in progress.
        score: before the game in progress. automatic_doubles: at its start.
        set_up: it began from a position.
    """

    games: tuple[GameRecord, ...] = ()
    actions: tuple[Action, ...] = ()
    score: tuple[int, int] = (0, 0)
    automatic_doubles: int = 0
    set_up: bool = False

    @property
    def is_whole(self) -> bool:
        """Is it all there from the start? No format says where a game from a position began, nor what was before."""
        return not self.set_up and (self.games[0].score if self.games else self.score) == (0, 0)

    def dealt(self, score: tuple[int, int], automatic_doubles: int) -> Recording:
        """A new game is dealt."""
        return Recording(self.games, (), score, automatic_doubles)

    def taken_up(self, games: tuple[GameRecord, ...], last: GameRecord | None = None) -> Recording:
        """The ``games`` are finished ones of a saved game; ``last`` goes on, its roll on the table left out."""
        if last is None:
            return replace(self, games=games)
        rolled = last.actions and isinstance(last.actions[-1], Roll) and last.actions[-1].hops is None
        actions = last.actions[:-1] if rolled else last.actions
        return Recording(games, actions, last.score, last.automatic_doubles)

    def with_action(self, action: Action) -> Recording:
        """One more action."""
        return replace(self, actions=(*self.actions, action))

    def won(self, winner: int, points: int) -> Recording:
        """The game in progress has ended; one from a position is not kept."""
        return self if self.set_up else replace(self, games=(*self.games, self._game(self.actions, winner, points)))

    def all_games(self, on_table: tuple[Action, ...] | None) -> tuple[GameRecord, ...]:
        """The games, of the one in progress ``on_table`` too; None leaves it out. `NotationError` if not `is_whole`."""
        if not self.is_whole:
            raise NotationError("game: found one that began from a position, or follows it, wanted all from the start")
        if on_table is None:
            return self.games
        return (*self.games, self._game((*self.actions, *on_table), None, 0))

    def _game(self, actions: tuple[Action, ...], winner: int | None, points: int) -> GameRecord:
        return GameRecord(self.score, actions, winner, points, self.automatic_doubles)
