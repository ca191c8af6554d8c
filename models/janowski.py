"""Janowski's cube formula: values with a cube from the six outcome probabilities alone, for money and for matches.

The reference for a learned cube head, and what a model without one uses. Values are from the view of the player on
roll, before the roll and *without* doubling now; columns are the cube states 0 centred, 1 mine, 2 theirs.

With W and L the mean worth of a win and a loss, the dead cube's value is a straight line in the winning chance p. A
perfectly live one follows straight lines through the points where a double would just be dropped: mine at the cash
point, the opponent's at the take point. The value is (1 - x) dead + x live; x, the cube's life, is the one parameter
(R. Janowski, "Take-points in money games", 1993). In a match the same lines run through match-winning chances, and
their points come from a recursion on stakes: whether a double to 2k can be taken depends on the live cube at 2k in the
taker's hands, and so on up to the stake at which nobody has a use for the cube. ``docs/cube.md`` has the formulas and
what was checked.

Everything is elementwise over a batch on its device: for a match about 170 small operations for each turn that
``max_cube`` allows, for money about 220 in all.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.board import pip_counts
from ..env.cube import THEIRS, CubeTensors
from .match_equity import MatchEquityTable, from_game_chances
from .values import LEVELS, equity

__all__ = [
    "CubeEquities",
    "CubeLife",
    "GameRates",
    "cube_equities",
    "match_no_double",
    "money_no_double",
    "simple_match_equity",
]

_CONTACT = 0.68


@dataclass(frozen=True)
class CubeLife:
    """Cube life x by kind of position; the defaults are GNU Backgammon 1.07's.

    Attributes:
        contact: where the sides have not passed each other, and everywhere in longgammon.
        race: past contact, x = ``race`` + ``race_per_pip`` times the pips of the player on roll ...
        race_per_pip: ... rising with the length of the race ...
        race_least: ... but no less than this ...
        race_most: ... and no more than this.
        bear_off: where both sides have all checkers home.
    """

    contact: float = _CONTACT
    race: float = 0.55
    race_per_pip: float = 1 / 800
    race_least: float = 0.6
    race_most: float = 0.7
    bear_off: float = 0.6

    def __post_init__(self) -> None:
        for name in ("contact", "race_least", "race_most", "bear_off"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"cube life: {name}: found {getattr(self, name)}, wanted a number from 0 to 1")

    def of(self, boards: Tensor, variant: str = "backgammon") -> Tensor:
        """x ``[N]`` float32 for ``boards`` ``[N, 2, 26]`` with side 0 on roll."""
        contact = torch.full((boards.shape[0],), self.contact, device=boards.device)
        if variant == "longgammon":
            return contact
        points = torch.arange(26, device=boards.device)
        rear = ((boards > 0) * points).amax(-1)  # [N, 2], each side's rearmost point, 25 the bar
        pips = pip_counts(boards)[:, 0].float()
        race = (self.race + self.race_per_pip * pips).clamp(self.race_least, self.race_most)
        race = torch.where((rear <= 6).all(1), self.bear_off, race)
        return torch.where(rear.sum(1) > 25, contact, race)


@dataclass(frozen=True)
class CubeEquities:
    """What a doubling decision is made of, all ``[N]``, from the view of the player on roll.

    In units of the cube as it stands for money, match-winning chances in a match. All are filled everywhere.

    Attributes:
        no_double: value of rolling without doubling, at the cube's owner.
        double_take: value with the cube at twice the stake in the opponent's hands.
        double_pass: value if the opponent drops.
    """

    no_double: Tensor
    double_take: Tensor
    double_pass: Tensor


@dataclass(frozen=True)
class _Line:
    """A live cube's value over p: straight from (0, lose) by the two knots to (1, win); all ``[N]``.

    A knot that is not there lies on the end of its side.
    """

    take_point: Tensor
    take_value: Tensor
    cash_point: Tensor
    cash_value: Tensor

    def at(self, p: Tensor, lose: Tensor, win: Tensor) -> Tensor:
        """The value at ``p`` ``[N]``."""
        below, above = p < self.take_point, p > self.cash_point
        left = torch.where(below, 0.0, torch.where(above, self.cash_point, self.take_point))
        right = torch.where(below, self.take_point, torch.where(above, 1.0, self.cash_point))
        low = torch.where(below, lose, torch.where(above, self.cash_value, self.take_value))
        high = torch.where(below, self.take_value, torch.where(above, win, self.cash_value))
        return _between(p, left, right, low, high)


@dataclass(frozen=True)
class _Stake:
    """A cube of some value: what a lost and a won game are worth on average, and the live lines by its owner."""

    lose: Tensor
    win: Tensor
    centred: _Line
    mine: _Line
    theirs: _Line


def money_no_double(probs: Tensor, cube_life: float | Tensor = _CONTACT, jacoby: bool | Tensor = False) -> Tensor:
    """Money values of not doubling with the cube centred, mine, theirs: ``[N, 3]``, in units of the cube as it stands.

    With x = 0 they are the cubeless equity (in it no gammons with Jacoby and the cube centred). The formula knows no
    limit of the cube; `cube_equities` does.

    Args:
        probs: ``[N, 6]`` exclusive outcome probabilities of the player on roll.
        cube_life: x from 0 dead to 1 live, one for all or ``[N]``.
        jacoby: one for all or ``[N]`` bool: with the cube centred a game counts 1. The knots stay where they are,
            since once doubled the game counts gammons.
    """
    _check_probs(probs)
    p, won, lost = _shares(probs)
    worth = probs.new_tensor(LEVELS)
    win, lose = won @ worth[:3], lost @ worth[3:]
    ones = torch.ones_like(p)
    per_point = win - lose + 0.5
    take, cash = (-lose - 0.5) / per_point, (1 - lose) / per_point
    stake = _stake(lose, win, _Line(take, -ones, cash, ones), may_mine=True, may_theirs=True)
    values = _blend(p, stake, equity(probs), cube_life)
    centred = stake.centred.at(p, -ones, ones)
    centred = torch.lerp(2 * p - 1, centred, _life(cube_life, p)[:, 0])
    jacoby = torch.as_tensor(jacoby, device=probs.device)
    return torch.cat([torch.where(jacoby, centred, values[:, 0])[:, None], values[:, 1:]], 1)


def match_no_double(
    probs: Tensor,
    value: Tensor,
    away: Tensor,
    crawford: Tensor,
    table: MatchEquityTable,
    cube_life: float | Tensor = _CONTACT,
    max_cube: int = 64,
) -> Tensor:
    """Match-winning chances of not doubling with the cube centred, mine, theirs: ``[N, 3]``.

    A cube that nobody can use any more is worth exactly what the probabilities and the table say.

    Args:
        probs: ``[N, 6]`` exclusive outcome probabilities of the player on roll.
        value: ``[N]`` the cube as it stands.
        away: ``[N, 2]`` points that the player on roll and the opponent need, from 1 up.
        crawford: ``[N]`` bool, this is the Crawford game. That it is over follows where somebody needs 1.
        table: match-winning chances between games, on the device of ``probs``.
        cube_life: x from 0 dead to 1 live, one for all or ``[N]``.
        max_cube: no turn of the cube may go above this.
    """
    _check_probs(probs)
    return _match_values(probs, value, away, crawford, table, cube_life, max_cube)[0]


def cube_equities(
    probs: Tensor,
    cube: CubeTensors,
    table: MatchEquityTable | None = None,
    cube_life: float | Tensor = _CONTACT,
) -> CubeEquities:
    """The three numbers of a doubling decision for each row's cube, money games and matches mixed at will.

    ``probs`` ``[N, 6]``; ``cube`` as the player on roll sees it. Beavers are the caller's arithmetic. Without a
    ``table`` the rows must be money games, else ``ValueError``.
    """
    _check_probs(probs)
    owner = cube.owner.long()[:, None]
    money = _money_equities(probs, cube, owner, cube_life)
    if table is None:
        if bool((cube.away > 0).any()):
            raise ValueError("match equity table: found none, wanted one for the rows with a match score")
        return money
    values, doubled = _match_values(probs, cube.value, cube.away, cube.crawford, table, cube_life, cube.max_cube)
    cash = table.after_points(cube.away, cube.crawford, cube.value)
    is_money = cube.away[:, 0] == 0
    return CubeEquities(
        torch.where(is_money, money.no_double, values.gather(1, owner)[:, 0]),
        torch.where(is_money, money.double_take, doubled[:, THEIRS]),
        torch.where(is_money, money.double_pass, cash),
    )


def _money_equities(probs: Tensor, cube: CubeTensors, owner: Tensor, cube_life: float | Tensor) -> CubeEquities:
    p = probs[:, :3].sum(1)
    cubeless = equity(probs)
    values = money_no_double(probs, cube_life, cube.jacoby)
    dead = torch.where(cube.jacoby & (owner[:, 0] == 0), 2 * p - 1, cubeless)
    no_double = torch.where(2 * cube.value > cube.max_cube, dead, values.gather(1, owner)[:, 0])
    taken = torch.where(4 * cube.value > cube.max_cube, cubeless, values[:, THEIRS])
    return CubeEquities(no_double, 2 * taken, torch.ones_like(p))


def _match_values(
    probs: Tensor,
    value: Tensor,
    away: Tensor,
    crawford: Tensor,
    table: MatchEquityTable,
    cube_life: float | Tensor,
    max_cube: int,
) -> tuple[Tensor, Tensor]:
    """Values of not doubling ``[N, 3]`` at the cube's value, and at twice that."""
    p, won, lost = _shares(probs)
    levels = torch.tensor(LEVELS, dtype=torch.int64, device=probs.device)
    values: list[Tensor] = []
    stake: _Stake | None = None
    # From a stake that nobody may raise any more down to the cube as it stands.
    for doublings in range(max(1, max_cube.bit_length() - 1), -1, -1):
        stakes = value.long() << doublings
        chances = table.after_points(away, crawford, stakes[:, None] * levels).to(probs.dtype)  # [N, 6]
        win, lose = (won * chances[:, :3]).sum(1), (lost * chances[:, 3:]).sum(1)
        turnable = (2 * stakes <= max_cube) & ~crawford
        stake = _stake(
            lose,
            win,
            _knots(stake, drop=chances[:, 3], cash=chances[:, 0]),
            may_mine=turnable & (stakes < away[:, 0]),
            may_theirs=turnable & (stakes < away[:, 1]),
        )
        if doublings <= 1:
            values.append(_blend(p, stake, (probs * chances).sum(1), cube_life))
    return values[1], values[0]


