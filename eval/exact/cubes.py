"""Which column of a solution a cube and a score mean, and what doubling does there."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ...env.cube import CENTRED, MINE, Cube, CubeTensors
from .payoffs import MONEY, Column, match_columns
from .solve import NAMES

__all__ = ["ColumnTable", "CubeStates"]


@dataclass(frozen=True)
class CubeStates:
    """The cubes of N games as columns of a solution, all ``[N]``.

    Attributes:
        column: int64, the player on roll's column. doubled: int64, his column after a double and a take.
        stake: float32, one unit of ``doubled`` in units of ``column``. drop: float32, value of a double dropped.
        match: bool, values are those of a match, -1 to 1.
        may_double: bool, the player on roll may double.
    """

    column: Tensor
    doubled: Tensor
    stake: Tensor
    drop: Tensor
    match: Tensor
    may_double: Tensor

    def __getitem__(self, rows: Tensor) -> CubeStates:
        """The same for games ``rows``."""
        return CubeStates(**{name: field[rows] for name, field in vars(self).items()})


class ColumnTable:
    """What every column of `NAMES` is, as tensors to look up in."""

    def __init__(self, ahead: float, device: torch.device | str) -> None:
        columns = {column.name: column for column in (*MONEY, *match_columns(ahead))}
        ordered: list[Column] = [columns[name] for name in NAMES]
        self._index = {name: index for index, name in enumerate(NAMES)}
        self.flips = torch.tensor([self._index[column.flipped] for column in ordered], device=device)
        self.has_double = torch.tensor([column.doubled is not None for column in ordered], device=device)
        self.drops = torch.tensor([column.drop for column in ordered], dtype=torch.float32, device=device)

    def cubeless(self, num_games: int) -> CubeStates:
        """Money without a cube."""
        zeros = torch.zeros(num_games, dtype=torch.int64, device=self.flips.device)
        ones, no = torch.ones_like(zeros, dtype=torch.float32), torch.zeros_like(zeros, dtype=torch.bool)
        return CubeStates(zeros, zeros, 2 * ones, ones, no, no)

    def states(self, cube: Cube, num_games: int) -> CubeStates:
        """The columns for ``cube``; ``ValueError`` for a state that was not solved."""
        state = cube.as_tensors(num_games, self.flips.device)
        match = state.away[:, 0] > 0
        self._refuse(state, match)
        column = torch.where(match, self._match_column(state), self._money_column(state))
        dead_after = 4 * state.value > state.max_cube
        money_doubled = torch.where(dead_after, self._index["cubeless"], self._index["theirs"])
        return CubeStates(
            column=column,
            doubled=torch.where(match, self._index["match point"], money_doubled),
            stake=torch.where(match, 1.0, 2.0),
            drop=self.drops[column],
            match=match,
            may_double=state.may_double(),
        )

    def _money_column(self, state: CubeTensors) -> Tensor:
        """A cube that nobody can turn any more is none; under Jacoby a centred one then makes every win a single."""
        index = self._index
        centred = torch.where(state.jacoby, index["jacoby"], index["centred"])
        owned = torch.where(state.owner == MINE, index["mine"], index["theirs"])
        live = torch.where(state.owner == CENTRED, centred, owned)
        dead = torch.where(state.jacoby & (state.owner == CENTRED), index["match point"], index["cubeless"])
        return torch.where(2 * state.value > state.max_cube, dead, live)

    def _match_column(self, state: CubeTensors) -> Tensor:
        index = self._index
        no_cube = state.crawford | (2 * state.value > state.max_cube)
        leader = torch.where(no_cube, index["leader"], index["leader after"])
        trailer = torch.where(no_cube, index["trailer"], index["trailer after"])
        ahead = torch.where(state.away[:, 0] == 1, leader, trailer)
        level = torch.where(state.away[:, 0] == state.away[:, 1], index["two away"], ahead)
        return torch.where(_decides(state), index["match point"], level)

    @staticmethod
    def _refuse(state: CubeTensors, match: Tensor) -> None:
        """``ValueError`` naming the first row that asks for something not solved."""
        open_match = match & ~_decides(state)
        level = state.away[:, 0] == state.away[:, 1]
        no_cube = state.crawford | (2 * state.value > state.max_cube)
        refusals = (
            (state.beavers, "found beavers, wanted none: they are not in the exact solution"),
            (state.away.amax(1) > 2, "found a score farther away, wanted at most 2-away 2-away"),
            (open_match & (state.owner != CENTRED), "found an owned cube of 1 in a match, wanted a centred one"),
            (open_match & level & no_cube, "found 2-away 2-away without a cube, wanted a cube that can be turned"),
        )
        for bad, what in refusals:
            if bool(bad.any()):
                raise ValueError(f"cube: row {int(bad.nonzero()[0, 0])}: {what}")


def _decides(state: CubeTensors) -> Tensor:
    """Does a win of any level end the match, whoever wins? ``[N]`` bool."""
    return (state.away[:, 0] > 0) & (state.value >= state.away.amax(1))
