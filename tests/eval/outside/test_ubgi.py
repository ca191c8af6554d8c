"""Engines that speak UBGI, good ones and those that do everything wrong."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest
import torch

from nardy.env import GameOptions, start_boards
from nardy.env.formats import Format
from nardy.eval.bots import RandomBot, make_bot
from nardy.eval.outside import BotFailedError, OutsideBot, OutsideOptions
from nardy.eval.refereed import compare_refereed
from nardy.eval.results import ArenaResult, compare_bots
from nardy.eval.tables import arena_table

from .engine import MISBEHAVIOURS

ENGINE = Path(__file__).with_name("engine.py")
CUBELESS = GameOptions(cube=False)


def bot(arguments: str = "", crash: str = "lose", time_limit: float = 20.0, deals_at_once: int = 2) -> OutsideBot:
    options = OutsideOptions(time_limit, crash)  # type: ignore[arg-type]  # one of the two
    made = make_bot(f"ubgi:{shlex.quote(sys.executable)} {shlex.quote(str(ENGINE))} {arguments}", outside=options)
    assert isinstance(made, OutsideBot)
    made.deals_at_once = deals_at_once
    return made


@pytest.mark.parametrize("arguments", ["", "--old"], ids=["v0.2", "knows no sessions"])
def test_an_engine_plays_whole_games(arguments: str) -> None:
    result = compare_bots(bot(arguments), RandomBot(), 4, CUBELESS, seed=1)
    assert result.side.wins + result.other.wins == 4
    assert result.side.forfeits == result.other.forfeits == 0


@pytest.mark.parametrize("how", MISBEHAVIOURS)
def test_an_engine_that_fails_loses_that_game_and_no_other(how: str) -> None:
    # Games of 40 plays and more: the engine fails in the first, is started again, and so on.
    engine = bot(f"{how} 60", time_limit=2.0)
    started = time.monotonic()
    result = compare_bots(RandomBot(), engine, 4, CUBELESS, seed=1)
    assert time.monotonic() - started < 60
    assert result.other.forfeits > 0
    assert result.side.forfeits == 0
    assert result.side.wins + result.other.wins + result.other.forfeits == result.num_games == 4


def test_a_forfeited_game_costs_the_cube_as_it_stands() -> None:
    result = compare_bots(bot("exit 0"), RandomBot(), 2, CUBELESS)
    assert result.points.mean == -1
    assert (result.side.forfeits, result.other.wins) == (2, 0)
    assert "forfeited, own / opponent" in _shown(result)


def test_in_a_match_the_next_game_follows() -> None:
    result = compare_bots(bot("exit 0"), RandomBot(), 2, GameOptions(cube=False, match_length=2))
    assert result.match_wins is not None
    assert result.match_wins.mean == 0
    assert result.side.forfeits == 4  # two games lost in each match


@pytest.mark.parametrize("how", ["exit", "illegal"])
def test_a_stopped_session_keeps_what_was_played(how: str) -> None:
    # The engine counts its plays over all games; some deals are over before it fails.
    good = compare_bots(bot(), RandomBot(), 12, CUBELESS, seed=3)
    result = compare_bots(bot(f"{how} 150", "stop", deals_at_once=1), RandomBot(), 12, CUBELESS, seed=3)
    assert 1 <= result.num_deals < 6
    assert result.num_games == 2 * result.num_deals
    assert result.stopped
    assert not good.stopped
    kept = compare_bots(bot(), RandomBot(), 2 * result.num_deals, CUBELESS, seed=3)
    assert (kept.points, kept.side, kept.other) == (result.points, result.side, result.other)
    assert ArenaResult.from_dict(result.to_dict()) == result


def test_stopped_at_once_there_is_nothing_to_keep() -> None:
    with pytest.raises(BotFailedError, match="exited with status 3: out of luck"):
        compare_bots(bot("exit 1", "stop"), RandomBot(), 4, CUBELESS)


def test_an_engine_that_never_answers_ends_the_session_whatever_is_configured() -> None:
    with pytest.raises(BotFailedError, match="failed 5 times in a row: exited with status 3"):
        compare_bots(bot("exit 0"), RandomBot(), 4, GameOptions(cube=False, match_length=3))


def test_a_referee_awards_the_games_of_a_failing_engine() -> None:
    options = Format(cube=False, illegal="forfeit")
    result = compare_refereed(bot("exit 0"), RandomBot(), 2, options)
    assert result.events is not None
    assert result.events["failed"] == (2, 0)
    assert result.points.mean == -1
    with pytest.raises(BotFailedError):
        compare_refereed(bot("exit 0", "stop"), RandomBot(), 2, options)


def test_it_is_told_the_score_once_a_game(tmp_path: Path) -> None:
    log = tmp_path / "log"
    compare_bots(bot(f"--log {log}"), RandomBot(), 2, GameOptions(cube=False, match_length=2), seed=2)
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["ubgi", "newgame", "newsession type match length 3 crawford off"]
    assert lines[3:7] == ["setscore 1 1", "setcube value 1 owner center", "setturn p1", "isready"]
    assert len([line for line in lines if line == "isready"]) < len([line for line in lines if line.startswith("go")])
    assert "position gnubgid" in lines[7]


def test_positions_are_the_movers(tmp_path: Path) -> None:
    log = tmp_path / "log"
    engine = bot(f"--log {log}")
    engine.choose(start_boards(1), torch.tensor([[3, 1]]), None, torch.zeros(1))
    assert log.read_text(encoding="utf-8").splitlines()[-3:] == [
        "position gnubgid 4HPwATDgc/ABMA",
        "dice 3 1",
        "go role chequer",
    ]


def test_it_cannot_be_asked_about_the_cube() -> None:
    with pytest.raises(ValueError, match=r"found env\.cube=true, wanted false"):
        compare_bots(bot(), RandomBot(), 2, GameOptions())


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ("ubgi:/no/such/engine --fast", "found no program '/no/such/engine'"),
        ("ubgi:'open", "cannot be read"),
        ("ubgi:", "wanted one of random"),
        ("pubeval:1", "wanted pubeval"),
        ("gnubg-nn:7", "found '7' plies, wanted one of 0, 1"),
        ("bgsage:0", "found '0' plies, wanted one of 1, 2, 3, 4"),
        ("gnubg-socket:localhost", "wanted HOST:PORT"),
        ("gnubg-socket:localhost:99999", "wanted HOST:PORT"),
        ("gnubg-socket:192.0.2.1:1234", "wanted localhost"),
    ],
)
def test_a_bad_specification_is_one_line(spec: str, wanted: str) -> None:
    with pytest.raises(ValueError, match=wanted) as error:
        make_bot(spec)
    assert "\n" not in str(error.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nardy.eval.outside.specification.find_spec", lambda name: None)
    for spec, package in (("pubeval", "gnubg-nn"), ("gnubg-nn", "gnubg-nn"), ("bgsage", "bgsage")):
        with pytest.raises(ValueError, match=f"pip install '{package}'"):
            make_bot(spec)


@pytest.mark.parametrize("variant", ["sprintgammon", "longgammon"])
def test_other_disciplines_are_refused(variant: str) -> None:
    with pytest.raises(ValueError, match=f"found {variant}, wanted backgammon"):
        make_bot(f"ubgi:{sys.executable}", variant)


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), 1e9])
def test_the_time_limit_is_a_time(limit: float) -> None:
    with pytest.raises(ValueError, match="time_limit"):
        OutsideOptions(limit)


def _shown(result: ArenaResult) -> str:
    table = arena_table({"money": result})
    return " ".join(str(cell) for column in table.columns for cell in column.cells)
