"""What holds for every list of afterstates: its order, its independence of batch and threads, checkers conserved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nardy.env import VARIANTS, afterstates, get_variant, outcome, pip_counts, start_boards

from ..positions import OFF, from_boards, position, text, to_boards
from ..random_positions import random_decisions

each_variant = pytest.mark.parametrize("variant", VARIANTS)


def batch(number: int, seed: int, variant: str) -> tuple[Tensor, Tensor]:
    """Random boards ``[number, 2, 26]`` and dice ``[number, 2]``."""
    decisions = random_decisions(number, seed, variant)
    return to_boards([before for before, _ in decisions]), torch.tensor([dice for _, dice in decisions])


def first_rolls(number: int) -> Tensor:
    """The mark of the second player's first roll in every third game."""
    return torch.arange(number) % 3 == 0


def number_of_games(game: Tensor) -> int:
    return len(game.unique())


@each_variant
def test_the_afterstates_of_a_game_are_distinct_and_every_game_has_one(variant: str) -> None:
    boards, dice = batch(3000, 1, variant)

    game, ends = afterstates(boards, dice, variant)

    assert game.dtype == torch.int64
    assert (ends.dtype, ends.shape[1:]) == (torch.int8, (2, 26))
    assert bool((game.diff() >= 0).all())
    assert number_of_games(game) == len(boards)
    rows = torch.cat([game[:, None], ends.flatten(1)], dim=1)
    assert len(rows.unique(dim=0)) == len(rows)


@each_variant
def test_checkers_are_conserved_and_no_point_has_two_owners(variant: str) -> None:
    boards, dice = batch(3000, 2, variant)

    game, ends = afterstates(boards, dice, variant)

    assert bool((ends >= 0).all())
    assert bool((ends.sum(-1) == boards.sum(-1)[game]).all())
    opposite = [get_variant(variant).opposite(point) for point in range(1, 25)]
    shared = (ends[:, 0, 1:25] > 0) & (ends[:, 1, opposite] > 0)
    bad = shared.any(1).nonzero().flatten().tolist()
    assert not bad, text(from_boards(ends[bad])[0], variant)


@each_variant
def test_the_mover_loses_at_most_the_pips_of_the_roll_and_the_opponent_only_by_hits(variant: str) -> None:
    boards, dice = batch(3000, 3, variant)

    game, ends = afterstates(boards, dice, variant)

    roll = torch.where(dice[:, 0] == dice[:, 1], 4 * dice[:, 0], dice.sum(1))
    lost = pip_counts(boards)[game] - pip_counts(ends)
    assert bool(((lost[:, 0] >= 0) & (lost[:, 0] <= roll[game])).all())
    assert bool((lost[:, 1] <= 0).all())
    hits = (ends[:, 1, 25] - boards[game, 1, 25]).long()
    assert bool(((hits == 0) == (lost[:, 1] == 0)).all())
    assert bool((ends[:, 1, OFF] == boards[game, 1, OFF]).all())


@each_variant
def test_the_order_of_the_dice_changes_nothing(variant: str) -> None:
    boards, dice = batch(3000, 4, variant)

    marks = first_rolls(len(boards))
    game, ends = afterstates(boards, dice, variant, marks)
    swapped_game, swapped_ends = afterstates(boards, dice.flip(1), variant, marks)

    assert torch.equal(game, swapped_game)
    assert torch.equal(ends, swapped_ends)


@each_variant
def test_a_batch_lists_what_each_of_its_rows_lists_alone(variant: str) -> None:
    boards, dice = batch(400, 5, variant)
    assert len(boards.flatten(1).unique(dim=0)) > 350  # rows that could be mixed up unseen would prove nothing

    marks = first_rolls(len(boards))
    game, ends = afterstates(boards, dice, variant, marks)

    rows = [slice(row, row + 1) for row in range(len(boards))]
    alone = [afterstates(boards[row], dice[row], variant, marks[row])[1] for row in rows]
    assert torch.equal(ends, torch.cat(alone))
    assert torch.equal(game, torch.repeat_interleave(torch.tensor([len(listed) for listed in alone])))


@each_variant
def test_the_number_of_threads_changes_nothing(variant: str, torch_threads: Callable[[int], None]) -> None:
    boards, dice = batch(3000, 6, variant)

    torch_threads(1)
    game, ends = afterstates(boards, dice, variant)

    for threads in (2, 3):
        torch_threads(threads)
        for _ in range(5):
            again_game, again_ends = afterstates(boards, dice, variant)
            assert torch.equal(game, again_game)
            assert torch.equal(ends, again_ends)


