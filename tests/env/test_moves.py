"""Single moves: what is offered, what they lead to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nardy.env import afterstates, apply_move, move_mask, start_boards
from nardy.env.moves import dice_to_play, heads_to_move, use_die, use_head

from ..positions import START, difference, from_boards, position, text, to_boards
from ..random_positions import random_decisions
from ..slow_moves import slow_move_mask

VARIANTS = list(START)


def given_decisions(number: int, seed: int, variant: str) -> tuple[Tensor, Tensor]:
    """Random positions and rolls: boards ``[N, 2, 26]`` and dice ``[N, 2]``, int8."""
    decisions = random_decisions(number, seed, variant)
    dice = torch.tensor([roll for _, roll in decisions], dtype=torch.int8)
    return to_boards([before for before, _ in decisions]), dice


def offered(
    mover: str, opponent: str, dice: tuple[int, ...], variant: str = "backgammon", heads: int = 1
) -> set[tuple[int, int]]:
    """The (die, point) that the mask offers with ``dice`` left and ``heads`` checkers that may leave the head."""
    left = torch.tensor([[*dice, 0, 0, 0][:4]], dtype=torch.int8)
    heads_left = torch.tensor([heads], dtype=torch.int8)
    mask = move_mask(to_boards([position(mover, opponent, variant)]), left, variant, heads_left)[0]
    return {(die + 1, point + 1) for die, point in mask.nonzero().tolist()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_following_the_masks_in_all_ways_leads_to_exactly_the_afterstates(
    variant: str, scale: Callable[[int], int]
) -> None:
    before, dice = given_decisions(scale(60_000), 5, variant)
    first = torch.arange(len(before)) % 3 == 0
    game, boards = afterstates(before, dice, variant, first)
    wanted = torch.cat([game[:, None], boards.flatten(1).long()], 1).unique(dim=0)

    rows, now, left, heads = torch.arange(len(before)), before, dice_to_play(dice), heads_to_move(dice, variant, first)
    ends = []
    while len(rows):
        mask = move_mask(now, left, variant, heads).flatten(1)
        stuck = ~mask.any(1)
        ends.append(torch.cat([rows[stuck, None], now[stuck].flatten(1).long()], 1))
        source, action = mask.nonzero(as_tuple=True)
        die = action // 25 + 1
        point = action % 25 + 1
        after = apply_move(now[source], die, point, variant)
        further = use_die(left[source], die.to(torch.int8))
        fewer = use_head(heads[source], die, point)
        keys = torch.cat([rows[source, None], further.long(), fewer[:, None].long(), after.flatten(1).long()], 1)
        keys = keys.unique(dim=0)
        rows, left, heads, now = keys[:, 0], *(part.to(torch.int8) for part in keys[:, 1:].split([4, 1, 52], 1))
        heads, now = heads[:, 0], now.reshape(-1, 2, 26)
    found = torch.cat(ends).unique(dim=0)

    if not torch.equal(found, wanted):
        for row, start in enumerate(from_boards(before)):
            reached, listed = (from_boards(all_[all_[:, 0] == row, 1:].view(-1, 2, 26)) for all_ in (found, wanted))
            message = difference(start, dice[row].tolist(), reached, listed, variant)
            assert not message, f"by single moves: {message}"


@pytest.mark.parametrize("variant", VARIANTS)
def test_masks_are_those_of_the_plain_enumeration(variant: str, scale: Callable[[int], int]) -> None:
    before, dice = given_decisions(scale(40_000), 6, variant)
    left = dice_to_play(dice)
    spent = torch.arange(len(before)) % 4  # some of the dice are used already
    left[:, 1:] = torch.where(torch.arange(1, 4)[None] > 3 - spent[:, None], 0, left[:, 1:])

    heads = heads_to_move(dice, variant, torch.arange(len(before)) % 3 == 0)
    heads = torch.where(spent > 1, (heads - 1).clamp(min=0), heads)

    found = move_mask(before, left, variant, heads).flatten(1)
    wanted = slow_move_mask(before, left, variant, heads)

    for row in (found != wanted).any(1).nonzero()[:, 0].tolist():
        pytest.fail(
            f"{text(from_boards(before)[row], variant)}, dice left {left[row].tolist()}: "
            f"offered {found[row].nonzero()[:, 0].tolist()}, wanted {wanted[row].nonzero()[:, 0].tolist()}"
        )


def test_a_move_that_strands_the_other_die_is_not_offered() -> None:  # B12
    assert offered("10:1 8:1 off:13", "3:2 2:2 1:2 off:9", (6, 1)) == {(6, 10), (1, 8)}


def test_the_larger_die_must_be_played_when_only_one_can() -> None:  # B08
    assert offered("13:1 1:3 off:11", "20:4 12:3 2:2 off:6", (6, 5)) == {(6, 13)}


def test_the_smaller_die_is_compulsory_when_the_larger_is_never_playable() -> None:  # B09
    assert offered("13:1 1:3 off:11", "12:3 7:2 2:2 off:8", (5, 6)) == {(5, 13)}


def test_only_the_bar_is_offered_while_a_checker_is_on_it() -> None:  # B01
    assert offered("24:1 13:5 8:3 6:5 bar:1", "23:2 20:2 19:2 17:2 12:5 1:2", (5, 3)) == {(3, 25)}


def test_nothing_is_offered_when_closed_out() -> None:  # B03
    assert not offered("13:5 8:4 6:5 bar:1", "24:2 23:2 22:2 21:2 20:2 19:2 12:3", (6, 5))


def test_a_double_offers_every_first_move_of_a_longest_series() -> None:  # B13
    assert offered("24:1 8:1 off:13", "12:5 9:2 off:8", (5, 5, 5, 5)) == {(5, 24), (5, 8)}


def test_a_single_die_left_offers_whatever_it_can_move() -> None:
    assert offered("6:1 5:1 3:2 2:1 off:10", "20:2 19:3 off:10", (4,)) == {(4, 6), (4, 5)}


def test_a_finished_game_offers_nothing() -> None:
    assert not offered("off:15", "19:5 off:10", (6, 5))
    assert not offered("6:5 off:10", "off:15", (6, 5))


def test_one_checker_leaves_the_head_in_a_turn_of_longgammon() -> None:  # L08
    before = ("24:14 20:1", "17:1 15:1 12:13")
    assert offered(*before, (5, 3), "longgammon") == {(5, 24), (3, 24)}
    assert offered(*before, (5, 3), "longgammon", heads=0) == set()


def test_a_move_through_a_forbidden_run_is_not_offered() -> None:  # L16, L17
    mover = "11:1 6:1 4:1 3:1 2:1 1:10"
    assert offered(mover, "12:14 9:1", (6, 2), "longgammon") == {(2, 6), (2, 4), (2, 3)}
    assert offered(mover, "12:15", (6, 2), "longgammon") == {(2, 11), (2, 6), (2, 4), (2, 3)}


def test_two_checkers_may_leave_the_head_on_some_first_rolls() -> None:
    dice = torch.tensor([(number, number) for number in range(1, 7)] + [(3, 4)])
    first = torch.ones(7, dtype=torch.bool)

    assert heads_to_move(dice, "longgammon", first).tolist() == [1, 1, 2, 2, 1, 2, 1]
    assert heads_to_move(dice, "longgammon", ~first).tolist() == heads_to_move(dice, "longgammon").tolist() == [1] * 7
    assert heads_to_move(dice, "backgammon", first).tolist() == [15] * 7


def test_masks_of_longgammon_ask_how_many_heads_are_left() -> None:
    with pytest.raises(ValueError, match=r"heads_left: found None, wanted \(1,\)"):
        move_mask(start_boards(1, "longgammon"), torch.tensor([[3, 1, 0, 0]], dtype=torch.int8), "longgammon")


def test_a_move_of_longgammon_hits_nothing() -> None:
    before = to_boards([position("24:15", "12:14 6:1", "longgammon")])

    after = apply_move(before, torch.tensor([6]), torch.tensor([24]), "longgammon")

    assert from_boards(after) == [position("24:14 18:1", "12:14 6:1", "longgammon")]


def test_a_move_hits_the_blot_it_lands_on() -> None:  # S04
    before = to_boards([position("22:1 bar:1 off:1", "20:1 19:2", "sprintgammon")])

    after = apply_move(before, torch.tensor([5]), torch.tensor([25]), "sprintgammon")

    assert text(from_boards(after)[0]) == text(position("22:1 20:1 off:1", "19:2 bar:1", "sprintgammon"))


def test_a_die_of_zero_moves_nothing_and_the_input_stays() -> None:
    before = start_boards(2)

    after = apply_move(before, torch.tensor([0, 3]), torch.tensor([7, 8]))

    assert torch.equal(before, start_boards(2))
    assert torch.equal(after[0], before[0])
    assert after[1, 0, 5] == 1 and after[1, 0, 8] == 2


def test_a_double_gives_four_dice_and_each_is_used_once() -> None:
    left = dice_to_play(torch.tensor([[6, 5], [4, 4]], dtype=torch.int8))
    assert left.tolist() == [[6, 5, 0, 0], [4, 4, 4, 4]]
    assert use_die(left, torch.tensor([5, 4], dtype=torch.int8)).tolist() == [[6, 0, 0, 0], [0, 4, 4, 4]]
    assert use_die(left, torch.tensor([0, 0], dtype=torch.int8)).tolist() == left.tolist()


def test_masks_refuse_an_unknown_discipline() -> None:
    with pytest.raises(ValueError, match="variant: found 'chess'"):
        move_mask(start_boards(1), torch.tensor([[3, 1, 0, 0]], dtype=torch.int8), "chess")
