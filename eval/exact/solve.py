"""The exact solution of a discipline small enough: values of every legal position, with the cube and without.

Three iterations over the same transitions: money with the cube and without, and the shortest matches; 2-away 2-away,
which needs the value of one point from the first; and the outcomes of play by cubeless equity.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from .iteration import Convergence, Iteration
from .payoffs import MATCH, MONEY, OUTCOMES, Column, match_columns
from .positions import Positions
from .transitions import Progress, Transitions, list_transitions, nothing

__all__ = ["NAMES", "Solution", "solve"]

# The columns of `Solution.values`.
NAMES = (*(column.name for column in MONEY), *MATCH)


@dataclass(frozen=True)
class Solution:
    """P legal positions solved, numbered as by `Positions`; everything from the view of the player on roll.

    Attributes:
        variant: name of the discipline.
        outcomes: ``[P, 6]`` float32, probabilities of the outcomes if both play by cubeless equity, in the order of
            `models.Evaluator.outcome`.
        values: ``[P, 11]`` float32, the values of not doubling in the columns `NAMES`. Finished positions have what the
            game was worth.
        facts: how it was found, as JSON values: ``transitions``, ``tolerance``, the convergence of each iteration, and
            the values of the opening's winner by column, ``opening``.
    """

    variant: str
    outcomes: Tensor
    values: Tensor
    facts: dict[str, Any]

    @property
    def opening(self) -> dict[str, float]:
        """Value of a game for the winner of the opening roll by the column's name: `NAMES` and the six outcomes."""
        return dict(self.facts["opening"])

    @property
    def ahead(self) -> float:
        """Value of being 1-away before the Crawford game against 2-away: twice the chance to win the match, less 1."""
        return _ahead(self.opening)


def _ahead(opening: dict[str, float]) -> float:
    return (opening["leader"] - opening["trailer"]) / 2  # either side may win the opening roll


def solve(
    variant: str = "sprintgammon",
    tolerance: float = 1e-10,
    report: Progress = nothing,
    device: torch.device | str = "cpu",
) -> Solution:
    """Solve ``variant``, which has at most three checkers a side.

    Args:
        variant: name of the discipline.
        tolerance: the iterations end when ten sweeps together move no value by more.
        report: told what is being done and how far it is.
        device: where it is computed; sprintgammon needs 6 GB of memory. The solution is on the CPU.

    Raises:
        ValueError: too many checkers, or a discipline without hits.
    """
    positions = Positions(variant, device)
    found = _Found(positions, list_transitions(positions, report), tolerance, report)
    guide = found.iterate("money and match point", MONEY).values[:, 0].clone()
    found.iterate("2-away 2-away", match_columns(_ahead(found.opening)))
    found.iterate("outcomes", OUTCOMES, guide)
    return found.solution(variant)


class _Found:
    """What has been found so far: float32 columns ``[P]`` on the CPU by name, and float64 values of the opening."""

    def __init__(self, positions: Positions, transitions: Transitions, tolerance: float, report: Progress) -> None:
        self.positions = positions
        self.transitions = transitions
        self.tolerance = tolerance
        self.report = report
        self.columns: dict[str, Tensor] = {}
        self.opening: dict[str, float] = {}
        self.convergence: dict[str, Convergence] = {}

    def iterate(self, what: str, columns: tuple[Column, ...], guide: Tensor | None = None) -> Iteration:
        """Solve ``columns`` and keep those that are new."""
        iteration = Iteration(self.positions, self.transitions, columns, guide)
        self.convergence[what] = iteration.run(self.tolerance, lambda share: self.report(what, share))
        values, opening = iteration.on_roll(), iteration.opening()
        for index, column in enumerate(columns):
            if column.name not in self.columns:
                self.columns[column.name] = values[:, index].float().cpu()
                self.opening[column.name] = float(opening[index])
        return iteration

    def solution(self, variant: str) -> Solution:
        """Everything found, as it is stored."""
        facts = {
            "transitions": len(self.transitions.codes),
            "tolerance": self.tolerance,
            "convergence": {what: asdict(convergence) for what, convergence in self.convergence.items()},
            "opening": self.opening,
        }
        outcomes = torch.stack([self.columns[column.name] for column in OUTCOMES], 1)
        return Solution(variant, outcomes, torch.stack([self.columns[name] for name in NAMES], 1), facts)
