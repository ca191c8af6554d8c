"""What all outside bots share: they are asked on the CPU, without forced plays, and their answers are checked.

A bot says what it answers to N questions, and why it has no answer to some of them; here that becomes the batched
face of `Bot`, or `BotFailedError`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from torch import Tensor

from ...env import Cube, GameOptions, afterstates
from ...env.cube import CubeTensors
from ...models.judgement import cube_rows
from .failure import OutsideOptions, Patience

__all__ = ["Answers", "OutsideBot"]

Answers = tuple[Tensor, dict[int, str]]  # [N, ...], and by row why there is none


class OutsideBot(ABC):
    """A bot that is another program; see `Bot` for the three questions.

    Attributes:
        name: its specification.
        knows_cube: can it be asked for doubles and takes?
        deals_at_once: how many deals are played before their results are kept; what a stopped session loses.
    """

    knows_cube: ClassVar[bool] = True
    deals_at_once: int = 4

    def __init__(self, name: str, options: OutsideOptions) -> None:
        self.name = name
        self.options = options
        self.patience = Patience(name, options)

    def check_can_play(self, options: GameOptions) -> None:
        """``ValueError`` if the bot does not know these rules."""
        if options.cube and not self.knows_cube:
            raise ValueError(f"bot: {self.name} cannot be asked about the cube: found env.cube=true, wanted false")

    def double(self, boards: Tensor, cube: Cube) -> Tensor:
        """See `Bot`."""
        return self._cube_answer(boards, cube, take=False)

    def take(self, boards: Tensor, cube: Cube) -> Tensor:
        """See `Bot`."""
        return self._cube_answer(boards, cube, take=True)

    def _cube_answer(self, boards: Tensor, cube: Cube, take: bool) -> Tensor:
        answers, faults = self._cube_answers(boards.cpu(), cube.as_tensors(len(boards), "cpu"), take)
        return self.patience.settle(answers.to(boards.device, torch.bool), faults)

    def choose(
        self, boards: Tensor, dice: Tensor, cube: Cube | None, uniforms: Tensor, second_first: Tensor | None = None
    ) -> Tensor:
        """See `Bot`; ``uniforms`` are not used."""
        state = None if cube is None else cube.as_tensors(len(boards), "cpu")
        here, dice = boards.cpu(), dice.cpu()
        game, plays = afterstates(here, dice, "backgammon", None if second_first is None else second_first.cpu())
        num_plays = game.bincount(minlength=len(here))
        chosen = plays[num_plays.cumsum(0) - num_plays]  # the only one, where a play is forced
        asked = (num_plays > 1).nonzero()[:, 0]
        if len(asked):
            rows = num_plays[game] > 1
            number = torch.zeros_like(num_plays).index_put((asked,), torch.arange(len(asked)))
            some = None if state is None else cube_rows(state, asked)
            answers, faults = self._play_answers(here[asked], dice[asked], some, number[game[rows]], plays[rows])
            chosen[asked] = answers.to(torch.int8)
            faults = {int(asked[row]): reason for row, reason in faults.items()}
            legal = torch.zeros(len(here), dtype=torch.bool)
            legal[game[(plays == chosen[game]).flatten(1).all(1)]] = True
            for row in (~legal).nonzero()[:, 0].tolist():
                faults.setdefault(row, f"found an illegal play of {'-'.join(map(str, dice[row].tolist()))}")
        else:
            faults = {}
        return self.patience.settle(chosen.to(boards.device), faults)

    @abstractmethod
    def _cube_answers(self, boards: Tensor, cube: CubeTensors, take: bool) -> Answers:
        """Double before rolling, or would the opponent take? ``[N]`` bool."""

    @abstractmethod
    def _play_answers(
        self, boards: Tensor, dice: Tensor, cube: CubeTensors | None, game: Tensor, plays: Tensor
    ) -> Answers:
        """The afterstates to play to, ``[N, 2, 26]``; ``game`` ``[M]`` and ``plays`` are `afterstates`, two a row."""
