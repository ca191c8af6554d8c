"""A small network that sorts out the plays worth a large one's while.

Most of a position's plays are plainly bad. A ranker of some 32 units sees that for a fraction of the cost, and only the
best few of each position, the candidates, go to the large network (`models.plays.CandidatePass`). GNU Backgammon's
pruning networks do the same.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .encoding import NUM_BASIC_INPUTS

__all__ = ["Ranker"]


class Ranker(nn.Module):
    """Estimates the cubeless equity of the player on roll, ``[N]``, from encoded positions ``[N, 618]``.

    It takes the basic inputs alone: it is asked about every play, and the details cost more than it does.
    """

    def __init__(self, units: int, seed: int = 0) -> None:
        """``units``: of its one hidden layer, a multiple of 16."""
        super().__init__()
        self.first = nn.Linear(NUM_BASIC_INPUTS, units)
        self.head = nn.Linear(units, 1)
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            self.first.weight.normal_(0.0, (2.0 / NUM_BASIC_INPUTS) ** 0.5, generator=generator)
            self.first.bias.zero_()
            self.head.weight.normal_(0.0, (0.1 / units) ** 0.5, generator=generator)
            self.head.bias.zero_()

    def forward(self, inputs: Tensor) -> Tensor:
        """``[N, 618]`` to ``[N]``."""
        equity: Tensor = self.head(torch.relu(self.first(inputs[:, :NUM_BASIC_INPUTS])))[:, 0]
        return equity
