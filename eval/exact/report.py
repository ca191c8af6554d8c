"""A model against the exact solution: what its plays, doubles and takes lose, and how true its equities are.

Two samples: the decisions of whole games between exact players, from the start, cubeless, and legal positions, all of
them or a number drawn evenly. Losses are in millipoints (0.001 of a point per unit of the cube) a decision; those at a
match score in the same unit, where a point is what winning one with the cube as it stands is worth. Doubles and takes
are counted as in `cube_losses`: takes only where doubling is right or costs less than 0.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from ...env import Cube
from ...env.board import flip, outcome, start_boards
from ..bots import Judge
from ..cube_losses import CubeComparison, CubeLosses, compare_cubes, cube_losses
from .evaluator import ExactEvaluator
from .transitions import Progress, nothing

__all__ = ["CUBES", "EquityError", "ExactReport", "PlayLosses", "SampleReport", "exact_report"]

# What a model is asked about: plays and equities in all of these, doubles and takes where the cube can be turned.
CUBES: dict[str, Cube | None] = {
    "cubeless": None,
    "centred": Cube(),
    "centred, Jacoby": Cube(jacoby=True),
    "owned": Cube(owner="mine"),
    "theirs": Cube(owner="theirs"),
    "2-away 2-away": Cube(away=(2, 2)),
    "1-away 1-away": Cube(away=(1, 1)),
}
_DOUBLING = ("centred", "centred, Jacoby", "owned", "2-away 2-away")

_CHUNK_POSITIONS = 1 << 15
_WORTHLESS = 1e-6  # of match-winning chance
_GAMES = 512


@dataclass(frozen=True)
class PlayLosses:
    """Unforced checker plays: millipoints a decision, its standard error, share of wrong ones, decisions."""

    loss: float
    standard_error: float
    wrong: float
    decisions: int


@dataclass(frozen=True)
class EquityError:
    """Equity before the roll, the right to double included: root-mean-square error and mean error in points."""

    rms: float
    bias: float
    positions: int


@dataclass(frozen=True)
class SampleReport:
    """Figures on one sample by the names of `CUBES`; those the model has not learned are in ``refused``.

    ``formula``: cube decisions beside those of Janowski's formula over the same outcomes, if that was asked.
    """

    plays: dict[str, PlayLosses]
    cube: dict[str, CubeLosses]
    formula: dict[str, CubeComparison]
    equity: dict[str, EquityError]
    refused: dict[str, str]


@dataclass(frozen=True)
class ExactReport:
    """Figures of ``model``: ``games`` on games between exact players, ``legal`` on legal positions, one roll each."""

    model: str
    variant: str
    games: SampleReport
    legal: SampleReport

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Sample:
    """N positions before the roll, each with a roll.

    Attributes:
        boards: ``[N, 2, 26]`` int8. dice: ``[N, 2]`` int8.
        may_double: ``[N]`` bool, False on the first turn of a game.
    """

    boards: Tensor
    dice: Tensor
    may_double: Tensor


def exact_report(
    evaluator: Judge,
    exact: ExactEvaluator,
    name: str = "",
    decisions: int = 100_000,
    positions: int | None = None,
    seed: int = 0,
    report: Progress = nothing,
    formula: Judge | None = None,
) -> ExactReport:
    """Ask ``evaluator`` about games between exact players and about legal positions.

    Args:
        evaluator: the model. exact: the solution of its variant.
        name: what to call the model.
        decisions: games are played until there are so many unforced checker plays.
        positions: running legal positions to draw, None for all of them.
        seed: of dice and of the positions drawn.
        report: told what is being done and how far it is.
        formula: the same outcomes with cubes judged by Janowski's formula, to be compared with.

    Raises:
        ValueError: the model is for another variant.
    """
    if evaluator.variant != exact.variant:
        raise ValueError(f"model: found one for {evaluator.variant}, wanted one for {exact.variant}")
    generator = torch.Generator().manual_seed(seed)
    played = play_games(exact, decisions, generator, lambda share: report("games between exact players", share))
    drawn = _draw_positions(exact, positions, generator)
    return ExactReport(
        model=name,
        variant=exact.variant,
        games=judge(evaluator, exact, played, formula, lambda share: report("the model on their positions", share)),
        legal=judge(evaluator, exact, drawn, formula, lambda share: report("the model on legal positions", share)),
    )


def _roll(generator: torch.Generator, number: int) -> Tensor:
    return torch.randint(1, 7, (number, 2), generator=generator).to(torch.int8)


def play_games(
    exact: ExactEvaluator, decisions: int, generator: torch.Generator, report: Callable[[float], None]
) -> Sample:
    """All turns of cubeless games between exact players, with at least ``decisions`` unforced plays among them.

    Every game that was begun is played to its end, so that late positions are not too few.
    """
    turns: list[tuple[Tensor, Tensor, Tensor]] = []
    unforced = 0
    while unforced < decisions:
        boards = start_boards(_GAMES, exact.variant)
        dice = _roll(generator, _GAMES)
        further = torch.randint(1, 6, (_GAMES,), generator=generator)
        dice[:, 1] = (dice[:, 0] - 1 + further) % 6 + 1  # two different numbers (rules.md 1.2)
        first = True
        while len(boards):
            turns.append((boards, dice, torch.full((len(boards),), not first)))
            plays = exact.plays(boards, dice)
            unforced += int((plays.counts() > 1).sum())
            after = plays.boards[plays.best()].to(boards.device)
            boards = flip(after)[outcome(after, exact.variant) == 0]
            dice = _roll(generator, len(boards))
            first = False
        report(min(1.0, unforced / decisions))
    return Sample(*(torch.cat(part) for part in zip(*turns, strict=True)))


def _draw_positions(exact: ExactEvaluator, number: int | None, generator: torch.Generator) -> Sample:
    """Running legal positions with one roll each: all of them, or ``number`` drawn without repetition."""
    movers, others = exact.positions.pairs()
    running = ((movers != 0) & (others != 0)).nonzero()[:, 0].cpu()
    if number is not None and number < len(running):
        running = running[torch.randperm(len(running), generator=generator)[:number]]
    boards = exact.positions.boards(running).cpu()
    return Sample(boards, _roll(generator, len(boards)), torch.ones(len(boards), dtype=torch.bool))


def judge(
    evaluator: Judge,
    exact: ExactEvaluator,
    sample: Sample,
    formula: Judge | None,
    report: Callable[[float], None],
) -> SampleReport:
    """The figures of ``evaluator`` on ``sample``, its cube decisions beside those of ``formula``."""
    plays: dict[str, PlayLosses] = {}
    cubes: dict[str, CubeLosses] = {}
    compared: dict[str, CubeComparison] = {}
    errors: dict[str, EquityError] = {}
    refused: dict[str, str] = {}
    for index, (name, cube) in enumerate(CUBES.items()):
        found = _Losses(formula)
        try:
            for begin in range(0, len(sample.boards), _CHUNK_POSITIONS):
                part = slice(begin, begin + _CHUNK_POSITIONS)
                rows = Sample(sample.boards[part], sample.dice[part], sample.may_double[part])
                found.add(evaluator, exact, rows, cube)
                report((index + begin / len(sample.boards)) / len(CUBES))
        except ValueError as error:  # a model says what it has not learned
            refused[name] = str(error)
            continue
        plays[name], errors[name] = found.play_losses(), found.equity_error()
        if name in _DOUBLING:
            cubes[name] = found.cube_losses()
            if formula is not None:
                compared[name] = found.comparison()
    report(1.0)
    return SampleReport(plays, cubes, compared, errors, refused)


class _Losses:
    """What was found in one cube state so far, by lists of tensors."""

    def __init__(self, formula: Judge | None) -> None:
        self._formula = formula
        self._losses: list[Tensor] = []  # points, of unforced plays
        self._errors: list[Tensor] = []  # points, of equities
        self._known: list[tuple[Tensor, Tensor]] = []  # exact no double and double/take
        self._answers: list[tuple[Tensor, Tensor]] = []  # the model's double and take
        self._others: list[tuple[Tensor, Tensor]] = []  # the formula's

    def add(self, evaluator: Judge, exact: ExactEvaluator, rows: Sample, cube: Cube | None) -> None:
        """Ask both about ``rows``; ``ValueError`` if the model has not learned this cube."""
        action = exact.cube_action(rows.boards, cube or Cube())
        per_point = torch.ones_like(action.no_double, dtype=torch.float64)
        origin = torch.zeros_like(per_point)
        if cube is not None and cube.away is not None:  # from chances to points, one being the point now at stake
            origin = torch.full_like(per_point, 0.5)
            gain = action.double_pass.double() - origin
            if bool((gain < _WORTHLESS).any()):
                raise ValueError("a single game won gains nothing at this score, which leaves no unit to count in")
            per_point = 1 / gain
        self._add_equities(evaluator, exact, rows, cube, per_point)
        self._add_plays(evaluator, exact, rows, cube, per_point)
        if cube is None:
            return
        may = rows.may_double
        no_double, double_take = (
            (value.double() - origin) * per_point for value in (action.no_double, action.double_take)
        )
        self._known.append((no_double[may], double_take[may]))
        for judge, answers in ((evaluator, self._answers), (self._formula, self._others)):
            if judge is not None:
                chosen = judge.cube_action(rows.boards, cube)
                answers.append((chosen.double[may], chosen.take[may]))

    def _add_equities(
        self, evaluator: Judge, exact: ExactEvaluator, rows: Sample, cube: Cube | None, per_point: Tensor
    ) -> None:
        error = evaluator.equity(rows.boards, cube).double() - exact.equity(rows.boards, cube).double()
        self._errors.append(error * per_point)

    def _add_plays(
        self, evaluator: Judge, exact: ExactEvaluator, rows: Sample, cube: Cube | None, per_point: Tensor
    ) -> None:
        chosen = evaluator.best(rows.boards, rows.dice, cube)
        plays = exact.plays(rows.boards, rows.dice, cube)
        row = plays.begins() + chosen.to(plays.ends.device)
        lost = (plays.values[plays.best()] - plays.values[row]).to(per_point.device)
        self._losses.append((lost.double() * per_point)[(plays.counts() > 1).to(per_point.device)])

    def play_losses(self) -> PlayLosses:
        """In millipoints."""
        losses = 1000 * torch.cat(self._losses)
        error = float(losses.std(correction=0)) / len(losses) ** 0.5
        return PlayLosses(float(losses.mean()), error, float((losses > 0).double().mean()), len(losses))

    def equity_error(self) -> EquityError:
        """In points."""
        errors = torch.cat(self._errors)
        return EquityError(float(errors.square().mean().sqrt()), float(errors.mean()), len(errors))

    def cube_losses(self) -> CubeLosses:
        """Of the model's doubles and takes."""
        return cube_losses(*_joined(self._known), *_joined(self._answers))

    def comparison(self) -> CubeComparison:
        """Of the model with the formula."""
        return compare_cubes(*_joined(self._known), _joined(self._answers), _joined(self._others))


def _joined(parts: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    first, second = zip(*parts, strict=True)
    return torch.cat(first), torch.cat(second)
