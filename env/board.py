"""Positions: what a board tensor is, how it is checked, turned round, counted and scored.

A batch of boards is an int8 tensor ``[N, 2, 26]``. Side 0 is the player on roll (for an afterstate: the one who has
just moved). Each side is seen by its own player: index 1 to 24 are that player's points (1 the ace point), 25 the
bar, 0 the checkers borne off. My point p is the opponent's point 25 - p, in longgammon p + 12 or p - 12
(`Variant.opposite`).
"""

from __future__ import annotations

import torch
from torch import Tensor

from .kernels.checks import board_faults
from .launch import launch_rows
from .variants import Variant, get_variant

__all__ = ["check_boards", "check_dice", "flip", "outcome", "pip_counts", "start_boards"]

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


def start_boards(num_games: int, variant: str = "backgammon", device: torch.device | str = "cpu") -> Tensor:
    """``num_games`` opening positions of ``variant``, ``[N, 2, 26]`` int8."""
    side = torch.zeros(26, dtype=torch.int8)
    for point, count in get_variant(variant).start:
        side[point] = count
    return side.to(device).expand(num_games, 2, 26).contiguous()


def flip(boards: Tensor) -> Tensor:
    """The same positions with the other player as side 0. A copy; its own inverse."""
    return boards.flip(1)


def pip_counts(boards: Tensor) -> Tensor:
    """Pip counts of both sides, ``[N, 2]`` int64: points still to travel, 25 for a checker on the bar (1.1)."""
    pips = torch.arange(26, dtype=torch.int32, device=boards.device)
    return (boards.int() * pips).sum(-1)


def outcome(boards: Tensor, variant: str = "backgammon") -> Tensor:
    """Who has won and how, ``[N]`` int8, from the view of side 0 (rules.md 1.7).

    0 while the game runs; +1, +2, +3 if side 0 has borne off all its checkers and wins a single game, a gammon,
    a backgammon; negative if side 1 has.
    """
    rules = get_variant(variant)
    off = boards[:, :, 0]
    done = off == rules.num_checkers  # [N, 2]
    in_winners_home = boards[:, :, 19:26].sum(-1) > 0  # of the side itself, bar included
    level = torch.where(off > 0, 1, torch.where(in_winners_home, min(3, rules.max_level), 2))  # lost by that side
    win = torch.where(done[:, 0], level[:, 1], 0)
    return torch.where(done[:, 1], -level[:, 0], win).to(torch.int8)


def _first(bad: Tensor) -> int:
    """Index of the first element of ``bad`` ``[N]`` that is not zero."""
    return int(bad.nonzero()[0, 0])


def check_boards(boards: Tensor, rules: Variant) -> Tensor:
    """Return ``boards`` as contiguous int8, or raise ``ValueError`` naming the first bad row (1.1 invariants)."""
    if not isinstance(boards, Tensor):
        raise ValueError(f"boards: found {type(boards).__name__}, wanted a tensor [N, 2, 26]")
    if boards.ndim != 3 or tuple(boards.shape[1:]) != (2, 26) or boards.dtype not in _INTEGERS:
        raise ValueError(
            f"boards: found shape {tuple(boards.shape)} of {boards.dtype}, wanted [N, 2, 26] of an integer type"
        )
    checked = boards if boards.dtype == torch.int8 else boards.long().clamp(-1, 127).to(torch.int8)
    checked = checked.contiguous()
    if checked.storage_offset() % 4:  # kernels move boards as 13 words
        checked = checked.clone()
    faults = torch.empty(len(checked), dtype=torch.int8, device=checked.device)
    flat = checked.view(-1, 52)
    arguments = (flat, rules.num_checkers, rules.blocking, faults)
    launch_rows(board_faults, len(checked), *arguments, device=checked.device)
    if bool(faults.any()):
        row = _first(faults)
        raise ValueError(f"boards: row {row}: {_board_fault(boards[row], int(faults[row]), rules)}")
    return checked


def _board_fault(board: Tensor, fault: int, rules: Variant) -> str:
    """What `board_faults` found wrong with one board ``[2, 26]``, and what was wanted."""
    if fault == 1:
        return "found a negative number of checkers, wanted 0 or more everywhere"
    if fault == 2:
        mine, theirs = board.sum(-1, dtype=torch.int64).tolist()
        return (
            f"found {mine} and {theirs} checkers, wanted {rules.num_checkers} a side in {rules.name} "
            "(bar and off counted)"
        )
    if fault == 3:
        theirs = board[1, [rules.opposite(point) for point in range(1, 25)]]
        shared = (board[0, 1:25] > 0) & (theirs > 0)
        return f"found both sides on side 0's point {_first(shared) + 1}, wanted one owner a point"
    if fault == 5:
        mine, theirs = board[:, 25].tolist()
        return f"found {mine} and {theirs} checkers on the bar, wanted none: {rules.name} has no bar"
    return "found both sides borne off, wanted at most one"


def check_dice(dice: Tensor, num_games: int) -> Tensor:
    """Return ``dice`` as contiguous int8, or raise ``ValueError`` naming the first bad row."""
    if not isinstance(dice, Tensor):
        raise ValueError(f"dice: found {type(dice).__name__}, wanted a tensor [{num_games}, 2]")
    if tuple(dice.shape) != (num_games, 2) or dice.dtype not in _INTEGERS:
        raise ValueError(
            f"dice: found shape {tuple(dice.shape)} of {dice.dtype}, wanted [{num_games}, 2] of an integer type"
        )
    bad = ((dice < 1) | (dice > 6)).any(1)
    if bool(bad.any()):
        row = _first(bad)
        raise ValueError(f"dice: row {row}: found {dice[row].tolist()}, wanted two numbers from 1 to 6")
    return dice.to(torch.int8).contiguous()
