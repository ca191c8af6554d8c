"""A model on reference positions: what its choices cost against much deeper engines, and how true its numbers are.

A folder holds up to four files in the layout of ``bench/README.md``: checker plays, cube decisions, calibration,
exact bear-off. Losses are in millipoints (0.001 of a point) a decision, from money equities; nothing here may ever be
trained or tuned on. A file's side is 25 counts from its own view, the bar last; ours are boards ``[n, 2, 26]``, side 0
to move.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..env import Cube
from ..env.movegen import afterstates
from .bots import Judge

__all__ = [
    "CLASSES",
    "CUBES",
    "Calibration",
    "ClassLosses",
    "Decisions",
    "boards_of",
    "calibration",
    "checker_losses",
    "choose_rows",
    "cumulative",
    "load_decisions",
    "losses_by_class",
    "read_arrays",
    "read_optional",
]

CLASSES = ("contact", "crashed", "race", "bear-off")
NUM_CHECKERS = 15

# The cube states of cube.npz in their order there.
CUBES: Mapping[str, Cube] = {
    "centred": Cube(),
    "centred, Jacoby": Cube(jacoby=True),
    "owned": Cube(owner="mine"),
}


def read_optional(folder: Path, name: str, fields: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Those of the named arrays that ``folder/name.npz`` has; ``ValueError`` if the file is no archive."""
    path = folder / f"{name}.npz"
    try:
        with np.load(path) as archive:
            return {field: archive[field] for field in fields if field in archive.files}
    except (zipfile.BadZipFile, EOFError, AttributeError, ValueError) as error:
        raise ValueError(f"{path}: found no readable archive of arrays ({error})") from None


def read_arrays(folder: Path, name: str, fields: tuple[str, ...]) -> dict[str, np.ndarray]:
    """The named arrays of ``folder/name.npz``; ``ValueError`` if the file is no archive or lacks one."""
    arrays = read_optional(folder, name, fields)
    missing = [field for field in fields if field not in arrays]
    if missing:
        raise ValueError(f"{folder / f'{name}.npz'}: found no {missing[0]}, wanted {', '.join(fields)}")
    return arrays


def boards_of(own: np.ndarray, opp: np.ndarray) -> Tensor:
    """Boards ``[n, 2, 26]`` int8 from both sides' 25 counts ``[n, 25]``; what is missing from 15 is off."""
    if own.ndim != 2 or own.shape[1] != 25 or own.shape != opp.shape:
        raise ValueError(f"reference: own, opp: found shapes {own.shape} and {opp.shape}, wanted [n, 25] of both")
    sides = torch.from_numpy(np.stack([own, opp], 1).astype(np.int8))
    off = NUM_CHECKERS - sides.sum(-1, keepdim=True)
    return torch.cat([off.to(torch.int8), sides], -1)


@dataclass(frozen=True)
class Decisions:
    """n checker plays with the equity of every alternative, K rows in all.

    Attributes:
        boards: ``[n, 2, 26]`` int8, side 0 to play. dice: ``[n, 2]`` int8.
        decision: ``[K]`` int64, non-decreasing, the decision each row belongs to.
        plays: ``[K, 2, 26]`` int8, afterstates, the mover side 0.
        equity: ``[K]`` float64, for the mover.
        classes: ``[n]`` int64, index into `CLASSES`.
        weights: ``[4]`` float64, share of each class in real games; adds up to 1.
    """

    boards: Tensor
    dice: Tensor
    decision: Tensor
    plays: Tensor
    equity: Tensor
    classes: Tensor
    weights: Tensor

    def __len__(self) -> int:
        return len(self.boards)

    @property
    def begins(self) -> Tensor:
        """First row of each decision, ``[n]`` int64."""
        return torch.searchsorted(self.decision, torch.arange(len(self)))


