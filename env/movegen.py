"""Every legal afterstate of a batch of positions (rules.md 1.4 to 1.6, 4.3).

Cost model: two launches and one prefix sum a call. The first pass counts each game's distinct afterstates, the second
writes them into a buffer of exactly that size, so nothing is ever cut off. The only host synchronisation is reading the
total; with a buffer of a given size there is none, and the total says whether it sufficed. One thread handles one game
and needs no memory but registers and, where a checker may be borne off, a list of at most 128 keys, in longgammon of
256. `kernels.plays` and `kernels.long_plays` tell how repetitions are avoided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .board import check_boards, check_dice
from .kernels.long_plays import list_long_plays
from .kernels.plays import list_plays
from .launch import launch_rows
from .moves import heads_to_move
from .variants import get_variant

__all__ = ["Afterstates", "afterstates", "list_afterstates"]


@dataclass(frozen=True)
class Afterstates:
    """The afterstates of N games in M rows.

    Attributes:
        game: ``[M]`` int64, non-decreasing, which game each row belongs to.
        ends: ``[N]`` int64, one past each game's last row.
        boards: ``[M, 2, 26]`` int8, the mover side 0.
        total: int64, how many there are, on the device: M itself, or of a buffer of given size what it should hold.
    """

    game: Tensor
    ends: Tensor
    boards: Tensor
    total: Tensor


def _list(kernel: Any, boards: Tensor, turns: tuple[Tensor, ...], capacity: int | None) -> Afterstates:
    """Count, then fill; ``turns`` is what the kernel takes of each game besides its board."""
    num_games = boards.shape[0]
    device = boards.device
    flat = boards.view(num_games, 52)
    packed = flat.view(torch.int32).view(num_games, 1, 13)[:, 0]
    counts = torch.empty(num_games, dtype=torch.int32, device=device)
    num_moves = torch.empty(num_games, dtype=torch.int8, device=device)
    ends = torch.empty(0, dtype=torch.int64, device=device)
    games = torch.empty(0, dtype=torch.int64, device=device)
    rows = torch.empty((0, 52), dtype=torch.int8, device=device)
    arguments = (flat, packed, *turns, counts, num_moves)
    launch_rows(kernel, num_games, *arguments, False, ends, games, rows, rows.view(torch.int32), device=device)
    ends = counts.cumsum(0, dtype=torch.int64)
    total = ends[-1]
    if capacity is None:
        number = int(total)  # the one host synchronisation
        games = torch.empty(number, dtype=torch.int64, device=device)
        rows = torch.empty((number, 52), dtype=torch.int8, device=device)
    else:  # what is left over is the first game's own board, which costs a network's first layer least
        games = torch.zeros(capacity, dtype=torch.int64, device=device)
        rows = flat[:1].repeat(capacity, 1)
    launch_rows(kernel, num_games, *arguments, True, ends, games, rows, rows.view(torch.int32), device=device)
    if capacity is not None:
        ends = ends.clamp(max=capacity - 1)
    return Afterstates(games, ends, rows.view(-1, 2, 26), total)


def list_afterstates(
    boards: Tensor,
    dice: Tensor,
    variant: str = "backgammon",
    second_first: Tensor | None = None,
    capacity: int | None = None,
) -> Afterstates:
    """As `afterstates` for inputs known to be legal: ``boards`` int8 contiguous, ``dice`` ``[N, 2]`` int8.

    Backgammon and sprintgammon are moved alike. With ``capacity`` the buffer has so many rows, and nothing waits for
    the device: the rows behind the last game's are the first game's board as it was and belong to no game. It suffices
    if ``total`` is below ``capacity``; else games at the end lack afterstates, and what is made of them must be thrown
    away.
    """
    if boards.shape[0] == 0:
        none = torch.empty(0, dtype=torch.int64, device=boards.device)
        return Afterstates(none, none, boards.clone(), torch.zeros((), dtype=torch.int64, device=boards.device))
    if get_variant(variant).blocking:
        return _list(list_long_plays, boards, (dice, heads_to_move(dice, variant, second_first)), capacity)
    return _list(list_plays, boards, (dice,), capacity)


def afterstates(
    boards: Tensor, dice: Tensor, variant: str = "backgammon", second_first: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """List the distinct positions that each game's player on roll can reach with a whole turn.

    Args:
        boards: ``[N, 2, 26]`` int8, side 0 on roll.
        dice: ``[N, 2]``, any integer type, 1 to 6, in any order.
        variant: name of the discipline.
        second_first: ``[N]`` bool, the second player's first roll of a game; only longgammon looks at it.

    Returns:
        ``(game, boards)``: ``game`` ``[M]`` int64, non-decreasing, the input row of each afterstate; ``boards``
        ``[M, 2, 26]`` int8 with the mover still side 0. The order within a game is the same in every call, on every
        device and for either order of the dice. A game without a legal move, or finished, has one: its own board.

    Raises:
        ValueError: the first bad row, and what is wrong with it.
    """
    rules = get_variant(variant)
    boards = check_boards(boards, rules)
    dice = check_dice(dice, boards.shape[0]).to(boards.device)
    if second_first is not None:
        if second_first.shape != boards.shape[:1]:
            raise ValueError(f"second_first: found shape {tuple(second_first.shape)}, wanted ({boards.shape[0]},)")
        second_first = second_first.to(boards.device, torch.bool)
    listed = list_afterstates(boards, dice, variant, second_first)
    return listed.game, listed.boards
