"""Janowski's formula: anchors and identities, a slow solution of its recursion, GNU Backgammon's own numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, outcome, start_boards
from nardy.env.cube import CENTRED, MINE, THEIRS
from nardy.models import (
    CubeLife,
    MatchEquityTable,
    cube_equities,
    match_no_double,
    money_no_double,
    simple_match_equity,
    write_match_equity,
)
from tests.positions import position, to_boards

from ..env.test_notation_gnubg import GNUBG, gnubg

LEVELS = torch.tensor([1.0, 2.0, 3.0, -1.0, -2.0, -3.0], dtype=torch.float64)
PLAIN = (1.0, 0.0, 0.0)  # single games only


@pytest.fixture(scope="module")
def table() -> MatchEquityTable:
    return simple_match_equity()


def outcomes(p: float, won: tuple[float, ...] = PLAIN, lost: tuple[float, ...] = PLAIN) -> Tensor:
    """Probabilities ``[1, 6]`` of a winning chance and the shares of single, gammon, backgammon on either side."""
    row = [p * share for share in won] + [(1 - p) * share for share in lost]
    return torch.tensor([row], dtype=torch.float64)


def mean_of_two(worth: float) -> tuple[float, float, float]:
    """Shares of single games and gammons with this mean worth."""
    return 2 - worth, worth - 1, 0.0


def random_outcomes(number: int, seed: int) -> Tensor:
    """``[N, 6]``, from sure wins to sure gammon losses."""
    generator = torch.Generator().manual_seed(seed)
    return torch.softmax(2.5 * torch.randn(number, 6, generator=generator, dtype=torch.float64), 1)


def sweep(won: tuple[float, ...], lost: tuple[float, ...], steps: int = 4001) -> Tensor:
    """``[steps, 6]``: the winning chance from 0 to 1 with the shares held."""
    p = torch.linspace(0, 1, steps, dtype=torch.float64)[:, None]
    return torch.cat([p * torch.tensor(won), (1 - p) * torch.tensor(lost)], 1)


def take_point(x: float, won: float = 1, lost: float = 1) -> float:
    """The chance of the player on roll at which taking a double from 1 to 2 costs a point, by bisection."""

    def as_taker(p: float) -> float:
        return 2 * float(money_no_double(outcomes(p, mean_of_two(won), mean_of_two(lost)), x)[0, MINE])

    return bisect(as_taker, -1.0)


def bisect(value: Callable[[float], float], wanted: float) -> float:
    """The least p from 0 to 1 at which an increasing ``value`` reaches what is wanted."""
    low, high = 0.0, 1.0
    if value(low) >= wanted:
        return low
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if value(middle) >= wanted else (middle, high)
    return high


@pytest.mark.parametrize(
    ("x", "won", "lost", "point"),
    [(0, 1, 1, 0.25), (1, 1, 1, 0.20), (0.68, 1, 1, 0.5 / 2.34), (0, 2, 1, 1 / 6), (1, 2, 1, 1 / 7)],
)
def test_take_points_are_those_of_the_literature(x: float, won: float, lost: float, point: float) -> None:
    assert take_point(x, won, lost) == pytest.approx(point, abs=1e-12)


@pytest.mark.parametrize(("x", "point"), [(0, 0.75), (1, 0.80), (0.68, 1 - 0.5 / 2.34)])
def test_a_double_is_dropped_from_the_cash_point_on(x: float, point: float) -> None:
    found = bisect(lambda p: 2 * float(money_no_double(outcomes(p), x)[0, THEIRS]), 1.0)
    assert found == pytest.approx(point, abs=1e-12)


def test_at_even_chances_the_live_cube_is_worth_a_quarter_to_its_owner() -> None:
    assert money_no_double(outcomes(0.5), 1.0)[0].tolist() == pytest.approx([0, 0.25, -0.25], abs=1e-12)


@pytest.mark.parametrize(("won", "lost", "x"), [(1, 1, 0.68), (1.4, 1.2, 0.5), (1.1, 1.8, 0.9)])
def test_an_owned_cube_is_turned_again_from_the_redoubling_point_on(won: float, lost: float, x: float) -> None:
    point = (lost + x) / (won + lost + x / 2)
    values = money_no_double(outcomes(point, mean_of_two(won), mean_of_two(lost)), x)[0]
    assert float(values[MINE]) == pytest.approx(2 * float(values[THEIRS]), abs=1e-12)


def slow_money(row: list[float], x: float, jacoby: bool) -> list[float]:
    """The formula for one position: straight lines through the knots that each owner has."""
    p = sum(row[:3])
    win = (row[0] + 2 * row[1] + 3 * row[2]) / p
    lose = (row[3] + 2 * row[4] + 3 * row[5]) / (1 - p)
    take = ((lose - 0.5) / (win + lose + 0.5), -1.0)
    cash = ((lose + 1.0) / (win + lose + 0.5), 1.0)
    values = []
    for knots, plain in (([take, cash], jacoby), ([cash], False), ([take], False)):
        ends = (1.0, 1.0) if plain else (win, lose)
        points = [(0.0, -ends[1]), *knots, (1.0, ends[0])]
        live = float(np.interp(p, [at for at, _ in points], [value for _, value in points]))
        values.append((1 - x) * (p * ends[0] - (1 - p) * ends[1]) + x * live)
    return values


def test_money_values_are_those_of_the_straight_lines_row_by_row() -> None:
    probs, generator = random_outcomes(400, 0), torch.Generator().manual_seed(1)
    life = torch.rand(400, generator=generator)
    jacoby = torch.arange(400) % 2 == 0
    values = money_no_double(probs, life, jacoby)
    for row in range(400):
        slow = slow_money(probs[row].tolist(), float(life[row]), bool(jacoby[row]))
        assert values[row].tolist() == pytest.approx(slow, abs=1e-9)
        single = money_no_double(probs[row : row + 1], float(life[row]), bool(jacoby[row]))
        torch.testing.assert_close(values[row : row + 1], single, rtol=0, atol=1e-7)


def test_a_dead_cube_is_worth_the_cubeless_equity_exactly() -> None:
    probs = random_outcomes(300, 2).float()
    cubeless = probs @ LEVELS.float()
    assert torch.equal(money_no_double(probs, 0.0), cubeless[:, None].expand(300, 3))


def test_the_cube_never_gains_its_owner_less_or_anybody_more_than_a_win() -> None:
    probs = random_outcomes(3000, 3)
    win = (probs[:, :3] @ LEVELS[:3]) / probs[:, :3].sum(1)
    lose = -(probs[:, 3:] @ LEVELS[3:]) / probs[:, 3:].sum(1)
    for x in (0.3, 0.68, 1.0):
        values = money_no_double(probs, x)
        assert bool((values[:, MINE] >= values[:, CENTRED] - 1e-12).all())
        assert bool((values[:, CENTRED] >= values[:, THEIRS] - 1e-12).all())
        assert bool((values <= win[:, None] + 1e-12).all()) and bool((values >= -lose[:, None] - 1e-12).all())
        assert float((values[:, MINE] - values[:, THEIRS]).max()) > 0.1


def test_sure_results_have_their_exact_worth() -> None:
    sure = torch.eye(6)
    for x in (0.0, 0.68, 1.0):
        values = money_no_double(sure, x)
        assert torch.equal(values, LEVELS.float()[:, None].expand(6, 3))
        assert money_no_double(sure, x, jacoby=True)[:, CENTRED].tolist() == [1, 1, 1, -1, -1, -1]


@pytest.mark.parametrize("x", [0.0, 0.68, 1.0])
def test_money_values_rise_steadily_with_the_winning_chance(x: float) -> None:
    for jacoby in (False, True):
        values = money_no_double(sweep((0.7, 0.25, 0.05), (0.6, 0.4, 0)), x, jacoby)
        steps = values.diff(dim=0)
        assert bool((steps >= 0).all()) if not jacoby else bool((steps > -1e-12).all())
        assert float(steps.max()) < 0.003


class Slow:
    """The recursion on stakes for one position, its points found by bisection.

    With ``always`` a side that may double has its knot whether the double gains or not, as GNU Backgammon does it.
    """

    def __init__(
        self,
        row: list[float],
        away: tuple[int, int],
        crawford: bool,
        table: MatchEquityTable,
        max_cube: int = 64,
        always: bool = False,
    ) -> None:
        self.row, self.away, self.crawford, self.max_cube, self.always = row, away, crawford, max_cube, always
        self.before, self.after = table.before.tolist(), table.after.tolist()
        self.p = sum(row[:3])
        self.line = cache(self._line)

    def chance(self, points: int) -> float:
        """Match-winning chance once I have won this many points."""
        mine, theirs = self.away[0] - max(points, 0), self.away[1] + min(points, 0)
        if mine <= 0 or theirs <= 0:
            return float(theirs > 0)
        if (self.crawford or 1 in self.away) and theirs == 1:
            return float(self.after[mine - 1])
        if (self.crawford or 1 in self.away) and mine == 1:
            return 1 - float(self.after[theirs - 1])
        return float(self.before[mine - 1][theirs - 1])

    def mean(self, stake: int, side: int) -> float:
        """What a win (side 1) or a loss (-1) at this stake is worth on average."""
        part = self.row[:3] if side == 1 else self.row[3:]
        total = sum(part)
        shares = [share / total for share in part] if total > 0 else PLAIN
        return sum(share * self.chance(side * stake * level) for level, share in enumerate(shares, 1))

    def _line(self, stake: int, owner: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
        ends = [(0.0, self.mean(stake, -1)), (1.0, self.mean(stake, 1))]
        turnable = 2 * stake <= self.max_cube and not self.crawford
        take = cash = None
        if turnable and stake < self.away[1] and owner != MINE:
            take = bisect(lambda p: self.at(p, 2 * stake, MINE), self.chance(-stake)), self.chance(-stake)
            if not self.always and take[1] >= self.other(take[0], stake, owner, MINE):
                take = None
        if turnable and stake < self.away[0] and owner != THEIRS:
            cash = bisect(lambda p: self.at(p, 2 * stake, THEIRS), self.chance(stake)), self.chance(stake)
            if not self.always and cash[1] <= self.other(cash[0], stake, owner, THEIRS):
                cash = None
        knots = [knot for knot in (take, cash) if knot]
        xs, ys = zip(ends[0], *knots, ends[1], strict=True)
        return xs, ys

    def other(self, p: float, stake: int, owner: int, without: int) -> float:
        """What the game is worth if only the other side may double: nobody, if that side does not own the cube."""
        if owner == CENTRED:
            return self.at(p, stake, without)
        return p * self.mean(stake, 1) + (1 - p) * self.mean(stake, -1)

    def at(self, p: float, stake: int, owner: int) -> float:
        """The live cube's value."""
        return float(np.interp(p, *self.line(stake, owner)))

    def values(self, stake: int, x: float) -> list[float]:
        """Values of not doubling for the cube centred, mine, theirs."""
        dead = self.p * self.mean(stake, 1) + (1 - self.p) * self.mean(stake, -1)
        return [(1 - x) * dead + x * self.at(self.p, stake, owner) for owner in (CENTRED, MINE, THEIRS)]


