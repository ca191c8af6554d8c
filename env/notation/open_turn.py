"""A turn that has begun and is not finished: the moves made so far, and what is left to play."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..decisions import NUM_MOVES
from ..moves import apply_move, dice_to_play, heads_to_move, move_mask, use_die, use_head
from .errors import NotationError
from .state import Position

__all__ = ["Hand", "OpenTurn", "Reach", "open_turn"]

OFF = 0


@dataclass(frozen=True)
class OpenTurn:
    """Where a turn stands.

    Attributes:
        board: the position with the moves made, the mover side 0.
        dice_left: the dice still to play, in the order of `Decisions.dice_left`, without zeros.
        heads_left: how many more checkers may leave point 24; counts in longgammon only.
    """

    board: Position
    dice_left: tuple[int, ...]
    heads_left: int


@dataclass(frozen=True)
class Reach:
    """A point that one checker can be brought to: ``moves`` are the action numbers that do it, one a die."""

    source: int
    target: int
    moves: tuple[int, ...]


@dataclass(frozen=True)
class _Stage:
    boards: Tensor  # [1, 2, 26]
    left: Tensor  # [1, 4]
    heads: Tensor  # [1]
    mask: Tensor  # [150]


class Hand:
    """A turn made checker by checker, and taken back as one likes until it is given up for good.

    Action numbers are those of `env.decisions`. Cost of a move: a kernel launch or two.

    Attributes:
        moves: those made so far.
    """

    def __init__(self, before: Tensor, dice: Sequence[int], variant: str, second_first: bool) -> None:
        """A turn from ``before`` ``[2, 26]`` int8, the mover side 0; ``second_first`` as in `env.afterstates`."""
        self.moves: list[int] = []
        self._variant = variant
        roll = torch.tensor([list(dice)], dtype=torch.int8)
        heads = heads_to_move(roll, variant, torch.tensor([second_first]))
        self._stages = [self._stage(before[None].contiguous(), dice_to_play(roll), heads)]

    @property
    def board(self) -> Tensor:
        """The position with the moves made, ``[2, 26]`` int8, the mover side 0."""
        return self._stages[-1].boards[0]

    @property
    def dice_left(self) -> tuple[int, ...]:
        """The dice still to play, without zeros."""
        return tuple(die for die in self._stages[-1].left[0].tolist() if die)

    @property
    def heads_left(self) -> int:
        """How many more checkers may leave point 24; counts in longgammon only."""
        return int(self._stages[-1].heads[0])

    @property
    def legal(self) -> list[int]:
        """The moves that extend to a legal turn; none when the turn is whole."""
        moves: list[int] = self._stages[-1].mask.nonzero()[:, 0].tolist()
        return moves

    def make(self, move: int) -> None:
        """Make one of `legal`; ``ValueError`` for another."""
        stage = self._stages[-1]
        if not 0 <= move < NUM_MOVES or not bool(stage.mask[move]):
            raise ValueError(f"move: found {move}, wanted one of {self.legal}")
        self._stages.append(self._after(stage, move))
        self.moves.append(move)

    def take_back(self) -> bool:
        """Take back the last move; False if none was made."""
        if not self.moves:
            return False
        self.moves.pop()
        self._stages.pop()
        return True

    def reach(self) -> list[Reach]:
        """Where each checker can go now, with one die or several; of ways to a point the shortest, larger die first."""
        found: dict[tuple[int, int], tuple[int, ...]] = {}
        for move in sorted(self.legal, key=lambda move: -(move // 25)):
            self._follow(self._stages[-1], move, (), found)
        return [Reach(source, target, moves) for (source, target), moves in sorted(found.items(), reverse=True)]

    def _follow(
        self, stage: _Stage, move: int, before: tuple[int, ...], found: dict[tuple[int, int], tuple[int, ...]]
    ) -> None:
        """Note where ``move`` brings its checker, and go on with that checker."""
        moves = (*before, move)
        target = max(0, move % 25 - move // 25)
        key = (moves[0] % 25 + 1, target)
        if key not in found or len(moves) < len(found[key]):
            found[key] = moves
        if target == OFF:
            return
        stage = self._after(stage, move)
        for further in sorted(stage.mask.nonzero()[:, 0].tolist(), reverse=True):
            if further % 25 + 1 == target:
                self._follow(stage, further, moves, found)

    def _after(self, stage: _Stage, move: int) -> _Stage:
        die, point = torch.tensor([move // 25 + 1]), torch.tensor([move % 25 + 1])
        boards = apply_move(stage.boards, die, point, self._variant)
        return self._stage(boards, use_die(stage.left, die), use_head(stage.heads, die, point))

    def _stage(self, boards: Tensor, left: Tensor, heads: Tensor) -> _Stage:
        return _Stage(boards, left, heads, move_mask(boards, left, self._variant, heads).flatten())


def open_turn(
    before: Tensor, dice: tuple[int, int], moves: Sequence[int], variant: str, second_first: bool
) -> OpenTurn:
    """The turn from ``before`` ``[2, 26]`` int8 after ``moves``, action numbers; a kernel launch or two each.

    `NotationError` names the first that is not legal, and refuses moves that finish the turn.
    """
    hand = Hand(before, dice, variant, second_first)
    for number, action in enumerate(moves, start=1):
        legal = hand.legal
        if action not in legal:
            raise NotationError(f"move {number} of the turn is not legal, wanted one of {len(legal)} legal moves")
        hand.make(action)
    if moves and not hand.legal:
        raise NotationError(f"found {len(moves)} moves that finish the turn, wanted a whole play then")
    mine, theirs = hand.board.tolist()
    return OpenTurn((tuple(mine), tuple(theirs)), hand.dice_left, hand.heads_left)