@pytest.mark.gpu
@each_variant
def test_a_gpu_lists_the_same_in_the_same_order(variant: str) -> None:
    boards, dice = batch(3000, 7, variant)

    game, ends = afterstates(boards, dice, variant)
    gpu_game, gpu_ends = afterstates(boards.cuda(), dice.cuda(), variant)

    assert gpu_ends.is_cuda
    assert torch.equal(game, gpu_game.cpu())
    assert torch.equal(ends, gpu_ends.cpu())


@each_variant
def test_a_finished_game_has_one_afterstate_its_own_board(variant: str) -> None:
    boards, dice = batch(6000, 8, variant)
    finished = outcome(boards, variant) != 0
    assert int(finished.sum()) > 20

    game, ends = afterstates(boards[finished], dice[finished], variant)

    assert torch.equal(game, torch.arange(int(finished.sum())))
    assert torch.equal(ends, boards[finished])


def test_a_pass_is_one_afterstate_the_unchanged_board() -> None:
    closed_out = to_boards([position("13:5 8:4 6:5 bar:1", "24:2 23:2 22:2 21:2 20:2 19:2 12:3")])

    game, ends = afterstates(closed_out, torch.tensor([[6, 5]]))

    assert game.tolist() == [0]
    assert torch.equal(ends, closed_out)


@each_variant
def test_no_games_have_no_afterstates(variant: str) -> None:
    game, ends = afterstates(start_boards(0, variant), torch.empty(0, 2, dtype=torch.int64), variant)

    assert (game.shape, game.dtype) == ((0,), torch.int64)
    assert (ends.shape, ends.dtype) == ((0, 2, 26), torch.int8)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8], ids=str)
def test_any_integer_type_will_do(dtype: torch.dtype) -> None:
    boards, dice = batch(500, 9, "backgammon")

    game, ends = afterstates(boards, dice)
    other_game, other_ends = afterstates(boards.to(dtype), dice.to(dtype))

    assert torch.equal(game, other_game)
    assert torch.equal(ends, other_ends)


def padded(boards: Tensor) -> Tensor:
    """The boards as a slice of a wider tensor."""
    wider = torch.zeros(len(boards), 4, 30, dtype=torch.int8)
    wider[:, 1:3, 2:28] = boards
    return wider[:, 1:3, 2:28]


def behind_a_byte(boards: Tensor) -> Tensor:
    """The boards as part of a longer row of bytes, not aligned to more than one."""
    row = torch.cat([torch.zeros(1, dtype=torch.int8), boards.flatten()])
    return row[1:].view(boards.shape)


@pytest.mark.parametrize("view", [padded, behind_a_byte, lambda boards: boards.mT.contiguous().mT])
def test_views_read_as_their_copies_do(view: Callable[[Tensor], Tensor]) -> None:
    boards, dice = batch(500, 10, "backgammon")

    game, ends = afterstates(boards, dice)
    view_game, view_ends = afterstates(view(boards), dice.T.contiguous().T)

    assert torch.equal(game, view_game)
    assert torch.equal(ends, view_ends)


def test_the_inputs_stay_as_they_were_and_share_no_memory_with_the_answer() -> None:
    boards, dice = batch(500, 11, "backgammon")
    before, rolled = boards.clone(), dice.clone()

    _, ends = afterstates(boards, dice)
    ends.fill_(0)

    assert torch.equal(boards, before)
    assert torch.equal(dice, rolled)


def test_the_second_players_first_roll_means_nothing_outside_longgammon() -> None:
    boards, dice = batch(500, 12, "backgammon")

    game, ends = afterstates(boards, dice)
    other_game, other_ends = afterstates(boards, dice, second_first=torch.ones(500, dtype=torch.bool))

    assert torch.equal(game, other_game)
    assert torch.equal(ends, other_ends)


def test_in_longgammon_it_means_two_checkers_from_the_head_on_three_doubles() -> None:
    doubles = torch.tensor([(number, number) for number in range(1, 7)])
    boards = to_boards([position("24:15", "12:14 2:1", "longgammon")] * 6)

    for marked in (True, False):
        game, ends = afterstates(boards, doubles, "longgammon", torch.full((6,), marked))
        left = torch.zeros(6, dtype=torch.int64).scatter_reduce(0, game, 15 - ends[:, 0, 24].long(), "amax")
        assert left.tolist() == ([1, 1, 2, 2, 1, 2] if marked else [1] * 6)
