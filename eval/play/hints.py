"""What a model thinks of one position: its best plays with their values, and its cube decision, in words."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ...env import Cube, flip
from ...env.notation import Play
from ..bots import Judge

__all__ = ["cube_advice", "play_values", "ranked_plays", "unit"]


def unit(cube: Cube | None) -> str:
    """What a value is measured in: points per unit of the cube, or match-winning chance."""
    return "equity" if cube is None or cube.away is None else "match-winning chance"


def play_values(judge: Judge, legal: Sequence[Play], cube: Cube | None) -> Tensor:
    """The value of each legal play for the mover, ``[K]``: equity, or match-winning chance where there is a score.

    ``cube`` is as the mover sees it, None without a cube. ``ValueError`` for what the model has not learned.
    """
    after = flip(torch.stack([play.board for play in legal]))
    value = judge.equity(after, None if cube is None else cube.flip())
    return -value if cube is None or cube.away is None else 1 - value


def ranked_plays(judge: Judge, legal: Sequence[Play], cube: Cube | None, count: int = 5) -> list[tuple[Play, float]]:
    """The ``count`` best plays with their values, best first."""
    values = play_values(judge, legal, cube)
    order = values.argsort(descending=True, stable=True)[:count].tolist()
    return [(legal[index], float(values[index])) for index in order]


def cube_advice(judge: Judge, board: Tensor, cube: Cube) -> list[str]:
    """The cube decision of the player on roll (side 0 of ``board`` ``[2, 26]``) and the answer to it, as lines."""
    action = judge.cube_action(board[None], cube)
    double, take = bool(action.double[0]), bool(action.take[0])
    if double:
        verdict = "double, take" if take else "double, drop"
    else:
        too_good = not take and float(action.no_double[0]) > float(action.double_pass[0])
        verdict = "too good to double, drop" if too_good else f"no double, {'take' if take else 'drop'}"
    lines = [f"{verdict} ({unit(cube)})"]
    for label, value in (
        ("no double", action.no_double),
        ("double, take", action.double_take),
        ("double, drop", action.double_pass),
    ):
        lines.append(f"  {label:<13} {float(value[0]):+.3f}")
    return lines
