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

__all__ = ["OpenTurn", "open_turn"]


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


def open_turn(
    before: Tensor, dice: tuple[int, int], moves: Sequence[int], variant: str, second_first: bool
) -> OpenTurn:
    """The turn from ``before`` ``[2, 26]`` int8 after ``moves``, action numbers; a kernel launch or two each.

    `NotationError` names the first that is not legal, and refuses moves that finish the turn.
    """
    boards, roll = before[None].contiguous(), torch.tensor([dice], dtype=torch.int8)
    left, heads = dice_to_play(roll), heads_to_move(roll, variant, torch.tensor([second_first]))
    mask = move_mask(boards, left, variant, heads).flatten(1)
    for number, action in enumerate(moves, start=1):
        if not 0 <= action < NUM_MOVES or not bool(mask[0, action]):
            raise NotationError(f"move {number} of the turn is not legal, wanted one of {int(mask.sum())} legal moves")
        die, point = torch.tensor([action // 25 + 1]), torch.tensor([action % 25 + 1])
        boards = apply_move(boards, die, point, variant)
        left, heads = use_die(left, die), use_head(heads, die, point)
        mask = move_mask(boards, left, variant, heads).flatten(1)
    if moves and not bool(mask.any()):
        raise NotationError(f"found {len(moves)} moves that finish the turn, wanted a whole play then")
    mine, theirs = boards[0].tolist()
    return OpenTurn((tuple(mine), tuple(theirs)), tuple(die for die in left[0].tolist() if die), int(heads[0]))
