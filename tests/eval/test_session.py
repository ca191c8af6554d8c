"""Sessions in parts: the stopping rule, the file, and going on after whatever happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from nardy.env import GameOptions
from nardy.env.formats import Format
from nardy.eval.arena import SEAT_COLUMNS, Record
from nardy.eval.bots import ModelBot, PipCountBot, RandomBot
from nardy.eval.luck import Luck, make_luck
from nardy.eval.refereed import compare_refereed
from nardy.eval.result_csv import csv_text
from nardy.eval.results import ArenaResult, compare_bots
from nardy.eval.session import MIN_DEALS, SessionOptions, estimate
from nardy.eval.session_file import SessionFile, SessionFileError, session_settings, weights_digest
from nardy.models import Evaluator, Network, NetworkConfig

SPRINT = GameOptions("sprintgammon")
BOTS = PipCountBot("sprintgammon"), RandomBot("sprintgammon")
SETTINGS = session_settings(*BOTS, SPRINT, 7, 4096, SessionOptions(part_deals=5), None)
PARTS = SessionOptions(part_deals=5)


def _network_luck() -> Luck:
    return Luck(Evaluator(Network(NetworkConfig((16,))), "sprintgammon"), "model:network")


def _without_speed(result: ArenaResult) -> dict[str, Any]:
    return replace(result, decisions_per_second=0.0).to_dict()


def _play(path: Path | None = None, games: int = 40, luck: Luck | None = None) -> ArenaResult:
    if path is None:
        return compare_bots(*BOTS, games, SPRINT, 7, session=PARTS, luck=luck)
    settings = session_settings(*BOTS, SPRINT, 7, 4096, PARTS, luck)
    with SessionFile(path, settings) as keeper:
        return compare_bots(*BOTS, games, SPRINT, 7, session=PARTS, luck=luck, keeper=keeper)


def test_two_seeds_of_the_same_pair_overlap() -> None:
    one, other = (compare_bots(*BOTS, 400, SPRINT, seed).points for seed in (1, 2))
    assert one.mean != other.mean
    assert one.low < other.high
    assert other.low < one.high


@pytest.mark.parametrize("luck", [False, True])
def test_a_bot_against_itself_is_exactly_zero_less_luck_too(luck: bool) -> None:
    result = compare_bots(BOTS[0], BOTS[0], 20, SPRINT, session=PARTS, luck=_network_luck() if luck else None)
    assert (result.best.mean, result.best.half_width) == (0, 0)


def test_the_stopping_rule_ends_a_session_early_and_not_too_early() -> None:
    session = SessionOptions(until=0.5, part_deals=60)
    result = compare_bots(*BOTS, 2000, SPRINT, session=session)
    assert MIN_DEALS <= result.num_deals == 240 < result.deals_wanted == 1000
    assert result.points.half_width < 0.5 == result.until
    assert compare_bots(*BOTS, 2000, SPRINT, session=replace(session, until=0.01, part_deals=None)).num_deals == 1000


def test_a_killed_session_goes_on_to_the_same_result(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    program = f"""
import os, signal, sys
from pathlib import Path
from nardy.eval.bots import RandomBot
from tests.eval import test_session as session

class Killed(RandomBot):
    asked = 0

    def choose(self, *arguments, **named):
        Killed.asked += 1
        if Killed.asked == 60:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().choose(*arguments, **named)