def random_scores(number: int, seed: int, most: int = 9) -> tuple[Tensor, Tensor, Tensor]:
    """Cube values, points needed, and whether it is the Crawford game."""
    generator = torch.Generator().manual_seed(seed)
    value = 2 ** torch.randint(0, 3, (number,), generator=generator)
    away = torch.randint(1, most + 1, (number, 2), generator=generator)
    crawford = (away == 1).any(1) & (torch.rand(number, generator=generator) < 0.5)
    return value.int(), away.int(), crawford


@pytest.mark.parametrize("max_cube", [64, 4, 1])
def test_match_values_are_those_of_the_slow_recursion(table: MatchEquityTable, max_cube: int) -> None:
    probs = random_outcomes(150, 4)
    value, away, crawford = random_scores(150, 5)
    values = match_no_double(probs, value, away, crawford, table, 0.68, max_cube)
    for row in range(150):
        slow = Slow(probs[row].tolist(), tuple(away[row].tolist()), bool(crawford[row]), table, max_cube)
        assert values[row].tolist() == pytest.approx(slow.values(int(value[row]), 0.68), abs=1e-6), row


@pytest.mark.parametrize(
    ("away", "crawford"), [((2, 2), False), ((2, 4), False), ((4, 2), False), ((1, 3), False), ((3, 1), True)]
)
def test_the_scores_where_money_points_fail_are_those_of_the_slow_recursion(
    table: MatchEquityTable, away: tuple[int, int], crawford: bool
) -> None:
    probs = sweep((0.75, 0.24, 0.01), (0.7, 0.3, 0.0), steps=41)
    rows = len(probs)
    value = torch.ones(rows, dtype=torch.int32)
    values = match_no_double(probs, value, torch.tensor([away] * rows), torch.full((rows,), crawford), table, 1.0)
    for row in range(rows):
        slow = Slow(probs[row].tolist(), away, crawford, table)
        assert values[row].tolist() == pytest.approx(slow.values(1, 1.0), abs=1e-6), row


