"""Single moves of a batch written out plainly in torch, apart from the kernels: rules.md 1.4 to 1.6, 4.3.

Every way of going on is followed, one checker at a time, in every order; equal positions go on together.
"""

from __future__ import annotations

import torch
from torch import Tensor

_State = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]  # rows, first actions, boards, dice left, heads left

_POINTS = torch.arange(1, 26)
_ACROSS = torch.tensor([*range(13, 25), *range(1, 13)])  # longgammon: the other side's numbers of 1 to 24
_WEIGHTS = torch.randint(-(2**62), 2**62, (59,), generator=torch.Generator().manual_seed(1))


def single_moves(boards: Tensor, die: Tensor) -> Tensor:
    """Where one checker of side 0 may be moved with ``die`` ``[M]`` now, ``[M, 25]`` bool, by point - 1."""
    mine, theirs = boards[:, 0], boards[:, 1]
    target = _POINTS - die[:, None]  # [M, 25]
    blocked = theirs.gather(1, (25 - target).clamp(1, 24)) >= 2
    legal = _legal_apart_from_the_bar(mine, target, blocked)
    on_bar = mine[:, 25:] > 0
    return legal & (~on_bar | (_POINTS == 25)) & (theirs[:, 1:].sum(1, keepdim=True) > 0)


def _legal_apart_from_the_bar(mine: Tensor, target: Tensor, blocked: Tensor) -> Tensor:
    outside = mine[:, 7:].sum(1, keepdim=True) > 0
    at_or_above = mine[:, 1:].flip(1).cumsum(1).flip(1)  # checkers on a point and higher ones
    above = at_or_above - mine[:, 1:]
    bears_off = ~outside & ((target == 0) | (above == 0))
    return (mine[:, 1:] > 0) & torch.where(target >= 1, ~blocked, bears_off)


def long_single_moves(boards: Tensor, die: Tensor, heads_left: Tensor) -> Tensor:
    """The same for longgammon (4.3), where ``heads_left`` ``[M]`` checkers may still leave the head."""
    mine, theirs = boards[:, 0], boards[:, 1]
    target = _POINTS - die[:, None]
    closed = theirs[:, _ACROSS] > 0  # [M, 24], by the mover's point - 1
    legal = _legal_apart_from_the_bar(mine, target, closed.gather(1, (target - 1).clamp(0, 23)))
    legal &= (heads_left[:, None] > 0) | (_POINTS != 24)
    legal &= theirs[:, 1:].sum(1, keepdim=True) > 0
    row, point = legal.nonzero(as_tuple=True)
    legal[row, point] = ~_six_in_front(long_moved(boards[row], die[row], point + 1))
    return legal


def _six_in_front(boards: Tensor) -> Tensor:
    """Are six points in a row held in front of all the opponent's checkers? ``[M]`` bool."""
    held = boards[:, 0, _ACROSS] > 0  # [M, 24], by the opponent's point - 1
    sixes = held.unfold(1, 6, 1).all(2)  # by the lowest point of the six, 1 to 19
    passed = boards[:, 1].cumsum(1)[:, :19]  # opposing checkers off or below the six
    return (sixes & (passed == 0)).any(1)


def long_moved(boards: Tensor, die: Tensor, point: Tensor) -> Tensor:
    """The positions after one move each, nothing being hit."""
    boards = boards.clone()
    rows = torch.arange(len(boards))
    boards[rows, 0, point] -= 1
    boards[rows, 0, (point - die).clamp(min=0)] += 1
    return boards


def moved(boards: Tensor, die: Tensor, point: Tensor) -> Tensor:
    """The positions after one move each."""
    boards = boards.clone()
    rows = torch.arange(len(boards))
    target = (point - die).clamp(min=0)
    boards[rows, 0, point] -= 1
    boards[rows, 0, target] += 1
    hit = (target > 0) & (boards[rows, 1, 25 - target] == 1)
    boards[rows[hit], 1, 25 - target[hit]] = 0
    boards[rows[hit], 1, 25] += 1
    return boards


def _followed(state: _State, variant: str) -> _State:
    """Every single move from every position: its row, the turn's first action, the position after, what is left."""
    rows, actions, boards, left, heads = state
    found = []
    for slot in range(4):
        fresh = (left[:, slot] > 0) & (left[:, :slot] != left[:, slot, None]).all(1)  # of equal dice the first
        with_die = fresh.nonzero()[:, 0]
        if len(with_die) == 0:
            continue
        before, dice = boards[with_die], left[with_die, slot]
        long = variant == "longgammon"
        legal = long_single_moves(before, dice, heads[with_die]) if long else single_moves(before, dice)
        source, point = legal.nonzero(as_tuple=True)
        source, point = with_die[source], point + 1
        die = left[source, slot]
        used = left[source]
        used[:, slot] = 0
        first = torch.where(actions[source] < 0, (die - 1) * 25 + point - 1, actions[source])
        after = (long_moved if long else moved)(boards[source], die, point)
        found.append((rows[source], first, after, used, heads[source] - (point == 24).long()))
    if not found:
        return rows[:0], actions[:0], boards[:0], left[:0], heads[:0]
    rows, actions, boards, left, heads = (torch.cat(parts) for parts in zip(*found, strict=True))
    keys = torch.cat([rows[:, None], actions[:, None], left, heads[:, None], boards.flatten(1)], 1)
    distinct, same = (
        (keys * _WEIGHTS).sum(1).unique(return_inverse=True)
    )  # a hash of 64 bits: equal only if the keys are
    one_each = torch.zeros(len(distinct), dtype=torch.int64)
    one_each[same] = torch.arange(len(same))
    return rows[one_each], actions[one_each], boards[one_each], left[one_each], heads[one_each]


def slow_move_mask(
    boards: Tensor, dice_left: Tensor, variant: str = "backgammon", heads_left: Tensor | None = None
) -> Tensor:
    """What `nardy.env.move_mask` must be, flat: ``[N, 150]`` bool."""
    num_games = len(boards)
    heads = torch.zeros(num_games) if heads_left is None else heads_left
    longest = torch.zeros((num_games, 150), dtype=torch.int64)
    state = (torch.arange(num_games), torch.full((num_games,), -1), boards.long(), dice_left.long(), heads.long())
    for length in range(1, 5):
        state = _followed(state, variant)
        if len(state[0]) == 0:
            break
        longest[state[0], state[1]] = length
    most = longest.max(1, keepdim=True).values
    mask = (longest == most) & (most > 0)
    larger = dice_left.long().max(1).values[:, None] - 1
    uses_larger = torch.arange(150)[None] // 25 == larger
    one_of_two = (most == 1) & (mask & uses_larger).any(1, keepdim=True)  # rule 2
    return torch.where(one_of_two, mask & uses_larger, mask)
