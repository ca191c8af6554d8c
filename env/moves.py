"""Single moves of a turn played checker by checker (rules.md 1.4 to 1.6), batched.

A turn starts with `dice_to_play` of the roll, goes on with any move that `move_mask` offers and `apply_move`, each
taking one die away with `use_die`, and is over when the mask is empty. Every end position reached so is one of
`afterstates`, and every one of those is reached. In longgammon the turn also starts with `heads_to_move` and counts
with `use_head`. Cost: one launch a call, no host synchronisation.
"""

from __future__ import annotations

import torch
from torch import Tensor

from .kernels.long_moves import list_long_moves, make_long_moves
from .kernels.moves import list_moves, make_moves
from .launch import launch_rows
from .variants import get_variant

__all__ = ["apply_move", "dice_to_play", "heads_to_move", "move_mask", "use_die", "use_head"]

HEAD = 24


def dice_to_play(dice: Tensor) -> Tensor:
    """The dice that a roll ``[N, 2]`` gives to play, ``[N, 4]`` int8: two and two zeros, or four of a double."""
    doubled = (dice[:, :1] == dice[:, 1:]).to(torch.int8)
    return torch.cat([dice, dice * doubled], 1).to(torch.int8)


def use_die(dice_left: Tensor, die: Tensor) -> Tensor:
    """``dice_left`` ``[N, 4]`` with the first die equal to ``die`` ``[N]`` set to 0; a ``die`` of 0 uses none."""
    same = (dice_left == die[:, None]) & (die[:, None] > 0)
    first = same & (same.cumsum(1) == 1)
    return torch.where(first, 0, dice_left)


def heads_to_move(dice: Tensor, variant: str = "backgammon", second_first: Tensor | None = None) -> Tensor:
    """How many checkers may leave point 24 in a turn with the roll ``dice`` ``[N, 2]``, ``[N]`` int8 (4.3).

    ``second_first`` ``[N]`` bool marks the second player's first roll of a game; None is nowhere. In a discipline
    without the rule it is as many as there are.
    """
    rules = get_variant(variant)
    heads = torch.full(dice.shape[:1], rules.num_checkers, dtype=torch.int8, device=dice.device)
    if rules.head is not None:
        heads.fill_(rules.head)
        if second_first is not None:
            exception = (dice[:, 0] == dice[:, 1]) & second_first
            named = torch.zeros_like(exception)
            for number in rules.first_head_doubles:
                named |= dice[:, 0] == number
            heads.masked_fill_(exception & named, rules.first_head)
    return heads


def use_head(heads_left: Tensor, die: Tensor, point: Tensor) -> Tensor:
    """``heads_left`` ``[N]`` after a move from ``point`` ``[N]`` with ``die`` ``[N]``; a ``die`` of 0 is no move."""
    return heads_left - ((point == HEAD) & (die > 0)).to(torch.int8)


def move_mask(
    boards: Tensor, dice_left: Tensor, variant: str = "backgammon", heads_left: Tensor | None = None
) -> Tensor:
    """Which single moves of side 0 extend to a legal turn, ``[N, 6, 25]`` bool, indexed [die - 1, point - 1].

    Args:
        boards: ``[N, 2, 26]`` int8 contiguous, the position so far, the mover side 0. Unchecked.
        dice_left: ``[N, 4]`` int8, the dice of this turn not yet played, 0 for a used one.
        variant: name of the discipline.
        heads_left: ``[N]`` int8, how many more checkers may leave point 24 in this turn; only longgammon looks at it,
            and there it must be given.

    Point 25 is the bar. Where no move is left (nothing playable, no dice, the game over) a row is all false. A win
    with one die is offered only in ways that use as many dice as any other: by rule 1.5 to the letter.
    """
    rules = get_variant(variant)
    num_games = boards.shape[0]
    mask = torch.zeros((num_games, 150), dtype=torch.bool, device=boards.device)
    flat = boards.view(num_games, 52)
    if rules.blocking:
        if heads_left is None or heads_left.shape != (num_games,):
            found = None if heads_left is None else tuple(heads_left.shape)
            raise ValueError(f"heads_left: found {found}, wanted ({num_games},): {variant} limits moves from the head")
        heads = heads_left.to(torch.int8).contiguous()
        launch_rows(list_long_moves, num_games, flat, dice_left.contiguous(), heads, mask, device=boards.device)
    else:
        launch_rows(list_moves, num_games, flat, dice_left.contiguous(), mask, device=boards.device)
    return mask.view(num_games, 6, 25)


def apply_move(boards: Tensor, die: Tensor, point: Tensor, variant: str = "backgammon") -> Tensor:
    """Copies of ``boards`` with one checker of side 0 moved from ``point`` by ``die``, a blot on its way's end hit.

    ``die`` and ``point`` are ``[N]`` of an integer type; where ``die`` is 0 the board stays. The move is not checked.
    """
    kernel = make_long_moves if get_variant(variant).blocking else make_moves
    num_games = boards.shape[0]
    result = torch.empty((num_games, 52), dtype=torch.int8, device=boards.device)
    packed = [board.view(num_games, 52).view(torch.int32).view(num_games, 1, 13)[:, 0] for board in (boards, result)]
    moves = (die.to(torch.int8).contiguous(), point.to(torch.int8).contiguous())
    launch_rows(kernel, num_games, packed[0], *moves, result, packed[1], device=boards.device)
    return result.view(num_games, 2, 26)
