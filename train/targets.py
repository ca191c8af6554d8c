"""What the network should have said: lambda-returns for the outcome head and for every cube state.

With the play's own estimate v_t (the value of the best afterstate, already computed in self-play), the return is
G_t = (1 - lambda) v_t + lambda G_(t+1), turned to the mover's view. It is followed only while the game went on
from the play that this value stands for: where another play was made, where the game ended, and at the end of the
window, G_t = v_t. (Watkins's cut for Q(lambda); without it an exploring or cube-minded play would be credited to the
state's own best play.)

The luck of the roll, if estimated (`train.luck`), is taken off: G_t less what the roll gained over the mean roll. Its
own mean is 0 whatever the estimate is worth, so the return stays unbiased and is only less noisy.

A drop is no outcome: it cuts the trace of the outcome head, which then rests on the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.cube import THEIRS
from ..models.values import flip_probabilities
from .luck import Luck
from .window import StakeWindow, Window

__all__ = ["Targets", "td_lambda"]

# The cube state after the turn as the next player sees it: centred stays, mine and theirs change places.
_FLIPPED_STATES = (0, 2, 1)


@dataclass(frozen=True)
class Targets:
    """For every position of a window, from the view of its player on roll.

    Attributes:
        outcome: ``[T, N, 6]`` probabilities of the six outcomes.
        no_double: ``[T, N, 3]`` values of not doubling with the cube centred, mine, theirs, for money.
        stake: ``[T, N, 3]`` the same at each game's own stake, normalised; None where there is none.
        rows: ``[K]`` int64, the positions to learn from, t * N + n; None for all.
    """

    outcome: Tensor
    no_double: Tensor
    stake: Tensor | None = None
    rows: Tensor | None = None


def td_lambda(window: Window, trace: float, luck: Luck | None = None) -> Targets:
    """Lambda-returns of a window with lambda = ``trace``, less the ``luck`` of its rolls."""
    outcome = window.outcome if luck is None else window.outcome - luck.outcome
    no_double = window.cube if luck is None else window.cube - luck.no_double
    outcome, no_double = outcome.clone(), no_double.clone()
    for t in range(len(outcome) - 2, -1, -1):
        goes_on = ~window.ended[t][:, None]
        weight = trace * (goes_on & window.followed[t]).to(outcome.dtype)  # [N, 4 or 7]
        later = flip_probabilities(outcome[t + 1])
        outcome[t] += weight[:, :1] * (later - window.outcome[t])
        returns = -_with_cube_action(window.next_no_double[t], no_double[t + 1])[:, _FLIPPED_STATES]
        no_double[t] += weight[:, 1:4] * (returns - window.cube[t])
    if window.stake is None:
        return Targets(outcome, no_double)
    stake_luck = None if luck is None else luck.at_stakes(window.stake.here)
    return Targets(outcome, no_double, _stake_returns(window, window.stake, trace, stake_luck))


def _stake_returns(window: Window, stake: StakeWindow, trace: float, luck: Tensor | None) -> Tensor:
    """Lambda-returns of the cube states at each game's stake, ``[T, N, 3]``, less ``luck``.

    Where the stake changed, because the cube was turned, the trace is cut; a double that is taken is worth what the
    network says of the doubled stake.
    """
    values = stake.cube.clone() if luck is None else stake.cube - luck
    for t in range(len(values) - 2, -1, -1):
        goes_on = ~(window.ended[t] | stake.turned[t])[:, None]
        weight = trace * (goes_on & window.followed[t][:, 4:]).to(values.dtype)
        predicted, returns = stake.next_no_double[t], values[t + 1]
        doubled = stake.next_double_take[t][:, None].clamp(max=1.0)
        doubles = stake.next_may_double[t][:, None] & (doubled > predicted[:, :THEIRS])
        before = torch.cat([torch.where(doubles, doubled, returns[:, :THEIRS]), returns[:, THEIRS:]], -1)
        values[t] += weight * (-before[:, _FLIPPED_STATES] - stake.cube[t])
    return values


def _with_cube_action(predicted: Tensor, returns: Tensor) -> Tensor:
    """Return of a position before the roll, ``[N, 3]``, from the returns of not doubling, ``[N, 3]``.

    The network's own ``predicted`` no-double values decide: no double follows the state's return, double and take twice
    the return with the cube theirs, double and drop is worth 1.
    """
    taken = 2.0 * predicted[:, THEIRS:]
    doubles = torch.clamp(taken, max=1.0) > predicted[:, :THEIRS]  # [N, 2] centred, mine
    doubled = torch.where(taken <= 1.0, 2.0 * returns[:, THEIRS:], 1.0)
    return torch.cat([torch.where(doubles, doubled, returns[:, :THEIRS]), returns[:, THEIRS:]], -1)
