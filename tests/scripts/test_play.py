"""``nardy-play`` as a user types it."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nardy.models import Network, NetworkConfig, save_bundle
from nardy.scripts.analyze import main as analyze
from nardy.scripts.play import main
from nardy.scripts.play_terminal import draws_circles


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.safetensors"
    save_bundle(path, Network(NetworkConfig((16,))), "backgammon")
    return path


def _type(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def test_a_model_plays_and_gives_hints(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _type(monkeypatch, b"hint\nmoves\nroll\nhint\nquit\n")
    assert main([f"bot=model:{model}", "seed=4"]) == 0
    page = capsys.readouterr().out
    assert "seed=4" in page
    assert "equity" in page
    assert "Goodbye." in page


def test_blitz_is_played_by_the_clock(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _type(monkeypatch, b"moves\nquit\n")
    assert main(["bot=pipcount", "seed=3", "env=blitz", "env.clock.bank=3600"]) == 0
    page = capsys.readouterr().out
    assert re.search(r"roll or double> \[\d\d:\d\d / \d\d:\d\d\] There are no dice", page)
    assert "match to 5" in page


def test_a_fallen_flag_loses_the_match(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _type(monkeypatch, b"\n")
    assert main(["bot=pipcount", "seed=3", "env=blitz", "env.clock.bank=0.000001", "env.clock.increment=0"]) == 0
    page = capsys.readouterr().out
    assert "won the match." in page
    assert "Match score: you 5, pipcount 0." in page  # the bot began, and its flag fell first


def test_bytes_that_are_no_text_are_answered(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _type(monkeypatch, b"\xff\xfe\x00\n\x80/5\n")
    assert main(["bot=pipcount", "seed=1", "env.cube=false", f"adviser={model}"]) == 0
    assert "cannot read" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["bot=chess"], "bot: found 'chess', wanted one of"),
        (["bot=pipcount", "adviser=/nothing"], "'/nothing'"),
        (["sed=3"], "sed: found no such key, wanted one that --help lists; did you mean seed?"),
        (["env.match_length=-1"], "env.match_length: found -1"),
        (["match_length=5"], "did you mean env.match_length?"),
        (["env=blitz", "env.clock.time=simulated"], "env.clock.time: found simulated, wanted real: a person thinks"),
        (["env.raccoons=true", "env.beavers=true"], "env.raccoons: found true, wanted false"),
        (["bot=pipcount", "env.beavers=true"], "bot: pipcount has no answer to a beaver"),
        (["tutor=maybe"], "tutor: found 'maybe', wanted true or false"),
        (["tutor_least=-1"], "tutor_least: found -1.0, wanted a number from 0 to 1"),
        (["load=x.json", "position=x"], "position: found it with load, wanted one of them"),
        (["load=x.json", "env=blitz"], "load: found it with a clock, wanted none"),
        (["position=x", "env=blitz"], "position: found it with a clock, wanted none"),
        (["load=/nothing/x.json"], "/nothing/x.json: found no such file"),
        (["load=/nothing/x.mat"], "file: found '/nothing/x.mat', wanted a name in .json"),
        (["position=chess"], "gnubg id: found 'chess', wanted"),
        (["position=4HPwATDgc/ABMA", "env=longgammon"], "variant: found 'longgammon'"),
        (["position=4HPwATDgc/ABMA:cAkAAAAAAAAA", "bot=model:longgammon"], "found a model for longgammon"),
        (["bot=pipcount", "adviser=longgammon"], "adviser: longgammon: found a model for longgammon, wanted one for"),
        (["gnubg", "host=0.0.0.0"], "host: found 0.0.0.0, wanted localhost"),
        (["gnubg", "env.match_length=5"], "who asks says what is played"),
        (["ubgi", "env=longgammon"], "env.variant: found longgammon, wanted backgammon"),
        (["www"], "task: found 'www', wanted one of terminal, web, gnubg, ubgi"),
        (["web", "host=0.0.0.0"], "host: found 0.0.0.0, wanted localhost"),
        (["web", "bot=chess"], "bot: found 'chess', wanted one of"),
        (["web", "env.match_length=3"], "env.match_length"),
    ],
)
def test_what_does_not_fit_is_one_line(words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert wanted in captured.err
    assert captured.err.count("\n") == 1


def test_a_model_plays_matches(
    model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("hint\nquit\n"))
    assert main([f"bot=model:{model}", "env.match_length=3", "seed=1"]) == 0
    assert re.search(r"equity +diff +match", capsys.readouterr().out)


def test_a_match_with_the_tutor_is_saved_gone_on_with_and_analysed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # away from runs/ with models of the tester's own
    saved, mat = tmp_path / "match.json", tmp_path / "match.mat"
    _type(monkeypatch, f"double\nid\nsave {saved}\nquit\n".encode())
    words = ["env=sprintgammon", "bot=model:sprintgammon", "tutor=true", "tutor_least=0"]
    assert main([*words, "env.match_length=3", "env.resignation=true", "seed=4"]) == 0
    page = capsys.readouterr().out
    assert "Tutor: Double lost " in page
    assert f"Saved {saved}." in page
    _type(monkeypatch, f"id\nmat {mat}\nquit\n".encode())
    assert main([f"load={saved}"]) == 0  # its rules and a model for them come from the file
    again = capsys.readouterr().out
    assert "You play against sprintgammon" in again
    assert re.findall(r"XGID=\S+|GNUbg ID \S+", again) == re.findall(r"XGID=\S+|GNUbg ID \S+", page) != []
    assert analyze([str(mat)]) == 0
    analysis = capsys.readouterr().out
    assert "sprintgammon, match to 3, 1 game" in analysis
    assert "Double lost " in analysis


def test_another_discipline_is_loaded_in_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _type(monkeypatch, f"save {tmp_path}/long\n".encode())
    assert main(["env=longgammon", "seed=1"]) == 0
    _type(monkeypatch, f"load {tmp_path}/long\nhint\n".encode())
    assert main(["seed=1"]) == 0
    page = capsys.readouterr().out
    assert "You play against longgammon" in page.rpartition("backgammon; help")[2]
    _type(monkeypatch, f"load {tmp_path}/long\n".encode())
    assert main(["bot=model:backgammon"]) == 0
    assert "found a model for backgammon, wanted one for longgammon" in capsys.readouterr().out


def test_a_game_begins_from_a_position(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    _type(monkeypatch, b"hint\ntake\n")
    assert main(["position=XGID=-b----E-C---eE---c-e----B-:0:0:1:D:2:3:0:7:10", "seed=1"]) == 0
    page = capsys.readouterr().out
    assert "match to 7" in page
    assert "take or drop> Take; equities, as your opponent sees it" in page
    assert "You took." in page


def test_the_server_says_how_to_reach_it_and_ends_with_a_signal(model: Path) -> None:
    command = [sys.executable, "-m", "nardy.scripts.play", "gnubg", f"bot=model:{model}", "port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert re.search(r"listens on 127\.0\.0\.1:\d+", process.stdout.readline())
        assert re.search(r"set player 0 external localhost:\d+", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("Stopped.\n", "")
    assert process.returncode == 0


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "env.match_length=0" in capsys.readouterr().out


def test_encodings_without_the_boards_signs_are_noticed() -> None:
    assert draws_circles("utf-8")
    assert not draws_circles("ascii")
    assert not draws_circles("no-such-encoding")
