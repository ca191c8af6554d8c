"""What a finished game is worth: the columns that value iteration solves side by side.

A column is one way of scoring the game with one state of the cube, zero-sum, from the view of the player on roll. Money
columns are in points per unit of the cube as it stands, match columns from -1 (the match lost) to 1 (won): twice the
match-winning chance less 1. The value of not doubling is the average over the rolls of the best play's value; before
the roll it is V = max(ND, min(stake * ND_doubled, drop)) where the column has a double. There is no cap on the cube.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .kernels.sweep import COLUMNS

__all__ = ["MATCH", "MONEY", "OUTCOMES", "Column", "Payoffs", "match_columns"]


@dataclass(frozen=True)
class Column:
    """One way of scoring.

    Attributes:
        name: what it is called in a stored solution.
        wins: value of winning a single game, a gammon, a backgammon. A loss is what the opponent's column wins,
            negative.
        flipped: name of the column in which the opponent sees the same game.
        doubled: name of the column after a double and a take, None where the player on roll cannot double.
        stake: value of one unit of that column in units of this.
        drop: value of a double that is dropped.
    """

    name: str
    wins: tuple[float, float, float]
    flipped: str
    doubled: str | None = None
    stake: float = 1.0
    drop: float = 1.0


_POINTS = (1.0, 2.0, 3.0)
_WIN = (1.0, 1.0, 1.0)

# Money, then the scores of a match of which nothing else need be known: 1-away 1-away, and the Crawford game at 1-away
# 2-away seen by the leader and by the trailer.
MONEY = (
    Column("cubeless", _POINTS, "cubeless"),
    Column("centred", _POINTS, "centred", doubled="theirs", stake=2.0),
    Column("jacoby", _WIN, "jacoby", doubled="theirs", stake=2.0),
    Column("mine", _POINTS, "theirs", doubled="theirs", stake=2.0),
    Column("theirs", _POINTS, "mine"),
    Column("match point", _WIN, "match point"),
    Column("leader", _WIN, "trailer"),
    Column("trailer", (0.0, 1.0, 1.0), "leader", drop=0.0),
)


def match_columns(ahead: float) -> tuple[Column, ...]:
    """2-away 2-away, and 1-away 2-away after the Crawford game.

    ``ahead`` is the value of being 1-away before the Crawford game against 2-away. A cube turned at these scores is
    dead and decides the match, as the game at 1-away 1-away does.
    """
    return (
        Column("two away", (ahead, 1.0, 1.0), "two away", doubled="match point", drop=ahead),
        Column("leader after", _WIN, "trailer after"),
        Column("trailer after", (0.0, 1.0, 1.0), "leader after", doubled="match point", drop=0.0),
        Column("match point", _WIN, "match point"),
    )


# The columns that `match_columns` adds to those of money.
MATCH = tuple(column.name for column in match_columns(0.0)[:-1])

# Probabilities of the six outcomes, in the order of `models.Evaluator.outcome`; seen by the other player, wins and
# losses are exchanged and the sign stays.
OUTCOMES = (
    Column("win single", (1.0, 0.0, 0.0), "lose single"),
    Column("win gammon", (0.0, 1.0, 0.0), "lose gammon"),
    Column("win backgammon", (0.0, 0.0, 1.0), "lose backgammon"),
    Column("lose single", (0.0, 0.0, 0.0), "win single"),
    Column("lose gammon", (0.0, 0.0, 0.0), "win gammon"),
    Column("lose backgammon", (0.0, 0.0, 0.0), "win backgammon"),
)


@dataclass(frozen=True)
class Payoffs:
    """Up to eight columns as the kernels take them; what is missing from eight stays 0.

    Attributes:
        wins: ``[3, 8]`` float64. flips: ``[8]`` int32. doubles: ``[8]`` int32, -1 for none.
        stakes: ``[8]`` float64. drops: ``[8]`` float64.
    """

    wins: Tensor
    flips: Tensor
    doubles: Tensor
    stakes: Tensor
    drops: Tensor

    @classmethod
    def of(cls, columns: tuple[Column, ...], device: torch.device | str = "cpu") -> Payoffs:
        """The arrays of ``columns``."""
        names = [column.name for column in columns]
        idle = COLUMNS - len(columns)
        wins = torch.tensor([column.wins for column in columns] + [(0.0, 0.0, 0.0)] * idle, dtype=torch.float64).T
        flips = [names.index(column.flipped) for column in columns] + list(range(len(columns), COLUMNS))
        doubles = [-1 if column.doubled is None else names.index(column.doubled) for column in columns] + [-1] * idle
        return cls(
            wins.contiguous().to(device),
            torch.tensor(flips, dtype=torch.int32, device=device),
            torch.tensor(doubles, dtype=torch.int32, device=device),
            torch.tensor([column.stake for column in columns] + [1.0] * idle, dtype=torch.float64, device=device),
            torch.tensor([column.drop for column in columns] + [1.0] * idle, dtype=torch.float64, device=device),
        )
