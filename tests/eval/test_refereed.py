"""Bots under a referee: the arena's results where nothing else happens, and flags where a clock runs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.console import Console

from nardy.env.clock import ClockOptions
from nardy.env.formats import Format
from nardy.eval.bots import Bot, ModelBot, PipCountBot, RandomBot
from nardy.eval.refereed import compare_refereed, play_match
from nardy.eval.results import ArenaResult, compare_bots
from nardy.eval.tables import arena_table
from tests.eval.fakes import FakeEvaluator

BOTS = PipCountBot("sprintgammon"), RandomBot("sprintgammon")
SLOW = ClockOptions(bank=60, increment=1, time="simulated", per_decision=5)


def _table(result: ArenaResult) -> str:
    console = Console(width=100, record=True, quiet=False, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(arena_table({"match": result}))
    return console.export_text()


@pytest.mark.parametrize(
    "options",
    [
        Format("sprintgammon", pairs=True),
        Format("sprintgammon", 3, pairs=True),
        Format("sprintgammon", 3, cube=False, illegal="forfeit"),
        Format("sprintgammon", cube=False, illegal="accept"),
        Format("sprintgammon", 3, clock=replace(SLOW, bank=100_000)),
        Format("longgammon", pairs=True),
        Format("sprintgammon", jacoby=True, automatic_doubles=2, pairs=True),
    ],
)
@pytest.mark.parametrize("opponent", [RandomBot, lambda variant: ModelBot(FakeEvaluator(variant), "model:fake")])
def test_a_referee_with_nothing_to_do_changes_nothing(options: Format, opponent: type[RandomBot]) -> None:
    bots: tuple[Bot, Bot] = PipCountBot(options.variant), opponent(options.variant)
    refereed = compare_refereed(*bots, 6, options, seed=4)
    arena = compare_bots(*bots, 6, options.rules, seed=4, batch=1)  # rounding, and with it ties, differ by the batch
    assert refereed.points.mean == arena.points.mean
    same = replace(refereed, options=arena.options, events=None, decisions_per_second=arena.decisions_per_second)
    assert same.to_dict() == arena.to_dict()
    assert refereed.events is not None
    assert not any(any(counts) for counts in refereed.events.values())


def test_a_bot_against_itself_scores_exactly_zero_by_the_clock_too() -> None:
    result = compare_refereed(BOTS[0], BOTS[0], 8, Format("sprintgammon", 3, clock=SLOW), seed=1)
    assert (result.points.mean, result.points.half_width) == (0, 0)
    assert result.events is not None
    own, other = result.events["flag"]
    assert own == other > 0


def test_time_that_is_simulated_runs_out_after_the_same_decisions_on_any_machine() -> None:
    logs = [play_match(BOTS, Format("sprintgammon", 25, clock=SLOW), seed=2) for _ in range(2)]
    assert logs[0] == logs[1]
    assert logs[0].games[-1].end == "flag"
    assert logs[0].count("flag", 0) + logs[0].count("flag", 1) == 1
    assert logs[0].winner is not None
    assert logs[0].score[logs[0].winner] == 25


def test_real_time_is_that_of_the_machine() -> None:
    log = play_match(BOTS, Format("sprintgammon", 3, clock=ClockOptions(bank=1e-6)))
    assert [game.end for game in log.games] == ["flag"]


def test_results_with_events_survive_json_and_are_shown() -> None:
    result = compare_refereed(*BOTS, 4, Format("sprintgammon", 25, clock=SLOW, illegal="correct"), seed=2)
    assert ArenaResult.from_dict(json.loads(json.dumps(result.to_dict(), allow_nan=False))) == result
    assert result.events is not None
    own, other = result.events["flag"]
    assert own + other == 4
    text = _table(result)
    assert "60 s + 1 s a turn, simulated" in text
    assert "correct" in text
    assert f"{own} / {other}" in next(line for line in text.splitlines() if "flag fallen" in line)
    assert "warnings" not in text


def test_without_a_referee_the_table_says_nothing_of_one() -> None:
    assert "flag" not in _table(compare_bots(*BOTS, 2, Format("sprintgammon").rules))


def test_progress_is_told_after_every_match() -> None:
    calls: list[tuple[int, int]] = []
    options = Format("sprintgammon", pairs=True)
    compare_refereed(*BOTS, 4, options, progress=lambda done, wanted: calls.append((done, wanted)))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_an_odd_number_of_games_is_refused() -> None:
    with pytest.raises(ValueError, match="games: found 3, wanted an even number"):
        compare_refereed(*BOTS, 3, Format("sprintgammon", pairs=True))
