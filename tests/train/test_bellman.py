"""Exact targets against the plain definition, position by position and roll by roll."""

from __future__ import annotations

import pytest
import torch

from nardy.env import Cube, afterstates, flip
from nardy.models import Evaluator, Network, NetworkConfig, load
from nardy.models.janowski import simple_match_equity
from nardy.models.values import equity
from nardy.train.bellman import bellman, exact_luck, luckless_returns, roll_means
from nardy.train.config import LearnerConfig, SelfPlayConfig
from nardy.train.learner import Learner
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import Targets, td_lambda

VARIANTS = ["backgammon", "sprintgammon", "longgammon"]


def _selfplay(variant: str, hidden: tuple[int, ...] = (32,)) -> SelfPlay:
    network = Network(NetworkConfig(hidden, context_units=8), seed=1)
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


def _fields(targets: Targets) -> list[torch.Tensor]:
    assert targets.stake is not None
    return [targets.outcome, targets.no_double, targets.stake]


@pytest.mark.parametrize("variant", VARIANTS)
def test_luckless_returns_that_look_one_turn_ahead_are_the_exact_means(variant: str) -> None:
    selfplay = _selfplay(variant)
    for _ in range(3):
        window = selfplay.collect()
    targets, slots = td_lambda(window, 0.7), torch.tensor([7, 2, 11])
    returns = luckless_returns(window, targets, selfplay.network, variant, 0.0, slots, keep_rest=False)
    assert returns.rows is not None
    means = bellman(window, targets, selfplay.network, variant, returns.rows, keep_rest=False)
    rolled = (~window.opening).flatten()[returns.rows]
    for mine, wanted in zip(_fields(returns), _fields(means), strict=True):
        mine, wanted = mine.flatten(0, 1)[returns.rows][rolled], wanted.flatten(0, 1)[returns.rows][rolled]  # noqa: PLW2901
        torch.testing.assert_close(mine, wanted, atol=1e-5, rtol=0)
    assert sorted(set((returns.rows % 24).tolist())) == [2, 7, 11]
    assert len(returns.rows) == 18


def test_the_games_that_are_not_asked_for_keep_their_targets() -> None:
    selfplay = _selfplay("backgammon")
    window = selfplay.collect()
    targets, slots = td_lambda(window, 0.7), torch.tensor([7, 2, 11])
    returns = luckless_returns(window, targets, selfplay.network, "backgammon", 0.9, slots, keep_rest=True)
    assert returns.rows is None
    others = torch.ones(24, dtype=torch.bool)
    others[slots] = False
    for mine, before in zip(_fields(returns), _fields(targets), strict=True):
        assert torch.equal(mine[:, others], before[:, others])
        assert not torch.equal(mine[:, slots], before[:, slots])


def test_exact_luck_takes_most_of_the_noise_out_of_whole_games_and_leaves_the_mean() -> None:
    """Games followed to their end: the results less all luck vary far less about the same mean."""
    network = load("sprintgammon").network  # whose idea of luck is a good one
    config = SelfPlayConfig(600, window_plies=40, cubeful_fraction=0, stake_fraction=0)
    selfplay = SelfPlay(network, "sprintgammon", config, 5, torch.device("cpu"))
    window = selfplay.collect()
    slots = torch.arange(600)
    noisy = td_lambda(window, 1.0)
    means, luckless = (
        luckless_returns(window, noisy, network, "sprintgammon", trace, slots, keep_rest=True) for trace in (0.0, 1.0)
    )
    kept = ~window.opening[:20]
    noise, rest = (equity(each.outcome[:20] - means.outcome[:20])[kept] for each in (noisy, luckless))
    assert rest.std() < 0.1 * noise.std()
    difference = noise - rest
    assert abs(difference.mean()) < 4 * difference.std() / 600**0.5  # a game's positions share its luck


def test_a_rare_outcome_is_moved_by_no_more_than_its_chance() -> None:
    selfplay = _selfplay("backgammon")
    for _ in range(3):
        window = selfplay.collect()
    targets, slots = td_lambda(window, 0.7), torch.arange(24)
    means, returns = (
        luckless_returns(window, targets, selfplay.network, "backgammon", trace, slots, keep_rest=True).outcome
        for trace in (0.0, 1.0)
    )
    assert not torch.equal(means, returns)
    torch.testing.assert_close(returns.sum(-1), torch.ones_like(returns[..., 0]))
    others = means < means.amax(-1, keepdim=True)
    assert bool((returns >= -1e-6)[others].all())
    assert bool((returns <= 2 * means + 1e-6)[others].all())
    assert bool(((returns - means).abs() > 0.9 * means)[others & (means > 1e-4)].any())  # so much was asked for


def test_the_luck_of_an_opening_roll_is_not_counted() -> None:
    selfplay = _selfplay("backgammon")
    window = selfplay.collect()
    luck = exact_luck(window, selfplay.network, "backgammon")
    assert bool(window.opening.any())
    assert luck.stake is not None
    for each in (luck.outcome, luck.no_double, luck.stake):
        assert not bool(each[window.opening].any())
        assert each[~window.opening].any(-1).float().mean() > 0.8
    assert luck.outcome.sum(-1).abs().max() < 1e-5


def test_bfloat16_rounds_the_means_and_hardly_changes_them() -> None:
    selfplay = _selfplay("backgammon", (32, 16))
    window = selfplay.collect()
    exact, rounded = (exact_luck(window, selfplay.network, "backgammon", None, how) for how in (False, True))
    assert not torch.equal(exact.outcome, rounded.outcome)
    torch.testing.assert_close(rounded.outcome, exact.outcome, atol=0.02, rtol=0)
