"""The solution of a small game against one found plainly, and what must hold of any."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from nardy.env import Cube, start_boards
from nardy.env.variants import get_variant
from nardy.eval.exact import ExactEvaluator, Solution, solve
from nardy.eval.exact.positions import Positions
from nardy.eval.exact.solve import NAMES
from nardy.eval.exact.transitions import ROLLS
from nardy.models.values import bounds, possible_outcomes
from tests.positions import from_boards, to_boards

from . import slow_solver
from .slow_solver import SlowGame

# Values are stored as float32: half a step below 4, and what the tolerance of the iteration leaves.
ROUNDING = 2.4e-7 + 1e-9

CUBES = {
    "cubeless": None,
    "centred": Cube(),
    "jacoby": Cube(jacoby=True),
    "mine": Cube(owner="mine"),
    "theirs": Cube(owner="theirs"),
    "match point": Cube(away=(1, 1)),
    "leader": Cube(away=(1, 2), crawford=True),
    "trailer": Cube(away=(2, 1), crawford=True),
    "two away": Cube(away=(2, 2)),
    "leader after": Cube(away=(1, 2)),
    "trailer after": Cube(away=(2, 1)),
}


def column(solution: Solution, name: str) -> Tensor:
    return solution.values[:, NAMES.index(name)].double()


def slow_values(game: SlowGame, ahead: float) -> dict[str, np.ndarray]:
    """All columns of a solution by the slow solver, match-winning chances spread from -1 to 1."""
    values = {"cubeless": slow_solver.cubeless(game), **slow_solver.money(game, jacoby=False)}
    values["jacoby"] = slow_solver.money(game, jacoby=True)["centred"]
    chances = {"match point": slow_solver.match_point(game), **slow_solver.crawford(game)}
    chances["two away"] = slow_solver.two_away(game, ahead)
    chances |= {f"{name} after": chance for name, chance in slow_solver.after_crawford(game).items()}
    return values | {name: 2 * chance - 1 for name, chance in chances.items()}


def compare(solution: Solution, num_checkers: int) -> None:
    game = SlowGame.of(num_checkers)
    (start,) = from_boards(start_boards(1, solution.variant))
    crawford = slow_solver.crawford(game)
    leader = slow_solver.opening(game, start, 1 - crawford["trailer"])
    trailer = slow_solver.opening(game, start, 1 - crawford["leader"])
    ahead = (leader + 1 - trailer) / 2
    slow = slow_values(game, ahead)
    winner = slow_solver.opening(game, start, -slow["cubeless"])
    # A position that the player on roll has won is led to by no play; the slow solver knows nothing of it.
    asked = [index for index, (mine, _) in enumerate(game.positions) if mine[0] < num_checkers]
    numbers = Positions(solution.variant).numbers(to_boards(game.positions))[asked]

    assert set(slow) == set(NAMES)
    for name, values in slow.items():
        ours = column(solution, name)[numbers].numpy()
        np.testing.assert_allclose(ours, values[asked], rtol=0, atol=ROUNDING, err_msg=name)
    assert solution.opening["cubeless"] == pytest.approx(winner, abs=1e-10)
    assert solution.ahead == pytest.approx(2 * ahead - 1, abs=1e-10)


def test_one_checker_a_side_agrees_with_the_slow_solver(solution: Solution) -> None:
    compare(solution, 1)


@pytest.mark.slow
def test_two_checkers_a_side_agree_with_the_slow_solver() -> None:
    compare(solve("two checkers"), 2)


def test_outcomes_are_probabilities_that_give_the_equity(solution: Solution) -> None:
    outcomes = solution.outcomes.double()
    boards = Positions("one checker").boards(torch.arange(len(outcomes)))
    points = torch.tensor([1, 2, 3, -1, -2, -3], dtype=torch.float64)

    assert bool((outcomes >= 0).all())
    assert outcomes.sum(1).sub(1).abs().max() < 6 * ROUNDING
    assert (outcomes @ points - column(solution, "cubeless")).abs().max() < 12 * ROUNDING
    assert not bool(outcomes[~possible_outcomes(boards, "one checker")].any())


def test_the_cube_is_worth_most_to_its_owner(solution: Solution) -> None:
    mine, centred, theirs, cubeless = (column(solution, name) for name in ("mine", "centred", "theirs", "cubeless"))
    least, most = bounds(possible_outcomes(Positions("one checker").boards(torch.arange(len(mine))), "one checker"))

    for better, worse in ((mine, centred), (centred, theirs), (mine, cubeless), (cubeless, theirs)):
        assert bool((better >= worse - ROUNDING).all())
    for values in (mine, centred, theirs, cubeless):
        assert bool((values >= least[:, 0] - ROUNDING).all())
        assert bool((values <= most[:, 0] + ROUNDING).all())


def test_the_leader_of_a_match_is_never_worse_off(solution: Solution) -> None:
    names = ("leader", "leader after", "match point", "trailer after", "trailer")

    for better, worse in pairwise(column(solution, name) for name in names):
        assert bool((better >= worse - ROUNDING).all())


@pytest.mark.parametrize("name", CUBES)
def test_rolling_is_worth_the_average_of_the_best_plays(exact: ExactEvaluator, name: str) -> None:
    cube = CUBES[name]
    numbers = torch.arange(exact.positions.count)
    boards = exact.positions.boards(numbers)
    boards = boards[(boards[:, 0, 0] == 0) & (boards[:, 1, 0] == 0)]
    rolls = torch.tensor(ROLLS)
    weights = torch.where(rolls[:, 0] == rolls[:, 1], 1, 2).double() / 36

    asked = boards.repeat_interleave(len(rolls), 0), rolls.repeat(len(boards), 1)
    plays = exact.plays(*asked, cube)
    best = plays.values[plays.best()].double().view(-1, len(rolls)) @ weights

    here = exact.equity(boards) if cube is None else exact.cube_action(boards, cube).no_double
    torch.testing.assert_close(best, here.double(), rtol=0, atol=4 * ROUNDING)


def test_solving_reports_all_of_the_way(solution: Solution) -> None:
    told: list[tuple[str, float]] = []

    again = solve("one checker", report=lambda what, share: told.append((what, share)))

    shares: dict[str, list[float]] = {}
    for what, share in told:
        shares.setdefault(what, []).append(share)
    assert list(shares) == ["listing plays", "money and match point", "2-away 2-away", "outcomes"]
    assert all(0 <= share <= 1 for _, share in told)
    assert all(parts[-1] == 1 for parts in shares.values())
    assert torch.equal(again.values, solution.values)
    assert torch.equal(again.outcomes, solution.outcomes)


def test_the_facts_say_how_exact_it_is(solution: Solution) -> None:
    convergence = solution.facts["convergence"]

    assert set(convergence) == {"money and match point", "2-away 2-away", "outcomes"}
    assert all(found["residual"] <= 1e-12 and found["last_ten"] <= 1e-10 for found in convergence.values())
    assert solution.facts["transitions"] == 13_231
    assert get_variant(solution.variant).num_checkers == 1
