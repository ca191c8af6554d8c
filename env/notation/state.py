"""A whole state of a game, as the formats of this folder say it: position, cube, score and who decides.

Points of view: ``board`` is seen by the player on roll, as everywhere in `nardy.env`. Everything else goes by player
number: player 0 is the one at the top (GNU Backgammon's O), player 1 the one at the bottom (its X). No format is read
or written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import torch
from torch import Tensor

from ..cube import Cube
from ..variants import VARIANTS, Variant
from .errors import NotationError, shown

__all__ = ["GameState", "GameStatus", "Offer", "Position"]

Position = tuple[tuple[int, ...], tuple[int, ...]]  # a board [2, 26] as numbers, side 0 on roll

OFF, BAR = 0, 25
MAX_SCORE = 2**15 - 1
MAX_CUBE = 2**15
_WRITABLE = ("backgammon", "sprintgammon")  # my point p is the opponent's 25 - p, as every foreign format has it


class GameStatus(IntEnum):
    """Is a game played, and how has it ended? GNU Backgammon's numbers."""

    NONE = 0
    PLAYING = 1
    OVER = 2
    RESIGNED = 3
    DROPPED = 4


class Offer(IntEnum):
    """How often the cube has been turned without an answer: a double, a beaver to it, a raccoon to that."""

    NONE = 0
    DOUBLE = 1
    BEAVER = 2
    RACCOON = 3


@dataclass(frozen=True)
class GameState:
    """One state of a game; ``NotationError`` if its parts contradict each other.

    Attributes:
        board: 2 x 26 numbers as in a board tensor, side 0 the player on roll. A tensor ``[2, 26]`` may be given.
        player: the number of the player on roll; after a double still the one who doubled.
        dice: in the order rolled, None before the roll.
        cube_value: what the cube shows; while an offer waits, what it showed before the last turn of it.
        cube_owner: a player number, None centred; while a beaver or a raccoon waits, the player who beavered.
        offer: a turn of the cube that waits for an answer.
        resignation: level offered by a resigning player, 1 to 3, else 0.
        match_length: points to win the match, 0 for money.
        score: points of player 0 and player 1.
        crawford: this is the Crawford game.
        jacoby: money only; None where the format read does not say.
        beavers: money only; None where the format read does not say.
        max_cube: the cube goes no higher, 1 is no cube; None where the format read does not say.
        status: is the game played?
        variant: name of the discipline.
    """

    board: Position
    player: int = 1
    dice: tuple[int, int] | None = None
    cube_value: int = 1
    cube_owner: int | None = None
    offer: Offer = Offer.NONE
    resignation: int = 0
    match_length: int = 0
    score: tuple[int, int] = (0, 0)
    crawford: bool = False
    jacoby: bool | None = False
    beavers: bool | None = False
    max_cube: int | None = None
    status: GameStatus = GameStatus.PLAYING
    variant: str = "backgammon"

    def __post_init__(self) -> None:
        object.__setattr__(self, "board", checked_position(self.board, self.variant))
        object.__setattr__(self, "offer", Offer(self.offer))
        object.__setattr__(self, "status", GameStatus(self.status))
        self._check_numbers()
        self._check_cube()
        self._check_match()

    @property
    def decides(self) -> int:
        """The number of the player who must act: the one on roll, or who answers a double or a resignation."""
        answering = self.offer in (Offer.DOUBLE, Offer.RACCOON)
        if self.status is GameStatus.DROPPED:  # the last to decide is who dropped: a double, or the opponent's beaver
            answering = self.cube_owner != 1 - self.player
        return (self.player + answering + (self.resignation > 0)) % 2

    def tensor(self) -> Tensor:
        """The board as a tensor ``[2, 26]`` int8, side 0 on roll."""
        return torch.tensor(self.board, dtype=torch.int8)

    def cube(self) -> Cube:
        """Cube and score as the player on roll sees them; what the format did not say is taken as off, the cap as 64.

        ``ValueError`` if the match is over.
        """
        names = {None: "centred", self.player: "mine", 1 - self.player: "theirs"}
        away = (self.match_length - self.score[self.player], self.match_length - self.score[1 - self.player])
        return Cube(
            value=self.cube_value,
            owner=names[self.cube_owner],
            jacoby=bool(self.jacoby),
            beavers=bool(self.beavers),
            away=away if self.match_length else None,
            crawford=self.crawford,
            max_cube=self.max_cube or 64,
        )

    def swap_seats(self) -> GameState:
        """The same state with the players' numbers exchanged."""
        owner = None if self.cube_owner is None else 1 - self.cube_owner
        return replace(self, player=1 - self.player, cube_owner=owner, score=self.score[::-1])

    def one_short(self) -> bool:
        """Does a side need exactly one point to win the match?"""
        return self.match_length > 0 and self.match_length - 1 in self.score

    def _check_numbers(self) -> None:
        if self.player not in (0, 1):
            raise NotationError(f"player: found {self.player}, wanted 0 or 1")
        if self.dice is not None and (len(self.dice) != 2 or not all(1 <= die <= 6 for die in self.dice)):
            raise NotationError(f"dice: found {self.dice}, wanted two numbers from 1 to 6")
        if self.cube_owner not in (None, 0, 1):
            raise NotationError(f"cube owner: found {self.cube_owner}, wanted None, 0 or 1")
        check_cube_value(self.cube_value, "cube")
        if not 0 <= self.resignation <= 3:
            raise NotationError(f"resignation: found {self.resignation}, wanted 0 to 3")
        for name, value in (("match length", self.match_length), ("score", self.score[0]), ("score", self.score[1])):
            if not 0 <= value <= MAX_SCORE:
                raise NotationError(f"{name}: found {value}, wanted 0 to {MAX_SCORE}")
        if self.max_cube is not None:
            check_cube_value(self.max_cube, "cube limit")
            if self.cube_value > self.max_cube:
                raise NotationError(f"cube: found {self.cube_value}, wanted at most the limit, {self.max_cube}")

    def _check_cube(self) -> None:
        if self.resignation and self.status not in (GameStatus.PLAYING, GameStatus.RESIGNED):
            raise NotationError("resignation: found one in a game that is not played, wanted none")
        if self.offer is Offer.NONE:
            return
        if self.status is not GameStatus.PLAYING:
            raise NotationError("double: found one on offer in a game that is not played, wanted none")
        if self.dice is not None:
            raise NotationError("double: found one on offer and dice on the table, wanted one or the other")
        if self.crawford:
            raise NotationError("double: found one on offer in the Crawford game, wanted none")
        if self.offer is Offer.DOUBLE:
            if self.cube_owner == 1 - self.player:
                raise NotationError("double: found one on offer with the opponent's cube, wanted an own or centred one")
        elif self.match_length or self.beavers is False:
            raise NotationError("double: found a beaver on offer, wanted it in money games with beavers only")
        elif self.cube_owner != 1 - self.player or self.cube_value < 2:
            raise NotationError("double: found a beaver on offer, wanted a turned cube with the player who beavered")

    def _check_match(self) -> None:
        if self.match_length:
            if self.jacoby is not False or self.beavers is not False:
                raise NotationError("jacoby, beavers: found one in a match, wanted them in money games only")
        elif self.crawford:
            raise NotationError("crawford: found it in a money game, wanted it in matches only")
        if not self.match_length or self.status is not GameStatus.PLAYING:
            return  # once a game is over its points are counted
        if max(self.score) >= self.match_length:
            raise NotationError(f"score: found {self.score} in a match to {self.match_length}, wanted less")
        if self.crawford and not self.one_short():
            raise NotationError(
                f"crawford: found it at {self.score} in a match to {self.match_length}, wanted a side one point short"
            )


