"""Games and matches as they were played: what each player did, in order.

A record says nothing of what was thought. Points of view: players by number, 0 at the top and named first; the moves
of a play in the mover's own numbering, 25 the bar, 0 off. `match_walk` plays a record through against the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from ..games import GameOptions
from .moves import Hop, play_to, plays
from .state import rules_of

__all__ = ["Action", "CubeAction", "GameRecord", "MatchRecord", "Resignation", "Roll", "recorded_roll", "under_rules"]


@dataclass(frozen=True)
class Roll:
    """A roll and the play made with it.

    Attributes:
        player: who rolled.
        dice: in the order rolled; of an opening roll player 0's die first, if the rules are known.
        hops: single moves (from, to), in any order, empty where none is legal; None where no whole play was made: the
            game ended before it by a resignation, or is unfinished.
        moves: with ``hops`` None, the moves made so far as action numbers (`env.decisions`), in order.
    """

    player: int
    dice: tuple[int, int]
    hops: tuple[Hop, ...] | None
    moves: tuple[int, ...] = ()


@dataclass(frozen=True)
class CubeAction:
    """A turn of the cube or the answer to one: "double", "beaver", "raccoon", "take" or "drop".

    A beaver that is played on with is taken, by the player who doubled, like any other turn of the cube.
    """

    player: int
    kind: str


@dataclass(frozen=True)
class Resignation:
    """``player`` offers to lose ``level`` (1 to 3) times the cube.

    ``accepted``: True, the game ended so; False, it was refused and play went on; None, it waits for an answer.
    """

    player: int
    level: int
    accepted: bool | None = True


Action = Roll | CubeAction | Resignation


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        score: points of player 0 and player 1 before it.
        actions: everything done, in order.
        winner: a player number, None if the game was not finished.
        points: what the winner got, 0 if unfinished. Under the Jacoby rule a gammon counts 1 with a centred cube.
        automatic_doubles: how often a tie in the opening roll has doubled the cube.
    """

    score: tuple[int, int]
    actions: tuple[Action, ...]
    winner: int | None
    points: int
    automatic_doubles: int = 0


@dataclass(frozen=True)
class MatchRecord:
    """A match, or a session of money games.

    Attributes:
        names: of player 0 and player 1.
        match_length: points to win, 0 for money.
        games: in order; only the last may be unfinished.
        headers: pairs such as ("Event", "…"), in the order of the file.
        variant: name of the discipline.
        rules: everything that is agreed, length and variant included; None where the format read does not say, and then
            all is allowed that some agreement allows.
    """

    names: tuple[str, str]
    match_length: int
    games: tuple[GameRecord, ...]
    headers: tuple[tuple[str, str], ...] = ()
    variant: str = "backgammon"
    rules: GameOptions | None = None


def recorded_roll(
    player: int,
    dice: Sequence[int],
    before: Tensor,
    after: Tensor,
    variant: str = "backgammon",
    second_first: bool = False,
) -> Roll:
    """The `Roll` of a play known by the boards ``[2, 26]`` before and after it, the mover side 0 of both.

    `NotationError` if no legal play leads there. Lists every legal play with its moves, milliseconds a call.
    ``second_first``: it is the second player's first roll, see `afterstates`.
    """
    rules_of(variant)
    play = play_to(after, plays(before, dice, variant, second_first), dice)
    return Roll(player, (int(dice[0]), int(dice[1])), play.turns[0])


def under_rules(match: MatchRecord, rules: GameOptions) -> MatchRecord:
    """``match``, read where the rules are not said, with ``rules``, and player 0's die first in opening rolls.

    Whether the rules fit is not asked here: writing or playing it through does.
    """
    games = []
    for game in match.games:
        first = game.actions[0] if game.actions else None
        if isinstance(first, Roll):
            low, high = sorted(first.dice)
            first = replace(first, dice=(low, high) if first.player else (high, low))
            game = replace(game, actions=(first, *game.actions[1:]))  # noqa: PLW2901
        games.append(game)
    return replace(match, games=tuple(games), rules=rules)
