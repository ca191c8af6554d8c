"""Numbers of positions: a bijection, checked at its bounds."""

from __future__ import annotations

import pytest
import torch

from nardy.env import start_boards
from nardy.env.board import check_boards
from nardy.eval.exact.positions import Positions
from tests.positions import to_boards
from tests.random_positions import random_decisions

from .slow_solver import all_positions


@pytest.fixture(scope="module")
def sprintgammon() -> Positions:
    return Positions("sprintgammon")


@pytest.mark.parametrize(("variant", "count"), [("one checker", 651), ("two checkers", 107_252)])
def test_every_number_is_a_position_and_no_two_are_the_same(variant: str, count: int) -> None:
    positions = Positions(variant)

    boards = positions.boards(torch.arange(positions.count))

    assert positions.count == count
    assert torch.equal(check_boards(boards, positions.rules), boards)
    assert len(boards.flatten(1).unique(dim=0)) == count
    assert torch.equal(positions.numbers(boards), torch.arange(count))


def test_positions_listed_plainly_are_all_numbered() -> None:
    positions = Positions("one checker")

    numbers = positions.numbers(to_boards(all_positions(1)))

    assert torch.equal(numbers.sort().values, torch.arange(positions.count))


def test_sprintgammon_has_the_known_number_of_positions(sprintgammon: Positions) -> None:
    # 7,959,904 in the literature, where both sides borne off counts as one.
    assert sprintgammon.count == 7_959_904 - 1
    numbers = torch.randint(sprintgammon.count, (20_000,), generator=torch.Generator().manual_seed(1))
    numbers[:2] = torch.tensor([0, sprintgammon.count - 1])
    assert torch.equal(sprintgammon.numbers(sprintgammon.boards(numbers)), numbers)


def test_random_boards_come_back_from_their_numbers(sprintgammon: Positions) -> None:
    decisions = random_decisions(2000, seed=3, variant="sprintgammon")
    boards = to_boards([position for position, _ in decisions])

    numbers = sprintgammon.numbers(boards)

    assert torch.equal(sprintgammon.boards(numbers), boards)


@pytest.mark.parametrize("number", [-1, 651])
def test_a_number_out_of_range_is_named(number: int) -> None:
    with pytest.raises(ValueError, match=rf"position: row 1: found {number}, wanted 0 to 650"):
        Positions("one checker").boards(torch.tensor([3, number]))


def test_boards_that_are_no_positions_are_refused() -> None:
    positions = Positions("one checker")
    boards = start_boards(2, "one checker")
    boards[1, 1] = boards[1, 1].roll(1)  # onto the bar ...
    boards[1, 0] = 0
    boards[1, 0, 0] = boards[1, 1, 0] = 1
    boards[1, 1, 25] = 0

    with pytest.raises(ValueError, match="row 1: found both sides borne off"):
        positions.numbers(boards)
    with pytest.raises(ValueError, match="row 0: found 3 and 3 checkers, wanted 1 a side"):
        positions.numbers(start_boards(1, "sprintgammon"))


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
def test_games_with_too_many_positions_are_refused(variant: str) -> None:
    with pytest.raises(ValueError, match=f"exact: {variant}: found 15 checkers a side, wanted .* at most 3"):
        Positions(variant)
