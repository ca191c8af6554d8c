"""The learner: what an update does, and that it learns a game whose answer is known."""

from __future__ import annotations

import copy
import functools
from dataclasses import replace

import pytest
import torch

from nardy.env import launch
from nardy.models import Evaluator, Network, NetworkConfig
from nardy.models.encoding import encode
from nardy.models.values import possible_outcomes, probabilities
from nardy.train.config import LearnerConfig, SelfPlayConfig, TargetsConfig, TrainConfig
from nardy.train.learner import Learner, NotFiniteError, learning_rate
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import td_lambda

SELFPLAY = SelfPlayConfig(num_games=64, window_plies=8)


def _pair(config: LearnerConfig | None = None) -> tuple[Learner, SelfPlay]:
    network = Network(NetworkConfig((32,)), seed=1)
    return Learner(network, "backgammon", config or LearnerConfig(batch_size=128), 0), SelfPlay(
        network, "backgammon", SELFPLAY, 0, torch.device("cpu")
    )


def test_the_rate_rises_then_falls_along_a_cosine() -> None:
    config = LearnerConfig(learning_rate=1.0, final_learning_rate=0.2, warmup_games=100)
    rates = [learning_rate(config, games, 1100) for games in (0, 50, 100, 600, 1100, 5000)]
    assert rates == pytest.approx([1 / 101, 51 / 101, 1.0, 0.6, 0.2, 0.2])


@pytest.mark.parametrize("muon_learning_rate", [0.0, 0.02])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_an_update_moves_the_predictions_towards_the_targets(precision: str, muon_learning_rate: float) -> None:
    config = LearnerConfig(batch_size=128, precision=precision, muon_learning_rate=muon_learning_rate)
    learner, selfplay = _pair(config)
    window = selfplay.collect()
    targets = td_lambda(window, 0.7)
    first = learner.learn(window, targets, 1e-3)
    for _ in range(30):
        last = learner.learn(window, targets, 1e-3)
    assert last.outcome < 0.5 * first.outcome
    assert last.cube < 0.5 * first.cube


def test_several_passes_see_every_position_as_often_each_time_in_another_order() -> None:
    learner, selfplay = _pair()
    window = selfplay.collect()
    learner.learn(window, td_lambda(window, 0.7), 1e-3, passes=3)
    number = window.opening.numel()
    assert learner.num_updates == -(-3 * number // 128)
    orders = [learner.draw_rows(number, number, turn) for turn in range(3)]
    for order in orders:
        assert torch.equal(order.sort().values, torch.arange(number))
    assert not torch.equal(orders[0], orders[1])
    assert not torch.equal(orders[1], orders[2])
    assert torch.equal(orders[1], learner.draw_rows(number, number, 1))


def test_positions_before_an_opening_roll_are_not_learned_from() -> None:
    learner, selfplay = _pair(LearnerConfig(batch_size=64, weight_decay=0.0))
    window = selfplay.collect()
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    whole = td_lambda(window, 0.7)
    only_opening = type(window)(**(vars(window) | {"opening": torch.ones_like(window.opening)}))
    learner.learn(only_opening, whole, 1e-3)
    for name, value in learner.network.state_dict().items():
        assert torch.equal(value, before[name]), name


def test_threads_share_a_batch_without_changing_its_gradient() -> None:
    results = []
    for threads in (1, 2):
        with launch.threads_in_use(threads):
            learner, selfplay = _pair(LearnerConfig(batch_size=512))
            window = selfplay.collect()
            losses = learner.learn(window, td_lambda(window, 0.7), 1e-3)
            gradients = [p.grad.clone() for p in learner.network.parameters() if p.grad is not None]
            results.append((losses, gradients))
    assert results[0][0].outcome == pytest.approx(results[1][0].outcome, rel=1e-5)
    for one, two in zip(results[0][1], results[1][1], strict=True):
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-7)


def test_the_equity_weight_adds_the_gradient_of_the_squared_error_of_the_equity() -> None:
    """By the numbers of one update: cube left out, the difference of two gradients is the term's own, by autograd."""
    gradients = []
    for weight in (0.0, 3.0):
        learner, selfplay = _pair(LearnerConfig(batch_size=4096, cube_weight=0.0, equity_weight=weight))
        window = selfplay.collect()
        targets = td_lambda(window, 0.7)
        learner.config = replace(learner.config, max_gradient_norm=1e9)
        network = copy.deepcopy(learner.network)
        learner.learn(window, targets, 1e-3)
        gradients.append([p.grad for p in (learner.network.first.weight, learner.network.head.weight)])
    kept = ~window.opening.flatten()
    boards, wanted = window.boards.flatten(0, 1)[kept], targets.outcome.flatten(0, 1)[kept]
    raw = network(encode(boards))
    probs = probabilities(raw, possible_outcomes(boards, "backgammon"))
    points = torch.tensor([1.0, 2.0, 3.0, -1.0, -2.0, -3.0])
    error = (3.0 * ((probs - wanted) @ points).square()).mean()
    expected = torch.autograd.grad(error, (network.first.weight, network.head.weight))
    for plain, weighted, own in zip(*gradients, expected, strict=True):
        assert plain is not None and weighted is not None
        assert own.abs().max() > 1e-3
        torch.testing.assert_close(weighted - plain, own, atol=2e-5, rtol=1e-3)


def test_bfloat16_rounds_the_gradient_and_hardly_changes_it() -> None:
    gradients = {}
    for precision in ("float32", "bfloat16"):
        learner, selfplay = _pair(LearnerConfig(batch_size=512, precision=precision))
        window = selfplay.collect()
        learner.learn(window, td_lambda(window, 0.7), 1e-3)
        assert all(parameter.dtype == torch.float32 for parameter in learner.network.parameters())
        gradients[precision] = torch.cat([p.grad.flatten() for p in learner.network.parameters() if p.grad is not None])
    exact, rounded = gradients.values()
    assert rounded.dtype == torch.float32
    assert not torch.equal(exact, rounded)
    assert float((exact - rounded).norm() / exact.norm()) < 0.05