def _knots(doubled: _Stake | None, drop: Tensor, cash: Tensor) -> _Line:
    """Where a double to the stake ``doubled`` is just dropped: by me for ``drop``, by the opponent for ``cash``.

    The taker of the double owns that cube, so his line there meets what dropping is worth.
    """
    if doubled is None:
        return _Line(torch.zeros_like(drop), drop, torch.ones_like(cash), cash)
    mine, theirs = doubled.mine, doubled.theirs
    take_point = _between(drop, doubled.lose, mine.cash_value, torch.zeros_like(drop), mine.cash_point)
    cash_point = _between(cash, theirs.take_value, doubled.win, theirs.take_point, torch.ones_like(cash))
    return _Line(take_point.clamp(0, 1), drop, cash_point.clamp(0, 1), cash)


def _stake(lose: Tensor, win: Tensor, knots: _Line, may_mine: bool | Tensor, may_theirs: bool | Tensor) -> _Stake:
    """The live lines by owner, with the knots of those who may double and would.

    A right that would not be used changes nothing: a knot that would cost its owner is left out. In money games that
    never happens; in matches it does where nearly all wins are gammons, and it keeps mine >= centred >= theirs.
    """
    zeros, ones = torch.zeros_like(win), torch.ones_like(win)
    nobody = _Line(zeros, lose, ones, win)

    def line(take: bool | Tensor, cash: bool | Tensor) -> _Line:
        return _Line(
            _choose(take, knots.take_point, zeros),
            _choose(take, knots.take_value, lose),
            _choose(cash, knots.cash_point, ones),
            _choose(cash, knots.cash_value, win),
        )

    def takes_below(other: _Line) -> Tensor:
        at_take = _between(knots.take_point, zeros, other.cash_point, lose, other.cash_value)
        return may_theirs & (knots.take_value < at_take)

    def cashes_above(other: _Line) -> Tensor:
        at_cash = _between(knots.cash_point, other.take_point, ones, other.take_value, win)
        return may_mine & (knots.cash_value > at_cash)

    mine = line(take=False, cash=cashes_above(nobody))
    theirs = line(take=takes_below(nobody), cash=False)
    centred = line(take=takes_below(mine), cash=cashes_above(theirs))
    return _Stake(lose, win, centred, mine, theirs)


