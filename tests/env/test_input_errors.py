"""Bad input is refused with a message that names the row, what was found and what was wanted."""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from nardy.env import afterstates, get_variant, outcome, start_boards

DICE = torch.tensor([[3, 1]] * 4)


def boards_with(row: int, side: int, **counts: int) -> Tensor:
    """Four opening positions, in one of which some places (``p24``, ``bar``, ``off``) hold other counts."""
    boards = start_boards(4)
    for place, count in counts.items():
        boards[row, side, {"bar": 25, "off": 0}.get(place) if place in ("bar", "off") else int(place[1:])] = count
    return boards


def dice_with(row: int, *roll: int) -> Tensor:
    dice = DICE.clone()
    dice[row] = torch.tensor(roll)
    return dice


BAD_BOARDS = [
    ("a sixteenth checker", boards_with(2, 0, p24=3), "boards: row 2: found 16 and 15 checkers, wanted 15"),
    ("a checker missing", boards_with(1, 1, p24=1), "boards: row 1: found 15 and 14 checkers, wanted 15"),
    ("a checker too many on the bar", boards_with(3, 1, bar=1), "boards: row 3: found 15 and 16 checkers, wanted 15"),
    ("a checker too many off", boards_with(0, 0, off=1), "boards: row 0: found 16 and 15 checkers, wanted 15"),
    ("both sides on a point", boards_with(1, 0, p24=1, p1=1), "boards: row 1: found both sides on side 0's point 1"),
    ("a negative count", boards_with(2, 0, p24=3, p1=-1), "boards: row 2: found a negative number of checkers"),
    ("both sides borne off", torch.zeros(4, 2, 26).long(), "boards: row 0: found 0 and 0 checkers, wanted 15"),
    ("no side dimension", start_boards(4)[:, 0], re.escape("boards: found shape (4, 26) of torch.int8, wanted [N, 2")),
    ("25 places", start_boards(4)[:, :, :25], re.escape("boards: found shape (4, 2, 25) of torch.int8, wanted [N, 2")),
    ("floats", start_boards(4).float(), re.escape("of torch.float32, wanted [N, 2, 26] of an integer type")),
    ("truth values", start_boards(4).bool(), re.escape("of torch.bool, wanted [N, 2, 26] of an integer type")),
]

BAD_DICE = [
    ("a zero", dice_with(2, 0, 3), re.escape("dice: row 2: found [0, 3], wanted two numbers from 1 to 6")),
    ("a seven", dice_with(3, 1, 7), re.escape("dice: row 3: found [1, 7], wanted two numbers from 1 to 6")),
    ("a negative", dice_with(0, -1, 2), re.escape("dice: row 0: found [-1, 2], wanted two numbers from 1 to 6")),
    ("a number that wraps to a die", dice_with(1, 257, 2), re.escape("dice: row 1: found [257, 2], wanted two")),
    ("too few rows", DICE[:3], re.escape("dice: found shape (3, 2) of torch.int64, wanted [4, 2]")),
    ("three dice", torch.ones(4, 3).int(), re.escape("dice: found shape (4, 3) of torch.int32, wanted [4, 2]")),
    ("one roll for all", DICE[0], re.escape("dice: found shape (2,) of torch.int64, wanted [4, 2]")),
    ("floats", DICE.float(), re.escape("dice: found shape (4, 2) of torch.float32, wanted [4, 2] of an integer")),
]


@pytest.mark.parametrize(("boards", "message"), [row[1:] for row in BAD_BOARDS], ids=[row[0] for row in BAD_BOARDS])
def test_boards_that_are_no_positions_are_refused(boards: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        afterstates(boards, DICE)


@pytest.mark.parametrize(("dice", "message"), [row[1:] for row in BAD_DICE], ids=[row[0] for row in BAD_DICE])
def test_dice_that_are_no_roll_are_refused(dice: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        afterstates(start_boards(4), dice)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({(0, 24): 14, (0, 25): 1}, "boards: row 1: found 1 and 0 checkers on the bar, wanted none: longgammon has no"),
        ({(1, 24): 13, (1, 25): 2}, "boards: row 1: found 0 and 2 checkers on the bar, wanted none"),
        ({(0, 24): 14, (0, 12): 1}, "boards: row 1: found both sides on side 0's point 12, wanted one owner a point"),
        ({(1, 24): 14, (1, 12): 1}, "boards: row 1: found both sides on side 0's point 24, wanted one owner a point"),
    ],
)
def test_boards_that_are_none_of_longgammon_are_refused(cells: dict[tuple[int, int], int], message: str) -> None:
    boards = start_boards(4, "longgammon")
    for (side, point), count in cells.items():
        boards[1, side, point] = count

    with pytest.raises(ValueError, match=re.escape(message)):
        afterstates(boards, DICE, "longgammon")


def test_each_discipline_has_its_own_shared_points() -> None:
    boards = torch.zeros(1, 2, 26, dtype=torch.int8)
    boards[0, :, 24] = 14
    boards[0, :, 1] = 1  # in longgammon 24 1 | 12 13; in backgammon 24 1 | 1 24

    afterstates(boards, DICE[:1], "longgammon")
    with pytest.raises(ValueError, match="row 0: found both sides on side 0's point 1, wanted"):
        afterstates(boards, DICE[:1])


def test_two_finished_sides_are_refused() -> None:
    boards = start_boards(4)
    boards[2] = 0
    boards[2, :, 0] = 15

    with pytest.raises(ValueError, match="boards: row 2: found both sides borne off, wanted at most one"):
        afterstates(boards, DICE)


def test_the_first_bad_row_is_named() -> None:
    boards = boards_with(3, 0, p24=3)
    boards[1, 1, 25] = 1

    with pytest.raises(ValueError, match="row 1: found 15 and 16 checkers"):
        afterstates(boards, DICE)


def test_the_checkers_of_another_discipline_are_refused() -> None:
    with pytest.raises(ValueError, match=r"row 0: found 15 and 15 checkers, wanted 3 a side in sprintgammon"):
        afterstates(start_boards(4), DICE, "sprintgammon")


def test_an_unknown_variant_is_refused_and_the_known_ones_named() -> None:
    message = r"variant: found 'gammonback', wanted one of backgammon, sprintgammon, longgammon"
    for call in (
        lambda: afterstates(start_boards(4), DICE, "gammonback"),
        lambda: start_boards(1, "gammonback"),
        lambda: outcome(start_boards(1), "gammonback"),
        lambda: get_variant("gammonback"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_mark_of_the_first_roll_for_another_number_of_games_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("second_first: found shape (3,), wanted (4,)")):
        afterstates(start_boards(4), DICE, second_first=torch.zeros(3, dtype=torch.bool))
