"""A UBGI engine: what it is told, what it says, and that it never stops for nonsense."""

from __future__ import annotations

import io
import random
import resource
import shlex
import subprocess
import sys

import pytest
import torch

from nardy.env import Cube, GameOptions, afterstates, start_boards
from nardy.env.notation import find_play
from nardy.eval.bots import RandomBot, make_bot
from nardy.eval.outside import OutsideBot
from nardy.eval.results import compare_bots
from nardy.eval.serve import Decider, UbgiEngine, converse
from nardy.models import Evaluator, load

START = "position gnubgid 4HPwATDgc/ABMA"
WORDS = {"id", "proto", "key", "option", "ubgiok", "readyok", "value", "bestmove", "bestcube", "bestturn", "besttake"}


@pytest.fixture(scope="module")
def model() -> Evaluator:
    return load("backgammon")


@pytest.fixture
def engine() -> UbgiEngine:
    return UbgiEngine(Decider(make_bot("model:backgammon"), GameOptions()))


def told(engine: UbgiEngine, *lines: str) -> list[str]:
    """All that it answers."""
    return [answer for line in lines for answer in engine.answer(line)]


def test_it_greets_in_both_versions(engine: UbgiEngine) -> None:
    lines = told(engine, "ubgi")
    assert lines[0] == "id name nardy model:backgammon"
    assert "proto 0.2" in lines
    assert "key engine.ply int 0..0 0" in lines
    assert "option name engine.ply type spin default 0 min 0 max 0" in lines
    assert lines[-1] == "ubgiok"
    assert told(engine, "isready", "keys", "get engine.ply", "set engine.ply 0") == [
        "readyok",
        "key game.variant enum backgammon backgammon",
        "key engine.ply int 0..0 0",
        "value engine.ply 0",
    ]
    assert told(engine, "setoption name engine.ply value 0", "setoption engine.ply 0", "stop", "newgame", "") == []


@pytest.mark.parametrize(
    ("position", "dice", "allowed"),
    [
        ("4HPwATDgc/ABMA", "3 1", {"8/5 6/5"}),
        ("4HPwATDgc/ABMA", "6 5", {"24/18 18/13"}),
        ("/z0AADDeaxsAAA", "5 5", {"7/2 7/2 5/off 5/off"}),
        ("DAAACAAAAAAAAA", "2 1", {"1/off"}),
        ("27Y5AADg88EDQA", "6 6", {"pass"}),
    ],
)
def test_plays_are_written_a_move_a_die(engine: UbgiEngine, position: str, dice: str, allowed: set[str]) -> None:
    (answer,) = told(engine, f"position gnubgid {position}", f"dice {dice}", "go role chequer movetime 100")
    assert answer.removeprefix("bestmove ") in allowed
    assert told(engine, "go") == ["error missing_context dice"]


def test_a_checker_enters_from_the_bar(engine: UbgiEngine) -> None:
    (answer,) = told(engine, "position gnubgid Np7BQSCYZ/AAWA", "dice 5 3", "go infinite")
    assert answer.startswith("bestmove bar/20 ")


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["go role chequer"], "error missing_context position"),
        ([START, "go"], "error missing_context dice"),
        (["dice 7 1"], "error bad_argument dice"),
        (["dice 3"], "error bad_argument dice"),
        (["set engine.ply 9"], "error bad_value engine.ply"),
        (["get engine.nets"], "error unsupported key engine.nets"),
        (["position fen x"], "error bad_argument position"),
        (["newsession type match"], "error bad_argument newsession"),
        (["newsession type money jacoby maybe"], "error bad_value jacoby"),
        (["setcube value 3 owner p0"], "error bad_value setcube"),
        (["setturn p2"], "error bad_value setturn"),
        ([START, "go role poet"], "error unsupported role poet"),
        (["make tea"], "error unknown_command make"),
        (["newsession type match length 3", "setscore 3 0", START, "go role cube"], "error bad_value score: found"),
        (["\x1b[2J"], "error unknown_command ?[2J"),
    ],
)
def test_faults_have_their_words(engine: UbgiEngine, lines: list[str], wanted: str) -> None:
    (answer,) = told(engine, *lines)
    assert answer.startswith(wanted)


def test_a_bad_position_leaves_the_old_one(engine: UbgiEngine) -> None:
    assert told(engine, START, "position gnubgid nonsense", "dice 3 1", "go")[-1] == "bestmove 8/5 6/5"


