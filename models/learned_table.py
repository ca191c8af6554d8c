"""The match equity table that follows from a network's own judgement, score by score from the end of the match.

MET(a, b) = (O(a, b) + 1 - O(b, a)) / 2, where O is the starter's chance: the mean over the fifteen opening rolls of the
best play, with no cube decision before it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..env.board import start_boards
from .match_equity import MatchEquityTable, from_game_chances
from .network import Network
from .plays import MONEY_COLUMNS, FirstLayer, evaluate_plays
from .stakes import match_stakes

__all__ = ["learned_table"]

_OPENING_ROLLS = [(high, low) for high in range(2, 7) for low in range(1, high)]


def learned_table(network: Network, variant: str, size: int = 25, max_cube: int = 64) -> MatchEquityTable:
    """The table of matches to ``size`` points as ``network``, which must have context units, plays them.

    Cost: some ``3 * size`` calls of `evaluate_plays`, together ``15 * size ** 2`` positions before an opening roll.
    """
    device = network.first.weight.device
    first = FirstLayer(network)
    rolls = torch.tensor(_OPENING_ROLLS, dtype=torch.int8, device=device)

    def starter(table: MatchEquityTable, away: Tensor, crawford: Tensor) -> Tensor:
        """The starter's chances at these scores, ``[K]``."""
        score = away.repeat_interleave(len(rolls), 0)
        flags = crawford.repeat_interleave(len(rolls))
        stakes = match_stakes(torch.ones_like(score[:, 0]), score, flags, max_cube, table)
        boards = start_boards(len(score), variant, device)
        dice = rolls.repeat(len(away), 1)
        plays = evaluate_plays(network, boards, dice, variant, first=first, stakes=stakes.flip())
        best = plays.values[:, MONEY_COLUMNS][plays.best()[:, MONEY_COLUMNS]]
        return (stakes.middle + stakes.half * best).view(len(away), len(rolls)).mean(1)

    def game(table: MatchEquityTable, away: Tensor, crawford: Tensor) -> Tensor:
        table, away, crawford = table.to(device), away.to(device), crawford.to(device)
        return (starter(table, away, crawford) + 1 - starter(table, away.flip(1), crawford)) / 2

    return from_game_chances(game, size, name=f"learned, {variant}").to(device)
