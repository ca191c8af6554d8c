"""What the network's outputs mean: outcome probabilities, equities, and values before the roll with a cube.

Every value is from the view of the player on roll, in points per unit of the cube as it stands. Columns of cube values
are the cube states 0 centred, 1 mine, 2 theirs.

The cube, by the recursion behind Keith's tables and Janowski's formula: ND_c is the value of not doubling with the cube
in state c. A double that is taken is worth 2 ND_theirs, one that is dropped 1, and the opponent chooses the smaller, so
the value before the roll is V_c = max(ND_c, min(2 ND_theirs, 1)) where the player may double, and ND_c where not.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..env.board import outcome
from ..env.launch import launch_rows
from ..env.variants import get_variant
from .kernels.status import possible_outcomes as possible_kernel
from .network import NUM_OUTCOMES

__all__ = [
    "LEVELS",
    "before_roll",
    "bounds",
    "equity",
    "exact_probabilities",
    "flip_probabilities",
    "log_probabilities",
    "no_double_values",
    "possible_outcomes",
    "probabilities",
]

# Points of the six outcomes: win single, gammon, backgammon, lose single, gammon, backgammon.
LEVELS = (1.0, 2.0, 3.0, -1.0, -2.0, -3.0)
_FLIPPED = (3, 4, 5, 0, 1, 2)
_IMPOSSIBLE = -1e9


def possible_outcomes(boards: Tensor, variant: str, swap: bool = False) -> Tensor:
    """Which of the six outcomes can still happen, ``[N, 6]`` bool, for side 0 of ``boards``; with ``swap`` for side 1.

    A side with a checker off loses no gammon, and where the sides have passed each other only a loser with a checker
    still in the winner's home can lose a backgammon. In longgammon nobody can.
    """
    num_boards = boards.shape[0]
    flat = boards.contiguous().view(num_boards, 52)
    possible = torch.empty((num_boards, NUM_OUTCOMES), dtype=torch.bool, device=boards.device)
    max_level = get_variant(variant).max_level
    launch_rows(possible_kernel, num_boards, flat, int(swap), max_level, possible, device=boards.device)
    return possible


def log_probabilities(raw: Tensor, possible: Tensor) -> Tensor:
    """Logarithms of `probabilities`, differentiable; very negative where impossible."""
    return torch.log_softmax(raw[:, :NUM_OUTCOMES].masked_fill(~possible, _IMPOSSIBLE), -1)


def probabilities(raw: Tensor, possible: Tensor) -> Tensor:
    """Outcome probabilities ``[N, 6]`` that sum to 1 and are exactly 0 where impossible."""
    return torch.softmax(raw[:, :NUM_OUTCOMES].masked_fill(~possible, _IMPOSSIBLE), -1)


def exact_probabilities(boards: Tensor, variant: str) -> tuple[Tensor, Tensor]:
    """``(done, exact)``: where a game is over, ``[N]`` bool, and its outcome as probabilities ``[N, 6]`` there."""
    level = outcome(boards, variant)
    columns = torch.tensor((0, 1, 2, 3, 4, 5), device=boards.device)
    column = torch.where(level > 0, level - 1, 2 - level)
    return level != 0, (columns == column[:, None]).float()


def flip_probabilities(probs: Tensor) -> Tensor:
    """The same outcomes seen by the other player; its own inverse."""
    return probs[..., _FLIPPED]


def equity(probs: Tensor) -> Tensor:
    """Cubeless money equity ``[N]`` of outcome probabilities ``[N, 6]``."""
    return probs @ probs.new_tensor(LEVELS)


def no_double_values(raw: Tensor, probs: Tensor) -> Tensor:
    """Values of not doubling for the cube centred, mine, theirs: ``[N, 3]``, differentiable in ``raw``.

    The head adds to the cubeless equity (held constant here): an offset for the centred cube, and two
    positive steps, up for owning it and down for the opponent owning it; so mine >= centred >= theirs everywhere.
    A value stays between the worst and the best that can still happen.
    """
    heads = raw[:, NUM_OUTCOMES:]
    centred = equity(probs.detach()) + heads[:, 0]
    steps = torch.nn.functional.softplus(heads[:, 1:])
    return torch.stack([centred, centred + steps[:, 0], centred - steps[:, 1]], -1)


def bounds(possible: Tensor) -> tuple[Tensor, Tensor]:
    """Least and greatest value that not doubling can have, each ``[N, 1]``: no side wins more than its best outcome."""
    best = possible[:, :3].sum(-1, keepdim=True).float()
    worst = -possible[:, 3:].sum(-1, keepdim=True).float()
    return worst, best


def before_roll(no_double: Tensor) -> Tensor:
    """Values before the roll ``[N, 3]`` from those of not doubling ``[N, 3]``, where cube and score allow doubling."""
    doubled = torch.clamp(2.0 * no_double[:, 2:3], max=1.0)
    may = torch.maximum(no_double[:, :2], doubled)
    return torch.cat([may, no_double[:, 2:3]], -1)