def test_match_values_of_a_batch_are_those_of_its_rows(table: MatchEquityTable) -> None:
    probs, life = random_outcomes(40, 6).float(), torch.linspace(0, 1, 40)
    value, away, crawford = random_scores(40, 7, most=30)
    whole = match_no_double(probs, value, away, crawford, table, life)
    for row in range(40):
        one = slice(row, row + 1)
        single = match_no_double(probs[one], value[one], away[one], crawford[one], table, float(life[row]))
        torch.testing.assert_close(whole[one], single, rtol=0, atol=2e-7)


def cubeless(probs: Tensor, value: Tensor, away: Tensor, crawford: Tensor, table: MatchEquityTable) -> Tensor:
    points = value.long()[:, None] * LEVELS.long()
    return (probs * table.after_points(away, crawford, points)).sum(1)


def test_a_cube_nobody_can_use_is_worth_what_the_table_says_exactly(table: MatchEquityTable) -> None:
    probs = random_outcomes(400, 8).float()
    value, away, crawford = random_scores(400, 9)
    exact = cubeless(probs, value, away, crawford, table)[:, None]
    for x in (0.68, 1.0):
        values = match_no_double(probs, value, away, crawford, table, x)
        dead = crawford | ((value >= away[:, 0]) & (value >= away[:, 1]))
        assert 50 < int(dead.sum()) < 350
        assert torch.equal(values[dead], exact[dead].expand(-1, 3))
        lost_to_me = value >= away[:, 0]  # I cannot use it, whoever has it
        assert torch.equal(values[lost_to_me][:, MINE], exact[lost_to_me][:, 0])
        at_the_cap = match_no_double(probs, value, away, crawford, table, x, max_cube=1)
        assert torch.equal(at_the_cap, exact.expand(-1, 3))
        assert float((values[~dead] - exact[~dead]).abs().max()) > 0.05