def _blend(p: Tensor, stake: _Stake, dead: Tensor, cube_life: float | Tensor) -> Tensor:
    """``[N, 3]``: (1 - x) dead + x live, the dead value itself where no knot is left."""
    lines = (stake.centred, stake.mine, stake.theirs)
    live = torch.stack([line.at(p, stake.lose, stake.win) for line in lines], 1)
    plain = torch.stack([(line.take_point <= 0) & (line.cash_point >= 1) for line in lines], 1)
    dead = dead[:, None].expand_as(live)
    return torch.lerp(dead, torch.where(plain, dead, live), _life(cube_life, p))


def _shares(probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The winning chance ``[N]``, and the shares ``[N, 3]`` of single, gammon, backgammon among wins and losses.

    A side that cannot win counts as winning single games.
    """
    single = probs.new_tensor((1.0, 0.0, 0.0))

    def among(part: Tensor) -> Tensor:
        total = part.sum(1, keepdim=True)
        return torch.where(total > 0, part / torch.where(total > 0, total, 1.0), single)

    return probs[:, :3].sum(1), among(probs[:, :3]), among(probs[:, 3:])


def _between(x: Tensor, left: Tensor, right: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """At ``x``, the straight line from (left, low) to (right, high); ``low`` where left is not below right."""
    width = right - left
    return torch.where(width > 0, low + (high - low) * (x - left) / torch.where(width > 0, width, 1.0), low)


def _choose(condition: bool | Tensor, yes: Tensor, no: Tensor) -> Tensor:
    if isinstance(condition, Tensor):
        return torch.where(condition, yes, no)
    return yes if condition else no


def _life(cube_life: float | Tensor, like: Tensor) -> Tensor:
    """x as a column ``[N, 1]``."""
    if isinstance(cube_life, Tensor) and cube_life.ndim:
        return cube_life.to(like.dtype)[:, None]
    if not 0 <= cube_life <= 1:
        raise ValueError(f"cube life: found {cube_life}, wanted a number from 0 to 1, or one for each row")
    return torch.full_like(like, float(cube_life))[:, None]


def _check_probs(probs: Tensor) -> None:
    if probs.ndim != 2 or probs.shape[1] != len(LEVELS) or not probs.is_floating_point():
        raise ValueError(f"probabilities: found {probs.dtype} of shape {tuple(probs.shape)}, wanted floats [N, 6]")


@dataclass(frozen=True)
class GameRates:
    """A game of two equal players as a first match equity table needs it; shares are of all games.

    Attributes:
        gammons: as in 24,000 cubeless games between strong programs ...
        backgammons: ... like this.
        cube_life: x, the usual constant for tournament play.
        swing: how far the opening moves the winning chance before the trailer may double; without it a free drop after
            the Crawford game would be worth nothing.
    """

    gammons: float = 0.259
    backgammons: float = 0.0128
    cube_life: float = 0.7
    swing: float = 0.03

    def probabilities(self) -> Tensor:
        """``[2, 6]`` outcomes for the player on roll after a bad and after a good opening."""
        shares = torch.tensor([1 - self.gammons - self.backgammons, self.gammons, self.backgammons])
        wins = torch.tensor([[0.5 - self.swing], [0.5 + self.swing]])
        return torch.cat([wins * shares, (1 - wins) * shares], 1)

    def chance(self, table: MatchEquityTable, away: Tensor, crawford: Tensor) -> Tensor:
        """Match-winning chance ``[N]`` of the first side, about to play its first turn and free to double."""
        probs = self.probabilities()
        away, crawford = away.repeat_interleave(2, 0), crawford.repeat_interleave(2)
        value, owner = torch.ones(len(away), dtype=torch.int32), torch.zeros(len(away), dtype=torch.int8)
        plain = torch.zeros(len(away), dtype=torch.bool)
        cube = CubeTensors(value, owner, plain, plain, away, crawford, 1 << table.size.bit_length())
        values = cube_equities(probs.repeat(len(away) // 2, 1), cube, table, self.cube_life)
        doubled = torch.minimum(values.double_take, values.double_pass)
        best = torch.where(cube.may_double(), torch.maximum(values.no_double, doubled), values.no_double)
        return best.view(-1, 2).mean(1)


def simple_match_equity(
    size: int = 25, rates: GameRates | None = None, known: MatchEquityTable | None = None
) -> MatchEquityTable:
    """A table from plain constants and the formula above, to begin training with, or to continue ``known`` to ``size``.

    With the default rates it is within 0.01 of Kazaross-XG2 everywhere, 0.0011 on average.
    """
    name = f"{known.name}, continued" if known is not None else "Janowski's formula on constant rates"
    return from_game_chances((rates or GameRates()).chance, size, known, name)
