"""What can be set for ``scripts/evaluate.py`` and ``scripts/play.py``; the values come from ``configs``."""

from __future__ import annotations

from dataclasses import dataclass

from ..env import GameOptions
from ..env.dice import check_seed

__all__ = ["MatchOptions", "PlayOptions", "ReferenceOptions"]


@dataclass(frozen=True)
class MatchOptions:
    """Two bots against each other. ``bot`` None is the newest model; ``games`` counts matches if there is a length."""

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    bot: str | None = None
    opponent: str = "pipcount"
    games: int = 4000
    batch: int = 4096
    seed: int = 0
    variant: str = "backgammon"
    match_length: int = 0
    cube: bool = True
    jacoby: bool = False
    crawford: bool = True
    max_cube: int = 64

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ValueError(f"games: found {self.games}, wanted an even number from 2 up: every deal is played twice")
        if self.batch < 1:
            raise ValueError(f"batch: found {self.batch}, wanted at least 1")
        check_seed(self.seed)
        _ = self.game_options  # checks the rules

    @property
    def game_options(self) -> GameOptions:
        """The rules."""
        return GameOptions(self.variant, self.match_length, self.cube, self.jacoby, self.crawford, self.max_cube)


@dataclass(frozen=True)
class ReferenceOptions:
    """One model on the reference positions in the folder ``path``; ``model`` None is the newest one."""

    device: str = "auto"
    threads: int | None = None
    output: str | None = None
    model: str | None = None
    path: str = "../shared/bench"


@dataclass(frozen=True)
class PlayOptions:
    """A person against ``bot`` in the terminal; None is the newest model. ``seed`` None draws one.

    ``adviser`` is the model that gives hints; None takes the bot's own or, if it has none, the newest model.
    """

    bot: str | None = None
    adviser: str | None = None
    device: str = "cpu"
    seed: int | None = None
    ascii: bool = False
    variant: str = "backgammon"
    match_length: int = 0
    cube: bool = True
    jacoby: bool = False
    crawford: bool = True
    max_cube: int = 64

    def __post_init__(self) -> None:
        if self.seed is not None:
            check_seed(self.seed)
        _ = self.game_options  # checks the rules

    @property
    def game_options(self) -> GameOptions:
        """The rules."""
        return GameOptions(self.variant, self.match_length, self.cube, self.jacoby, self.crawford, self.max_cube)
