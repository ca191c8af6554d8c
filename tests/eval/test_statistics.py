"""Intervals cover what they should, and the stopping rule costs little of that."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from nardy.eval.session import MIN_DEALS
from nardy.eval.statistics import Interval, bootstrap_interval, interval, normal_interval

# A game's points, by the wins, gammons, doubled games of near-equal bots; the mean is not 0.
POINTS = torch.tensor([1.0, 2, 4, -1, -2, -4])
CHANCES = torch.tensor([0.38, 0.14, 0.02, 0.35, 0.10, 0.01])
MEAN = float(POINTS @ CHANCES)


def _deals(sessions: int, deals: int, seed: int) -> Tensor:
    """Means of two games, ``[sessions, deals]``."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.multinomial(CHANCES, 2 * sessions * deals, replacement=True, generator=generator)
    return POINTS[drawn].view(sessions, deals, 2).mean(2).double()


@pytest.mark.parametrize(("method", "sessions"), [("normal", 2000), ("bootstrap", 300)])
def test_nineteen_intervals_in_twenty_hold_the_mean(method: str, sessions: int) -> None:
    found = [interval(deals, "bootstrap" if method == "bootstrap" else "normal") for deals in _deals(sessions, 200, 1)]
    covered = sum(each.low <= MEAN <= each.high for each in found) / sessions
    assert covered == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / sessions))
    assert {each.method for each in found} == {method}


def test_the_bootstrap_is_the_same_each_time_and_near_the_normal_one() -> None:
    deals = _deals(1, 1000, 2)[0]
    assert bootstrap_interval(deals) == bootstrap_interval(deals)
    assert bootstrap_interval(deals).half_width == pytest.approx(normal_interval(deals).half_width, rel=0.08)
    assert bootstrap_interval(torch.zeros(300)) == Interval(0, 0, "bootstrap")
    assert math.isinf(bootstrap_interval(deals[:1]).half_width)


@pytest.mark.parametrize("until", [0.15, 0.1, 0.05])
def test_an_interval_found_by_the_stopping_rule_covers_nearly_as_often(until: float) -> None:
    sessions, part = 1000, 10
    deals = _deals(sessions, 4000, 3)
    ends = torch.arange(MIN_DEALS, 4001, part)
    sums, squares = deals.cumsum(1)[:, ends - 1], deals.square().cumsum(1)[:, ends - 1]
    means = sums / ends
    widths = 1.96 * ((squares / ends - means.square()) / (ends - 1)).sqrt()
    assert bool((widths <= until).any(1).all())
    first = (widths <= until).long().argmax(1)[:, None]  # looked at after every part
    covered = (means.gather(1, first) - MEAN).abs() <= widths.gather(1, first)
    assert 0.93 < float(covered.double().mean()) < 0.97


def test_scaling_keeps_what_is_covered() -> None:
    assert Interval(0.2, 0.1, "bootstrap").scaled(-0.5, 0.5) == Interval(0.4, 0.05, "bootstrap")
    assert Interval.from_dict({"mean": 0.5, "half_width": None}) == Interval(0.5, math.inf)