def test_in_a_match_too_the_owner_is_never_worse_off_and_nobody_beyond_a_win(table: MatchEquityTable) -> None:
    probs = random_outcomes(5000, 10)
    value, away, crawford = random_scores(5000, 11)
    values = match_no_double(probs, value, away, crawford, table, 1.0)
    dead = cubeless(probs, value, away, crawford, table)
    assert bool((values[:, MINE] >= values[:, CENTRED] - 1e-7).all())
    assert bool((values[:, CENTRED] >= values[:, THEIRS] - 1e-7).all())
    assert bool((values[:, MINE] >= dead - 1e-7).all()) and bool((values[:, THEIRS] <= dead + 1e-7).all())
    sure = torch.eye(6).repeat_interleave(50, 0).double()
    exact = cubeless(sure, value[:300], away[:300], crawford[:300], table)
    for column in match_no_double(sure, value[:300], away[:300], crawford[:300], table, 1.0).unbind(1):
        torch.testing.assert_close(column, exact, rtol=0, atol=1e-7)


@pytest.mark.parametrize("away", [(2, 2), (2, 4), (4, 2), (5, 5), (7, 3), (1, 2), (1, 5), (6, 1), (25, 25), (3, 25)])
def test_match_values_rise_steadily_with_the_winning_chance(table: MatchEquityTable, away: tuple[int, int]) -> None:
    probs = sweep((0.75, 0.24, 0.01), (0.7, 0.3, 0.0))
    rows = len(probs)
    value, none = torch.ones(rows, dtype=torch.int32), torch.zeros(rows, dtype=torch.bool)
    for x in (0.0, 0.68, 1.0):
        steps = match_no_double(probs, value, torch.tensor([away] * rows), none, table, x).diff(dim=0)
        assert float(steps.min()) > -1e-7
        assert float(steps.max()) < 0.001


