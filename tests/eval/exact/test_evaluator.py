"""The solution as a player: the same face as a model's, exact answers, refusals by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, GameOptions, afterstates, flip, outcome, start_boards
from nardy.eval import ModelBot, play_deals
from nardy.eval.exact import ExactEvaluator
from nardy.eval.reference import cumulative

CUBES = {
    "money": Cube(),
    "Jacoby": Cube(jacoby=True),
    "mine": Cube(owner="mine", value=2),
    "theirs": Cube(owner="theirs", value=2),
    "dead": Cube(value=64, owner="mine"),
    "match": Cube(away=(2, 2)),
    "leader": Cube(away=(1, 2)),
    "trailer": Cube(away=(2, 1)),
    "Crawford": Cube(away=(2, 1), crawford=True),
    "match point": Cube(away=(1, 1)),
}


@pytest.fixture(scope="module")
def boards(exact: ExactEvaluator) -> Tensor:
    """All legal positions."""
    return exact.positions.boards(torch.arange(exact.positions.count))


@pytest.mark.parametrize("cube", [None, *CUBES.values()], ids=["none", *CUBES])
def test_the_best_play_is_an_afterstate_worth_most(exact: ExactEvaluator, boards: Tensor, cube: Cube | None) -> None:
    dice = torch.tensor([[3, 1]]).expand(len(boards), 2)

    best = exact.best(boards, dice, cube)

    plays = exact.plays(boards, dice, cube)
    game, listed = afterstates(boards, dice, "one checker")
    assert torch.equal(plays.ends, game.bincount(minlength=len(boards)).cumsum(0))
    assert torch.equal(plays.boards, listed)
    for row in range(0, len(boards), 7):
        values = plays.values[game == row]
        assert int(best[row]) == int(values.argmax())


def test_a_play_is_worth_what_the_other_side_is_not(exact: ExactEvaluator, boards: Tensor) -> None:
    dice = torch.tensor([[6, 5]]).expand(len(boards), 2)
    for cube in CUBES.values():
        plays = exact.plays(boards, dice, cube)
        running = outcome(plays.boards, "one checker") == 0
        others = exact.equity(flip(plays.boards[running]), cube.flip())
        expected = 1 - others if cube.away is not None else -others
        torch.testing.assert_close(plays.values[running], expected, rtol=0, atol=1e-6)


def test_finished_games_have_their_exact_value(exact: ExactEvaluator, boards: Tensor) -> None:
    level = outcome(boards, "one checker")
    over = boards[level != 0]
    level = level[level != 0].float()

    assert torch.equal(exact.equity(over), level)
    assert torch.equal(exact.equity(over, Cube(owner="mine")), level)
    assert torch.equal(exact.equity(over, Cube(jacoby=True)), level.sign())
    assert torch.equal(exact.equity(over, Cube(away=(2, 2))), (level > 0).float())  # all are gammons here
    assert torch.equal(cumulative(exact.outcome(over))[:, 0], (level > 0).double())


def test_a_dead_cube_is_no_cube(exact: ExactEvaluator, boards: Tensor) -> None:
    cubeless = exact.equity(boards)
    for owner in ("centred", "mine", "theirs"):
        assert torch.equal(exact.equity(boards, Cube(value=64, owner=owner)), cubeless)
        assert not bool(exact.cube_action(boards, Cube(value=64, owner=owner)).double.any())
    last = exact.cube_action(boards, Cube(value=32, owner="mine"))
    assert torch.equal(last.double_take, 2 * cubeless)


def test_doubling_follows_from_the_values(exact: ExactEvaluator, boards: Tensor) -> None:
    for cube in CUBES.values():
        action = exact.cube_action(boards, cube)
        offered = torch.minimum(action.double_take, action.double_pass)
        assert torch.equal(action.take, action.double_take <= action.double_pass)
        assert torch.equal(action.double, cube.may_double() & (offered > action.no_double))
        value = exact.equity(boards, cube)
        assert torch.equal(value, torch.where(action.double, offered, action.no_double))
        if cube.away is not None:
            assert bool(((value >= 0) & (value <= 1)).all())


def test_every_row_may_have_its_own_cube(exact: ExactEvaluator, boards: Tensor) -> None:
    cubes = [Cube(jacoby=True), CUBES["mine"], CUBES["theirs"], CUBES["match"], CUBES["Crawford"], CUBES["leader"]]
    one_each = [cube.as_tensors(1) for cube in cubes]
    fields = ("value", "owner", "jacoby", "away", "crawford")
    together: dict[str, Any] = {
        name: torch.cat([getattr(cube, name) for cube in one_each]).repeat_interleave(100, 0) for name in fields
    }

    equity = exact.equity(boards[:600], Cube(**together))

    for row, cube in enumerate(cubes):
        part = slice(100 * row, 100 * row + 100)
        assert torch.equal(equity[part], exact.equity(boards[part], cube))


@pytest.mark.parametrize(
    ("cube", "message"),
    [
        (Cube(beavers=True), "found beavers, wanted none"),
        (Cube(away=(3, 2)), "found a score farther away, wanted at most 2-away 2-away"),
        (Cube(away=(2, 2), owner="mine"), "found an owned cube of 1 in a match"),
        (Cube(away=(2, 2), max_cube=1), "found 2-away 2-away without a cube"),
    ],
)
def test_what_was_not_solved_is_refused(exact: ExactEvaluator, cube: Cube, message: str) -> None:
    with pytest.raises(ValueError, match=f"cube: row 0: {message}"):
        exact.equity(start_boards(1, "one checker"), cube)


def test_boards_of_another_game_are_refused(exact: ExactEvaluator) -> None:
    with pytest.raises(ValueError, match="wanted 1 a side in one checker"):
        exact.outcome(start_boards(1, "sprintgammon"))


def test_exact_players_play_in_the_arena(exact: ExactEvaluator) -> None:
    bot = ModelBot(exact, "exact")

    money = play_deals(bot, bot, 200, GameOptions("one checker"), batch=64)
    match = play_deals(bot, bot, 200, GameOptions("one checker", match_length=2), batch=64)

    for record in (money, match):
        assert int(record.points.sum()) == 0
    assert int(money.seats[..., 4].sum()) > 0  # doubles were offered