def test_the_average_follows_the_weights() -> None:
    learner, selfplay = _pair(LearnerConfig(batch_size=128, ema_decay=0.5))
    weight = learner.network.first.weight
    expected = learner.average.first.weight.clone()
    window = selfplay.collect()
    decays = []
    original = learner._update_average

    @functools.wraps(original)
    def watched() -> None:
        nonlocal expected
        decay = min(0.5, learner.num_updates / (learner.num_updates + 9))
        decays.append(decay)
        expected = decay * expected + (1 - decay) * weight.detach()
        original()

    learner._update_average = watched  # type: ignore[method-assign]
    learner.learn(window, td_lambda(window, 0.7), 1e-2)
    assert len(decays) == 4
    torch.testing.assert_close(learner.average.first.weight, expected)


def test_a_loss_that_is_not_a_number_stops_the_run() -> None:
    learner, selfplay = _pair()
    window = selfplay.collect()
    targets = td_lambda(window, 0.7)
    spoiled = replace(targets, no_double=targets.no_double * float("nan"))
    with pytest.raises(NotFiniteError, match="wanted finite numbers"):
        learner.learn(window, spoiled, 1e-3)


@pytest.mark.parametrize("muon_learning_rate", [0.0, 0.02])
def test_a_saved_learner_goes_on_bit_for_bit(muon_learning_rate: float) -> None:
    config = LearnerConfig(batch_size=128, muon_learning_rate=muon_learning_rate)
    straight, selfplay = _pair(config)
    windows = [selfplay.collect() for _ in range(2)]
    all_targets = [td_lambda(window, 0.7) for window in windows]
    straight.learn(windows[0], all_targets[0], 1e-3)
    state = {name: value.clone() for name, value in straight.state().items()}
    straight.learn(windows[1], all_targets[1], 1e-3)
    resumed, _ = _pair(config)
    resumed.load_state(state)
    resumed.learn(windows[1], all_targets[1], 1e-3)
    for (name, value), (_, other) in zip(straight.state().items(), resumed.state().items(), strict=True):
        assert torch.equal(value, other), name


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: TrainConfig(games=0), "games: found 0"),
        (lambda: SelfPlayConfig(num_games=0), "num_games: found 0"),
        (lambda: SelfPlayConfig(cubeful_fraction=1.5), "cubeful_fraction: found 1.5"),
        (lambda: TargetsConfig(final_lambda=-1), "final_lambda: found -1"),
        (lambda: LearnerConfig(learning_rate=0), "learning_rate: found 0"),
        (lambda: LearnerConfig(final_learning_rate=1), "final_learning_rate: found 1"),
        (lambda: LearnerConfig(ema_decay=1.0), "ema_decay: found 1.0"),
        (lambda: LearnerConfig(equity_weight=-1), "equity_weight: found -1"),
        (lambda: LearnerConfig(muon_learning_rate=-0.1), "muon_learning_rate: found -0.1"),
        (lambda: LearnerConfig(precision="float16"), "precision: found float16"),
        (lambda: NetworkConfig((100,)), "first a multiple of 16"),
    ],
)
def test_impossible_settings_are_refused_by_name(build, reason: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=reason):
        build()


@functools.cache
def _win_chance(mine: int, theirs: int) -> float:
    """Exact chance of the player on roll, one checker each, ``mine`` and ``theirs`` pips from being off, no contact.

    A checker in the home board at p is off with a die of p or more; the pips suffice, whichever way they are played.
    """
    total = 0.0
    for a in range(1, 7):
        for b in range(1, 7):
            rolled = 4 * a if a == b else a + b
            left = mine - rolled
            if left <= 0:
                total += 1
            else:
                total += 1 - _win_chance(theirs, left)
    return total / 36


def _one_checker_each(pairs: list[tuple[int, int]]) -> torch.Tensor:
    boards = torch.zeros(len(pairs), 2, 26, dtype=torch.int8)
    boards[:, :, 0] = 2
    for row, points in enumerate(pairs):
        for side, point in enumerate(points):
            boards[row, side, point] = 1
    return boards


def test_self_play_learns_the_chances_of_a_small_race() -> None:
    """Games from the last checker of each side on its 12 point; from 9 on, where a first roll leaves it, all is known.

    Before training the error is about 0.31; who is ahead alone leaves 0.14.
    """
    network = Network(NetworkConfig((64,)), seed=0)
    learner = Learner(network, "backgammon", LearnerConfig(batch_size=128, learning_rate=5e-3, warmup_games=100), 0)
    selfplay = SelfPlay(network, "sprintgammon", SelfPlayConfig(num_games=128), 0, torch.device("cpu"))
    selfplay.games._start = _one_checker_each([(12, 12)])
    selfplay.games.deal(torch.ones(128, dtype=torch.bool))
    pairs = [(mine, theirs) for mine in range(1, 10) for theirs in range(1, 10)]
    exact = torch.tensor([_win_chance(mine, theirs) for mine, theirs in pairs])

    def error() -> float:
        probs = Evaluator(learner.average, "sprintgammon").outcome(_one_checker_each(pairs))[:, :3].sum(1)
        return float((probs - exact).square().mean().sqrt())

    assert error() > 0.2
    for window in range(60):
        collected = selfplay.collect()
        rate = learning_rate(learner.config, 100 + window, 160)
        learner.learn(collected, td_lambda(collected, 0.7), rate)
    assert error() < 0.05
