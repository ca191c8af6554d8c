"""The luck of games in progress, in the unit of their results; by whose values is named on a command line."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env import Games
from ..models import load
from ..models.luck import RollJudge, roll_luck

__all__ = ["Luck", "make_luck"]


@dataclass(frozen=True)
class Luck:
    """Whose values say what a roll was worth.

    Attributes:
        judge: says it.
        name: its specification, for tables and files.
    """

    judge: RollJudge
    name: str

    def of(self, games: Games, rows: Tensor) -> Tensor:
        """How lucky player 0 was with the dice on the table in the games ``rows`` ``[n]``, ``[n]`` float64.

        In points at the cube as it stands; of matches won (+1) and lost (-1), so twice the chance. Without a cube for
        money by cubeless equity.
        """
        options = games.options
        cube = games.cube().rows(rows) if options.cube or options.match_length else None
        turn = games.turn[rows]
        luck = roll_luck(self.judge, games.boards[rows], games.dice[rows], cube, turn == 1, turn == 0)
        unit = 2 if options.match_length else games.cube_value[rows]
        return luck * unit * (1 - 2 * games.player[rows].long())


def make_luck(spec: str | None, variant: str, device: torch.device | str = "cpu") -> Luck | None:
    """The luck that ``spec`` names: "none" or None, "auto" for the model bundled for ``variant``, or "model:NAME".

    ``ValueError`` for anything else, a model that cannot be read, or one for another variant.
    """
    if spec in (None, "none"):
        return None
    spec = f"model:{variant}" if spec == "auto" else spec
    name = spec.removeprefix("model:")
    if name == spec or not name:
        raise ValueError(f"luck: found {spec!r}, wanted none, auto or model:NAME_OR_PATH")
    evaluator = load(name, device)
    if evaluator.variant != variant:
        raise ValueError(f"luck: {spec}: found a model for {evaluator.variant}, wanted one for {variant}")
    return Luck(evaluator, spec)
