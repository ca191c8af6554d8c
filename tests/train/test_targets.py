"""Lambda-returns against a plain calculation, position by position."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from nardy.models.janowski import simple_match_equity
from nardy.models.stakes import match_stakes
from nardy.train.luck import Luck
from nardy.train.targets import td_lambda
from nardy.train.window import StakeWindow, Window, each_tensor

TABLE = simple_match_equity()
FLIP = (3, 4, 5, 0, 1, 2)
LEVELS = (1, 2, 3, -1, -2, -3)
NEXT_STATE = (0, 2, 1)  # centred, mine, theirs as the next player sees them


def _window(plies: int, games: int, seed: int = 0) -> Window:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(plies, games, *shape, generator=generator)

    ones = torch.ones(games, dtype=torch.int32)
    stake = match_stakes(ones, 5 * ones[:, None].expand(-1, 2), ones < 0, 64, TABLE)
    return Window(
        boards=torch.zeros(plies, games, 2, 26, dtype=torch.int8),
        opening=torch.zeros(plies, games, dtype=torch.bool),
        second_first=torch.zeros(plies, games, dtype=torch.bool),
        dice=torch.randint(1, 7, (plies, games, 2), dtype=torch.int8, generator=generator),
        outcome=torch.softmax(normal(6), -1),
        cube=normal(3),
        followed=torch.rand(plies, games, 7, generator=generator) < 0.7,
        next_no_double=normal(3).sort(-1).values[..., [1, 2, 0]],
        ended=torch.rand(plies, games, generator=generator) < 0.2,
        stake=StakeWindow(
            here=each_tensor(lambda *alike: torch.stack(alike), *[stake] * plies),
            cube=normal(3),
            next_no_double=normal(3),
            next_double_take=normal(),
            next_may_double=normal() > -0.5,
            turned=normal() > 1.5,
        ),
    )


def _luck(window: Window, seed: int = 1) -> Luck:
    generator = torch.Generator().manual_seed(seed)
    shape = window.ended.shape
    outcome = 0.1 * torch.randn(*shape, 6, generator=generator)
    return Luck(outcome - outcome.mean(-1, keepdim=True), 0.1 * torch.randn(*shape, 3, generator=generator))


def _slow_outcome(window: Window, luck: Luck, trace: float, t: int, n: int) -> list[float]:
    returns = window.outcome[t, n].tolist()
    if not (t == len(window.ended) - 1 or window.ended[t, n] or not window.followed[t, n, 0]):
        later = _slow_outcome(window, luck, trace, t + 1, n)
        returns = [(1 - trace) * returns[i] + trace * later[FLIP[i]] for i in range(6)]
    return [value - float(luck.outcome[t, n, i]) for i, value in enumerate(returns)]


def _slow_cube(window: Window, luck: Luck, trace: float, t: int, n: int, state: int) -> float:
    estimate, lucky = float(window.cube[t, n, state]), float(luck.no_double[t, n, state])
    if t == len(window.ended) - 1 or window.ended[t, n] or not window.followed[t, n, 1 + state]:
        return estimate - lucky
    theirs = NEXT_STATE[state]
    predicted = window.next_no_double[t, n].tolist()
    if theirs in (0, 1) and min(2 * predicted[2], 1) > predicted[theirs]:
        taken = 2 * predicted[2] <= 1
        later = 2 * _slow_cube(window, luck, trace, t + 1, n, 2) if taken else 1.0
    else:
        later = _slow_cube(window, luck, trace, t + 1, n, theirs)
    return (1 - trace) * estimate - trace * later - lucky


def _slow_stake(window: Window, luck: Luck, trace: float, t: int, n: int, state: int) -> float:
    stake = window.stake
    assert stake is not None
    estimate, outcomes = float(stake.cube[t, n, state]), luck.outcome[t, n].tolist()
    payoff = stake.here.payoff[t, n].tolist()
    mine, theirs = stake.here.may_double[t, n].tolist()
    lucky: float = sum(worth * chance for worth, chance in zip(payoff, outcomes, strict=True))
    if (mine or theirs, mine, theirs)[state]:  # money's luck, and what the outcomes are worth more here
        lucky += float(luck.no_double[t, n, state])
        lucky -= sum(level * chance for level, chance in zip(LEVELS, outcomes, strict=True))
    cut = window.ended[t] | stake.turned[t]
    if t == len(window.ended) - 1 or cut[n] or not window.followed[t, n, 4 + state]:
        return estimate - lucky
    next_state = NEXT_STATE[state]
    doubled = min(float(stake.next_double_take[t, n]), 1.0)
    if next_state in (0, 1) and stake.next_may_double[t, n] and doubled > float(stake.next_no_double[t, n, next_state]):
        later = doubled
    else:
        later = _slow_stake(window, luck, trace, t + 1, n, next_state)
    return (1 - trace) * estimate - trace * later - lucky


@pytest.mark.parametrize("lucky", [False, True])
@pytest.mark.parametrize("trace", [0.0, 0.7, 1.0])
def test_returns_equal_the_plain_recursion(trace: float, lucky: bool) -> None:
    window = _window(plies=7, games=40)
    luck = _luck(window)
    if lucky:
        targets = td_lambda(window, trace, luck)
    else:
        luck = Luck(0 * luck.outcome, 0 * luck.no_double)
        targets = td_lambda(window, trace)
    for n in range(40):
        for t in range(7):
            assert targets.outcome[t, n].tolist() == pytest.approx(_slow_outcome(window, luck, trace, t, n), abs=1e-5)
            expected = [_slow_cube(window, luck, trace, t, n, state) for state in range(3)]
            assert targets.no_double[t, n].tolist() == pytest.approx(expected, abs=1e-4)
            assert targets.stake is not None
            expected = [_slow_stake(window, luck, trace, t, n, state) for state in range(3)]
            assert targets.stake[t, n].tolist() == pytest.approx(expected, abs=1e-4)


def test_lambda_0_learns_from_the_estimates_alone() -> None:
    window = _window(5, 10)
    targets = td_lambda(window, 0.0)
    torch.testing.assert_close(targets.outcome, window.outcome)
    torch.testing.assert_close(targets.no_double, window.cube)


def test_outcome_targets_stay_probabilities() -> None:
    targets = td_lambda(_window(9, 30), 0.8)
    torch.testing.assert_close(targets.outcome.sum(-1), torch.ones(9, 30))
    assert bool((targets.outcome >= 0).all())


def test_a_drop_is_no_outcome() -> None:
    """Where the game ended by a drop, what the slot plays next says nothing about the position before."""
    window = _window(2, 1)
    window.ended[0, 0] = True
    targets = td_lambda(window, 1.0)
    torch.testing.assert_close(targets.outcome[0], window.outcome[0])
    torch.testing.assert_close(targets.no_double[0], window.cube[0])
