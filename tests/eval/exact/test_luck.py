"""With exact values nothing but luck decides between perfect players: what is left has no variance."""

from __future__ import annotations

from typing import Any

import pytest

from nardy.env import GameOptions
from nardy.env.formats import Format
from nardy.eval import ModelBot, RandomBot, play_deals
from nardy.eval.exact import ExactEvaluator
from nardy.eval.luck import Luck
from nardy.eval.refereed import compare_refereed
from nardy.eval.session import estimate

# The variant is known while tests run only.
OPTIONS: dict[str, dict[str, Any]] = {
    "cubeless": {"cube": False},
    "cubeful": {"max_cube": 1 << 24},
    "Jacoby": {"jacoby": True, "max_cube": 1 << 24},
    "match": {"match_length": 2},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_less_luck_perfect_players_always_draw(exact: ExactEvaluator, options: dict[str, Any]) -> None:
    bot = ModelBot(exact, "exact")
    record = play_deals(bot, bot, 100, GameOptions("one checker", **options), luck=Luck(exact, "exact"))
    assert record.luck is not None
    assert float(record.points.double().std()) > 0.9
    assert float((record.points - record.luck).abs().max()) < 1e-4


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_luck_does_not_move_the_mean(exact: ExactEvaluator, options: dict[str, Any]) -> None:
    bots = ModelBot(exact, "exact"), RandomBot("one checker")
    record = play_deals(*bots, 1500, GameOptions("one checker", **options), seed=2, luck=Luck(exact, "exact"))
    found = estimate(record)
    assert found.luck is not None and found.adjusted is not None
    assert abs(found.luck.mean) < 1.5 * found.luck.half_width  # three standard errors
    assert found.adjusted.half_width < found.points.half_width
    assert found.adjusted.low > 0


def test_a_referee_counts_the_same_luck(exact: ExactEvaluator) -> None:
    bots, luck = (ModelBot(exact, "exact"), RandomBot("one checker")), Luck(exact, "exact")
    record = play_deals(*bots, 5, GameOptions("one checker", **OPTIONS["match"]), seed=4, luck=luck)
    refereed = compare_refereed(*bots, 10, Format("one checker", 2, illegal="forfeit"), seed=4, luck=luck)
    assert refereed.luck is not None and record.luck is not None
    assert refereed.luck.mean == pytest.approx(float(record.luck.mean()), abs=1e-6)
