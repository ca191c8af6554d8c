"""The candidate pass keeps the plays that a plain sort by the ranker would keep, and always a play that wins."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nardy.env import afterstates, flip, outcome, start_boards
from nardy.models import Network, NetworkConfig
from nardy.models.encoding import encode
from nardy.models.plays import CandidatePass, Plays, evaluate_plays
from nardy.models.ranker import Ranker
from tests.random_positions import random_decisions

KEEP = 5


def _turns(variant: str, number: int = 300) -> tuple[Tensor, Tensor]:
    positions, dice = zip(*random_decisions(number, 4, variant), strict=True)
    return torch.tensor(positions, dtype=torch.int8), torch.tensor(dice, dtype=torch.int8)


def _evaluated(variant: str, ranker: Ranker, keep: int) -> tuple[Plays, Plays, Tensor, Tensor]:
    network = Network(NetworkConfig((32,), context_units=0), seed=1)
    boards, dice = _turns(variant)
    with torch.no_grad():
        few = evaluate_plays(network, boards, dice, variant, candidates=CandidatePass(ranker, keep))
    return few, evaluate_plays(network, boards, dice, variant), boards, dice


@pytest.mark.parametrize("variant", ["backgammon", "sprintgammon", "longgammon"])
def test_the_plays_kept_are_the_highest_by_the_ranker(variant: str) -> None:
    ranker = Ranker(16, seed=3)
    few, everything, boards, _ = _evaluated(variant, ranker, KEEP)
    with torch.no_grad():
        scores = -ranker(encode(flip(everything.boards), variant))
    scores[outcome(everything.boards, variant) != 0] = torch.inf
    begin = 0
    for game in range(len(boards)):
        end = int(everything.ends[game])
        kept = few.boards[few.game == game]
        assert len(kept) == min(KEEP, end - begin)
        here = everything.boards[begin:end].flatten(1)
        places = [int((here == board.flatten()).all(1).nonzero()) for board in kept]
        assert places == sorted(places)  # in the order they had
        wanted = scores[begin:end].sort(descending=True).values[: len(kept)]
        torch.testing.assert_close(scores[begin:end][places].sort(descending=True).values, wanted, atol=1e-4, rtol=0)
        begin = end


def test_values_are_those_of_all_plays() -> None:
    few, everything, _, _ = _evaluated("backgammon", Ranker(16, seed=3), KEEP)
    whole = {tuple(board.flatten().tolist()): row for row, board in enumerate(everything.boards)}
    rows = [whole[tuple(board.flatten().tolist())] for board in few.boards]
    torch.testing.assert_close(few.values, everything.values[rows], atol=1e-5, rtol=0)


def test_keeping_more_than_there_are_keeps_all() -> None:
    few, everything, _, _ = _evaluated("backgammon", Ranker(16, seed=3), 10_000)
    assert torch.equal(few.boards, everything.boards)
    assert torch.equal(few.game, everything.game)
    assert torch.equal(few.values, everything.values)


def test_ties_go_to_the_first_plays() -> None:
    ranker = Ranker(16)
    torch.nn.init.zeros_(ranker.head.weight)
    few, everything, boards, dice = _evaluated("backgammon", ranker, 3)
    game, plays = afterstates(boards, dice)
    for number in range(len(boards)):
        wanted = plays[game == number][:3]
        won = outcome(plays[game == number]) != 0
        if not won.any():
            assert torch.equal(few.boards[few.game == number], wanted)
    assert len(everything.game) > len(few.game)


def test_a_winning_play_stays_however_low_it_is_ranked() -> None:
    ranker = Ranker(16, seed=3)
    with torch.no_grad():
        ranker.first.weight.zero_()
        ranker.first.weight[:, 100] = 1000.0  # the other player's checkers borne off, as he sees it, lift him
    board = start_boards(1)
    board.zero_()
    board[0, 0, 0], board[0, 0, 1], board[0, 0, 6] = 13, 1, 1
    board[0, 1, 20], board[0, 1, 0] = 12, 3
    network = Network(NetworkConfig((32,), context_units=0), seed=1)
    few = evaluate_plays(
        network, board, torch.tensor([[6, 1]], dtype=torch.int8), "backgammon", candidates=CandidatePass(ranker, 1)
    )
    assert outcome(few.boards).tolist() == [1]


def test_a_ranker_that_is_not_a_number_keeps_the_first_plays() -> None:
    ranker = Ranker(16)
    torch.nn.init.constant_(ranker.head.weight, float("nan"))
    few, _, boards, dice = _evaluated("backgammon", ranker, 2)
    game, plays = afterstates(boards, dice)
    counts = torch.bincount(few.game, minlength=len(boards))
    assert torch.equal(counts, torch.bincount(game, minlength=len(boards)).clamp(max=2))
    assert torch.equal(few.ends, counts.cumsum(0))
    whole = {(int(g), tuple(board.flatten().tolist())) for g, board in zip(game, plays, strict=True)}
    assert all((int(g), tuple(b.flatten().tolist())) in whole for g, b in zip(few.game, few.boards, strict=True))


def test_bfloat16_rounds_values_and_nothing_else() -> None:
    network = Network(NetworkConfig((32, 16), context_units=0), seed=1)
    boards, dice = _turns("backgammon")
    exact = evaluate_plays(network, boards, dice, "backgammon")
    rounded = evaluate_plays(network, boards, dice, "backgammon", bfloat16=True)
    assert torch.equal(exact.boards, rounded.boards)
    assert rounded.values.dtype == torch.float32
    assert not torch.equal(exact.values, rounded.values)
    torch.testing.assert_close(exact.values, rounded.values, atol=0.03, rtol=0)