def check_cube_value(value: int, name: str) -> None:
    """``NotationError`` unless ``value`` is a power of two within bounds."""
    if not 1 <= value <= MAX_CUBE or value & (value - 1):
        raise NotationError(f"{name}: found {value}, wanted a power of two from 1 to {MAX_CUBE}")


def rules_of(variant: str) -> Variant:
    """The variant, if there is one of that name; else ``NotationError``."""
    if variant not in VARIANTS:
        raise NotationError(f"variant: found {shown(variant)}, wanted one of {', '.join(VARIANTS)}")
    return VARIANTS[variant]


def writable_rules_of(variant: str) -> Variant:
    """The variant, if the formats of other programs can say its positions; else ``NotationError`` names it."""
    if variant not in _WRITABLE:
        why = "its points are numbered another way" if variant in VARIANTS else "it is not known"
        raise NotationError(f"variant: found {shown(variant)}, wanted one of {', '.join(_WRITABLE)}: {why}")
    return VARIANTS[variant]


def as_position(board: Tensor | Position, variant: str) -> Position:
    """``board`` as checked numbers; ``NotationError`` if it is none of ``variant``, or other programs cannot say it."""
    writable_rules_of(variant)
    return checked_position(board, variant)


def checked_position(board: Tensor | Position, variant: str) -> Position:
    """``board`` as checked numbers, ``NotationError`` if it cannot be a position of ``variant``."""
    rules = rules_of(variant)
    rows = board.tolist() if isinstance(board, Tensor) else board
    if len(rows) != 2 or any(len(row) != 26 for row in rows):
        raise NotationError("board: found another shape, wanted [2, 26]")
    sides: Position = tuple(map(int, rows[0])), tuple(map(int, rows[1]))
    for side in sides:
        if min(side) < 0:
            raise NotationError("board: found a negative number of checkers, wanted 0 or more everywhere")
        if sum(side) != rules.num_checkers:
            raise NotationError(f"board: found {sum(side)} checkers on a side, wanted {rules.num_checkers}")
    _check_both(sides, rules)
    return sides


def _check_both(sides: Position, rules: Variant) -> None:
    mine, theirs = sides
    for point in range(1, 25):
        if mine[point] and theirs[rules.opposite(point)]:
            raise NotationError(f"board: found both sides on point {point} of the mover, wanted one owner a point")
    if mine[OFF] == theirs[OFF] == rules.num_checkers:
        raise NotationError("board: found both sides borne off, wanted at most one")
    if rules.blocking and (mine[BAR] or theirs[BAR]):
        raise NotationError(f"board: found a checker on the bar, wanted none: {rules.name} has no bar")
    if mine[BAR] and theirs[BAR] and all(min(side[1:7]) >= 2 for side in sides):
        raise NotationError("board: found both sides on the bar against closed boards, wanted a side that can enter")


def with_off(points: Sequence[int], variant: str) -> tuple[int, ...]:
    """A side's 26 numbers from its 25 of points 1 to 24 and bar; what is missing is off (sprintgammon has 3)."""
    num_checkers = writable_rules_of(variant).num_checkers
    if sum(points) > num_checkers:
        raise NotationError(f"board: found {sum(points)} checkers on a side, wanted at most {num_checkers}")
    return (num_checkers - sum(points), *points)
