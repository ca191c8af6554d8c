"""The decisions behind the losses: the plays that cost a model most, and its cube decisions beside the right ones.

Two sources of what is right: the reference positions for backgammon, the exact solution for sprintgammon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ...env import Cube
from ...env.notation import play_to
from ...env.notation import plays as legal_plays
from ..bots import Judge
from ..exact import ExactEvaluator
from ..exact.report import Sample
from ..reference import CUBES, boards_of, checker_losses, choose_rows, load_decisions, read_arrays

__all__ = ["ACTIONS", "Confusion", "WorstPlay", "exact_decisions", "reference_decisions"]

# What a position before the roll asks for, as double and take: the second alone is no decision where nobody doubles.
ACTIONS = ("no double", "double, take", "double, drop", "too good, drop")

_NOTHING = 1e-6  # points

Board = tuple[tuple[int, ...], tuple[int, ...]]
Hop = tuple[int, int]


@dataclass(frozen=True)
class WorstPlay:
    """One play that cost much.

    Attributes:
        board: the position, its player side 0. dice: what he had.
        chosen_text, best_text: the model's play and the best one.
        chosen_hops, best_hops: their single moves in order.
        chosen_equity, best_equity: in points, for the mover, by the judge.
    """

    board: Board
    dice: tuple[int, int]
    chosen_text: str
    best_text: str
    chosen_hops: tuple[Hop, ...]
    best_hops: tuple[Hop, ...]
    chosen_equity: float
    best_equity: float

    @property
    def loss(self) -> float:
        """Points lost."""
        return self.best_equity - self.chosen_equity


@dataclass(frozen=True)
class Confusion:
    """Cube decisions in one state of the cube.

    Attributes:
        counts: ``[4][4]``, positions by what is right (`ACTIONS`, rows) and what the model would have done (columns).
            What costs nothing counts as right.
        losses: ``[4][4]``, points that these positions lost, all together.
    """

    counts: tuple[tuple[int, ...], ...]
    losses: tuple[tuple[float, ...], ...]

    @property
    def number(self) -> int:
        """Of positions."""
        return sum(map(sum, self.counts))


def reference_decisions(evaluator: Judge, path: Path, number: int = 10) -> tuple[list[WorstPlay], dict[str, Confusion]]:
    """The ``number`` worst plays on the reference positions in ``path``; cube decisions by the state of the cube."""
    decisions = load_decisions(path)
    choices = choose_rows(evaluator, decisions)
    losses = checker_losses(decisions, choices)
    worst = []
    for row in losses.argsort(descending=True, stable=True)[:number].tolist():
        begin = int(decisions.begins[row])
        end = begin + int((decisions.decision == row).sum())
        equity = decisions.equity[begin:end]
        rows = begin + int(choices[row]), begin + int(equity.argmax())
        boards = decisions.boards[row], decisions.plays[rows[0]], decisions.plays[rows[1]]
        worst.append(
            _worst(boards, decisions.dice[row], [float(decisions.equity[each]) for each in rows], "backgammon")
        )
    data = read_arrays(path, "cube", ("own", "opp", "g2"))
    equities = torch.from_numpy(data["g2"]).double()
    boards_asked = boards_of(data["own"], data["opp"])
    found = {}
    for column, (name, cube) in enumerate(CUBES.items()):
        confusion = _confusion(evaluator, boards_asked, cube, *equities[:, column].unbind(1))
        if confusion is not None:
            found[name] = confusion
    return [play for play in worst if play.loss > 0], found


def exact_decisions(
    evaluator: Judge, exact: ExactEvaluator, sample: Sample, number: int = 10
) -> tuple[list[WorstPlay], dict[str, Confusion]]:
    """The same on the positions of ``sample``, judged by the exact solution; plays without a cube."""
    boards, dice = sample.boards, sample.dice
    plays = exact.plays(boards, dice)
    chosen = plays.begins().cpu() + evaluator.best(boards, dice).cpu()
    best = plays.best().cpu()
    values, after = plays.values.cpu().double(), plays.boards.cpu()
    losses = values[best] - values[chosen]
    worst: list[WorstPlay] = []
    seen: set[tuple[Board, tuple[int, ...]]] = set()
    for row in losses.argsort(descending=True, stable=True).tolist():
        key = _plain(boards[row]), tuple(sorted(dice[row].tolist()))
        if len(worst) == number or float(losses[row]) <= 0:
            break
        if key in seen:  # games come back to the same positions
            continue
        seen.add(key)
        rows = int(chosen[row]), int(best[row])
        shown = boards[row], after[rows[0]], after[rows[1]]
        worst.append(_worst(shown, dice[row], [float(values[each]) for each in rows], exact.variant))
    may = boards[sample.may_double]
    found = {}
    for name, cube in CUBES.items():
        right = exact.cube_action(may, cube)
        confusion = _confusion(evaluator, may, cube, right.no_double.double(), right.double_take.double())
        if confusion is not None:
            found[name] = confusion
    return worst, found


def _plain(board: Tensor) -> Board:
    mine, theirs = board.tolist()
    return tuple(mine), tuple(theirs)


def _worst(boards: tuple[Tensor, Tensor, Tensor], dice: Tensor, equities: Sequence[float], variant: str) -> WorstPlay:
    before, *after = boards
    second, first = sorted(int(die) for die in dice)
    legal = legal_plays(before, (first, second), variant)
    chosen, best = (play_to(each, legal, (first, second)) for each in after)
    hops = chosen.turns[0], best.turns[0]
    return WorstPlay(_plain(before), (first, second), chosen.text, best.text, *hops, equities[0], equities[1])


def _confusion(
    evaluator: Judge, boards: Tensor, cube: Cube, no_double: Tensor, double_take: Tensor
) -> Confusion | None:
    """None where the model has not learned this cube. Equities ``[n]`` as `cube_losses` has them."""
    try:
        answer = evaluator.cube_action(boards, cube)
    except ValueError:
        return None
    offered = double_take.clamp(max=1.0)
    right_double, right_take = offered > no_double, double_take <= 1
    double, take = answer.double.cpu(), answer.take.cpu()
    right = _action(right_double, right_take)
    worth = torch.where(double, torch.where(take, double_take, 1.0), no_double)
    fair = torch.where(right_double, offered, no_double)
    lost = (worth - fair).abs()
    chosen = torch.where(lost < _NOTHING, right, _action(double, take))
    cell = right * 4 + chosen
    counts = cell.bincount(minlength=16).reshape(4, 4)
    losses = torch.zeros(16, dtype=torch.float64).index_add(0, cell, lost).reshape(4, 4)
    return Confusion(
        tuple(tuple(int(n) for n in row) for row in counts), tuple(tuple(float(x) for x in row) for row in losses)
    )


def _action(double: Tensor, take: Tensor) -> Tensor:
    """The place in `ACTIONS`, ``[n]`` int64."""
    return torch.where(double, torch.where(take, 1, 2), torch.where(take, 0, 3))
