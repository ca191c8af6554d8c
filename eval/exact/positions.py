"""Numbers for all legal positions of a small discipline, and back.

A position is a pair of sides (`sides`), the player on roll first, that hold no point both; pairs with both sides borne
off are no positions. They are numbered by the side on roll, then by the other. Sprintgammon has 7,959,903; the
7,959,904 of the literature count the pair with both sides off.

Memory: for sprintgammon two tables of 43 and 32 MB, made once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ...env.board import check_boards
from ...env.launch import launch_rows
from ...env.variants import get_variant
from .kernels.sides import number_sides
from .sides import Sides, list_sides

__all__ = ["Positions"]


class Positions:
    """The positions of one discipline, a bijection between boards and 0 to ``count - 1``.

    Attributes:
        rules: the discipline.
        sides: the sides that make up a position.
        cells: ``[count]`` int32, increasing: side on roll times S plus the other side.
    """

    def __init__(self, variant: str = "sprintgammon", device: torch.device | str = "cpu") -> None:
        self.rules = get_variant(variant)
        sides = list_sides(self.rules)
        self.sides: Sides = sides.to(device)
        held = (sides.counts[:, 1:25] > 0).float()
        legal = (held @ held.flip(1).T) == 0  # my point p is the opponent's 25 - p
        legal[0, 0] = False
        self.cells = legal.flatten().nonzero()[:, 0].to(device, torch.int32)
        self._by_cell = torch.full((len(sides) ** 2,), -1, dtype=torch.int32, device=device)
        self._by_cell[self.cells] = torch.arange(self.count, dtype=torch.int32, device=device)

    @property
    def count(self) -> int:
        """Legal positions, finished ones included."""
        return len(self.cells)

    @property
    def device(self) -> torch.device:
        """Where the tables are."""
        return self.cells.device

    def pairs(self) -> tuple[Tensor, Tensor]:
        """Numbers of the sides on roll and of the others, ``[count]`` int64 each, in the order of the positions."""
        cells = self.cells.long()
        return cells // len(self.sides), cells % len(self.sides)

    def boards(self, numbers: Tensor) -> Tensor:
        """The boards ``[N, 2, 26]`` int8 of ``numbers`` ``[N]``; ``ValueError`` names the first that is none."""
        outside = (numbers < 0) | (numbers >= self.count)
        if bool(outside.any()):
            row = int(outside.nonzero()[0, 0])
            raise ValueError(f"position: row {row}: found {int(numbers[row])}, wanted 0 to {self.count - 1}")
        cells = self.cells[numbers.to(self.device, torch.int64)].long()
        return self.boards_of(cells // len(self.sides), cells % len(self.sides))

    def boards_of(self, movers: Tensor, others: Tensor) -> Tensor:
        """The boards ``[N, 2, 26]`` of sides by number, ``[N]`` each, unchecked."""
        return torch.stack([self.sides.counts[movers.long()], self.sides.counts[others.long()]], 1)

    def numbers(self, boards: Tensor) -> Tensor:
        """The numbers ``[N]`` int64 of ``boards`` ``[N, 2, 26]``; ``ValueError`` names the first bad row."""
        return self.numbers_unchecked(check_boards(boards, self.rules).to(self.device))

    def numbers_unchecked(self, boards: Tensor) -> Tensor:
        """As `numbers` for boards known to be legal, int8, contiguous and on this device."""
        return self.numbers_of(*self.sides_of(boards).unbind(1))

    def numbers_of(self, movers: Tensor, others: Tensor) -> Tensor:
        """The numbers ``[N]`` int64 of pairs of sides, on roll and other, ``[N]`` each, unchecked."""
        return self._by_cell[movers.long() * len(self.sides) + others.long()].long()

    def sides_of(self, boards: Tensor) -> Tensor:
        """The numbers ``[N, 2]`` int64 of both sides of ``boards``, unchecked."""
        pairs = torch.empty((len(boards), 2), dtype=torch.int64, device=self.device)
        packed = boards.view(-1, 52).view(torch.int32)
        launch_rows(number_sides, len(boards), packed, self.sides.by_key, pairs, device=self.device)
        return pairs
