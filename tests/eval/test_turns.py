"""Games played to meet positions, and the same games in OpenSpiel."""

from __future__ import annotations

import pytest
import torch

from nardy.env import VARIANTS, afterstates, flip, outcome, pip_counts, start_boards
from nardy.eval.openspiel_turns import children_of_turn, replay
from nardy.eval.turns import Turns, play_turns

each_variant = pytest.mark.parametrize("variant", VARIANTS)


@each_variant
def test_every_position_follows_from_the_one_before_or_starts_a_game(variant: str) -> None:
    turns = play_turns(6, 150, seed=1, variant=variant)

    assert int(turns.first.sum()) > 6, "no game ended"
    second = torch.zeros(6, dtype=torch.bool)  # is it the second player's first turn?
    for turn in range(149):
        game, ends = afterstates(turns.boards[turn], turns.dice[turn], variant, second)
        second = turns.first[turn]
        for row in range(6):
            mine = ends[game == row]
            if turns.first[turn + 1, row]:
                assert torch.equal(turns.boards[turn + 1, row], start_boards(1, variant)[0])
                assert bool((outcome(mine, variant) != 0).any())
            else:
                assert bool((flip(mine) == turns.boards[turn + 1, row]).flatten(1).all(1).any())


def test_a_game_starts_with_two_different_dice() -> None:
    turns = play_turns(2000, 2, seed=2)

    first, second = turns.dice[0], turns.dice[1]
    assert bool((first[:, 0] != first[:, 1]).all())
    assert bool((second[:, 0] == second[:, 1]).any())
    rolls = torch.bincount(6 * (first[:, 0].long() - 1) + first[:, 1] - 1, minlength=36).float()
    assert float(rolls[rolls > 0].min()) > 2000 / 30 - 4 * (2000 / 30) ** 0.5
    assert int((rolls > 0).sum()) == 30


def test_the_seed_decides_the_games() -> None:
    def boards(seed: int) -> torch.Tensor:
        return play_turns(5, 20, seed).boards

    assert torch.equal(boards(3), boards(3))
    assert not torch.equal(boards(3), boards(4))


def test_the_most_valuable_afterstate_is_played() -> None:
    turns = play_turns(20, 2, seed=5, value=lambda ends: -pip_counts(ends)[:, 1].float())

    game, ends = afterstates(turns.boards[0], turns.dice[0])
    most = torch.stack([pip_counts(ends[game == row])[:, 1].min() for row in range(20)])
    assert torch.equal(pip_counts(flip(turns.boards[1]))[:, 1], most)


def in_openspiel(turns: Turns) -> list[tuple[int, int, int]]:
    """Turn, game and number of afterstates of each position that OpenSpiel could be brought to."""
    pytest.importorskip("pyspiel", reason='OpenSpiel is not installed: pip install "nardy[peers]"')
    return [(turn, game, len(children_of_turn(state))) for turn, game, state in replay(turns)]


@pytest.mark.peer
def test_openspiel_comes_to_the_same_positions_and_lists_as_many_afterstates() -> None:
    turns = play_turns(4, 130, seed=6)

    met = in_openspiel(turns)

    assert {(turn, game) for turn, game, _ in met} == {(turn, game) for turn in range(130) for game in range(4)}
    counts = torch.stack([torch.bincount(afterstates(turns.boards[turn], turns.dice[turn])[0]) for turn in range(130)])
    assert all(int(counts[turn, game]) == number for turn, game, number in met)
