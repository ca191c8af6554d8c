"""Everything the reference positions of a folder say of one model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .bots import Judge
from .cube_losses import CubeComparison, CubeLosses, compare_cubes, cube_losses
from .reference import (
    CLASSES,
    CUBES,
    Calibration,
    ClassLosses,
    boards_of,
    calibration,
    checker_losses,
    choose_rows,
    cumulative,
    load_decisions,
    losses_by_class,
    read_arrays,
)
from .reference_engines import KnownPlayer, known_players

__all__ = ["BearoffLosses", "CubeReport", "ReferenceReport", "reference_report"]


@dataclass(frozen=True)
class CubeReport:
    """Cube decisions by the cube states of `reference.CUBES`.

    Attributes:
        model: what the model's cost. formula: the same beside those of Janowski's formula over the same outcomes; empty
            if that was not asked.
        refused: what the model said where it has not learned a state.
    """

    model: dict[str, CubeLosses]
    formula: dict[str, CubeComparison]
    refused: dict[str, str]


@dataclass(frozen=True)
class BearoffLosses:
    """Against exact databases: ``play`` in millipoints a decision over ``plays`` unforced ones.

    ``rms_equity`` is the root-mean-square error of cubeless equities in points, by database ("two-sided",
    "one-sided"). ``cube`` has the cube decisions of the two-sided one.
    """

    play: float
    plays: int
    rms_equity: dict[str, float]
    cube: CubeReport


@dataclass(frozen=True)
class ReferenceReport:
    """Figures of ``model`` on the positions in ``path``, and of known players there by name."""

    model: str
    path: str
    checker: ClassLosses
    cube: CubeReport
    calibration: dict[str, Calibration]
    bearoff: BearoffLosses
    known: dict[str, KnownPlayer] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def reference_report(evaluator: Judge, path: Path, name: str = "", formula: Judge | None = None) -> ReferenceReport:
    """Ask ``evaluator`` about all positions in the folder ``path``; ``name`` is what to call it.

    ``formula``: the same outcomes with cubes judged by Janowski's formula, to be compared with.

    Raises:
        ValueError: a file that is not in the layout of ``bench/README.md``, or a model for another variant.
        FileNotFoundError: one that is missing.
    """
    if evaluator.variant != "backgammon":
        raise ValueError(f"model: found one for {evaluator.variant}, wanted one for backgammon: so are the positions")
    decisions = load_decisions(path)
    losses = checker_losses(decisions, choose_rows(evaluator, decisions))
    return ReferenceReport(
        model=name,
        path=str(path),
        checker=losses_by_class(decisions, losses),
        cube=_cube(evaluator, formula, path),
        calibration=_calibration(evaluator, path),
        bearoff=_bearoff(evaluator, formula, path),
        known=known_players(path),
    )


def _cube(evaluator: Judge, formula: Judge | None, path: Path) -> CubeReport:
    data = read_arrays(path, "cube", ("own", "opp", "g2"))
    equities = torch.from_numpy(data["g2"]).double()  # [n, 3, 2]: no double, double and take
    return _cube_report(evaluator, formula, boards_of(data["own"], data["opp"]), equities)


def _cube_report(evaluator: Judge, formula: Judge | None, boards: Tensor, equities: Tensor) -> CubeReport:
    """Ask about ``boards`` ``[n, 2, 26]`` in every state of the cube; ``equities`` ``[n, 3, 2]`` as in the files."""
    losses, compared, refused = {}, {}, {}
    for column, (name, cube) in enumerate(CUBES.items()):
        try:
            action = evaluator.cube_action(boards, cube)
        except ValueError as error:  # a model says what it has not learned
            refused[name] = str(error)
            continue
        answers = action.double, action.take
        known = equities[:, column, 0], equities[:, column, 1]
        losses[name] = cube_losses(*known, *answers)
        if formula is not None:
            other = formula.cube_action(boards, cube)
            compared[name] = compare_cubes(*known, answers, (other.double, other.take))
    return CubeReport(losses, compared, refused)


def _calibration(evaluator: Judge, path: Path) -> dict[str, Calibration]:
    data = read_arrays(path, "calib", ("own", "opp", "klass", "ref"))
    five = cumulative(evaluator.outcome(boards_of(data["own"], data["opp"])))
    reference, classes = torch.from_numpy(data["ref"]).double(), torch.from_numpy(data["klass"])
    parts = {name: classes == index for index, name in enumerate(CLASSES)}
    parts["all"] = torch.ones_like(classes, dtype=torch.bool)
    return {name: calibration(five[part], reference[part]) for name, part in parts.items() if bool(part.any())}


def _bearoff(evaluator: Judge, formula: Judge | None, path: Path) -> BearoffLosses:
    decisions = load_decisions(path, "bearoff")
    play = checker_losses(decisions, choose_rows(evaluator, decisions))
    data = read_arrays(path, "bearoff", ("own", "opp", "source", "probs", "cubeful"))
    boards = boards_of(data["own"], data["opp"])
    five = cumulative(evaluator.outcome(boards))
    exact, source = torch.from_numpy(data["probs"]).double(), torch.from_numpy(data["source"])
    rms = {
        name: calibration(five[source == index], exact[source == index]).rms_equity
        for index, name in enumerate(("two-sided", "one-sided"))
        if bool((source == index).any())
    }
    two_sided = source == 0
    equities = _bearoff_equities(torch.from_numpy(data["cubeful"]).double()[two_sided])
    cube = _cube_report(evaluator, formula, boards[two_sided], equities)
    return BearoffLosses(1000 * float(play.mean()), len(decisions), rms, cube)


def _bearoff_equities(cubeful: Tensor) -> Tensor:
    """``[n, 3, 2]`` as in ``cube.npz`` from the database's ``[n, 4]``: cubeless, and not doubling by the cube's owner.

    No gammon can be won from there, so the Jacoby rule changes nothing.
    """
    _, mine, centred, theirs = cubeful.unbind(1)
    no_double = torch.stack([centred, centred, mine], 1)
    return torch.stack([no_double, (2 * theirs)[:, None].expand_as(no_double)], 2)
