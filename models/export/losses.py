"""What a smaller form of a model costs: how far its values and its plays are from the model's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ...env import afterstates, flip
from ..evaluator import Evaluator
from ..values import equity
from .reference import played_positions

__all__ = ["PlayLoss", "play_loss"]

_ROWS = 1 << 15


@dataclass(frozen=True)
class PlayLoss:
    """By the judgement of the model itself, cubeless, over the decisions of its own games that have a choice.

    Attributes:
        decisions: how many. changed: share of them in which another play is chosen.
        equity_rms: root of the mean squared difference of all plays' equities.
        equity_lost: mean equity lost a decision, in millipoints.
    """

    decisions: int
    changed: float
    equity_rms: float
    equity_lost: float


def play_loss(
    evaluator: Evaluator, outcome: Callable[[Tensor], Tensor], decisions: int = 10_000, seed: int = 2
) -> PlayLoss:
    """Compare plays by ``outcome``, which gives ``[M, 6]`` probabilities for boards, with the evaluator's."""
    boards, dice = played_positions(evaluator, decisions, seed)
    game, ends = afterstates(boards, dice, evaluator.variant)
    theirs = flip(ends)
    parts = torch.split(theirs, _ROWS)
    ours = -torch.cat([evaluator.equity(part) for part in parts])
    other = -torch.cat([equity(outcome(part)) for part in parts])
    chosen, wanted = (_best_rows(game, values, decisions) for values in (other, ours))
    choice = torch.bincount(game, minlength=decisions) > 1
    lost = (ours[wanted] - ours[chosen])[choice]
    return PlayLoss(
        decisions=int(choice.sum()),
        changed=float((chosen != wanted)[choice].double().mean()),
        equity_rms=float((ours - other).double().square().mean().sqrt()),
        equity_lost=1000 * float(lost.double().mean()),
    )


def _best_rows(game: Tensor, values: Tensor, num_games: int) -> Tensor:
    """The row of each game's highest value, ties to the lowest row, ``[N]``."""
    highest = torch.full((num_games,), -torch.inf).scatter_reduce(0, game, values, "amax")
    rows = torch.where(values == highest[game], torch.arange(len(game)), len(game))
    return torch.full((num_games,), len(game)).scatter_reduce(0, game, rows, "amin")
