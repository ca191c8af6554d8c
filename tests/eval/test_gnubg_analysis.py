"""GNU Backgammon's judgement: what it prints is read rightly, and nothing that it does instead holds us up."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from nardy.env.formats import Format
from nardy.env.notation import MatchRecord, Roll, match_text
from nardy.eval.bots import PipCountBot, make_bot
from nardy.eval.error_rates import error_table, judge_games, play_games, record_names
from nardy.eval.outside.failure import EngineError
from nardy.eval.outside.gnubg_analysis import GnubgOptions, read_statistics
from nardy.eval.ratios import Rate
from nardy.scripts.evaluate import main

GNUBG = shutil.which("gnubg", path=f"{os.environ.get('PATH', '')}:/usr/games")

# Printed by GNU Backgammon 1.07.001 about the first of the games that the bundled model played against itself.
PRINTED = """\
No game in progress.
Player                                   nardy one               nardy two

Chequerplay statistics

Total moves                               14                      14
Unforced moves                            14                      14
Unmarked moves                            13                      12
Moves marked doubtful                      1                       1
Moves marked bad                           0                       0
Moves marked very bad                      0                       1
Error total EMG (Points)                      -0.042 ( -0.042)        -0.400 ( -0.400)
Error rate mEMG (Points)                      -3.0   ( -0.003)       -28.6   ( -0.029)
Chequerplay rating                       World class             Beginner


Luck statistics

Rolls marked very lucky                    0                       0
Rolls marked lucky                         0                       0
Rolls unmarked                            14                      13
Rolls marked unlucky                       0                       1
Rolls marked very unlucky                  0                       0
Luck total EMG (Points)                       -0.355 ( -0.355)        -0.933 ( -0.933)
Luck rate mEMG (Points)                      -25.4   ( -0.025)       -66.6   ( -0.067)
Luck rating                              None                    Go to bed


Cube statistics

Total cube decisions                      14                      15
Close or actual cube decisions            10                       1
Doubles                                    1                       0
Takes                                      0                       0
Passes                                     0                       1
Missed doubles below CP (EMG (Points))     1 (-0.189 ( -0.189))    0
Missed doubles above CP (EMG (Points))     0                       0
Wrong doubles below DP (EMG (Points))      0                       0
Wrong doubles above TG (EMG (Points))      0                       0
Wrong takes (EMG (Points))                 0                       0
Wrong passes (EMG (Points))                0                       0
Error total EMG (Points)                      -0.189 ( -0.189)        -0.000 ( -0.000)
Error rate mEMG (Points)                     -18.9   ( -0.019)        -0.0   ( -0.000)
Cube decision rating                     Casual player           Supernatural


Overall statistics

Error total EMG (Points)                      -0.231 ( -0.231)        -0.400 ( -0.400)
Error rate mEMG (Points)                      -9.6   ( -0.010)       -26.7   ( -0.027)
Snowie error rate                             -8.3   ( +0.000)       -14.3   ( +0.000)
Overall rating                           Advanced                Beginner
Actual result                             +1.000                  -1.000
Luck adjusted result                      +0.423                  -0.423
"""

# Answers one game after the other: with PRINTED, its plays set right for two games of random play, or as MODE says.
FAKE = """\
#!{python}
import pathlib, re, sys, time
mode = {mode!r}
printed = pathlib.Path({printed!r}).read_text()
plays = {plays!r}
print("GNU Backgammon 9.99.000 20990101", flush=True)
games = 0
for line in sys.stdin:
    if not line.startswith("show statistics"):
        continue
    if games or mode == "hang at once":
        if mode.startswith("hang"):
            time.sleep(60)
        if mode == "exit":
            sys.exit("out of memory")
        if mode == "garbage":
            print("Total moves many\\n" * 30 + "Luck adjusted result" + " x" * 5, flush=True)
            continue
        if mode == "endless":
            while True:
                print("Unmarked moves 1 1")
    first, second = plays[games]
    first -= mode == "other game"
    games += 1
    print(re.sub("Total moves +14 +14", f"Total moves   {{first}}   {{second}}", printed), flush=True)
