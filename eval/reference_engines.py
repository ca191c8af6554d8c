"""Known players on the same reference positions, to stand beside a model: what they chose there is in the files.

The files hold the equities of two engines at shallow depths; the best of those is what that engine plays. Random play
and the pip count are worked out here. Nothing is asked of the engines themselves, so none has to be installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.table import Table
from torch import Tensor

from ..env import pip_counts
from .cube_losses import CubeLosses, cube_losses
from .reference import (
    CLASSES,
    CUBES,
    Calibration,
    ClassLosses,
    Decisions,
    calibration,
    checker_losses,
    load_decisions,
    losses_by_class,
    read_arrays,
    read_optional,
)

if TYPE_CHECKING:
    from .reference_report import ReferenceReport

__all__ = ["ENGINES", "KnownPlayer", "calibration_table", "engines_table", "known_players"]

# By their names in the files. Open Sage calls the network alone 1-ply, GNU Backgammon 0-ply.
ENGINES = {
    "g0": "gnubg 0-ply",
    "s1": "Open Sage 1-ply",
    "g1": "gnubg 1-ply",
    "s2": "Open Sage 2-ply",
}
_PROBABILITIES = ("win", "+g", "+bg", "-g", "-bg")


@dataclass(frozen=True)
class KnownPlayer:
    """Somebody whose choices on the positions are known.

    Attributes:
        checker: millipoints lost by plays. cube: by cube decisions, by the states of `CUBES`; empty if not known.
        calibration: errors of its outcomes on all positions; None if not known.
    """

    checker: ClassLosses
    cube: dict[str, CubeLosses]
    calibration: Calibration | None


def known_players(path: Path) -> dict[str, KnownPlayer]:
    """The known players of the folder ``path`` by name, from weak to strong; engines that it lacks are left out."""
    decisions = load_decisions(path)
    found = {
        "random": KnownPlayer(losses_by_class(decisions, _random_losses(decisions)), {}, None),
        "pip count alone": KnownPlayer(losses_by_class(decisions, _pipcount_losses(decisions)), {}, None),
    }
    plays, cubes = (read_optional(path, name, tuple(ENGINES)) for name in ("decisions", "cube"))
    calibrations = read_optional(path, "calib", tuple(ENGINES))
    known = torch.from_numpy(read_arrays(path, "cube", ("g2",))["g2"]).double()
    reference = torch.from_numpy(read_arrays(path, "calib", ("ref",))["ref"]).double()
    for key, name in ENGINES.items():
        if key not in plays or len(plays[key]) != len(decisions.equity):
            continue
        choices = _first_highest(decisions, torch.from_numpy(plays[key]).double())
        checker = losses_by_class(decisions, checker_losses(decisions, choices))
        cube = _engines_cubes(known, torch.from_numpy(cubes[key]).double()) if key in cubes else {}
        five = torch.from_numpy(calibrations[key]).double() if key in calibrations else None
        found[name] = KnownPlayer(checker, cube, None if five is None else calibration(five, reference))
    return found


def _best(decisions: Decisions, values: Tensor) -> Tensor:
    """The highest of ``values`` ``[K]`` in each decision, ``[n]``."""
    start = torch.full((len(decisions),), -torch.inf, dtype=torch.float64)
    return start.scatter_reduce(0, decisions.decision, values.double(), "amax")


def _first_highest(decisions: Decisions, values: Tensor) -> Tensor:
    """The place in its decision of the first row that has the highest of ``values`` ``[K]``, ``[n]`` int64."""
    rows = torch.arange(len(values))
    row = torch.where(values.double() == _best(decisions, values)[decisions.decision], rows, len(values))
    first = torch.full((len(decisions),), len(values)).scatter_reduce(0, decisions.decision, row, "amin")
    return first - decisions.begins


def _random_losses(decisions: Decisions) -> Tensor:
    """Expected loss ``[n]`` in points of any play with equal chances."""
    counts = decisions.decision.bincount(minlength=len(decisions))
    sums = torch.zeros(len(decisions), dtype=torch.float64).scatter_add(0, decisions.decision, decisions.equity)
    return _best(decisions, decisions.equity) - sums / counts


def _pipcount_losses(decisions: Decisions) -> Tensor:
    """Expected loss ``[n]`` of the greatest pip lead, ties with equal chances."""
    pips = pip_counts(decisions.plays)
    lead = (pips[:, 1] - pips[:, 0]).double()
    tied = (lead == _best(decisions, lead)[decisions.decision]).double()
    counts = torch.zeros(len(decisions), dtype=torch.float64).scatter_add(0, decisions.decision, tied)
    sums = torch.zeros_like(counts).scatter_add(0, decisions.decision, tied * decisions.equity)
    return _best(decisions, decisions.equity) - sums / counts


def _engines_cubes(known: Tensor, equities: Tensor) -> dict[str, CubeLosses]:
    """What an engine's answers by its ``equities`` ``[n, 3, 2]`` cost; both as in ``cube.npz``."""
    found = {}
    for column, name in enumerate(CUBES):
        no_double, double_take = equities[:, column].unbind(1)
        double, take = double_take.clamp(max=1.0) > no_double, double_take <= 1
        found[name] = cube_losses(known[:, column, 0], known[:, column, 1], double, take)
    return found


def engines_table(report: ReferenceReport) -> Table:
    """The known players' losses by class with the model among them, from the weakest to the strongest."""
    table = Table(title="beside known players: millipoints lost a decision", title_justify="left", padding=(0, 0, 0, 1))
    for heading in ("", *CLASSES, "natural", "±", "double", "take"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    rows = [(name, player.checker, player.cube, "") for name, player in report.known.items()]
    rows.append((report.model or "this model", report.checker, report.cube.model, "bold"))
    for name, losses, cube, style in sorted(rows, key=lambda row: -row[1].natural):
        cells = [_number(losses.by_class.get(label)) for label in CLASSES]
        centred = cube.get("centred")
        doubles = ["", ""] if centred is None else [_number(centred.double), _number(centred.take)]
        natural = _number(losses.natural), _number(1.96 * losses.standard_error)
        table.add_row(name, *cells, *natural, *doubles, style=style)
    table.caption = "cube centred, judged by GNU Backgammon 2-ply, which flatters its family"
    table.caption_justify = "left"
    return table


def calibration_table(report: ReferenceReport) -> Table:
    """Errors of the model's probabilities and equity by class, and the known engines' over all."""
    table = Table(
        title="calibration: rms errors of probabilities in percent, of equity in millipoints", padding=(0, 0, 0, 1)
    )
    table.title_justify = "left"
    for heading in ("", *_PROBABILITIES, "equity", "bias", "number"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    rows = dict(report.calibration)
    rows |= {name: player.calibration for name, player in report.known.items() if player.calibration is not None}
    for name, found in rows.items():
        cells = [f"{100 * error:.2f}" for error in found.rms_probabilities]
        equity = (f"{1000 * found.rms_equity:.1f}", f"{1000 * found.bias:+.1f}")
        table.add_row(name, *cells, *equity, str(found.positions), end_section=name == "all")
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.{0 if value >= 100 else 1}f}"
