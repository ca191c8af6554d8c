"""What the network should have said: lambda-returns for the outcome head and for every cube state.

With the play's own estimate v_t (the value of the best afterstate, already computed in self-play), the return is
G_t = (1 - lambda) v_t + lambda G_(t+1), turned to the mover's view. It is followed only while the game went on
from the play that this value stands for: where another play was made, where the game ended, and at the end of the
window, G_t = v_t. (Watkins's cut for Q(lambda); without it an exploring or cube-minded play would be credited to the
state's own best play.)

A drop is no outcome: it cuts the trace of the outcome head, which then rests on the estimate.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..env.cube import THEIRS
from ..models.values import flip_probabilities
from .selfplay import StakeWindow, Window

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


def td_lambda(window: Window, trace: float) -> Targets:
    """Lambda-returns of a window with lambda = ``trace``."""
    outcome = torch.empty_like(window.outcome)
    no_double = torch.empty_like(window.cube)
    last = len(window.outcome) - 1
    outcome[last] = window.outcome[last]
    no_double[last] = window.cube[last]
    for t in range(last - 1, -1, -1):
        goes_on = ~window.ended[t][:, None]
        weight = trace * (goes_on & window.followed[t]).to(outcome.dtype)  # [N, 4 or 7]
        later = flip_probabilities(outcome[t + 1])
        outcome[t] = torch.lerp(window.outcome[t], later, weight[:, :1])
        returns = -_with_cube_action(window.next_no_double[t], no_double[t + 1])[:, _FLIPPED_STATES]
        no_double[t] = torch.lerp(window.cube[t], returns, weight[:, 1:4])
    return Targets(outcome, no_double, None if window.stake is None else _stake_returns(window, window.stake, trace))


def _stake_returns(window: Window, stake: StakeWindow, trace: float) -> Tensor:
    """Lambda-returns of the cube states at each game's stake, ``[T, N, 3]``.

    Where the stake changed, because the cube was turned, the trace is cut; a double that is taken is worth what the
    network says of the doubled stake.
    """
    values = torch.empty_like(stake.cube)
    last = len(values) - 1
    values[last] = stake.cube[last]
    for t in range(last - 1, -1, -1):
        goes_on = ~(window.ended[t] | stake.turned[t])[:, None]
        weight = trace * (goes_on & window.followed[t][:, 4:]).to(values.dtype)
        predicted, returns = stake.next_no_double[t], values[t + 1]
        doubled = stake.next_double_take[t][:, None].clamp(max=1.0)
        doubles = stake.next_may_double[t][:, None] & (doubled > predicted[:, :THEIRS])
        before = torch.cat([torch.where(doubles, doubled, returns[:, :THEIRS]), returns[:, THEIRS:]], -1)
        values[t] = torch.lerp(stake.cube[t], -before[:, _FLIPPED_STATES], weight)
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