def load_decisions(folder: Path, name: str = "decisions") -> Decisions:
    """Read ``decisions.npz`` (or ``bearoff.npz``: its rows with dice, all of one class) of ``folder``."""
    fields = ("own", "opp", "dice", "off", "a_own", "a_opp", "eq")
    graded = name == "decisions"
    data = read_arrays(folder, name, (*fields, "klass", "natural") if graded else fields)
    counts = torch.from_numpy(np.diff(data["off"]).astype(np.int64))
    unforced = counts > (0 if graded else 1)
    number = torch.arange(int(unforced.sum()))
    rows = unforced.repeat_interleave(counts)
    weights = torch.from_numpy(data["natural"].astype(np.float64)) if graded else torch.tensor([0.0, 0.0, 0.0, 1.0])
    classes = data["klass"] if graded else np.full(len(counts), CLASSES.index("bear-off"))
    return Decisions(
        boards=boards_of(data["own"], data["opp"])[unforced],
        dice=torch.from_numpy(data["dice"].astype(np.int8))[unforced],
        decision=number.repeat_interleave(counts[unforced]),
        plays=boards_of(data["a_own"], data["a_opp"])[rows],
        equity=torch.from_numpy(data["eq"].astype(np.float64))[rows],
        classes=torch.from_numpy(classes.astype(np.int64))[unforced],
        weights=weights / weights.sum(),
    )


def choose_rows(evaluator: Judge, decisions: Decisions) -> Tensor:
    """What the model plays without a cube: for each decision the row among its own, ``[n]`` int64."""
    best = evaluator.best(decisions.boards, decisions.dice)
    game, plays = afterstates(decisions.boards, decisions.dice, evaluator.variant)
    chosen = plays[torch.searchsorted(game, torch.arange(len(decisions))) + best]
    same = (decisions.plays == chosen[decisions.decision]).flatten(1).all(1)
    rows = same.nonzero()[:, 0]
    if not torch.equal(decisions.decision[rows], torch.arange(len(decisions))):
        missing = sorted(set(range(len(decisions))) - set(decisions.decision[rows].tolist()))
        raise ValueError(f"reference: decision {missing[:1]}: the play chosen is not among those listed there")
    return rows - decisions.begins


def checker_losses(decisions: Decisions, choices: Tensor) -> Tensor:
    """Points lost by the chosen row of each decision, ``[n]`` float64, 0 for the best."""
    best = torch.full((len(decisions),), -torch.inf, dtype=torch.float64)
    best = best.scatter_reduce(0, decisions.decision, decisions.equity, "amax")
    return best - decisions.equity[decisions.begins + choices]


@dataclass(frozen=True)
class ClassLosses:
    """Millipoints a decision: by class, as classes come up in real games (``natural``), its standard error."""

    by_class: dict[str, float]
    counts: dict[str, int]
    natural: float
    standard_error: float


def losses_by_class(decisions: Decisions, losses: Tensor) -> ClassLosses:
    """Means of ``losses`` ``[n]`` in points, weighted by class; classes without a decision are left out."""
    by_class, counts = {}, {}
    natural = variance = share = 0.0
    for index, name in enumerate(CLASSES):
        part = 1000 * losses[decisions.classes == index]
        if not len(part):
            continue
        by_class[name], counts[name] = float(part.mean()), len(part)
        weight = float(decisions.weights[index])
        share += weight
        natural += weight * by_class[name]
        variance += weight**2 * float(part.var(correction=0)) / len(part)
    return ClassLosses(by_class, counts, natural / share, variance**0.5 / share)


def cumulative(outcome: Tensor) -> Tensor:
    """The reference's five numbers ``[n, 5]`` float64 from six exclusive probabilities ``[n, 6]``.

    Win; win a gammon or more; win a backgammon; lose a gammon or more; lose a backgammon.
    """
    p = outcome.double()
    return torch.stack([p[:, :3].sum(1), p[:, 1] + p[:, 2], p[:, 2], p[:, 4] + p[:, 5], p[:, 5]], 1)


def _equity(five: Tensor) -> Tensor:
    """Cubeless equity ``[n]`` in points of `cumulative` probabilities ``[n, 5]``."""
    return 2 * five[:, 0] - 1 + five[:, 1] + five[:, 2] - five[:, 3] - five[:, 4]


@dataclass(frozen=True)
class Calibration:
    """Errors of a model's outcomes: root mean squares of the five probabilities and of the equity, and its bias."""

    rms_probabilities: tuple[float, ...]
    rms_equity: float
    bias: float
    positions: int


def calibration(five: Tensor, reference: Tensor) -> Calibration:
    """Compare `cumulative` probabilities ``[n, 5]`` with the reference's; equities in points."""
    error = _equity(five) - _equity(reference)
    rms = (five - reference).square().mean(0).sqrt()
    return Calibration(tuple(rms.tolist()), float(error.square().mean().sqrt()), float(error.mean()), len(five))
