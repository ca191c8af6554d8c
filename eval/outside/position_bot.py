"""Engines that are asked about one position at a time, in text, made into a bot.

Cost a decision: the engine's own, a line or two each way, and reading its play, a millisecond.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import torch
from torch import Tensor

from ...env.cube import CubeTensors
from ...env.notation import GameState, NotationError, Offer, find_play
from .bot import Answers, OutsideBot
from .failure import EngineError

__all__ = ["PositionBot", "Question"]


@dataclass(frozen=True)
class Question:
    """A position as its decider's opponent stands to it, in a state of its own.

    Attributes:
        state: the mover is player 1; with ``offer`` set the opponent, player 0, has to answer the mover's double.
        with_cube: is there a cube, or a score?
    """

    state: GameState
    with_cube: bool


class PositionBot(OutsideBot):
    """Asks a program one question after the other."""

    @abstractmethod
    def ask_play(self, question: Question) -> str:
        """The play as text; `EngineError` if there is none."""

    @abstractmethod
    def ask_cube(self, question: Question) -> bool:
        """Double, or where one is on offer take? `EngineError` if there is no answer."""

    def _cube_answers(self, boards: Tensor, cube: CubeTensors, take: bool) -> Answers:
        offer = Offer.DOUBLE if take else Offer.NONE

        def ask(row: int) -> bool:
            return self.ask_cube(_question(boards[row], None, cube, row, offer))

        found, faults = self.patience.each(len(boards), ask)
        answers = torch.zeros(len(boards), dtype=torch.bool)
        for row, answer in found.items():
            answers[row] = answer
        return answers, faults

    def _play_answers(
        self, boards: Tensor, dice: Tensor, cube: CubeTensors | None, game: Tensor, plays: Tensor
    ) -> Answers:
        def ask(row: int) -> Tensor:
            first, second = dice[row].tolist()
            text = self.ask_play(_question(boards[row], (first, second), cube, row))
            try:
                return find_play(text, boards[row], (first, second))
            except NotationError as error:
                raise EngineError(str(error)) from None

        found, faults = self.patience.each(len(boards), ask)
        answers = boards.clone()
        for row, answer in found.items():
            answers[row] = answer
        return answers, faults


def _question(
    board: Tensor, dice: tuple[int, int] | None, cube: CubeTensors | None, row: int, offer: Offer = Offer.NONE
) -> Question:
    """The question of one row; a match is as long as the side further away from its end needs."""
    sides = board.tolist()
    position = tuple(sides[0]), tuple(sides[1])
    if cube is None:
        return Question(GameState(position, dice=dice, offer=offer), with_cube=False)
    away, their_away = cube.away[row].tolist()
    crawford = bool(cube.crawford[row])
    length = max(away, their_away) + (0 if crawford or not away else 1)
    state = GameState(
        position,
        dice=dice,
        cube_value=int(cube.value[row]),
        cube_owner=(None, 1, 0)[int(cube.owner[row])],
        offer=offer,
        match_length=length,
        score=(length - their_away, length - away) if length else (0, 0),
        crawford=crawford,
        jacoby=bool(cube.jacoby[row]),
    )
    return Question(state, with_cube=True)
