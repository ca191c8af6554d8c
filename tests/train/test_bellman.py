"""Exact targets against the plain definition, position by position and roll by roll."""

from __future__ import annotations

import pytest
import torch

from nardy.env import Cube, afterstates, flip
from nardy.models import Evaluator, Network, NetworkConfig
from nardy.models.janowski import simple_match_equity
from nardy.train.bellman import bellman, roll_means
from nardy.train.config import LearnerConfig, SelfPlayConfig
from nardy.train.learner import Learner
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import td_lambda

VARIANTS = ["backgammon", "sprintgammon", "longgammon"]


def _selfplay(variant: str) -> SelfPlay:
    network = Network(NetworkConfig((32,), context_units=8), seed=1)
    with torch.no_grad():
        network.head.weight.mul_(6)
        network.context_out.weight.normal_(0, 0.3, generator=torch.Generator().manual_seed(1))
    config = SelfPlayConfig(24, window_plies=6)
    return SelfPlay(network, variant, config, 3, torch.device("cpu"))


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_mean_over_the_rolls_is_the_sum_of_the_best_plays_by_their_chances(variant: str) -> None:
    selfplay = _selfplay(variant)
    evaluator = Evaluator(selfplay.network, variant, table=simple_match_equity())
    for _ in range(3):
        window = selfplay.collect()
    assert window.stake is not None
    boards, second = window.boards.flatten(0, 1)[-30:], window.second_first.flatten(0, 1)[-30:]
    second = second | (torch.arange(30) < 8)
    stakes = window.stake.here.flatten(0, 1).rows(torch.arange(6 * 24)[-30:])
    outcome, values = roll_means(selfplay.network, boards, variant, second, stakes)
    wanted = torch.zeros_like(values[:, :4])
    wanted_outcome = torch.zeros_like(outcome)
    for high in range(1, 7):
        for low in range(1, high + 1):
            weight = (1 if high == low else 2) / 36
            game, after = afterstates(boards, torch.tensor([[high, low]] * 30), variant, second)
            probs = evaluator.outcome(flip(after))[:, (3, 4, 5, 0, 1, 2)]
            cubeless = -evaluator.equity(flip(after))
            with_cube = [-evaluator.equity(flip(after), Cube(owner=owner)) for owner in ("centred", "theirs", "mine")]
            for row in range(30):
                mine = game == row
                wanted[row] += weight * torch.stack([column[mine].max() for column in (cubeless, *with_cube)])
                wanted_outcome[row] += weight * probs[mine][cubeless[mine].argmax()]
    torch.testing.assert_close(values[:, :4], wanted, atol=1e-4, rtol=0)
    torch.testing.assert_close(outcome, wanted_outcome, atol=1e-4, rtol=0)


def test_only_the_rows_asked_for_become_exact_and_without_the_rest_only_they_are_learned_from() -> None:
    selfplay = _selfplay("backgammon")
    selfplay.collect()
    window = selfplay.collect()
    targets = td_lambda(window, 0.7)
    rows = torch.tensor([5, 100, 61])
    exact = bellman(window, targets, selfplay.network, "backgammon", rows, keep_rest=True)
    others = torch.ones(6 * 24, dtype=torch.bool)
    others[rows] = False
    assert exact.rows is None
    for name in ("outcome", "no_double", "stake"):
        one, other = getattr(targets, name).flatten(0, 1), getattr(exact, name).flatten(0, 1)
        assert torch.equal(one[others], other[others]), name
        assert bool((one[rows] != other[rows]).any(1).all()), name
    alone = bellman(window, targets, selfplay.network, "backgammon", rows, keep_rest=False)
    learner = Learner(selfplay.network, "backgammon", LearnerConfig(batch_size=2), 0)
    learner.learn(window, alone, 1e-3)
    assert learner.num_updates == 2  # three positions in batches of two


def test_a_value_is_its_own_exact_target_where_the_network_is_right() -> None:
    """One checker each on the ace point: whoever rolls wins, whatever the network thinks of anything else."""
    boards = torch.zeros(1, 2, 26, dtype=torch.int8)
    boards[0, :, 0], boards[0, :, 1] = 14, 1
    network = Network(NetworkConfig((16,)), seed=0)
    outcome, values = roll_means(network, boards, "backgammon", torch.zeros(1, dtype=torch.bool))
    assert outcome[0].tolist() == pytest.approx([1, 0, 0, 0, 0, 0])
    assert values[0].tolist() == pytest.approx([1, 1, 1, 1])