"""


Played = tuple[list[MatchRecord], list[tuple[int, int]]]


def plays_of(match: MatchRecord) -> list[tuple[int, int]]:
    """How many plays player 0 and player 1 made in each game."""
    games = [[action.player for action in game.actions if isinstance(action, Roll)] for game in match.games]
    return [(players.count(0), players.count(1)) for players in games]


@pytest.fixture(scope="module")
def played() -> Played:
    bot = make_bot("model:backgammon")
    matches, stopped = play_games((bot, bot), Format(), 2)
    assert not stopped
    return matches, plays_of(matches[0])


def fake(folder: Path, mode: str, plays: list[tuple[int, int]]) -> GnubgOptions:
    (folder / "printed.txt").write_text(PRINTED)
    path = folder / "gnubg"
    path.write_text(FAKE.format(python=sys.executable, mode=mode, printed=str(folder / "printed.txt"), plays=plays))
    path.chmod(0o755)
    return GnubgOptions(0, str(path), time_limit=1.5)


def test_the_printed_statistics_are_read_by_player() -> None:
    first, second = read_statistics(PRINTED.splitlines())

    assert (first.plays, second.plays) == (14, 14)
    assert (first.unforced, second.unforced) == (14, 14)
    assert (first.play_loss, second.play_loss) == (0.042, 0.400)
    assert (first.cubes, second.cubes) == (10, 1)
    assert (first.cube_loss, second.cube_loss) == (0.189, 0)
    assert (first.result, second.result) == (1, -1)
    assert (first.luck_adjusted, second.luck_adjusted) == (0.423, -0.423)


def test_statistics_of_a_match_are_read_with_their_percentages() -> None:
    text = PRINTED.replace("( -0.042)", "( -2.100%)").replace("+0.423 ", "+12.30%").replace("-0.423", "-12.30%")

    first, second = read_statistics(text.splitlines())

    assert first.play_loss == 0.042
    assert second.luck_adjusted == -12.30


@pytest.mark.parametrize("row", ["Total moves", "Close or actual cube decisions", "Luck adjusted result"])
def test_a_missing_row_is_named(row: str) -> None:
    with pytest.raises(EngineError, match=row):
        read_statistics([line for line in PRINTED.splitlines() if not line.startswith(row)])


def test_a_row_without_numbers_is_quoted() -> None:
    with pytest.raises(EngineError, match="Unforced moves  n/a"):
        read_statistics([line if "Unforced" not in line else "Unforced moves  n/a" for line in PRINTED.splitlines()])


def test_rates_add_up_over_games(tmp_path: Path, played: Played) -> None:
    matches, plays = played

    rates = judge_games(matches, fake(tmp_path, "", plays))

    assert (rates.judge, rates.num_games, rates.stopped) == ("GNU Backgammon 9.99.000", 2, "")
    first, second = rates.sides
    assert first.play.mean == pytest.approx(42 / 14)
    assert first.play.count == 28
    assert first.cube.mean == pytest.approx(189 / 10)
    assert first.overall.mean == pytest.approx(231 / 24)
    assert first.performance.mean == pytest.approx(231 / 48)
    assert first.snowie.mean == pytest.approx(1000 * 2 * 0.231 / sum(map(sum, plays)))
    assert second.loss_per_game.mean == pytest.approx(0.4)
    assert second.result is not None and second.result.mean == -1
    assert first.play.standard_error == 0  # both games the same
    assert "PR (half of that)" in list(error_table(rates).columns[0].cells)
    json.dumps(rates.to_dict(), allow_nan=False)


def test_without_a_cube_plays_alone_count(tmp_path: Path, played: Played) -> None:
    matches, plays = played

    first, _ = judge_games(matches, fake(tmp_path, "", plays), cube=False).sides

    assert first.cube == Rate(0.0, None, 0)
    assert first.overall.mean == first.play.mean == pytest.approx(42 / 14)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("hang", "no answer within the time limit"),
        ("exit", "exited with status 1: out of memory"),
        ("garbage", "found no row 'Total moves'"),
        ("endless", "found more than 400 lines"),
    ],
)
def test_a_judge_that_fails_in_the_midst_leaves_what_it_has_judged(
    mode: str, reason: str, tmp_path: Path, played: Played
) -> None:
    matches, plays = played

    rates = judge_games(matches, fake(tmp_path, mode, plays))

    assert rates.num_games == 1
    assert reason in rates.stopped
    assert rates.sides[0].play.standard_error is None


def test_a_judge_that_never_answers_is_an_error(tmp_path: Path, played: Played) -> None:
    matches, plays = played
    with pytest.raises(EngineError, match="gnubg: no answer within the time limit"):
        judge_games(matches, fake(tmp_path, "hang at once", plays))


def test_a_judge_that_has_read_another_game_is_an_error(tmp_path: Path, played: Played) -> None:
    matches, plays = played
    number = plays[0][0]  # depends on the bundled model
    with pytest.raises(EngineError, match=f"has read {number - 1} plays of player 0, wanted {number}"):
        judge_games(matches, fake(tmp_path, "other game", plays))


def test_a_missing_judge_is_told_in_one_line_before_anything_is_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analysis", "gnubg.command=no-such-program", "bot=random", "opponent=random", "games=1000000"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "gnubg: found no program 'no-such-program'; install GNU Backgammon: apt-get install gnubg"
    ]


def test_games_of_a_file_are_judged_as_those_played(
    tmp_path: Path, played: Played, capsys: pytest.CaptureFixture[str]
) -> None:
    matches, plays = played
    options = fake(tmp_path, "", plays)
    (tmp_path / "games.mat").write_text(match_text(matches[0]))
    words = ["analysis", f"gnubg.command={options.command}", "gnubg.plies=0", f"output={tmp_path / 'r.json'}"]

    assert main([*words, f"mat={tmp_path / 'games.mat'}"]) == 0

    assert "2 games (money games) judged by GNU Backgammon 9.99.000, 0-ply" in capsys.readouterr().out
    assert json.loads((tmp_path / "r.json").read_text())["num_games"] == 2


def test_an_unreadable_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = fake(tmp_path, "", [])
    (tmp_path / "games.mat").write_bytes(b"\xff\xfe\x00")
    assert main(["analysis", f"gnubg.command={options.command}", f"mat={tmp_path / 'games.mat'}"]) == 2
    assert "games.mat: found no text, wanted a .mat file" in capsys.readouterr().err


def test_matches_are_kept_in_files_of_their_own(tmp_path: Path) -> None:
    bot = make_bot("model:backgammon")
    matches, _ = play_games((bot, bot), Format(match_length=1), 2, seed=3)
    plays = [plays_of(match)[0] for match in matches]
    words = [
        "analysis",
        f"gnubg.command={fake(tmp_path, '', plays).command}",
        "env.match_length=1",
        "games=2",
        "seed=3",
    ]

    main([*words, "bot=model:backgammon", "opponent=model:backgammon", f"save={tmp_path / 'm.mat'}"])

    assert sorted(path.name for path in tmp_path.glob("*.mat")) == ["m-1.mat", "m-2.mat"]
    assert (tmp_path / "m-1.mat").read_text() == match_text(matches[0])


def test_names_are_such_as_a_record_can_hold() -> None:
    assert record_names("model:runs/a (b)", "model:runs/a (b)") == ("model runs a b", "model runs a b 2")
    assert record_names("::", "ubgi:" + 40 * "x") == ("bot", "ubgi " + 17 * "x")


@pytest.mark.peer
@pytest.mark.skipif(GNUBG is None, reason="the program gnubg is missing: apt-get install gnubg")
def test_gnubg_finds_pipcount_worse_than_the_model() -> None:
    matches, _ = play_games((make_bot("model:backgammon"), PipCountBot()), Format(jacoby=True), 3)

    rates = judge_games(matches, GnubgOptions(plies=0), jacoby=True)

    assert rates.num_games == 3 and not rates.stopped
    assert rates.judge.startswith("GNU Backgammon 1.")
    assert rates.sides[0].play.mean < 30 < rates.sides[1].play.mean
