"""Positions turned round, counted and scored: rules.md 1.1, 1.7, 2.14, 3."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given

from nardy.env import VARIANTS, flip, get_variant, outcome, pip_counts, start_boards

from ..positions import NUM_CHECKERS, Position, from_boards, position, start, text, to_boards
from ..random_positions import positions

each_variant = pytest.mark.parametrize("variant", VARIANTS)


@each_variant
def test_every_game_starts_from_the_position_of_its_discipline(variant: str) -> None:
    boards = start_boards(3, variant)

    assert from_boards(boards) == [start(variant)] * 3
    assert boards.dtype == torch.int8
    assert get_variant(variant).num_checkers == NUM_CHECKERS[variant]


@pytest.mark.parametrize(("variant", "pips"), [("backgammon", 167), ("sprintgammon", 69), ("longgammon", 360)])
def test_both_sides_start_with_the_same_pip_count(variant: str, pips: int) -> None:
    assert pip_counts(start_boards(2, variant)).tolist() == [[pips, pips], [pips, pips]]


def test_a_checker_on_the_bar_counts_25_pips_and_one_off_none() -> None:
    boards = to_boards([position("6:2 bar:1 off:12", "24:1 19:1 bar:2 off:11")])

    assert pip_counts(boards).tolist() == [[2 * 6 + 25, 1 + 6 + 2 * 25]]


def test_pip_counts_hold_all_checkers_on_the_bar() -> None:
    assert pip_counts(to_boards([position("bar:15", "bar:15")])).tolist() == [[375, 375]]


@given(given_position=positions())
def test_flipping_exchanges_the_sides_and_twice_is_the_identity(given_position: Position) -> None:
    boards = to_boards([given_position])

    assert from_boards(flip(boards)) == [given_position[::-1]]
    assert torch.equal(flip(flip(boards)), boards)


@given(given_position=positions())
def test_flipping_exchanges_the_pip_counts_and_negates_the_outcome(given_position: Position) -> None:
    boards = to_boards([given_position])

    assert torch.equal(pip_counts(flip(boards)), pip_counts(boards).flip(1))
    assert torch.equal(outcome(flip(boards)), -outcome(boards))


def test_flipping_copies() -> None:
    boards = start_boards(1)

    flip(boards).fill_(0)

    assert from_boards(boards) == [start()]


# The loser's checkers in the winner's numbers: his own 19 to 24 are the winner's 6 to 1. Points are level times cube.
SCORES = [
    ("P01: one checker off saves the gammon, wherever the others are", "backgammon", "24:13 bar:1 off:1", 1, 1),
    ("P02: none off and all on his own 1 to 18 is a gammon", "backgammon", "7:3 24:12", 2, 4),
    ("P03: none off and one in the winner's home is a backgammon", "backgammon", "6:1 24:14", 4, 12),
    ("P03: none off and one on the bar is a backgammon", "backgammon", "24:14 bar:1", 4, 12),
    ("his own 24 is in the winner's home", "backgammon", "1:1 24:14", 1, 3),
    ("one off and one in the winner's home is a single game", "backgammon", "1:1 24:13 off:1", 1, 1),
    ("P08: sprintgammon, none of three off and one still on his own 22", "sprintgammon", "3:1 19:2", 1, 3),
    ("sprintgammon, none of three off but all out of the winner's home", "sprintgammon", "7:1 19:2", 1, 2),
    ("sprintgammon, one of three off", "sprintgammon", "1:2 off:1", 2, 2),
    ("P07: longgammon has no level 3, wherever the loser's checkers are", "longgammon", "12:14 1:1", 2, 4),
    ("longgammon, none off and one in the winner's home", "longgammon", "6:1 13:14", 1, 2),
    ("longgammon, one off", "longgammon", "12:14 off:1", 2, 2),
]


@pytest.mark.parametrize(
    ("variant", "loser", "cube", "points"), [row[1:] for row in SCORES], ids=[row[0] for row in SCORES]
)
def test_the_winner_scores_level_times_cube_from_either_side(variant: str, loser: str, cube: int, points: int) -> None:
    boards = to_boards([position(f"off:{NUM_CHECKERS[variant]}", loser, variant)])

    assert int(outcome(boards, variant)) * cube == points
    assert int(outcome(flip(boards), variant)) * cube == -points
    assert outcome(boards, variant).dtype == torch.int8


def test_points_have_two_numbers_by_how_the_routes_run() -> None:
    for variant, pairs in {
        "backgammon": [(1, 24), (24, 1), (6, 19)],
        "longgammon": [(1, 13), (24, 12), (12, 24)],
    }.items():
        opposite = get_variant(variant).opposite
        assert [(point, opposite(point)) for point, _ in pairs] == pairs
        assert [opposite(opposite(point)) for point in range(1, 25)] == list(range(1, 25))


def test_a_game_runs_while_both_sides_have_checkers_left() -> None:
    boards = to_boards([start(), position("1:1 off:14", "24:1 off:14"), position("bar:15", "19:15")])

    assert outcome(boards).tolist() == [0, 0, 0]


def test_the_notation_survives_being_written_and_read() -> None:
    given_position = position("20:2 13:4 8:3 6:4 5:1 bar:1", "22:1 19:4 18:1 17:2 12:4 10:1 2:1 1:1")

    written = text(given_position)

    assert written == "mover 20:2 13:4 8:3 6:4 5:1 bar:1 | opponent 22:1 19:4 18:1 17:2 12:4 10:1 2:1 1:1"
    assert given_position[1][25 - 22] == 1  # the mover's 22 is the opponent's 3
