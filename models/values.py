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
from .constants import constant
from .kernels.status import possible_outcomes as possible_kernel
from .network import NUM_CUBE, NUM_OUTCOMES, Network
from .stakes import Stakes

__all__ = [
    "LEVELS",
    "before_roll",
    "bounds",
    "context_no_double",
    "equity",
    "exact_probabilities",
    "flip_probabilities",
    "log_probabilities",
    "no_double_values",
    "payoff_bounds",
    "possible_outcomes",
    "probabilities",
    "stake_no_double",
]

# Points of the six outcomes: win single, gammon, backgammon, lose single, gammon, backgammon.
LEVELS = (1.0, 2.0, 3.0, -1.0, -2.0, -3.0)
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
    """Logarithms of `probabilities` ``[N, ..., 6]``, differentiable; very negative where impossible."""
    return torch.log_softmax(raw[..., :NUM_OUTCOMES].masked_fill(~possible, _IMPOSSIBLE), -1)


def probabilities(raw: Tensor, possible: Tensor) -> Tensor:
    """Outcome probabilities ``[N, 6]`` that sum to 1 and are exactly 0 where impossible."""
    return torch.softmax(raw[:, :NUM_OUTCOMES].masked_fill(~possible, _IMPOSSIBLE), -1)


def exact_probabilities(boards: Tensor, variant: str) -> tuple[Tensor, Tensor]:
    """``(done, exact)``: where a game is over, ``[N]`` bool, and its outcome as probabilities ``[N, 6]`` there."""
    level = outcome(boards, variant)
    columns = torch.arange(NUM_OUTCOMES, device=boards.device)
    column = torch.where(level > 0, level - 1, 2 - level)
    return level != 0, (columns == column[:, None]).float()


def flip_probabilities(probs: Tensor) -> Tensor:
    """The same outcomes seen by the other player; its own inverse."""
    return torch.cat([probs[..., 3:], probs[..., :3]], -1)


def equity(probs: Tensor) -> Tensor:
    """Cubeless money equity ``[N]`` of outcome probabilities ``[N, 6]``."""
    return probs @ constant(LEVELS, probs.device, probs.dtype)


def no_double_values(raw: Tensor, probs: Tensor) -> Tensor:
    """Values of not doubling for the cube centred, mine, theirs: ``[N, 3]``, differentiable in ``raw``.

    The head adds to the cubeless equity (held constant here): an offset for the centred cube, and two
    positive steps, up for owning it and down for the opponent owning it; so mine >= centred >= theirs everywhere.
    A value stays between the worst and the best that can still happen.
    """
    return _with_cube(raw[:, NUM_OUTCOMES : NUM_OUTCOMES + NUM_CUBE], equity(probs.detach()))


def _with_cube(heads: Tensor, cubeless: Tensor) -> Tensor:
    """No-double values ``[N, 3]`` from the cube head's numbers ``[N, 3]`` and the cubeless value ``[N]``."""
    centred = cubeless + heads[:, 0]
    steps = torch.nn.functional.softplus(heads[:, 1:])
    return torch.stack([centred, centred + steps[:, 0], centred - steps[:, 1]], -1)


def stake_no_double(
    network: Network, raw: Tensor, probs: Tensor, payoff: Tensor, features: Tensor, may_double: Tensor
) -> tuple[Tensor, Tensor]:
    """Values of not doubling at a stake, for the cube centred, mine, theirs, differentiable in ``raw`` and ``network``.

    ``payoff``, ``features`` and ``may_double`` are those of `Stakes` seen by the player on roll.

    Returns:
        ``(no_double, live)``: ``[N, 3]`` normalised, not kept between the worst and the best that can happen; and
        ``[N, 3]`` bool, False where nobody can turn the cube any more. There the value is the cubeless one exactly.
    """
    cubeless = (probs.detach() * payoff).sum(-1)
    mine, theirs = may_double.unbind(1)
    live = torch.stack([mine | theirs, mine, theirs], 1)
    return torch.where(live, _with_cube(network.context_heads(raw, features), cubeless), cubeless[:, None]), live


def context_no_double(
    network: Network, raw: Tensor, probs: Tensor, possible: Tensor, stakes: Stakes
) -> tuple[Tensor, Tensor]:
    """Values of not doubling and of a double that is taken, at ``stakes`` seen by the player on roll.

    Returns:
        ``(no_double, double_take)``: ``[N, 3]`` for the cube centred, mine, theirs, normalised as `Stakes` has it, and
        ``[N]`` the value, on the same scale, of the opponent owning the doubled cube.
    """
    no_double, _ = stake_no_double(network, raw, probs, stakes.payoff, stakes.features, stakes.may_double)
    doubled, _ = stake_no_double(
        network, raw, probs, stakes.doubled_payoff, stakes.doubled_features, stakes.may_redouble
    )
    doubled_take = doubled[:, 2].clamp(*(limit[:, 0] for limit in payoff_bounds(stakes.doubled_payoff, possible)))
    return (
        no_double.clamp(*payoff_bounds(stakes.payoff, possible)),
        stakes.shift + stakes.scale * doubled_take,
    )


def payoff_bounds(payoff: Tensor, possible: Tensor) -> tuple[Tensor, Tensor]:
    """Least and greatest worth of the outcomes that can still happen, each ``[N, 1]``."""
    worst = payoff[:, 3:].masked_fill(~possible[:, 3:], 0.0).amin(-1, keepdim=True)
    best = payoff[:, :3].masked_fill(~possible[:, :3], 0.0).amax(-1, keepdim=True)
    return worst, best


def bounds(possible: Tensor) -> tuple[Tensor, Tensor]:
    """Least and greatest value that not doubling can have, each ``[N, 1]``: no side wins more than its best outcome."""
    best = possible[:, :3].sum(-1, keepdim=True).float()
    worst = -possible[:, 3:].sum(-1, keepdim=True).float()
    return worst, best


def before_roll(no_double: Tensor, double_take: Tensor, may_double: Tensor | bool = True) -> Tensor:
    """Values before the roll ``[N, 3]`` from those of not doubling ``[N, 3]`` and of double and take ``[N]``.

    ``may_double`` ``[N]`` bool: where cube and score allow it if the cube is centred or mine.
    """
    doubled = torch.clamp(double_take, max=1.0)[:, None]
    better = torch.maximum(no_double[:, :2], doubled)
    if not isinstance(may_double, bool):
        better = torch.where(may_double[:, None], better, no_double[:, :2])
    return torch.cat([better, no_double[:, 2:3]], -1)
