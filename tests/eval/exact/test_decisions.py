"""The decisions behind a report's losses, judged by the exact solution."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from nardy.env import Cube
from nardy.eval.exact import ExactEvaluator
from nardy.eval.exact.report import Sample, play_games
from nardy.eval.report.decisions import exact_decisions
from nardy.models import CubeAction


class _Worst(ExactEvaluator):
    """Plays what is worth least, and never takes."""

    def best(self, boards, dice, cube=None, plies=0, second_first=None):  # type: ignore[no-untyped-def]
        plays = self.plays(boards, dice, cube)
        counts = plays.counts()
        return torch.tensor([int(part.argmin()) for part in plays.values.split(counts.tolist())])

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        action = super().cube_action(boards, cube)
        return replace(action, take=torch.zeros_like(action.take))


def _sample(exact: ExactEvaluator) -> Sample:
    return play_games(exact, 200, torch.Generator().manual_seed(0), lambda share: None)


def test_an_exact_player_has_no_worst_plays_and_stands_on_the_diagonal(exact: ExactEvaluator) -> None:
    worst, cubes = exact_decisions(exact, exact, _sample(exact))

    assert worst == []
    for found in cubes.values():
        assert found.number == sum(found.counts[i][i] for i in range(4)) > 0


def test_the_worst_player_is_shown_by_its_worst_plays_each_once(exact: ExactEvaluator) -> None:
    worst, cubes = exact_decisions(_Worst(exact.solution), exact, _sample(exact), 5)

    losses = [play.loss for play in worst]
    assert 0 < len(worst) <= 5 and losses == sorted(losses, reverse=True) and losses[-1] > 0
    assert len({(play.board, play.dice) for play in worst}) == len(worst)
    assert all(play.chosen_text != play.best_text for play in worst)
    assert sum(found.counts[1][2] for found in cubes.values()) > 0  # dropped what was a take
