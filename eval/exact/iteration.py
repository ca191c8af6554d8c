"""Value iteration over `Transitions`: the values of all positions that agree with those a turn later.

A sweep goes through the bands in order and puts each band's new values in place before the next reads them: what a play
without a hit leads to is new then, and only hits wait for the next sweep. Within a band everything is computed from the
old values, so the result does not depend on threads or devices. Values begin at 0 and, since games end, the largest
change falls by a factor a sweep, in sprintgammon 0.36 for money and 0.66 for scores and outcomes. Once the factor is
steady, all later changes are taken at once as the geometric series that they are about to be, which halves the sweeps.
How good the result is, the last sweeps and the residual say.

Cost: two launches a band. A sweep of sprintgammon goes through 1.8 GB of plays, 6 seconds of one core.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from ...env.board import start_boards
from ...env.launch import launch_rows, share, split_rows
from ...env.movegen import list_afterstates
from .kernels.sweep import COLUMNS, commit, follow, sweep
from .payoffs import Column, Payoffs
from .positions import Positions
from .transitions import ROLLS, Transitions

__all__ = ["Convergence", "Iteration"]

_MIN_ROWS, _MAX_ROWS = 1024, 8192
_MAX_SWEEPS = 1000
# When a leap is made: the factor differs from the one before by less than this, and leaves something to be gained.
_STEADY = 0.05
_STEADY_FACTOR = 0.95


@dataclass(frozen=True)
class Convergence:
    """How far the iteration went.

    Attributes:
        sweeps: their number.
        last_change: the largest change of any value in the last sweep.
        last_ten: the largest changes in and after each of the last ten sweeps added up: no value moved more than this.
        residual: the largest difference between a value and what the values a turn later say.
    """

    sweeps: int
    last_change: float
    last_ten: float
    residual: float


def _is_steady(changes: list[float]) -> bool:
    """Has the factor from change to change been the same, to a twentieth, the last two times of at least three?"""
    if len(changes) < 4 or not all(changes[-3:]):
        return False
    factors = changes[-1] / changes[-2], changes[-2] / changes[-3]
    return factors[0] < _STEADY_FACTOR and abs(factors[0] / factors[1] - 1) < _STEADY


def _share_of_way(moves: list[float], tolerance: float) -> float:
    """How much of the way to ``tolerance`` is done, 0 to 1, if moves shrink by a constant factor."""
    way = math.log(max(moves) / tolerance)
    left = math.log(max(sum(moves[-10:]), tolerance) / tolerance)
    return max(0.0, 1 - left / way) if way > 0 else 1.0


class Iteration:
    """The state of one value iteration: ``values`` ``[S * S, 8]`` float64 on the device of the positions.

    The value of the pair (side on roll, other side) is at ``side * S + other``, and it is kept as the *other* player
    sees it, who has just moved. With a ``guide`` ``[S * S]`` float64, kept in the same way, the plays are those the
    guide has best, and the columns are probabilities.
    """

    def __init__(
        self,
        positions: Positions,
        transitions: Transitions,
        columns: tuple[Column, ...],
        guide: Tensor | None = None,
    ) -> None:
        sides, device = positions.sides, positions.device
        self.positions = positions
        self.transitions = transitions
        self.payoffs = Payoffs.of(columns, device)
        self.guide = guide
        self.values = torch.zeros((len(sides) ** 2, COLUMNS), dtype=torch.float64, device=device)
        by_side = self.values.view(len(sides), len(sides), COLUMNS)
        by_side[:, 0] = self.payoffs.wins[sides.losses - 1]  # the mover has finished
        by_side[0] = self._flipped(by_side[:, 0])  # so had the player on roll
        largest = max(end - begin for begin, end in self._bands())
        self._found = torch.empty((largest, COLUMNS), dtype=torch.float64, device=device)
        self._changes = torch.empty(len(transitions), dtype=torch.float64, device=device)

    def run(self, tolerance: float, report: Callable[[float], None]) -> Convergence:
        """Sweep until ten sweeps together move no value by more than ``tolerance``.

        ``report`` hears what share of the way is done.

        Raises:
            ArithmeticError: that has not come about in a thousand sweeps.
        """
        changes: list[float] = []
        moves: list[float] = []  # by sweep, the leap after it included
        steady = 0  # sweeps since the last leap
        while len(moves) < 10 or sum(moves[-10:]) > tolerance:
            if len(changes) == _MAX_SWEEPS:
                raise ArithmeticError(f"exact: found a change of {changes[-1]:g} in sweep {_MAX_SWEEPS}")
            before = self.values.clone() if _is_steady(changes[len(changes) - steady :]) else None
            self._sweep()
            changes.append(float(self._changes.max()))
            moves.append(changes[-1])
            steady += 1
            if before is not None and tolerance / 10 < changes[-1] < changes[-2]:
                moves[-1] += self._leap(before, changes[-1] / changes[-2]) * changes[-1]
                steady = 0
            report(_share_of_way(moves, tolerance))
        for begin, end in self._bands():
            self._compute(begin, end, self._found, no_double=False)
        return Convergence(len(changes), changes[-1], sum(moves[-10:]), float(self._changes.max()))

    def on_roll(self) -> Tensor:
        """The values for the player on roll if he does not double, ``[P, 8]`` float64, by number of position."""
        values = self._flipped(self.values[self.positions.cells.long()])
        plays = self.transitions
        running = self.positions.numbers_of(plays.movers, plays.others)
        for begin, end in self._bands() if self.guide is None else ():
            self._compute(begin, end, self._found, no_double=True)
            values[running[begin:end]] = self._found[: end - begin]
        return values

    def opening(self) -> Tensor:
        """The values of a game for the winner of the opening roll, who plays these two dice, ``[8]`` float64."""
        positions, device = self.positions, self.values.device
        rolls = torch.tensor([roll for roll in ROLLS if roll[0] != roll[1]], dtype=torch.int8, device=device)
        start = start_boards(len(rolls), positions.rules.name, device)
        listed = list_afterstates(start, rolls)
        mine, theirs = positions.sides_of(listed.boards).unbind(1)
        cells = theirs * len(positions.sides) + mine  # the other side is on roll now
        worth = (self.values if self.guide is None else self.guide[:, None])[cells]
        ends = listed.ends.tolist()
        best = [begin + worth[begin:end].argmax(0) for begin, end in pairwise([0, *ends])]
        rows = torch.stack(best).expand(-1, COLUMNS)
        return self.values[cells].gather(0, rows).mean(0)

    def _flipped(self, values: Tensor) -> Tensor:
        """``values`` ``[N, 8]`` as the other player sees them."""
        sign = -1.0 if self.guide is None else 1.0
        return sign * values[:, self.payoffs.flips.long()]

    def _sweep(self) -> None:
        """New values for all positions, band after band."""
        for begin, end in self._bands():
            self._compute(begin, end, self._found, no_double=False)
            self._put(begin, end)

    def _leap(self, before: Tensor, factor: float) -> float:
        """Add all changes to come to ``values`` if each is ``factor`` times the one since ``before``.

        Returns their sum in units of that change. ``before`` is overwritten.
        """
        self.values = before.lerp_(self.values, 1 / (1 - factor))
        return factor / (1 - factor)

    def _bands(self) -> list[tuple[int, int]]:
        ends = self.transitions.bands
        return list(zip((0, *ends[:-1]), ends, strict=True))

    def _compute(self, begin: int, end: int, found: Tensor, no_double: bool) -> None:
        """Fill rows of ``found``, the first for position ``begin``, and the changes of these positions."""
        plays, payoffs = self.transitions, self.payoffs
        turns = (plays.movers, plays.others, plays.begins, plays.codes, self.positions.sides.after_hits)
        if self.guide is None:
            columns = (payoffs.flips, payoffs.doubles, payoffs.stakes, payoffs.drops)
            self._launch(sweep, begin, end, *turns, self.values, *columns, no_double, begin, found, self._changes)
        else:
            kept = (self.guide, self.values, payoffs.flips)
            self._launch(follow, begin, end, *turns, *kept, begin, found, self._changes)

    def _put(self, begin: int, end: int) -> None:
        plays, num_sides = self.transitions, len(self.positions.sides)
        self._launch(commit, begin, end, plays.movers, plays.others, num_sides, begin, self._found, self.values)

    def _launch(self, kernel: Any, begin: int, end: int, *arguments: Any) -> None:
        """Run ``kernel`` for the positions from ``begin`` to ``end``; on a CPU the threads take small parts in turn."""
        device = self.values.device
        ready = share(kernel, *arguments)

        def work(first: int, last: int) -> None:
            launch_rows(kernel, last - first, *ready, device=device, first_row=begin + first)

        if device.type == "cpu":
            split_rows(work, end - begin, _MIN_ROWS, _MAX_ROWS)
        else:
            work(0, end - begin)
