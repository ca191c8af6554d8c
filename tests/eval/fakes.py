"""An evaluator without a network, for tests of what uses one."""

from __future__ import annotations

import torch
from torch import Tensor

from nardy.env import Cube, afterstates, flip, outcome, pip_counts
from nardy.models import CubeAction


class FakeEvaluator:
    """Judges by pips alone: the chance to win is a logistic function of the pip lead, a fifth of wins are gammons."""

    def __init__(self, variant: str = "backgammon") -> None:
        self.variant = variant

    def outcome(self, boards: Tensor) -> Tensor:
        """Six exclusive probabilities."""
        pips = pip_counts(boards).float()
        win = torch.sigmoid((pips[:, 1] - pips[:, 0] + 4) / 20)
        lose = 1 - win
        zero = torch.zeros_like(win)
        return torch.stack([0.8 * win, 0.2 * win, zero, 0.8 * lose, 0.2 * lose, zero], 1)

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        """Cubeless points, exact for finished boards; a match-winning chance with ``away``."""
        points = (self.outcome(boards) @ torch.tensor([1.0, 2, 3, -1, -2, -3], device=boards.device)).float()
        level = outcome(boards, self.variant).float()
        points = torch.where(level != 0, level, points)
        if cube is not None and cube.away is not None:
            return (points / 3 + 1) / 2
        return points

    def best(
        self,
        boards: Tensor,
        dice: Tensor,
        cube: Cube | None = None,
        plies: int = 0,
        second_first: Tensor | None = None,
    ) -> Tensor:
        """One game after the other, slowly and plainly."""
        assert plies == 0
        game, plays = afterstates(boards, dice, self.variant, second_first)
        values = -self.equity(flip(plays), None)
        return torch.stack([values[game == i].argmax() for i in range(len(boards))])

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """Doubles above 0.5, takes above -0.5, on cubeless points."""
        assert plies == 0
        no_double = self.equity(boards)
        allowed = cube.as_tensors(len(boards), boards.device).may_double()
        double_pass = torch.ones_like(no_double)
        return CubeAction(no_double, 2 * no_double, double_pass, allowed & (no_double > 0.4), 2 * no_double <= 1)