def decision(probs: Tensor, cube: Cube, table: MatchEquityTable | None, x: float = 0.68) -> tuple[bool, bool]:
    """Should the player on roll double, and should the opponent take?"""
    found = cube_equities(probs, cube.as_tensors(1), table, x)
    doubled = torch.minimum(found.double_take, found.double_pass)
    return bool(doubled > found.no_double), bool(found.double_take <= found.double_pass)


def test_after_the_crawford_game_the_trailer_doubles_whatever_the_position(table: MatchEquityTable) -> None:
    for trailer in (2, 3, 4, 5, 8):
        for p in (0.05, 0.3, 0.49):
            cube = Cube(away=(trailer, 1))
            assert decision(outcomes(p, (0.75, 0.25, 0), (0.75, 0.25, 0)), cube, table)[0], (trailer, p)


def test_the_leader_drops_freely_against_an_even_score_and_takes_against_an_odd_one(table: MatchEquityTable) -> None:
    shares = (0.73, 0.27, 0.0)
    for p, takes in ((0.48, True), (0.52, False)):
        assert decision(outcomes(p, shares, shares), Cube(away=(2, 1)), table)[1] is takes
    for trailer in (3, 5, 7):
        assert decision(outcomes(0.6, shares, shares), Cube(away=(trailer, 1)), table)[1]


def test_the_leader_never_gains_from_a_cube_after_the_crawford_game(table: MatchEquityTable) -> None:
    probs, rows = random_outcomes(50, 12), torch.ones(50, dtype=torch.int32)
    away, later = torch.tensor([[1, 4]] * 50), torch.zeros(50, dtype=torch.bool)
    values = match_no_double(probs, rows, away, later, table)
    assert torch.equal(values[:, MINE].float(), cubeless(probs, rows, away, later, table).float())
    torch.testing.assert_close(values[:, CENTRED], values[:, THEIRS], rtol=0, atol=0)


def test_at_two_away_each_a_cube_once_turned_makes_it_the_last_game(table: MatchEquityTable) -> None:
    for p in (0.3, 0.51, 0.6, 0.67):
        found = cube_equities(outcomes(p), Cube(away=(2, 2)).as_tensors(1), table)
        assert float(found.double_take[0]) == pytest.approx(p, abs=1e-12)
        assert decision(outcomes(p), Cube(away=(2, 2)), table) == (p > 0.5, True)


def test_a_taker_with_nothing_to_lose_redoubles_at_once(table: MatchEquityTable) -> None:
    """At two and four away, I double to 2, enough for me; he redoubles to 4, and the last game is played."""
    for p, worth in ((0.3, 0.5), (0.5, 0.5), (0.6, 0.6), (0.9, 0.9)):  # below a half I drop to two away each
        found = cube_equities(outcomes(p), Cube(away=(2, 4)).as_tensors(1), table, 1.0)
        assert float(found.double_take[0]) == pytest.approx(worth, abs=1e-6)


