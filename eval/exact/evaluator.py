"""Exact values as a player's judgement: the face of `models.Evaluator` over a table instead of a network.

All values are from the view of the player on roll. They are exact for a cube without a cap; with one they are exact for
a cube that can no longer be turned, and elsewhere off by what a few more turns could bring. Memory for sprintgammon:
620 MB. A question costs one look-up a position, or one for every play.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ...env.board import check_boards, check_dice
from ...env.cube import Cube
from ...env.launch import launch_rows
from ...env.movegen import list_afterstates
from ...models import CubeAction
from ...models.kernels.choice import best_rows
from .cubes import ColumnTable, CubeStates
from .positions import Positions
from .solve import Solution
from .store import find_or_solve
from .transitions import Progress, nothing

__all__ = ["ExactEvaluator", "ExactPlays", "load_exact"]


@dataclass(frozen=True)
class ExactPlays:
    """The afterstates of N games, M rows in all, and what they are worth.

    Attributes:
        ends: ``[N]`` int64, one past each game's last row. boards: ``[M, 2, 26]`` int8, the mover side 0.
        values: ``[M]`` float32 for the mover: equity in units of the cube as it stands or, in a match, the chance to
            win it.
    """

    ends: Tensor
    boards: Tensor
    values: Tensor

    def begins(self) -> Tensor:
        """Each game's first row, ``[N]`` int64."""
        return self.ends - self.counts()

    def counts(self) -> Tensor:
        """Plays of each game, ``[N]`` int64."""
        return self.ends.diff(prepend=self.ends.new_zeros(1))

    def best(self) -> Tensor:
        """The row of each game's best play, ``[N]`` int64, ties to the lowest."""
        rows = torch.empty((len(self.ends), 1), dtype=torch.int64, device=self.ends.device)
        launch_rows(best_rows, len(rows), self.ends, self.values[:, None], rows, device=rows.device)
        return rows[:, 0]


class ExactEvaluator:
    """The solution of a discipline with the rules it plays by.

    Attributes:
        variant: the discipline.
        solution: the tables.
        positions: their numbering.
    """

    def __init__(self, solution: Solution, device: torch.device | str = "cpu") -> None:
        self.variant = solution.variant
        self.solution = solution
        self.positions = Positions(solution.variant, device)
        self._outcomes = solution.outcomes.to(device)
        self._values = solution.values.to(device)
        self._columns = ColumnTable(solution.ahead, device)

    @property
    def device(self) -> torch.device:
        """Where the tables are; answers are returned on the device of the boards asked about."""
        return self.positions.device

    def outcome(self, boards: Tensor) -> Tensor:
        """Exclusive probabilities ``[N, 6]`` that side 0 wins single, gammon, backgammon, then loses those.

        Both sides play by cubeless equity. Where plays of equal equity differ in outcomes, the first is meant.
        """
        return self._outcomes[self.positions.numbers(boards)].to(boards.device)

    def equity(self, boards: Tensor, cube: Cube | None = None) -> Tensor:
        """Equity ``[N]``: cubeless for money without a ``cube``; with one, its value before side 0's roll.

        With ``away`` it is the chance to win the match. ``ValueError`` for what was not solved.
        """
        if cube is None:
            return self._values[self.positions.numbers(boards), 0].to(boards.device)
        action = self.cube_action(boards, cube)
        doubled = torch.minimum(action.double_take, action.double_pass)
        return torch.where(action.double, doubled, action.no_double)

    def best(
        self,
        boards: Tensor,
        dice: Tensor,
        cube: Cube | None = None,
        plies: int = 0,
        second_first: Tensor | None = None,
    ) -> Tensor:
        """Best play: ``[N]`` int64, the index within each game's own rows of `env.afterstates`, ties to the lowest.

        ``plies`` and ``second_first`` change nothing.
        """
        plays = self.plays(boards, dice, cube)
        return (plays.best() - plays.begins()).to(boards.device)

    def roll_value(
        self, boards: Tensor, dice: Tensor, cube: Cube | None = None, second_first: Tensor | None = None
    ) -> Tensor:
        """What side 0's roll is worth, ``[N]``, see `plays`; ``second_first`` changes nothing."""
        plays = self.plays(boards, dice, cube)
        return plays.values[plays.best()].to(boards.device)

    def plays(self, boards: Tensor, dice: Tensor, cube: Cube | None = None) -> ExactPlays:
        """Every legal play of every game with its value at ``cube``, without one by cubeless equity."""
        checked = check_boards(boards, self.positions.rules).to(self.device)
        dice = check_dice(dice, len(checked)).to(self.device)
        listed = list_afterstates(checked, dice, self.variant)
        mine, theirs = self.positions.sides_of(listed.boards).unbind(1)
        next_turn = self._values[self.positions.numbers_of(theirs, mine)]  # [M, 11], the opponent on roll
        state = self._states(cube, len(checked))[listed.game]
        column = self._columns.flips[state.column]
        value = next_turn.gather(1, column[:, None])[:, 0]
        taken = state.stake * next_turn.gather(1, state.doubled[:, None])[:, 0]
        doubled = torch.minimum(taken, self._columns.drops[column])
        value = torch.where(self._columns.has_double[column], torch.maximum(value, doubled), value)
        return ExactPlays(listed.ends, listed.boards, torch.where(state.match, (1 - value) / 2, -value))

    def cube_action(self, boards: Tensor, cube: Cube, plies: int = 0) -> CubeAction:
        """Should side 0 double before rolling, and should the other take? All fields are filled for every row."""
        values = self._values[self.positions.numbers(boards)]
        state = self._states(cube, len(values))
        here = values.gather(1, state.column[:, None])[:, 0]
        taken = state.stake * values.gather(1, state.doubled[:, None])[:, 0]
        double = state.may_double & (torch.minimum(taken, state.drop) > here)
        take = taken <= state.drop
        shown = (torch.where(state.match, (1 + value) / 2, value) for value in (here, taken, state.drop))
        return CubeAction(*(field.to(boards.device) for field in (*shown, double, take)))

    def _states(self, cube: Cube | None, num_games: int) -> CubeStates:
        return self._columns.cubeless(num_games) if cube is None else self._columns.states(cube, num_games)


def load_exact(
    folder: str | Path,
    variant: str = "sprintgammon",
    report: Progress = nothing,
    device: torch.device | str = "cpu",
) -> ExactEvaluator:
    """The exact evaluator of ``variant``, its solution read from ``folder`` or made and stored there."""
    return ExactEvaluator(find_or_solve(folder, variant, report, device), device)
