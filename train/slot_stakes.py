"""The stake at which each self-play slot's game is judged beside plain money: a match score and cube, or Jacoby.

Every game is given one at random when it is dealt, so that every position teaches the network something of every cube
state at some stake; in a share of the games that stake is also what the two sides play for. Cost: stakes are looked
up, for there are some 7,500 in all; some thirty operations on ``[N]`` tensors a ply, no host synchronisation.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from ..env.dice import Purpose, random_words
from ..env.games import Games
from ..models.match_equity import MatchEquityTable
from ..models.stakes import Stakes, match_stakes, money_stakes

__all__ = ["CUBELESS", "MONEY", "STAKE", "SlotStakes"]

# How a slot's game is played: cubeless to its end, with the cube for money, with the cube for its own stake.
CUBELESS, MONEY, STAKE = 0, 1, 2

_JACOBY = 0.12  # share of the stakes that are money with the Jacoby rule
_CRAWFORD = 0.1  # share of Crawford games where one side needs a point: the cube is dead there, nothing to learn
_CUBE_EXPONENTS = (0.4, 0.7, 0.9)  # of stakes that are only judged: up to here the cube is 1, 2, 4, then 8


class _StakeBook:
    """The stakes of every match score and cube by one match equity table, and of Jacoby money, each worked out once."""

    def __init__(self, table: MatchEquityTable, max_cube: int) -> None:
        device = table.before.device
        self.size = table.size
        # A cube that wins the match for either side is worth the same however high it is.
        self.num_cubes = (self.size - 1).bit_length() + 1
        needed, flags, exponents = (torch.arange(n, device=device) for n in (self.size, 2, self.num_cubes))
        mine, theirs, crawford, exponent = torch.cartesian_prod(needed + 1, needed + 1, flags, exponents).unbind(1)
        away = torch.stack([mine, theirs], 1)
        match = match_stakes(1 << exponent, away, crawford == 1, max_cube, table)
        value = 1 << torch.arange(max_cube.bit_length(), device=device)
        self.first_money = len(away)
        self.stakes = Stakes.cat([match, money_stakes(value, max_cube, value == 1)])

    def of(self, value: Tensor, away: Tensor, crawford: Tensor) -> Stakes:
        """Stakes at the cubes ``value`` ``[N]``, powers of two, and the points ``away`` ``[N, 2]``, 0 0 for Jacoby."""
        exponent = value.float().log2().round().long()
        mine, theirs = (away.long().clamp(1, self.size) - 1).unbind(-1)
        row = ((mine * self.size + theirs) * 2 + crawford) * self.num_cubes + exponent.clamp(max=self.num_cubes - 1)
        return self.stakes.rows(torch.where(away[:, 0] == 0, self.first_money + exponent, row))


class SlotStakes:
    """One stake a slot.

    Attributes:
        kind: ``[N]`` int8, `CUBELESS`, `MONEY` or `STAKE`.
        away: ``[N, 2]`` int32, points needed by player 0 and player 1; 0 0 for Jacoby money.
        crawford: ``[N]`` bool.
        cube: ``[N]`` int32, the cube's value where the game is not played for the stake.
    """

    STATE = ("kind", "away", "crawford", "cube")

    def __init__(self, games: Games, money_fraction: float, stake_fraction: float, table: MatchEquityTable) -> None:
        self.games = games
        self.money_fraction = money_fraction
        self.stake_fraction = stake_fraction
        self.table = table
        device, num_games = games.device, games.num_games
        self.kind = torch.zeros(num_games, dtype=torch.int8, device=device)
        self.away = torch.ones((num_games, 2), dtype=torch.int32, device=device)
        self.crawford = torch.zeros(num_games, dtype=torch.bool, device=device)
        self.cube = torch.ones(num_games, dtype=torch.int32, device=device)
        # Short scores come up more often, as they do in matches and as they differ more from one another.
        size = table.before.shape[0]
        weights = 1.0 / (torch.arange(size, dtype=torch.float64) + 3.0)
        self._away_limits = (weights.cumsum(0) / weights.sum())[:-1].to(device, torch.float32)

    def part(self, begin: int, end: int, games: Games) -> SlotStakes:
        """The stakes of the slots from ``begin`` to ``end``, which are those of ``games``."""
        part = copy.copy(self)
        part.games = games
        for name in self.STATE:
            setattr(part, name, getattr(self, name)[begin:end])
        return part

    def join(self, parts: Sequence[SlotStakes]) -> None:
        """Take over the stakes of ``parts``, which together are all the slots in their order."""
        for name in self.STATE:
            setattr(self, name, torch.cat([getattr(part, name) for part in parts]))

    @property
    def table(self) -> MatchEquityTable:
        """Chances at the score after the game."""
        return self._table

    @table.setter
    def table(self, table: MatchEquityTable) -> None:
        self._table = table
        self._book = _StakeBook(table, self.games.options.max_cube)

    def draw(self, where: Tensor) -> None:
        """New kinds and stakes where ``where`` ``[N]`` holds, each from its slot's own stream."""
        games = self.games
        words = random_words(games.seed, games.slots, games.num_rolls, Purpose.POLICY)
        drawn = (words >> 8).to(torch.float32) * 2.0**-24  # [N, 4] in [0, 1)
        kind = (drawn[:, 0] < self.money_fraction + self.stake_fraction).to(torch.int8) * STAKE
        kind = torch.where(drawn[:, 0] < self.money_fraction, MONEY, kind).to(torch.int8)
        away = torch.searchsorted(self._away_limits, drawn[:, 1:3].contiguous(), right=True).to(torch.int32) + 1
        rest = drawn[:, 3]
        jacoby = rest < _JACOBY
        rest = (rest - _JACOBY) / (1.0 - _JACOBY)
        one_short = (away == 1).sum(1) == 1
        crawford = ~jacoby & one_short & (rest < _CRAWFORD)
        exponent = sum((rest >= limit).to(torch.int32) for limit in _CUBE_EXPONENTS)
        cube = torch.ones_like(self.cube) << torch.as_tensor(exponent)
        cube = torch.where(crawford | (cube >= away.amax(1)), 1, cube)  # dead for both: nothing to learn
        self.kind = torch.where(where, kind, self.kind)
        self.away = torch.where(where[:, None], torch.where(jacoby[:, None], 0, away), self.away)
        self.crawford = torch.where(where, crawford, self.crawford)
        self.cube = torch.where(where, torch.where(jacoby, 1, cube), self.cube)

    def played(self) -> Tensor:
        """Where the game is played for its stake, ``[N]`` bool."""
        return self.kind == STAKE

    def seen_by(self, player: Tensor) -> Stakes:
        """The stakes as they are now from the view of ``player`` ``[N]`` (0 or 1)."""
        games = self.games
        value = torch.where(self.played(), games.cube_value, self.cube)
        away = torch.where(player[:, None] == 0, self.away, self.away.flip(-1))
        return self._book.of(value, away, self.crawford)