def test_decisions_read_the_cube_the_cap_and_the_kind_of_game_row_by_row(table: MatchEquityTable) -> None:
    probs = random_outcomes(6, 13)
    cube = Cube(
        value=torch.tensor([1, 2, 32, 64, 2, 1]),
        owner=torch.tensor([0, 1, 2, 1, 1, 0], dtype=torch.int8),
        jacoby=torch.tensor([True, False, False, False, False, False]),
        away=torch.tensor([[0, 0], [0, 0], [0, 0], [0, 0], [5, 7], [3, 1]]),
    )
    found = cube_equities(probs, cube.as_tensors(6), table, 0.6)
    money = money_no_double(probs, 0.6, jacoby=torch.tensor([True] + [False] * 5))
    dead = probs @ LEVELS
    match = match_no_double(
        probs,
        torch.tensor([1, 1, 1, 1, 2, 1]),
        torch.tensor([[5, 7]] * 5 + [[3, 1]]),
        torch.zeros(6).bool(),
        table,
        0.6,
    )
    turned = match_no_double(
        probs,
        torch.tensor([1, 1, 1, 1, 4, 2]),
        torch.tensor([[5, 7]] * 5 + [[3, 1]]),
        torch.zeros(6).bool(),
        table,
        0.6,
    )
    expected = [money[0, 0], money[1, 1], money[2, 2], dead[3], match[4, 1], match[5, 0]]
    assert found.no_double.tolist() == pytest.approx([float(value) for value in expected])
    taken = [2 * money[0, 2], 2 * money[1, 2], 2 * dead[2], 2 * dead[3], turned[4, 2], turned[5, 2]]
    assert found.double_take.tolist() == pytest.approx([float(value) for value in taken])
    cash = [1, 1, 1, 1, float(table.before[2, 6]), float(table.after[1])]
    assert found.double_pass.tolist() == pytest.approx(cash)


def test_a_centred_cube_that_nobody_may_turn_counts_no_gammons_with_jacoby() -> None:
    probs = outcomes(0.6, (0.5, 0.5, 0), (0.9, 0.1, 0))
    found = cube_equities(probs, Cube(jacoby=True, max_cube=1).as_tensors(1))
    assert float(found.no_double[0]) == pytest.approx(0.2)


def test_what_cannot_be_answered_is_refused(table: MatchEquityTable) -> None:
    with pytest.raises(ValueError, match="match equity table: found none, wanted one"):
        cube_equities(outcomes(0.5), Cube(away=(3, 4)).as_tensors(1))
    for bad in (torch.rand(3, 5), torch.rand(6), torch.ones(3, 6, dtype=torch.int32)):
        with pytest.raises(ValueError, match=r"wanted floats \[N, 6\]"):
            money_no_double(bad)
        with pytest.raises(ValueError, match=r"wanted floats \[N, 6\]"):
            match_no_double(bad, torch.ones(3), torch.ones(3, 2), torch.zeros(3).bool(), table)
    with pytest.raises(ValueError, match=r"cube life: found 68, wanted"):
        money_no_double(outcomes(0.5), 68)
    with pytest.raises(ValueError, match=r"cube life: bear_off: found 1\.5"):
        CubeLife(bear_off=1.5)


@pytest.mark.parametrize(
    ("mover", "opponent", "x"),
    [
        ("24:2 13:5 8:3 6:5", "1:2 12:5 17:3 19:5", 0.68),
        ("12:1 6:14", "13:1 19:14", 0.67),  # just past each other, 96 pips
        ("13:1 6:14", "12:1 19:14", 0.68),  # not yet
        ("bar:1 6:14", "24:15", 0.68),
        ("7:1 6:2 off:12", "18:5 off:10", 0.6),  # the shortest races
        ("12:15", "19:15", 0.7),  # and the longest
        ("6:15", "19:15", 0.6),  # all home
        ("7:1 6:14", "19:15", 0.55 + 91 / 800),
    ],
)
def test_the_cubes_life_depends_on_contact_and_pips(mover: str, opponent: str, x: float) -> None:
    boards = to_boards([position(mover, opponent)])
    assert float(CubeLife().of(boards)[0]) == pytest.approx(x)
    assert float(CubeLife(contact=0.5).of(boards, "longgammon")[0]) == 0.5


ASK = """
import gnubg, json
how = {"cubeful": 1, "plies": 0, "deterministic": 1, "noise": 0.0}
answers = []
for board, value, owner, length, score, crawford, jacoby in json.load(open("questions.json")):
    board = tuple(tuple(side) for side in board)
    cube = gnubg.cubeinfo(value, owner, 1, length, tuple(score), crawford, 0)
    cube["jacoby"] = jacoby
    values = gnubg.cfevaluate(board, cube, how)[1:4]
    if length:
        values = [gnubg.eq2mwc(value, cube) for value in values]
    answers.append([gnubg.evaluate(board, cube, how)[:5], values])
json.dump(answers, open("answers.json", "w"))
"""


