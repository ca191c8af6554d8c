"""Servers that answer board lines as GNU Backgammon does, good ones and those that do everything wrong."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from nardy.env import Cube, GameOptions, start_boards
from nardy.eval.bots import RandomBot, make_bot
from nardy.eval.outside import BotFailedError, OutsideBot, OutsideOptions
from nardy.eval.results import compare_bots
from tests.positions import position, to_boards

from .server import serving

GNUBG = shutil.which("gnubg", path=f"{os.environ.get('PATH', '')}:/usr/games")
needs_gnubg = pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")


def bot(port: int, crash: str = "lose", time_limit: float = 20.0) -> OutsideBot:
    made = make_bot(f"gnubg-socket:127.0.0.1:{port}", outside=OutsideOptions(time_limit, crash))  # type: ignore[arg-type]
    assert isinstance(made, OutsideBot)
    made.deals_at_once = 2
    return made


@pytest.mark.parametrize("options", [GameOptions(), GameOptions(match_length=2)], ids=["money", "match"])
def test_a_server_plays_whole_games(options: GameOptions) -> None:
    with serving() as server:
        result = compare_bots(bot(server.port), RandomBot(), 2, options, seed=1)
    assert result.side.wins + result.other.wins == result.num_games
    assert result.side.forfeits == 0


@pytest.mark.parametrize("how", ["hang", "garbage", "illegal", "exit", "error", "long", "twice"])
def test_a_server_that_fails_loses_that_game_and_no_other(how: str) -> None:
    started = time.monotonic()
    with serving(how, 60) as server:
        result = compare_bots(bot(server.port, time_limit=2.0), RandomBot(), 4, GameOptions(cube=False), seed=1)
    assert time.monotonic() - started < 60
    assert result.side.forfeits > 0
    assert result.side.wins + result.other.wins + result.side.forfeits == result.num_games == 4


def test_no_server_ends_the_session() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(BotFailedError, match=r"failed 5 times in a row: .*refused"):
        compare_bots(bot(port), RandomBot(), 4, GameOptions(cube=False, match_length=3))


@pytest.mark.parametrize("answer", ["roll", "double", ""])
def test_only_a_take_or_a_drop_answers_a_double(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setattr(server, "answer", lambda line: answer)
        with pytest.raises(BotFailedError, match="wanted take or drop") as failure:
            bot(server.port).take(start_boards(1), Cube())
    assert failure.value.failed.tolist() == [True]


def test_who_would_beaver_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving() as server:
        monkeypatch.setattr(server, "answer", lambda line: "beaver")
        assert bot(server.port).take(start_boards(1), Cube()).tolist() == [True]


def test_the_line_is_as_the_server_reads_it() -> None:
    start = "0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0"
    with serving() as server:
        asked = bot(server.port)
        asked.choose(start_boards(1), torch.tensor([[3, 1]]), None, torch.zeros(1))
        asked.double(start_boards(1), Cube(value=2, owner="mine", jacoby=True))
        asked.take(start_boards(1), Cube(away=(2, 5)))
        asked.choose(start_boards(1), torch.tensor([[6, 5]]), Cube(away=(1, 3), crawford=True), torch.zeros(1))
    rest = "1:-1:0:25:0:0:0:0:0:0"
    # The points of the mover, who has the positive checkers, come second, but first once he has doubled.
    assert server.lines == [
        f"board:gnubg:nardy:0:0:0:{start}:1:3:1:3:1:1:1:1:0:{rest}:0:1 jacobyrule off beavers off",
        f"board:gnubg:nardy:0:0:0:{start}:1:0:0:0:0:2:1:0:0:{rest}:0:1 jacobyrule on beavers off",
        f"board:nardy:gnubg:6:4:1:{start}:1:0:0:0:0:1:1:1:1:{rest}:0:1 jacobyrule off beavers off",
        f"board:gnubg:nardy:3:0:2:{start}:1:6:5:6:5:1:1:1:0:{rest}:0:0 jacobyrule off beavers off",
    ]


@pytest.fixture(scope="module")
def gnubg_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The real program as a server."""
    folder: Path = tmp_path_factory.mktemp("gnubg")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    plain = [f"set evaluation {kind} evaluation plies 0" for kind in ("chequerplay", "cubedecision")]
    commands = "\n".join([*plain, f"external localhost:{port}", ""])
    assert GNUBG is not None
    with subprocess.Popen(
        [GNUBG, "-t", "-q"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=folder, text=True,
        env={**os.environ, "HOME": str(folder)},
    ) as process:  # fmt: skip
        assert process.stdin is not None
        process.stdin.write(commands)
        process.stdin.flush()
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
        process.kill()


@pytest.mark.peer
@needs_gnubg
def test_gnubg_itself_plays_a_session(gnubg_port: int) -> None:
    for options in (GameOptions(), GameOptions(match_length=3)):
        result = compare_bots(bot(gnubg_port), RandomBot(), 4, options, seed=1)  # the second one a new connection
        assert result.side.wins == result.num_games
        assert result.side.doubles > 0


@pytest.mark.peer
@needs_gnubg
def test_gnubg_knows_whose_score_it_is(gnubg_port: int) -> None:
    asked = bot(gnubg_port)
    start = start_boards(1)
    assert asked.double(start, Cube()).tolist() == [False]
    assert asked.double(start, Cube(away=(3, 1))).tolist() == [True]  # nothing to lose after the Crawford game
    ahead = to_boards([position("6:3 5:3 4:3 3:2 2:2 1:2", "18:1 19:5 20:4 21:3 22:2")])
    assert asked.take(ahead, Cube()).tolist() == [False]
    assert asked.take(ahead.flip(1), Cube()).tolist() == [True]
    behind = to_boards([position("6:3 5:3 4:3 3:2 2:2 1:2", "19:4 20:3 21:3 22:2 23:2 24:1")])
    assert asked.take(behind, Cube(away=(5, 2))).tolist() == [True]  # ahead in the match there is less to lose
    assert asked.take(behind, Cube(away=(2, 5))).tolist() == [False]