session.BOTS = session.BOTS[0], Killed("sprintgammon")
session._play(Path({str(path)!r}), luck=session._network_luck())
"""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    killed = subprocess.run([sys.executable, "-c", program], check=False, env=environment, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    kept = path.read_bytes()
    assert 1 < kept.count(b"\n") < 5

    with path.open("ab") as file:
        file.write(b'{"points":[[1,')  # what a kill in the middle of writing leaves
    luck = _network_luck()

    assert _without_speed(_play(path, luck=luck)) == _without_speed(_play(luck=luck))
    assert path.read_bytes().startswith(kept)
    assert path.read_bytes().count(b"\n") == 5


def test_a_finished_session_is_read_and_a_longer_one_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    first = _play(path, games=14)
    assert _play(path, games=14) == first
    assert _without_speed(_play(path, games=30)) == _without_speed(_play(games=30))
    with pytest.raises(ValueError, match="games: found 14, wanted at least the 30 that are kept"):
        _play(path, games=14)


def test_a_file_that_was_cut_anywhere_goes_on(tmp_path: Path) -> None:
    path, wanted = tmp_path / "session.jsonl", _without_speed(_play(games=20))
    _play(path, games=20)
    whole = path.read_bytes()
    first, second = whole.index(b"\n"), whole.index(b"\n", whole.index(b"\n") + 1)
    for length in (0, 5, first, first + 1, second - 3, second, second + 1, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert _without_speed(_play(path, games=20)) == wanted


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"seed": 8}, "seed: found 7 in the file, wanted 8 as asked for: another session"),
        ({"opponent": "pipcount"}, "opponent: found 'random' in the file, wanted 'pipcount'"),
        ({"env": {**SETTINGS["env"], "jacoby": True}}, "env.jacoby: found False in the file, wanted True"),
        ({"luck": "model:backgammon"}, "luck: found None in the file, wanted 'model:backgammon'"),
        ({"bot_weights": "0123"}, "bot_weights: found None in the file, wanted '0123'"),
    ],
)
def test_another_session_is_refused(changed: dict[str, Any], wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    _play(path, games=10)
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=wanted):
        SessionFile(path, {**SETTINGS, **changed})
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["some notes", '{"step": 1}\n{"step": 2}\n', "not JSON\n", "[]\n"])
def test_a_file_that_is_something_else_is_refused_and_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text(text)
    with pytest.raises(SessionFileError, match=r"notes\.jsonl: .*wanted"):
        SessionFile(path, SETTINGS)
    assert path.read_text() == text


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    _play(path, games=20)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"points":[]}\n' + lines[2])
    with pytest.raises(SessionFileError, match="line 2: found no part of a session"):
        _play(path, games=20)


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    with SessionFile(path, SETTINGS), pytest.raises(SessionFileError, match="another process at work"):
        SessionFile(path, SETTINGS)


def test_a_refereed_session_goes_on_too(tmp_path: Path) -> None:
    options, path = Format("sprintgammon", 1, illegal="forfeit"), tmp_path / "session.jsonl"
    settings = session_settings(*BOTS, options, 3, 1, SessionOptions(), None)
    for games in (4, 8):
        with SessionFile(path, settings) as keeper:
            result = compare_refereed(*BOTS, games, options, 3, keeper=keeper)
    assert _without_speed(result) == _without_speed(compare_refereed(*BOTS, 8, options, 3))
    assert path.read_bytes().count(b"\n") == 5


def test_other_weights_are_another_bot() -> None:
    networks = [Network(NetworkConfig((16,)), seed) for seed in (1, 2)]
    one, other = (ModelBot(Evaluator(network, "sprintgammon"), "model:same") for network in networks)
    assert weights_digest(one) == weights_digest(ModelBot(one.evaluator, "model:same")) != weights_digest(other)
    assert weights_digest(BOTS[0]) is None


def test_where_luck_explains_little_the_raw_result_counts() -> None:
    points = torch.tensor([[1, -1, 2, -2], [1, 1, -1, -1]])
    empty = torch.zeros((2, 4, 2, len(SEAT_COLUMNS)), dtype=torch.int64)
    record = Record(points, empty, torch.zeros((2, 4, 5), dtype=torch.int64), 1.0, luck=-3.0 * points.double())
    found = estimate(record)
    assert found.adjusted is not None
    assert found.adjusted.half_width > found.points.half_width
    assert found.best is found.points
    assert estimate(replace(record, luck=points.double())).best.half_width == 0


@pytest.mark.parametrize("spec", ["chess", "model:", "pipcount"])
def test_luck_is_by_a_model(spec: str) -> None:
    with pytest.raises(ValueError, match="wanted none, auto or model:NAME_OR_PATH"):
        make_luck(spec, "backgammon")


def test_luck_of_another_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="found a model for backgammon, wanted one for longgammon"):
        make_luck("model:backgammon", "longgammon")
    assert make_luck("none", "backgammon") is None
    luck = make_luck("auto", "backgammon")
    assert luck is not None
    assert luck.name == "model:backgammon"


def test_results_as_comma_separated_values() -> None:
    results = [_play(games=10), _play(games=10, luck=_network_luck())]
    heading, *lines = csv_text(results).splitlines()
    assert len(lines) == 2
    for key in ("bot", "points.mean", "side.gammons", "options.jacoby", "adjusted.half_width"):
        assert key in heading.split(",")
    assert json.loads(json.dumps(results[1].to_dict())) == results[1].to_dict()
    assert ArenaResult.from_dict(results[1].to_dict()) == results[1]
