"""Ratings on results with known strengths, the pool, and a ladder as it is shown."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from rich.console import Console

from nardy.env import GameOptions
from nardy.eval.bots import Bot, PipCountBot, RandomBot
from nardy.eval.ladder import Entry, Ladder, list_entries, list_pairs, pair_seed, rate
from nardy.eval.ladder_report import draw_ladder, ladder_table
from nardy.eval.ratings import ELO_SCALE, PairResult, elo_ratings, point_ratings
from nardy.eval.results import ArenaResult, compare_bots
from nardy.eval.statistics import Interval
from nardy.models import Network, NetworkConfig, save_bundle

STRENGTHS = [0.0, 0.3, -0.2, 0.9]
ALL = [(one, other) for one in range(4) for other in range(4) if one < other]


def _share(difference: float) -> float:
    return 1 / (1 + 10 ** (-difference / 400))


def test_points_that_strengths_explain_are_explained() -> None:
    pairs = [PairResult(a, b, Interval(STRENGTHS[a] - STRENGTHS[b], 0.1), 100) for a, b in ALL]
    found = point_ratings(pairs, 4, zero=2)
    assert [value.mean for value in found.values] == pytest.approx([value + 0.2 for value in STRENGTHS])
    assert found.values[2] == Interval(0, 0)
    assert found.misfit == pytest.approx(0, abs=1e-9)
    assert found.values[0].half_width == pytest.approx(0.1 / math.sqrt(2))  # of 4 bots, all pairs alike


def test_points_have_the_width_they_vary_by() -> None:
    generator = torch.Generator().manual_seed(0)
    errors = {pair: 0.02 + 0.05 * place for place, pair in enumerate(ALL)}
    inside, sessions, misfit = 0, 500, 0.0
    for _ in range(sessions):
        noise = torch.randn(len(ALL), generator=generator, dtype=torch.float64).tolist()
        pairs = [
            PairResult(a, b, Interval(STRENGTHS[a] - STRENGTHS[b] + errors[a, b] * each, 1.96 * errors[a, b]), 100)
            for (a, b), each in zip(ALL, noise, strict=True)
        ]
        found = point_ratings(pairs, 4)
        inside += sum(
            value.low <= strength <= value.high for value, strength in zip(found.values, STRENGTHS, strict=True)
        )
        misfit += found.misfit**2 / found.by_chance**2 / sessions
    assert (inside - sessions) / (3 * sessions) == pytest.approx(0.95, abs=0.02)  # without the bot rated 0
    assert misfit == pytest.approx(1, abs=0.3)


def test_a_bot_that_wins_every_game_does_not_hide_what_others_are_worth() -> None:
    certain = Interval(2.0, 0.0)
    pairs = [PairResult(0, 1, Interval(0.5, 0.1), 100), PairResult(2, 0, certain, 100), PairResult(2, 1, certain, 100)]
    found = point_ratings(pairs, 3)
    assert found.values[1].mean == pytest.approx(-1 / 3)
    assert found.values[2].mean == pytest.approx(11 / 6)
    assert found.misfit > 4 * found.by_chance


def test_elo_of_shares_that_strengths_explain() -> None:
    elo = [0.0, 100.0, -250.0, 40.0]
    pairs = []
    for a, b in ALL:
        share, matches = _share(elo[a] - elo[b]), 1_000_000
        width = 1.96 * math.sqrt(share * (1 - share) / matches)
        pairs.append(PairResult(a, b, Interval(share, width), matches))
    found = elo_ratings(pairs, 4)
    assert [value.mean for value in found.values] == pytest.approx(elo, abs=0.1)
    assert found.misfit < 1e-4


def test_elo_of_two_has_the_width_of_their_share() -> None:
    found = elo_ratings([PairResult(0, 1, Interval(0.6, 0.02), 1)], 2)
    slope = ELO_SCALE / (0.6 * 0.4)  # Elo points a share, at the share
    assert found.values[1].mean == pytest.approx(400 * math.log10(0.4 / 0.6), abs=0.5)
    assert found.values[1].half_width == pytest.approx(0.02 * slope, rel=0.02)


def test_elo_of_a_bot_that_won_them_all_is_finite() -> None:
    found = elo_ratings([PairResult(0, 1, Interval(1.0, 0.0), 100), PairResult(1, 2, Interval(0.0, 0.0), 100)], 3)
    assert found.values[1].mean == pytest.approx(-400 * math.log10(100.5 / 0.5), abs=1e-3)
    assert found.values[2].mean == pytest.approx(0, abs=1e-3)
    assert math.isfinite(found.values[1].half_width)


def test_a_bot_without_a_chain_of_results_is_named() -> None:
    with pytest.raises(ValueError, match="no chain of results between bots 0 and 2"):
        point_ratings([PairResult(0, 1, Interval(0, 1), 2), PairResult(2, 3, Interval(0, 1), 2)], 4)


def _checkpoint(folder: Path, games: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    network = Network(NetworkConfig((16,)), games)
    save_bundle(folder / f"games-{games:012}.safetensors", network, "sprintgammon", {"games": games})


def test_checkpoints_of_a_run_are_spread_evenly(tmp_path: Path) -> None:
    for games in range(100, 1100, 100):
        _checkpoint(tmp_path / "one" / "checkpoints", games)
    entries = list_entries(f"random, run:{tmp_path / 'one'},pipcount", 4)
    assert [entry.trained_games for entry in entries] == [None, 100, 400, 700, 1000, None]
    assert entries[4].label == "one at 1,000"
    assert [entry.trained_games for entry in list_entries(f"run:{tmp_path / 'one'}", 1)] == [1000]
    assert len(list_entries(f"run:{tmp_path / 'one'}", 99)) == 10
    with pytest.raises(ValueError, match="found 'random' twice"):
        list_entries("random,random", 4)
    with pytest.raises(ValueError, match="found no checkpoints there"):
        list_entries(f"run:{tmp_path}", 4)


def test_pairs_are_all_or_those_with_an_anchor() -> None:
    entries = [Entry(name, name) for name in "abcd"]
    assert list_pairs(entries, None) == (ALL, 0)
    assert list_pairs(entries, "c") == ([(0, 2), (1, 2), (2, 3)], 2)
    assert list_pairs(entries, "c,a")[1] == 2
    assert len(list_pairs(entries, "c, a")[0]) == 5
    with pytest.raises(ValueError, match="anchors: found 'e', wanted one of a, b, c, d"):
        list_pairs(entries, "e")
    with pytest.raises(ValueError, match="bots: found 1, wanted two or more"):
        list_pairs(entries[:1], None)
    assert pair_seed(1, entries[0], entries[1]) == pair_seed(1, entries[1], entries[0]) != pair_seed(2, *entries[:2])


def _ladder(options: GameOptions) -> Ladder:
    bots: list[Bot] = [RandomBot("sprintgammon"), PipCountBot("sprintgammon"), RandomBot("sprintgammon")]
    entries = [Entry("random", "random"), Entry("pipcount", "pipcount"), Entry("model:x", "x at 7", "runs/x", 7)]
    pairs, zero = list_pairs(entries, None)

    def play(one: int, other: int) -> ArenaResult:
        return compare_bots(bots[one], bots[other], 100, options, pair_seed(1, entries[one], entries[other]))

    return rate(entries, pairs, zero, play)


@pytest.mark.parametrize("match_length", [0, 1])
def test_a_ladder_rates_bots_and_is_shown(match_length: int) -> None:
    ladder = _ladder(GameOptions("sprintgammon", match_length))
    random, pipcount, same = ladder.ratings.values
    assert ladder.order()[0] == 1
    assert pipcount.low > max(random.mean, same.high)
    assert same.low < 0 < same.high
    values = ladder.to_dict()
    assert values["unit"] == ("Elo" if match_length else "points a game")
    assert [bot["label"] for bot in values["bots"]] == ["random", "pipcount", "x at 7"]
    assert len(values["pairs"]) == 3
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(ladder_table(ladder))
    assert "random is 0" in console.export_text()
    assert draw_ladder(ladder).startswith(b"\x89PNG")
