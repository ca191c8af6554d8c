"""The tables of rules.md 6.4: how many dice each roll uses and how many different positions it leads to."""

from __future__ import annotations

import pytest
import torch

from nardy.env import afterstates

from ..positions import Position, difference, from_boards, position, start, to_boards
from ..slow_rules import DISCIPLINES, ends_of_turn

BACKGAMMON_START = (
    "66:4/11 65:2/7 64:2/14 63:2/14 62:2/14 61:2/10 55:4/4 54:2/9 53:2/9 52:2/8 51:2/8 44:4/52 43:2/17 42:2/18 "
    "41:2/14 33:4/73 32:2/17 31:2/16 22:4/75 21:2/15 11:4/42"
)
SPRINTGAMMON_START = (
    "66:4/12 65:2/9 64:2/9 63:2/9 62:2/8 61:2/7 55:4/15 54:2/9 53:2/9 52:2/8 51:2/7 44:4/15 43:2/9 42:2/8 41:2/7 "
    "33:4/15 32:2/8 31:2/7 22:4/11 21:2/6 11:4/7"
)
MIDDLE_GAME = (
    "66:0/1 65:2/3 64:2/4 63:2/4 62:2/3 61:2/4 55:4/25 54:2/9 53:2/8 52:2/9 51:2/7 44:4/34 43:2/11 42:2/10 41:2/9 "
    "33:4/22 32:2/11 31:2/9 22:4/68 21:2/9 11:4/25"
)
BEARING_OFF = (
    "66:4/1 65:2/2 64:2/3 63:2/4 62:2/5 61:2/6 55:4/1 54:2/6 53:2/8 52:2/10 51:2/11 44:4/8 43:2/12 42:2/14 41:2/16 "
    "33:4/23 32:2/18 31:2/21 22:4/44 21:2/25 11:4/77"
)
LONG_GAME = (
    "66:4/3 65:2/16 64:2/7 63:2/16 62:2/12 61:2/13 55:4/34 54:2/15 53:2/24 52:2/19 51:2/21 44:4/2 43:2/17 42:2/10 "
    "41:2/12 33:4/58 32:2/21 31:2/22 22:4/9 21:2/18 11:4/23"
)

TABLES = {
    "backgammon start": ("backgammon", start("backgammon"), BACKGAMMON_START),
    "sprintgammon start": ("sprintgammon", start("sprintgammon"), SPRINTGAMMON_START),
    "a middle game with a checker on the bar": (
        "backgammon",
        position("20:2 13:4 8:3 6:4 5:1 bar:1", "22:1 19:4 18:1 17:2 12:4 10:1 2:1 1:1"),
        MIDDLE_GAME,
    ),
    "bearing off": (
        "backgammon",
        position("6:2 5:2 4:3 3:2 2:1 1:1 off:4", "24:2 22:4 20:2 19:3 off:4"),
        BEARING_OFF,
    ),
    "a middle game of longgammon": (
        "longgammon",
        position("24:8 20:2 18:1 16:1 9:1 7:2", "22:1 15:1 12:7 10:1 8:2 5:2 3:1", "longgammon"),
        LONG_GAME,
    ),
}


def rolls(table: str) -> list[tuple[tuple[int, int], int, int]]:
    """Roll, dice used and number of ends of each entry."""
    entries = []
    for entry in table.split():
        roll, counts = entry.split(":")
        used, ends = counts.split("/")
        entries.append(((int(roll[0]), int(roll[1])), int(used), int(ends)))
    assert len({tuple(sorted(roll)) for roll, _, _ in entries}) == len(entries) == 21
    return entries


each_table = pytest.mark.parametrize(("variant", "before", "table"), TABLES.values(), ids=TABLES)


@each_table
def test_all_21_rolls_lead_to_the_stated_number_of_positions(variant: str, before: Position, table: str) -> None:
    dice = [roll for roll, _, _ in rolls(table)]

    game, ends = afterstates(to_boards([before] * 21), torch.tensor(dice), variant)

    found = torch.bincount(game, minlength=21).tolist()
    assert found == [number for _, _, number in rolls(table)]
    for row, roll in enumerate(dice):
        _, wanted = ends_of_turn(before, roll, DISCIPLINES[variant])
        assert not difference(before, roll, from_boards(ends[game == row]), wanted, variant)


@each_table
def test_each_roll_uses_the_stated_number_of_dice(variant: str, before: Position, table: str) -> None:
    for roll, used, number in rolls(table):
        found_used, ends = ends_of_turn(before, roll, DISCIPLINES[variant])

        assert (found_used, len(ends)) == (used, number), roll


@pytest.mark.parametrize(("variant", "total"), [("backgammon", 406), ("sprintgammon", 144)])
def test_the_21_rolls_of_the_start_lead_to_the_stated_number_of_different_positions(variant: str, total: int) -> None:
    dice = torch.tensor([(first, second) for first in range(1, 7) for second in range(1, first + 1)])

    _, ends = afterstates(to_boards([start(variant)] * 21), dice, variant)

    assert len(set(from_boards(ends))) == total


def test_the_starter_of_longgammon_has_one_play_for_each_of_the_15_rolls_he_can_have() -> None:
    dice = torch.tensor([(first, second) for first in range(1, 7) for second in range(1, first)])

    game, ends = afterstates(to_boards([start("longgammon")] * 15), dice, "longgammon")

    assert game.tolist() == list(range(15))
    for (first, second), end in zip(dice.tolist(), from_boards(ends), strict=True):
        assert end == position(f"24:14 {24 - first - second}:1", "12:15", "longgammon")
        assert ends_of_turn(start("longgammon"), (first, second), DISCIPLINES["longgammon"]) == (2, {end})
