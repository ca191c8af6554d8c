"""Everything the reference positions of a folder say of one model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from .bots import Judge
from .reference import (
    CLASSES,
    CUBES,
    Calibration,
    ClassLosses,
    CubeLosses,
    boards_of,
    calibration,
    checker_losses,
    choose_rows,
    cube_losses,
    cumulative,
    load_decisions,
    losses_by_class,
    read_arrays,
)

__all__ = ["BearoffLosses", "ReferenceReport", "reference_report"]


@dataclass(frozen=True)
class BearoffLosses:
    """Against exact databases: ``play`` in millipoints a decision over ``plays`` unforced ones.

    ``rms_equity`` is the root-mean-square error of cubeless equities in points, by database ("two-sided",
    "one-sided").
    """

    play: float
    plays: int
    rms_equity: dict[str, float]


@dataclass(frozen=True)
class ReferenceReport:
    """Figures of ``model`` on the positions in ``path``.

    ``cube`` is by the cube states of `reference.CUBES`; those that the model has not learned are in ``refused`` with
    what it said instead.
    """

    model: str
    path: str
    checker: ClassLosses
    cube: dict[str, CubeLosses]
    refused: dict[str, str]
    calibration: dict[str, Calibration]
    bearoff: BearoffLosses

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def reference_report(evaluator: Judge, path: Path, name: str = "") -> ReferenceReport:
    """Ask ``evaluator`` about all positions in the folder ``path``; ``name`` is what to call it.

    Raises:
        ValueError: a file that is not in the layout of ``bench/README.md``, or a model for another variant.
        FileNotFoundError: one that is missing.
    """
    if evaluator.variant != "backgammon":
        raise ValueError(f"model: found one for {evaluator.variant}, wanted one for backgammon: so are the positions")
    decisions = load_decisions(path)
    losses = checker_losses(decisions, choose_rows(evaluator, decisions))
    cube, refused = _cube(evaluator, path)
    return ReferenceReport(
        model=name,
        path=str(path),
        checker=losses_by_class(decisions, losses),
        cube=cube,
        refused=refused,
        calibration=_calibration(evaluator, path),
        bearoff=_bearoff(evaluator, path),
    )


def _cube(evaluator: Judge, path: Path) -> tuple[dict[str, CubeLosses], dict[str, str]]:
    data = read_arrays(path, "cube", ("own", "opp", "g2"))
    boards = boards_of(data["own"], data["opp"])
    equities = torch.from_numpy(data["g2"]).double()  # [n, 3, 2]: no double, double and take
    losses, refused = {}, {}
    for column, (name, cube) in enumerate(CUBES.items()):
        try:
            action = evaluator.cube_action(boards, cube)
        except ValueError as error:  # a model says what it has not learned
            refused[name] = str(error)
            continue
        losses[name] = cube_losses(equities[:, column, 0], equities[:, column, 1], action.double, action.take)
    return losses, refused


def _calibration(evaluator: Judge, path: Path) -> dict[str, Calibration]:
    data = read_arrays(path, "calib", ("own", "opp", "klass", "ref"))
    five = cumulative(evaluator.outcome(boards_of(data["own"], data["opp"])))
    reference, classes = torch.from_numpy(data["ref"]).double(), torch.from_numpy(data["klass"])
    parts = {name: classes == index for index, name in enumerate(CLASSES)}
    parts["all"] = torch.ones_like(classes, dtype=torch.bool)
    return {name: calibration(five[part], reference[part]) for name, part in parts.items() if bool(part.any())}


def _bearoff(evaluator: Judge, path: Path) -> BearoffLosses:
    decisions = load_decisions(path, "bearoff")
    play = checker_losses(decisions, choose_rows(evaluator, decisions))
    data = read_arrays(path, "bearoff", ("own", "opp", "source", "probs"))
    five = cumulative(evaluator.outcome(boards_of(data["own"], data["opp"])))
    exact, source = torch.from_numpy(data["probs"]).double(), torch.from_numpy(data["source"])
    rms = {
        name: calibration(five[source == index], exact[source == index]).rms_equity
        for index, name in enumerate(("two-sided", "one-sided"))
        if bool((source == index).any())
    }
    return BearoffLosses(1000 * float(play.mean()), len(decisions), rms)
