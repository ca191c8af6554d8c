"""The stakes a slot looks up are those worked out for it alone, at every score and cube and after a new table."""

from __future__ import annotations

import torch
from torch import Tensor

from nardy.env.games import GameOptions, Games
from nardy.models.janowski import simple_match_equity
from nardy.models.match_equity import MatchEquityTable
from nardy.models.stakes import Stakes, match_stakes, money_stakes
from nardy.train.slot_stakes import STAKE, SlotStakes


def _slots(number: int, max_cube: int, table: MatchEquityTable) -> tuple[Games, SlotStakes]:
    games = Games(number, GameOptions("backgammon", max_cube=max_cube), 0)
    stakes = SlotStakes(games, 0.2, 0.3, table)
    stakes.draw(torch.ones(number, dtype=torch.bool))
    return games, stakes


def _worked_out(games: Games, stakes: SlotStakes, player: Tensor, table: MatchEquityTable) -> Stakes:
    max_cube = games.options.max_cube
    value = torch.where(stakes.kind == STAKE, games.cube_value, stakes.cube)
    away = torch.where(player[:, None] == 0, stakes.away, stakes.away.flip(1))
    money = away[:, 0] == 0
    match = match_stakes(value, away.clamp(min=1), stakes.crawford, max_cube, table)
    return Stakes.where(money, money_stakes(value, max_cube, money & (value == 1)), match)


def _assert_same(found: Stakes, expected: Stakes) -> None:
    for name in Stakes.__dataclass_fields__:
        torch.testing.assert_close(getattr(found, name), getattr(expected, name), atol=0, rtol=0, msg=name)


def test_the_stakes_looked_up_are_those_worked_out() -> None:
    number, table = 3000, simple_match_equity()
    generator = torch.Generator().manual_seed(1)
    for max_cube in (1, 4, 64, 1024):
        games, stakes = _slots(number, max_cube, table)
        exponents = torch.randint(0, max_cube.bit_length(), (number,), generator=generator)
        games.cube_value = (1 << exponents).to(torch.int32)
        stakes.cube = stakes.cube.clamp(max=max_cube)
        assert bool((stakes.crawford & (stakes.away == 1).any(1)).any())
        for player in (torch.zeros(number, dtype=torch.int8), torch.ones(number, dtype=torch.int8)):
            _assert_same(stakes.seen_by(player), _worked_out(games, stakes, player, table))


def test_a_new_table_changes_the_stakes() -> None:
    table = simple_match_equity()
    games, stakes = _slots(500, 64, table)
    player = games.player
    before = stakes.seen_by(player)
    chances = 0.5 + 0.8 * (table.before - 0.5)
    flatter = MatchEquityTable.checked(chances, table.after, "flatter")
    stakes.table = flatter
    after = stakes.seen_by(player)
    assert not torch.equal(before.payoff, after.payoff)
    _assert_same(after, _worked_out(games, stakes, player, flatter))
