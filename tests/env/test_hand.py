"""A turn made checker by checker: what can be reached, and taking back."""

from __future__ import annotations

from random import Random

import pytest
import torch

from nardy.env import start_boards
from nardy.env.notation import Hand, plays
from tests.random_positions import random_position

DICE = [(first, second) for first in range(1, 7) for second in range(1, 7)]


def _random(seed: int) -> Random:
    return Random(seed)  # noqa: S311  # not for secrets


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
@pytest.mark.parametrize("seed", range(15))
def test_every_way_of_a_legal_play_can_be_made_and_ends_on_its_board(variant: str, seed: int) -> None:
    random = _random(seed)
    board = torch.tensor(random_position(random, variant), dtype=torch.int8)
    dice = random.choice(DICE)
    legal = plays(board, dice, variant)
    boards = [play.board.tolist() for play in legal]
    for _ in range(8):
        hand = Hand(board, dice, variant, second_first=False)
        while hand.legal:
            hand.make(random.choice(hand.legal))
        assert hand.board.tolist() in boards
        while hand.take_back():
            pass
        assert torch.equal(hand.board, board)


@pytest.mark.parametrize("variant", ["backgammon", "longgammon"])
@pytest.mark.parametrize("seed", range(15))
def test_whatever_is_reached_is_reached_by_its_moves_with_one_checker(variant: str, seed: int) -> None:
    random = _random(100 + seed)
    board = torch.tensor(random_position(random, variant), dtype=torch.int8)
    hand = Hand(board, random.choice(DICE), variant, second_first=False)
    reach = hand.reach()
    assert {one.source for one in reach} == {move % 25 + 1 for move in hand.legal}
    assert len({(one.source, one.target) for one in reach}) == len(reach)
    for one in reach:
        at = one.source
        for move in one.moves:
            assert move % 25 + 1 == at
            hand.make(move)
            at = max(0, at - move // 25 - 1)
        assert at == one.target
        while hand.take_back():
            pass


def test_of_several_ways_the_shortest_is_taken_and_the_larger_die_first() -> None:
    start = start_boards(1)[0]
    reach = {(one.source, one.target): one.moves for one in Hand(start, (6, 5), "backgammon", False).reach()}
    assert reach[24, 13] == (5 * 25 + 23, 4 * 25 + 17)
    assert reach[13, 7] == (5 * 25 + 12,)
    doubles = {(one.source, one.target): len(one.moves) for one in Hand(start, (2, 2), "backgammon", False).reach()}
    assert doubles[24, 16] == 4
    assert doubles[6, 4] == 1


def test_an_illegal_move_is_refused_and_changes_nothing() -> None:
    start = start_boards(1)[0]
    hand = Hand(start, (6, 5), "backgammon", False)
    for move in (-1, 150, 0, 24):
        with pytest.raises(ValueError, match="wanted one of"):
            hand.make(move)
    assert hand.moves == []
    assert torch.equal(hand.board, start)
    assert not hand.take_back()
