"""The rows of rules.md 6.1 to 6.3: every legal end of a turn, one representative play each, and forbidden runs."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from nardy.env import afterstates

from ..positions import OFF, Position, after_play, difference, from_boards, moves_of, position, to_boards
from ..slow_rules import discipline, ends_of_turn, forbidden_run


@dataclass(frozen=True)
class Row:
    """One row of the table; ``used`` is the number of dice every legal turn uses."""

    name: str
    mover: str
    opponent: str
    dice: tuple[int, int]
    used: int
    plays: list[str]
    rule: str
    second_first: bool = False

    @property
    def variant(self) -> str:
        return {"B": "backgammon", "S": "sprintgammon", "L": "longgammon"}[self.name[0]]

    @property
    def before(self) -> Position:
        return position(self.mover, self.opponent, self.variant)

    @property
    def ends(self) -> list[Position]:
        return [after_play(self.before, play, self.variant) for play in self.plays]


ROWS = [
    Row(
        "B01",
        "24:1 13:5 8:3 6:5 bar:1",
        "23:2 20:2 19:2 17:2 12:5 1:2",
        (5, 3),
        2,
        ["bar/22 13/8", "bar/22 8/3"],
        "only the 3 enters; then the 5 is compulsory",
    ),
    Row(
        "B02",
        "13:5 8:3 6:5 bar:2",
        "21:2 20:2 19:2 17:2 12:5 1:2",
        (6, 3),
        1,
        ["bar/22"],
        "two on the bar, only the 3 enters: one die, no other checker may move",
    ),
    Row("B03", "13:5 8:4 6:5 bar:1", "24:2 23:2 22:2 21:2 20:2 19:2 12:3", (6, 5), 0, ["pass"], "closed out: pass"),
    Row(
        "B04",
        "13:4 8:3 6:5 bar:3",
        "19:5 17:3 12:5 1:2",
        (4, 4),
        4,
        ["bar/21(3) 13/9", "bar/21(3) 8/4", "bar/21(3) 6/2"],
        "three enter first, the fourth 4 is free",
    ),
    Row(
        "B05",
        "6:4 bar:1 off:10",
        "20:2 17:2 4:2 off:9",
        (6, 2),
        1,
        ["bar/19"],
        "either die enters, never both: larger die",
    ),
    Row(
        "B06",
        "13:2 6:3 bar:1 off:9",
        "21:2 20:2 1:2 off:9",
        (4, 1),
        2,
        ["bar/24 13/9", "bar/24 6/2"],
        "4 does not enter; 1 first, then a 4",
    ),
    Row(
        "B07",
        "8:2 6:2 bar:1 off:10",
        "22:1 19:2 12:2 off:10",
        (3, 1),
        2,
        ["bar/22*/21", "bar/22* 8/7", "bar/22* 6/5", "bar/24/21", "bar/24 8/5", "bar/24 6/3"],
        "entering on 22 hits",
    ),
    Row(
        "B08",
        "13:1 1:3 off:11",
        "20:4 12:3 2:2 off:6",
        (6, 5),
        1,
        ["13/7"],
        "each die playable, not both: must play the 6",
    ),
    Row("B09", "13:1 1:3 off:11", "12:3 7:2 2:2 off:8", (6, 5), 1, ["13/8"], "6 never playable: the 5 is compulsory"),
    Row("B10", "12:1 7:1 off:13", "6:2 1:2 off:11", (6, 5), 1, ["12/7", "7/2"], "only one 5 playable, two ways"),
    Row("B11", "13:1 1:3 off:11", "12:2 7:2 off:11", (6, 5), 2, ["13/8/2"], "both dice only in the order 5 then 6"),
    Row(
        "B12",
        "10:1 8:1 off:13",
        "3:2 2:2 1:2 off:9",
        (6, 1),
        2,
        ["10/4 8/7"],
        "10/9 would strand the 6, so it is illegal",
    ),
    Row(
        "B13",
        "24:1 8:1 off:13",
        "12:5 9:2 off:8",
        (5, 5),
        3,
        ["24/19/14 8/3"],
        "three of four 5s playable: all three compulsory",
    ),
    Row("B14", "24:2 off:13", "23:2 22:2 18:2 13:2 off:7", (6, 1), 0, ["pass"], "fully blocked without bar: pass"),
    Row(
        "B15",
        "6:1 5:1 3:2 2:1 off:10",
        "20:2 19:3 off:10",
        (4, 1),
        2,
        ["6/2 5/4", "6/2 3/2", "6/2/1", "5/1 3/2", "5/1 2/1", "5/1/off"],
        "no checker on 4 and higher ones exist: the 4 moves inside",
    ),
    Row(
        "B16",
        "6:2 5:1 3:2 off:10",
        "24:2 19:3 off:10",
        (4, 4),
        4,
        ["6/2(2) 5/1 3/off"],
        "last 4 bears off from 3 once 3 is the highest",
    ),
    Row("B17", "5:2 3:1 1:1 off:11", "19:5 off:10", (6, 5), 2, ["5/off(2)"], "6 takes the highest, 5 is exact"),
    Row(
        "B18",
        "7:1 6:2 2:2 off:10",
        "19:5 off:10",
        (6, 1),
        2,
        ["7/1 6/5", "7/1 2/1", "7/1/off"],
        "7/6 6/off equals 7/1 1/off: merged",
    ),
    Row(
        "B19",
        "8:1 6:2 off:12",
        "7:2 2:2 off:11",
        (6, 1),
        1,
        ["6/5"],
        "a checker outside home forbids 6/off; 6 not playable",
    ),
    Row(
        "B20",
        "2:2 1:2 bar:1 off:10",
        "22:1 21:2 20:2 19:2 12:5 off:3",
        (4, 3),
        2,
        ["bar/22*/18"],
        "on the bar: no bearing off; enters with 3 (hit), runs on with 4",
    ),
    Row("B21", "6:1 1:1 off:13", "19:5 off:10", (5, 2), 2, ["6/1/off"], "6/1 1/off equals 6/4 4/off: merged"),
    Row("B22", "6:1 2:1 off:13", "19:5 off:10", (6, 6), 2, ["6/off 2/off"], "game ends after two of four 6s"),
    Row("B23", "3:1 off:14", "19:5 off:10", (2, 1), 2, ["3/1/off"], "both orders finish: one end position"),
    Row("B24", "1:1 off:14", "19:5 off:10", (6, 1), 1, ["1/off"], "either die finishes: one end position"),
    Row(
        "B25",
        "13:1 1:2 off:12",
        "12:2 11:1 10:1 off:11",
        (3, 2),
        2,
        ["13/10*/8", "13/11*/8"],
        "same destination, different blot hit: two end positions",
    ),
    Row(
        "B26",
        "8:2 6:4 off:9",
        "19:5 4:1 3:1 off:8",
        (4, 3),
        2,
        ["8/4* 8/5", "8/4* 6/3*", "8/4*/1", "6/2 8/5", "6/2 6/3*", "8/5/1"],
        "hits with one or two checkers",
    ),
    Row(
        "S01",
        "24:1 23:1 22:1",
        "3:1 2:1 1:1",
        (6, 5),
        2,
        [
            "24/18 23/18",
            "24/18 22/17",
            "24/18/13",
            "23/17 24/19",
            "23/17 22/17",
            "23/17/12",
            "22/16 24/19",
            "22/16 23/18",
            "22/16/11",
        ],
        "Sprintgammon start",
    ),
    Row(
        "S02",
        "24:1 23:1 22:1",
        "3:1 2:1 1:1",
        (2, 1),
        2,
        ["24/22 23/22", "24/22/21", "23/21 22/21", "23/21/20", "22/20 24/23", "22/20/19"],
        "Sprintgammon start; landing on own checkers",
    ),
    Row(
        "S03",
        "24:1 23:1 22:1",
        "14:2 1:1",
        (5, 5),
        4,
        [
            "24/19 23/18/13 22/17",
            "24/19 23/18 22/17/12",
            "24/19 23/18/13/8",
            "24/19 22/17/12/7",
            "23/18/13 22/17/12",
            "23/18/13/8 22/17",
            "23/18 22/17/12/7",
            "23/18/13/8/3",
            "22/17/12/7/2",
        ],
        "14 is held: the route 24/19/14 is closed",
    ),
    Row(
        "S04",
        "22:1 bar:1 off:1",
        "20:1 19:2",
        (6, 5),
        2,
        ["bar/20* 22/16", "bar/20*/14"],
        "6 does not enter; 5 enters with a hit",
    ),
]

LONG_ROWS = [
    Row("L01", "24:15", "12:15", (6, 5), 2, ["24/18/13"], "starter: one head checker only"),
    Row(
        "L02",
        "24:15",
        "12:14 1:1",
        (6, 6),
        2,
        ["24/18(2)"],
        "second player, first roll: two head checkers, then blocked",
        second_first=True,
    ),
    Row("L03", "24:15", "12:14 1:1", (4, 4), 4, ["24/20/16(2)"], "second player, first roll", second_first=True),
    Row(
        "L04",
        "24:15",
        "12:14 1:1",
        (3, 3),
        4,
        ["24/21/18(2)", "24/21/18/15 24/21"],
        "second player, first roll: 18 18 or 21 15",
        second_first=True,
    ),
    Row(
        "L05",
        "24:15",
        "12:14 9:1",
        (5, 5),
        2,
        ["24/19/14"],
        "5-5 gives no exception, two 5s only",
        second_first=True,
    ),
    Row(
        "L06",
        "24:15",
        "12:14 1:1",
        (2, 2),
        4,
        ["24/22/20/18/16"],
        "no exception for 2-2: one checker runs",
        second_first=True,
    ),
    Row("L07", "24:15", "12:14 1:1", (6, 6), 1, ["24/18"], "same as L02 on a later turn"),
    Row(
        "L08",
        "24:14 20:1",
        "17:1 15:1 12:13",
        (5, 3),
        2,
        ["24/19/16"],
        "single opposing checkers close points; no hitting",
    ),
    Row("L09", "20:1 1:14", "12:14 9:1", (6, 5), 1, ["20/14"], "larger die"),
    Row(
        "L10",
        "17:10 5:1 4:1 3:1 2:1 1:1",
        "12:15",
        (6, 5),
        1,
        ["17/11"],
        "17/11 then 11/6 would complete 6..1 with all 15 behind: 5 unplayable",
    ),
    Row(
        "L11",
        "17:10 5:1 4:1 3:1 2:1 1:1",
        "12:14 7:1",
        (6, 5),
        1,
        ["17/11"],
        "checker on my 7 is still behind the run: as L10",
    ),
    Row(
        "L12",
        "17:10 5:1 4:1 3:1 2:1 1:1",
        "16:1 12:14",
        (6, 5),
        2,
        ["17/11/6"],
        "one opponent checker is ahead of the run: allowed",
    ),
    Row(
        "L13",
        "17:10 5:1 4:1 3:1 2:1 1:1",
        "12:14 off:1",
        (6, 5),
        2,
        ["17/11/6"],
        "one opponent checker borne off: allowed",
    ),
    Row(
        "L14",
        "7:11 6:1 5:1 4:1 3:1",
        "12:15",
        (6, 5),
        2,
        ["7/1 6/1"],
        "7/1 7/2 would complete 7..1 (two end positions without the rule)",
    ),
    Row(
        "L15",
        "14:3 13:7 6:1 5:1 4:1 3:1 2:1",
        "12:13 9:1 8:1",
        (6, 6),
        0,
        ["pass"],
        "13/7 would complete 7..2; 14/8 held: pass",
    ),
    Row(
        "L16",
        "11:1 6:1 4:1 3:1 2:1 1:10",
        "12:14 9:1",
        (6, 2),
        2,
        ["6/4 11/5", "4/2 11/5", "3/1 11/5"],
        "11/5/3 and 11/5 2/off pass through a forbidden 6..1",
    ),
    Row(
        "L17",
        "11:1 6:1 4:1 3:1 2:1 1:10",
        "12:15",
        (6, 2),
        2,
        ["11/9/3", "6/4 11/5", "4/2 11/5", "3/1 11/5"],
        "as L16 with 9 free: 11/9/3 reaches the same square legally",
    ),
    Row(
        "L18",
        "7:1 6:2 1:12",
        "12:15",
        (6, 1),
        2,
        ["7/1 6/5", "7/1/off"],
        "last checker comes home, bearing off in the same turn",
    ),
    Row(
        "L19",
        "5:1 3:1 off:13",
        "14:3 13:1 off:11",
        (6, 2),
        2,
        ["5/off 3/1", "5/3/off"],
        "6 must take the highest checker",
    ),
    Row(
        "L20",
        "6:1 5:1 3:2 off:11",
        "14:2 13:2 off:11",
        (4, 4),
        4,
        ["6/2 5/1 3/off(2)"],
        "inside moves, then overshoot from 3",
    ),
]

# name, mover, opponent, is the mover's formation forbidden?, why
RUNS = [
    ("F1", "11:3 10:3 9:3 8:2 7:2 6:2", "12:15", True, "all behind"),
    ("F2", "11:3 10:3 9:3 8:2 7:2 6:2", "12:14 5:1", False, "one just ahead (its own 17)"),
    ("F3", "11:3 10:3 9:3 8:2 7:2 6:2", "12:14 off:1", False, "one borne off"),
    ("F4", "24:10 23:1 22:1 21:1 20:1 19:1", "12:15", True, "own head is part of the run"),
    ("F5", "24:8 23:2 22:1 3:1 2:1 1:2", "12:15", True, "my 1 and my 24 are neighbours on the opponent route"),
    ("F6", "24:8 23:2 22:1 3:1 2:1 1:2", "21:1 12:14", False, "same, one ahead"),
    ("F7", "15:3 14:3 13:3 12:2 11:2 10:2", "9:15", False, "my 13 and 12 are the two ends of the opponent route"),
    (
        "F8",
        "24:2 23:1 11:2 10:2 9:1 8:1 7:1 6:1 4:1 3:1 2:1 1:1",
        "12:14 5:1",
        True,
        "two runs; the checker on 5 has passed the first only",
    ),
]

each_row = pytest.mark.parametrize("row", ROWS + LONG_ROWS, ids=lambda row: f"{row.name}: {row.rule}")
either_order = pytest.mark.parametrize("swap", [False, True], ids=["larger first", "smaller first"])


@each_row
@either_order
def test_exactly_the_listed_positions_can_be_reached(row: Row, swap: bool) -> None:
    dice = row.dice[::-1] if swap else row.dice

    second_first = torch.tensor([row.second_first])
    game, ends = afterstates(to_boards([row.before]), torch.tensor([dice]), row.variant, second_first)

    assert not difference(row.before, dice, from_boards(ends), row.ends, row.variant)
    assert game.tolist() == [0] * len(row.plays)


def pays(die: int, point: int, target: int) -> bool:
    """May ``die`` pay for this single move, as far as its length tells?"""
    return point - target == die or (target == OFF and point < die)


@each_row
def test_each_listed_play_uses_the_stated_number_of_dice(row: Row) -> None:
    dice = [row.dice[0]] * 4 if row.dice[0] == row.dice[1] else list(row.dice)
    for play in row.plays:
        moves = [] if play == "pass" else moves_of(play)
        assert len(moves) == row.used

        assert any(
            all(pays(die, point, target) for die, (point, target, _) in zip(order, moves, strict=False))
            for order in (dice, dice[::-1])
        ), play


@each_row
def test_the_slow_rules_find_the_listed_positions_and_number_of_dice(row: Row) -> None:
    rules = discipline(row.variant, row.dice, row.second_first)
    used, ends = ends_of_turn(row.before, row.dice, rules)

    assert used == row.used
    assert not difference(row.before, row.dice, ends, row.ends, row.variant)


@pytest.mark.parametrize(
    ("mover", "opponent", "forbidden"), [row[1:4] for row in RUNS], ids=[f"{row[0]}: {row[4]}" for row in RUNS]
)
def test_a_run_may_stand_after_a_move_unless_it_is_forbidden(mover: str, opponent: str, forbidden: bool) -> None:
    before = position(mover, opponent, "longgammon")
    dice = torch.tensor([(first, second) for first in range(1, 7) for second in range(1, first + 1)])
    boards = to_boards([before] * 21)

    _, ends = afterstates(boards, dice, "longgammon")

    assert forbidden_run(before) == forbidden
    moved = (ends != boards[0]).flatten(1).any(1)
    holds_as_before = ((ends[:, 0, 1:25] > 0) | (boards[0, 0, 1:25] == 0)).all(1)
    assert bool((moved & holds_as_before).any()) != forbidden
    assert not any(forbidden_run(end) for end in from_boards(ends[moved]))


def test_every_row_of_the_table_is_here() -> None:
    names = [row.name for row in ROWS + LONG_ROWS]

    numbers = {"B": 26, "S": 4, "L": 20}
    assert names == [f"{letter}{number:02}" for letter, last in numbers.items() for number in range(1, last + 1)]
    assert [row[0] for row in RUNS] == [f"F{number}" for number in range(1, 9)]