def exclusive(cumulative: Tensor) -> Tensor:
    """Exclusive outcomes ``[N, 6]`` from gnubg's five: win, gammon or more, backgammon, and the last two lost."""
    win, gammons, backgammons, lost, worse = cumulative.unbind(1)
    return torch.stack([win - gammons, gammons - backgammons, backgammons, 1 - win - lost, lost - worse, worse], 1)


def random_positions(number: int) -> Tensor:
    """Positions of random games at every stage; none with so few checkers that gnubg looks its values up."""
    generator = torch.Generator().manual_seed(4)
    boards, seen = start_boards(16), []
    for turn in range(150):
        dice = torch.randint(1, 7, (16, 2), generator=generator)
        game, after = afterstates(boards, dice)
        counts = torch.bincount(game, minlength=16)
        boards = flip(after[counts.cumsum(0) - counts + (torch.rand(16, generator=generator) * counts).long()])
        if turn % 8 == 0:
            seen.append(boards[(outcome(boards) == 0) & (boards[:, :, 0].amax(1) < 9)])
    found = torch.cat(seen)
    return found[torch.randperm(len(found), generator=generator)[:number]]


@pytest.mark.peer
@pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")
def test_gnubg_says_the_same_of_the_same_probabilities(tmp_path: Path, table: MatchEquityTable) -> None:
    boards = random_positions(48).repeat(4, 1, 1)
    number = len(boards)
    value, away, crawford = random_scores(number, 14, most=11)
    money = torch.arange(number) < number // 4
    owner = torch.randint(0, 3, (number,), generator=torch.Generator().manual_seed(15))
    value = torch.where((owner == CENTRED) | money, 1, 2 * value)
    jacoby = money & (owner == CENTRED) & (torch.arange(number) % 2 == 0)
    away, crawford = torch.where(money[:, None], 0, away), crawford & ~money & (away > 1).any(1)
    length = torch.where(money, 0, away.amax(1))
    columns = (part.tolist() for part in (boards, value, owner, length, away, crawford, jacoby))
    questions = [
        [
            [side[1:] for side in board[::-1]],
            cube,
            (-1, 1, 0)[who],
            points,
            [points - need[1], points - need[0]],
            int(c),
            int(j),
        ]
        for board, cube, who, points, need, c, j in zip(*columns, strict=True)
    ]
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    (tmp_path / "ask.py").write_text(ASK)
    write_match_equity(tmp_path / "table.xml", table)

    gnubg(["set matchequitytable table.xml", "load python ask.py"], tmp_path)

    answers = json.loads((tmp_path / "answers.json").read_text())
    probs = exclusive(torch.tensor([probs for probs, _ in answers], dtype=torch.float64))
    theirs = torch.tensor([values for _, values in answers], dtype=torch.float64)
    life = CubeLife().of(boards)
    cube = Cube(value, owner.to(torch.int8), jacoby, False, away, crawford, 1 << 12)
    found = cube_equities(probs, cube.as_tensors(number), table, life)
    error = (torch.stack([found.no_double, found.double_take, found.double_pass], 1) - theirs).abs()
    assert float(error[money].max()) < 1e-5
    assert float((error[~money] < 1e-5).all(1).float().mean()) > 0.85
    for row in (~money).nonzero()[:, 0].tolist():
        score, who, stake, x = tuple(away[row].tolist()), int(owner[row]), int(value[row]), float(life[row])
        slow = Slow(probs[row].tolist(), score, bool(crawford[row]), table, 1 << 12, always=True)
        plain = [slow.values(stake, x)[who], slow.values(2 * stake, x)[THEIRS], slow.chance(stake)]
        if score == (2, 2) and who == CENTRED:  # gnubg has that cube dead
            plain[0] = slow.values(stake, 0.0)[who]
        assert theirs[row].tolist() == pytest.approx(plain, abs=1e-5), (score, who, stake)
