"""Self-play by a plain rule, to meet the positions of whole games: random play, or the best by a given value.

For measuring and testing; collecting what a network learns from is `nardy.train`'s. A turn of all games is one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from ..env import afterstates, flip, outcome, start_boards

__all__ = ["Turns", "play_turns"]

Value = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Turns:
    """Consecutive turns of G games played side by side, P turns each; a finished game is followed by a new one."""

    boards: Tensor  # [P, G, 2, 26] int8, before the roll, the player on roll side 0
    dice: Tensor  # [P, G, 2] int8
    first: Tensor  # [P, G] bool: the first turn of a game (its two dice differ)

    def decisions(self, number: int) -> tuple[Tensor, Tensor]:
        """The first ``number`` turns as a batch: boards ``[number, 2, 26]``, dice ``[number, 2]``."""
        return self.boards.flatten(0, 1)[:number].contiguous(), self.dice.flatten(0, 1)[:number].contiguous()


def _roll(first: Tensor, generator: torch.Generator) -> Tensor:
    """Two dice a game, ``[G, 2]``; a game's first roll has two different numbers (rules.md 1.2)."""
    dice = torch.randint(1, 7, (len(first), 2), generator=generator)
    further = torch.randint(1, 6, (len(first),), generator=generator)
    dice[:, 1] = torch.where(first, (dice[:, 0] - 1 + further) % 6 + 1, dice[:, 1])
    return dice.to(torch.int8)


def _best_rows(game: Tensor, value: Tensor, num_games: int) -> Tensor:
    """The row of each game's most valuable afterstate, ``[num_games]``; ties go to the lowest row."""
    top = value.new_full((num_games,), -math.inf).scatter_reduce(0, game, value, "amax")
    rows = torch.arange(len(game))
    candidates = torch.where(value == top[game], rows, len(game))
    return torch.full((num_games,), len(game)).scatter_reduce(0, game, candidates, "amin")


def play_turns(
    num_games: int, num_turns: int, seed: int, variant: str = "backgammon", value: Value | None = None
) -> Turns:
    """Play both sides of ``num_games`` games, ``num_turns`` turns in each, and return the turns met.

    ``value`` maps afterstates ``[M, 2, 26]``, the mover side 0, to ``[M]`` float, higher the better for the mover,
    who plays the best; without it every afterstate is as likely as another.
    """
    generator = torch.Generator().manual_seed(seed)
    start = start_boards(num_games, variant)
    boards, first = start, torch.ones(num_games, dtype=torch.bool)
    second = torch.zeros_like(first)
    turns: list[tuple[Tensor, Tensor, Tensor]] = []
    for _ in range(num_turns):
        dice = _roll(first, generator)
        turns.append((boards, dice, first))
        game, ends = afterstates(boards, dice, variant, second)
        worth = torch.rand(len(game), generator=generator) if value is None else value(ends)
        played = ends[_best_rows(game, worth, num_games)]
        second, first = first, outcome(played, variant) != 0
        boards = torch.where(first[:, None, None], start, flip(played))
    return Turns(*(torch.stack(part) for part in zip(*turns, strict=True)))
