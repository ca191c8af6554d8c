"""Learned luck: its mean is 0 whatever the network says, and a network that has learned explains the dice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nardy.models import Network, NetworkConfig
from nardy.models.rolls import NUM_ROLLS, ROLLS, roll_chances, roll_numbers
from nardy.models.values import possible_outcomes
from nardy.train.config import LuckConfig, SelfPlayConfig
from nardy.train.distributed import World
from nardy.train.luck import LuckLearner
from nardy.train.selfplay import SelfPlay
from nardy.train.window import Window

CPU = torch.device("cpu")


def _selfplay(games: int = 64) -> SelfPlay:
    network = Network(NetworkConfig((32,), context_units=8), seed=1)
    return SelfPlay(network, "sprintgammon", SelfPlayConfig(games, window_plies=8), 0, CPU)


def _shaken(learner: LuckLearner) -> LuckLearner:
    """The learner with a network that says something, and nothing sensible."""
    generator = torch.Generator().manual_seed(3)
    for parameter in learner.network.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator)
    return learner


def _learner(selfplay: SelfPlay, hidden: tuple[int, ...] = (32, 16), share: float = 1.0) -> LuckLearner:
    return LuckLearner(LuckConfig(hidden, share, 3e-3), selfplay.network, selfplay.variant, 0)


def test_rolls_are_numbered_in_either_order_and_their_chances_add_up() -> None:
    dice = torch.tensor([[a, b] for a in range(1, 7) for b in range(1, 7)], dtype=torch.int8)
    numbers = roll_numbers(dice)
    assert [ROLLS[number] for number in numbers.tolist()] == [(max(d), min(d)) for d in dice.tolist()]
    torch.testing.assert_close(torch.bincount(numbers).float() / 36, roll_chances(CPU))


def test_luck_has_mean_0_over_the_rolls_of_every_position() -> None:
    selfplay = _selfplay()
    learner = _shaken(_learner(selfplay))
    window = selfplay.collect()
    mean_outcome, mean_cube, size = 0.0, 0.0, 0.0
    for roll, chance in zip(ROLLS, roll_chances(CPU).tolist(), strict=True):
        luck = learner.estimate(replace(window, dice=torch.tensor(roll, dtype=torch.int8).expand_as(window.dice)))
        mean_outcome, mean_cube = mean_outcome + chance * luck.outcome, mean_cube + chance * luck.no_double
        size = max(size, float(luck.outcome.abs().max()))
    assert size > 0.05  # it says something
    assert float(torch.as_tensor(mean_outcome).abs().max()) < 1e-6
    assert float(torch.as_tensor(mean_cube).abs().max()) < 1e-5


def test_luck_touches_no_impossible_outcome_and_no_opening_roll() -> None:
    selfplay = _selfplay(256)
    learner = _shaken(_learner(selfplay))
    windows = [selfplay.collect() for _ in range(3)]
    assert any(bool(window.opening.any()) for window in windows)
    some_impossible = 0
    for window in windows:
        luck = learner.estimate(window)
        possible = possible_outcomes(window.boards.flatten(0, 1), selfplay.variant).view_as(luck.outcome)
        some_impossible += int((~possible).sum())
        assert bool((luck.outcome[~possible] == 0).all())
        assert bool((luck.outcome[window.opening] == 0).all())
        assert bool((luck.no_double[window.opening] == 0).all())
        torch.testing.assert_close(luck.outcome.sum(-1), torch.zeros_like(luck.outcome[..., 0]), atol=1e-6, rtol=0)
    assert some_impossible > 100


def test_an_untrained_learner_sees_no_luck() -> None:
    selfplay = _selfplay()
    luck = _learner(selfplay).estimate(selfplay.collect())
    assert float(luck.outcome.abs().max()) < 1e-6
    assert float(luck.no_double.abs().max()) < 1e-6


def test_a_learner_explains_part_of_the_dice_in_positions_it_has_not_seen() -> None:
    selfplay = _selfplay(128)
    selfplay.network.head.weight.data *= 30  # opinions strong enough to have luck
    learner = _learner(selfplay)
    generator = torch.Generator().manual_seed(0)
    for _ in range(60):
        window = selfplay.collect()
        order = torch.randperm(window.opening.numel(), generator=generator)
        learner.learn(window, order, 128, 1.0, World())
    window = selfplay.collect()
    luck = learner.estimate(window)
    values = window.outcome[~window.opening][:, :3].sum(-1)
    rest = values - luck.outcome[~window.opening][:, :3].sum(-1)
    assert float(rest.var()) < 0.98 * float(values.var())
    covariance = torch.stack([values, luck.outcome[~window.opening][:, :3].sum(-1)]).cov()
    assert float(covariance[0, 1]) > 0


def test_its_hidden_layers_begin_as_those_of_the_network_that_plays() -> None:
    network = Network(NetworkConfig((32, 16)), seed=2)
    known = network.state_dict()
    same = LuckLearner(LuckConfig((32, 16)), network, "backgammon", 0).network.state_dict()
    assert torch.equal(same["layers.0.weight"], known["first.weight"])
    assert torch.equal(same["layers.1.weight"], known["rest.0.weight"])
    other = LuckLearner(LuckConfig((32, 24, 8)), network, "backgammon", 0).network.state_dict()
    assert torch.equal(other["layers.0.weight"], known["first.weight"])
    assert other["layers.1.weight"].shape == (24, 32)
    assert other["head.weight"].shape == (NUM_ROLLS * 9, 8)


def test_the_share_says_from_how_many_positions_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    selfplay = _selfplay()
    learner = _learner(selfplay, share=0.25)
    window: Window = selfplay.collect()
    seen: list[int] = []
    original = learner.losses

    def watched(batch: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        seen.append(len(batch["boards"]))
        return original(batch)

    monkeypatch.setattr(learner, "losses", watched)
    learner.learn(window, torch.arange(window.opening.numel()), 64, 1.0, World())
    assert sum(seen) == window.opening.numel() // 4
