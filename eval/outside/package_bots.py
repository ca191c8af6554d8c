"""Bots that play by the decisions of a Python package: ``pubeval`` and Open Sage.

They are asked for whole batches in processes of their own; what they answer are boards, doubles and takes.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from ...env.cube import CubeTensors
from ...env.launch import num_threads
from .bot import Answers, OutsideBot
from .failure import OutsideOptions
from .workers import Workers

__all__ = ["BgsageBot", "PubevalBot"]

_PLAY, _CUBE = 0, 1


class PubevalBot(OutsideBot):
    """Tesauro's public linear evaluator of 1993, as the package ``gnubg-nn`` has it; it knows no cube."""

    knows_cube: ClassVar[bool] = False
    deals_at_once = 2048

    def __init__(self, name: str, options: OutsideOptions) -> None:
        super().__init__(name, options)
        self._workers = Workers("pubeval", (), options, self.patience, num_threads())

    def _cube_answers(self, boards: Tensor, cube: CubeTensors, take: bool) -> Answers:
        raise AssertionError("asked about the cube")

    def _play_answers(
        self, boards: Tensor, dice: Tensor, cube: CubeTensors | None, game: Tensor, plays: Tensor
    ) -> Answers:
        rows = torch.cat([boards.flatten(1), dice], 1)
        answers, faults = self._workers.ask(_PLAY, rows, 52, 2048)
        return answers.view(-1, 2, 26), faults


class BgsageBot(OutsideBot):
    """Open Sage at 1 to 4 plies as it counts them: its own plays and its own cube.

    It cannot be told of a limit of the cube: in a match without one it plays as if there were one.
    """

    deals_at_once = 256

    def __init__(self, name: str, options: OutsideOptions, plies: int = 1) -> None:
        super().__init__(name, options)
        self._rows_a_part = (1024, 64, 8, 2)[plies - 1]  # it spreads a part over its own threads
        self._workers = Workers("bgsage", (str(plies), str(num_threads())), options, self.patience, 1)

    def _cube_answers(self, boards: Tensor, cube: CubeTensors, take: bool) -> Answers:
        rows = _rows(boards, torch.zeros((len(boards), 2)), cube)
        answers, faults = self._workers.ask(_CUBE, rows, 2, self._rows_a_part)
        return answers[:, int(take)] > 0.5, faults

    def _play_answers(
        self, boards: Tensor, dice: Tensor, cube: CubeTensors | None, game: Tensor, plays: Tensor
    ) -> Answers:
        answers, faults = self._workers.ask(_PLAY, _rows(boards, dice, cube), 52, self._rows_a_part)
        return answers.view(-1, 2, 26), faults


def _rows(boards: Tensor, dice: Tensor, cube: CubeTensors | None) -> Tensor:
    """``[N, 61]`` as ``package_worker.py`` describes them."""
    rows = torch.zeros((len(boards), 61), dtype=torch.int32)
    rows[:, :52], rows[:, 52:54], rows[:, 54] = boards.flatten(1), dice, 1
    if cube is not None:
        state = (cube.value, cube.owner, *cube.away.unbind(1), cube.crawford, cube.jacoby)
        rows[:, 54:60] = torch.stack([column.int() for column in state], 1)
        rows[:, 60] = 1
    return rows
