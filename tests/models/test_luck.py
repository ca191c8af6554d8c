"""The luck of a roll: mean 0 in every position and for every opening, whatever the values are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, outcome, start_boards
from nardy.eval.turns import play_turns
from nardy.models import CubeLife, Evaluator, Network, NetworkConfig
from nardy.models.luck import roll_luck
from nardy.models.rolls import ROLLS, roll_chances, roll_numbers

CPU = torch.device("cpu")
CUBES = {
    "none": None,
    "money": Cube(),
    "owned": Cube(4, "mine"),
    "dead": Cube(64, "theirs"),
    "Jacoby": Cube(jacoby=True),
    "match": Cube(away=(3, 5)),
    "Crawford": Cube(away=(1, 4), crawford=True),
}


def _evaluator(variant: str, context_units: int = 4) -> Evaluator:
    return Evaluator(Network(NetworkConfig((16,), context_units=context_units)), variant)


def _rolls(boards: Tensor) -> tuple[Tensor, Tensor]:
    """Every board with every roll."""
    return boards.repeat_interleave(21, 0), torch.tensor(ROLLS, dtype=torch.int8).repeat(len(boards), 1)


@pytest.mark.parametrize("cube", CUBES.values(), ids=list(CUBES))
@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon"])
def test_luck_has_mean_zero_in_every_position(variant: str, cube: Cube | None) -> None:
    evaluator = _evaluator(variant)
    boards, _ = play_turns(5, 12, 1, variant).decisions(20)
    turns, dice = _rolls(boards)
    never = torch.zeros(len(turns), dtype=torch.bool)

    luck = roll_luck(evaluator, turns, dice, cube, never, never).view(-1, 21)

    assert float(luck.abs().max()) > 1e-3
    torch.testing.assert_close(luck @ roll_chances(CPU).double(), torch.zeros(20).double(), rtol=0, atol=1e-7)


@pytest.mark.parametrize("cube", CUBES.values(), ids=list(CUBES))
@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon"])
def test_who_starts_and_with_which_roll_is_luck(variant: str, cube: Cube | None) -> None:
    evaluator = _evaluator(variant)
    dice = torch.tensor([roll for roll in ROLLS if roll[0] != roll[1]], dtype=torch.int8)
    boards, opening = start_boards(15, variant), torch.ones(15, dtype=torch.bool)

    mine = roll_luck(evaluator, boards, dice, cube, ~opening, opening)
    theirs = roll_luck(evaluator, boards, dice, cube and cube.flip(), ~opening, opening)

    assert abs(float(mine.mean() - theirs.mean())) < 1e-7  # the 30 ways to begin a game, seen by one player


def test_openings_and_other_turns_may_stand_side_by_side() -> None:
    evaluator = _evaluator("sprintgammon")
    boards, dice = play_turns(30, 4, 2, "sprintgammon").decisions(120)
    opening = torch.arange(120) < 30
    never = torch.zeros_like(opening)
    cube = Cube(value=torch.full((120,), 2, dtype=torch.int32), owner=(torch.arange(120) % 2 + 1).to(torch.int8))

    together = roll_luck(evaluator, boards, dice, cube, never, opening)

    for row in (0, 29, 30, 119):
        one = slice(row, row + 1)
        alone = roll_luck(evaluator, boards[one], dice[one], cube.rows(torch.tensor([row])), never[one], opening[one])
        torch.testing.assert_close(alone, together[one], rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["learned", "money alone", "formula"])
@pytest.mark.parametrize("cube", CUBES.values(), ids=list(CUBES))
def test_a_roll_is_worth_what_its_best_play_leaves(kind: str, cube: Cube | None) -> None:
    evaluator = _evaluator("sprintgammon", context_units=0 if kind == "money alone" else 4)
    if kind == "formula":
        evaluator.cube_life = CubeLife()
    boards, dice = play_turns(20, 2, 3, "sprintgammon").decisions(40)

    value = evaluator.roll_value(boards, dice, cube)

    game, plays = afterstates(boards, dice, "sprintgammon")
    chosen = plays[torch.searchsorted(game, torch.arange(40)) + evaluator.best(boards, dice, cube)]
    theirs = evaluator.equity(flip(chosen), cube and cube.flip())
    wanted = 1 - theirs if cube is not None and cube.away is not None else -theirs
    running = outcome(chosen, "sprintgammon") == 0
    torch.testing.assert_close(value[running], wanted[running], rtol=0, atol=2e-5)


def test_numbers_of_rolls_do_not_depend_on_the_order_of_the_dice() -> None:
    dice = torch.tensor([[1, 1], [2, 6], [6, 2]])
    assert [ROLLS[number] for number in roll_numbers(dice).tolist()] == [(1, 1), (6, 2), (6, 2)]