def test_answers_are_the_models(engine: UbgiEngine, model: Evaluator) -> None:
    board, dice = start_boards(1), torch.tensor([[4, 1]], dtype=torch.int8)
    _, plays = afterstates(board, dice)
    for session, cube in (
        (["newsession type money jacoby on"], Cube(jacoby=True)),
        (["newsession type money jacoby off", "setcube value 2 owner p0"], Cube(value=2, owner="mine")),
        (["newsession type match length 5", "setscore 1 3"], Cube(away=(4, 2))),
        (["newsession type match length 5", "setscore 1 3", "setturn p1"], Cube(away=(2, 4))),
        (["newsession type match length 5 crawford on", "setscore 1 4"], Cube(away=(4, 1), crawford=True)),
        (["newsession type match length 5", "setscore 1 4", "setturn p0"], Cube(away=(4, 1))),
    ):
        told(engine, "newgame", *session, START, "dice 4 1")
        action = model.cube_action(board, cube)
        double = "double" if bool(action.double[0]) else "nodouble"
        assert told(engine, "go role cube") == [f"bestcube {double}"]
        (answer,) = told(engine, "go role turn")
        cube_word, _, move = answer.removeprefix("bestturn cube=").partition(" move=")
        assert cube_word == double
        best = plays[int(model.best(board, dice, cube))]
        assert torch.equal(find_play(move, board[0], (4, 1)), best)
        if not cube.crawford:
            assert told(engine, "go role take") == [f"besttake {'take' if bool(action.take[0]) else 'drop'}"]


def test_a_new_game_keeps_the_match_and_forgets_the_rest(engine: UbgiEngine) -> None:
    told(engine, "newsession type match length 5 crawford on", "setscore 2 4", "setcube value 4 owner p1", START)
    assert told(engine, "newgame", "dice 3 1", "go") == ["error missing_context position"]
    assert told(engine, START, "setscore 4 5", "go role cube")[0].startswith("error bad_value score")
    assert told(engine, "setscore 1 4", "go role cube") == ["bestcube double"]  # not the Crawford game any more


def test_an_xgid_says_everything(engine: UbgiEngine) -> None:
    xgid = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"
    assert told(engine, f"position xgid {xgid}", "go") == ["bestmove 8/5 6/5"]


def test_nonsense_is_answered_and_forgotten(engine: UbgiEngine) -> None:
    generator = random.Random(2)  # noqa: S311
    words = [
        "go",
        "role",
        "chequer",
        "position",
        "gnubgid",
        "dice",
        "3",
        "-1",
        "set",
        "setcube",
        "value",
        "xgid",
        "x" * 300,
    ]
    lines = [" ".join(generator.choices(words, k=generator.randrange(1, 6))).encode() for _ in range(700)]
    lines += [generator.randbytes(40).replace(b"\n", b"") for _ in range(300)]
    lines += [b"x" * 100_000, START.encode(), b"dice 3 1", b"go", b"quit", b"ubgi"]
    sink = io.BytesIO()
    converse(engine, io.BytesIO(b"\n".join(lines[:300])), io.BytesIO())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    converse(engine, io.BytesIO(b"\n".join(lines)), sink)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4096  # KiB
    said = sink.getvalue().decode().splitlines()
    assert said[-2:] == ["error bad_command found too long a line", "bestmove 8/5 6/5"]
    assert {line.split(" ")[0] for line in said} <= WORDS | {"error"}
    assert max(map(len, said)) < 300
    assert not any(line.startswith("error internal") for line in said)


@pytest.mark.parametrize("match_length", [0, 2])
def test_our_own_client_plays_as_the_model_itself(match_length: int) -> None:
    options = GameOptions(cube=False, match_length=match_length)
    command = [sys.executable, "-m", "nardy.scripts.play", "ubgi", "bot=model:backgammon", "env.cube=false"]
    asked, direct = make_bot(f"ubgi:{shlex.join(command)}"), make_bot("model:backgammon")
    assert isinstance(asked, OutsideBot)
    asked.deals_at_once = 1
    through, itself = (compare_bots(bot, RandomBot(), 2, options, seed=4) for bot in (asked, direct))
    assert (through.points, through.side, through.other) == (itself.points, itself.side, itself.other)


def test_the_program_says_nothing_else_on_its_output() -> None:
    command = [sys.executable, "-m", "nardy.scripts.play", "ubgi", "bot=model:backgammon"]
    done = subprocess.run(command, input="isready\nnonsense\n", capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "readyok\nerror unknown_command nonsense\n"
