"""Muon against a slow plain version of it, and in the learner."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from nardy.env import launch
from nardy.models import Network, NetworkConfig
from nardy.train.config import LearnerConfig, SelfPlayConfig
from nardy.train.learner import Learner
from nardy.train.muon import _POLYNOMIALS, _STEPS, Muon, orthogonalize
from nardy.train.selfplay import SelfPlay
from nardy.train.targets import td_lambda

SHAPES = [(24, 40), (40, 24), (16, 16)]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_direction_keeps_its_singular_vectors_and_loses_their_lengths(shape: tuple[int, int]) -> None:
    generator = torch.Generator().manual_seed(1)
    left, lengths, right = torch.linalg.svd(torch.randn(shape, generator=generator), full_matrices=False)
    lengths = torch.logspace(0, -2.5, len(lengths))
    found = orthogonalize(left @ torch.diag(lengths) @ right)
    turned = left.T @ found @ right.T
    assert float((turned - torch.diag(turned.diagonal())).abs().max()) < 1e-3
    assert 0.85 < float(turned.diagonal().min()) <= float(turned.diagonal().max()) < 1.15


def _minimax(low: float, high: float) -> tuple[np.ndarray, float]:
    """``(a, b, c)`` of the odd polynomial nearest to 1 from ``low`` to ``high``, and its greatest error, by Remez."""
    points = np.linspace(low, high, 4)
    for _ in range(60):  # errors of one size and turning signs at four points, then the points where they are greatest
        signs = np.array([1.0, -1, 1, -1])
        a, b, c, error = np.linalg.solve(np.stack([points, points**3, points**5, signs], 1), np.ones(4))
        turns = np.roots([5 * c, 0, 3 * b, 0, a])
        points = np.array([low, *np.sort(turns[turns > 0].real), high])
    return np.array([a, b, c]), abs(error)


def test_the_polynomials_are_the_best_of_their_kind() -> None:
    low, high = 1e-3, 1.0
    for polynomial in _POLYNOMIALS:
        best, error = _minimax(low, high)
        np.testing.assert_allclose(polynomial, best, rtol=1e-5, atol=1e-6)
        low, high = 1 - error, 1 + error
    assert error < 0.12


def test_a_direction_does_not_depend_on_its_length_and_nothing_stays_nothing() -> None:
    matrix = torch.randn(8, 12, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(orthogonalize(1e-6 * matrix), orthogonalize(1e3 * matrix))
    assert not orthogonalize(torch.zeros(8, 12)).any()


def test_rounded_products_change_a_direction_little() -> None:
    matrix = torch.randn(32, 64, generator=torch.Generator().manual_seed(3))
    exact, rounded = orthogonalize(matrix), orthogonalize(matrix, torch.bfloat16)
    assert rounded.dtype == torch.float32
    assert 0 < float((exact - rounded).norm() / exact.norm()) < 0.05


@pytest.mark.parametrize("shape", SHAPES)
def test_steps_are_those_of_the_definition(shape: tuple[int, int]) -> None:
    """In double precision and with the singular value decomposition's own polynomial, iterated on numbers."""
    generator = np.random.default_rng(4)
    weights = generator.normal(size=shape)
    parameter = nn.Parameter(torch.tensor(weights, dtype=torch.float64))
    optimizer = Muon([parameter], lr=0.1, momentum=0.9, weight_decay=0.5, precision=torch.float64)
    mean = np.zeros(shape)
    for _ in range(3):
        gradient = generator.normal(size=shape)
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
        mean = 0.9 * mean + 0.1 * gradient
        left, lengths, right = np.linalg.svd(0.1 * gradient + 0.9 * mean, full_matrices=False)
        lengths /= np.sqrt((lengths**2).sum())
        for a, b, c in _STEPS:
            lengths = a * lengths + b * lengths**3 + c * lengths**5
        step = (left * lengths) @ right * max(1.0, shape[0] / shape[1]) ** 0.5
        weights = weights * (1 - 0.1 * 0.5) - 0.1 * step
        np.testing.assert_allclose(parameter.detach().numpy(), weights, rtol=1e-9, atol=1e-9)


def test_threads_take_the_same_steps() -> None:
    found = []
    for number in (1, 3):
        generator = torch.Generator().manual_seed(5)
        parameters = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in (*SHAPES, (8, 8))]
        optimizer = Muon(parameters, lr=0.1)
        with launch.threads_in_use(number):
            for _ in range(3):
                for parameter in parameters[:3]:  # the last has no gradient and stays
                    parameter.grad = torch.randn(parameter.shape, generator=generator)
                optimizer.step()
        found.append([parameter.detach() for parameter in parameters])
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_what_is_no_matrix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"found shape \(3,\), wanted a matrix"):
        Muon([nn.Parameter(torch.zeros(3))], lr=0.1)


def _learner(rate: float) -> Learner:
    network = Network(NetworkConfig((32, 16)), seed=1)
    return Learner(network, "backgammon", LearnerConfig(batch_size=128, muon_learning_rate=rate), 0)


def test_hidden_layers_are_its_and_all_else_is_adamws() -> None:
    def moved(learner: Learner) -> dict[str, set[str]]:
        names = {id(parameter): name for name, parameter in learner.network.named_parameters()}
        return {
            type(optimizer).__name__: {names[id(one)] for group in optimizer.param_groups for one in group["params"]}
            for optimizer in learner.optimizers
        }

    everything = {name for name, _ in Network(NetworkConfig((32, 16))).named_parameters()}
    weights = {"first.weight", "rest.0.weight"}
    assert moved(_learner(0.02)) == {"AdamW": everything - weights, "Muon": weights}
    assert moved(_learner(0.0)) == {"AdamW": everything}


def test_its_rate_rises_and_falls_with_adamws() -> None:
    learner = _learner(0.02)
    selfplay = SelfPlay(learner.network, "backgammon", SelfPlayConfig(64, window_plies=8), 0, torch.device("cpu"))
    window = selfplay.collect()
    learner.learn(window, td_lambda(window, 0.7), 0.25 * learner.config.learning_rate)
    rates = [group["lr"] for optimizer in learner.optimizers for group in optimizer.param_groups]
    assert rates == pytest.approx([0.25e-3, 0.005])


def test_a_learner_begun_with_adamw_alone_goes_on_with_it_and_back() -> None:
    learner = _learner(0.0)
    selfplay = SelfPlay(learner.network, "backgammon", SelfPlayConfig(64, window_plies=8), 0, torch.device("cpu"))
    window = selfplay.collect()
    targets = td_lambda(window, 0.7)
    before = learner.learn(window, targets, 1e-3).outcome
    for rate in (0.02, 0.0):
        changed = _learner(rate)
        changed.load_state({name: value.clone() for name, value in learner.state().items()})
        for _ in range(5):
            after = changed.learn(window, targets, 1e-3).outcome
        assert after < before
        assert ("muon.momentum.first.weight" in changed.state()) == (rate > 0)
        assert ("adamw.exp_avg.first.weight" in changed.state()) == (rate == 0)
        learner, before = changed, after
