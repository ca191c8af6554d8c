"""Games saved, loaded and exported from the terminal, and every way in which a file can be wrong."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from nardy.env import GameOptions
from nardy.env.clock import ClockOptions
from nardy.env.formats import Format
from nardy.env.notation import (
    read_match_text,
    saved_game_text,
)
from nardy.eval.bots import PipCountBot
from nardy.eval.play import Phase, Session, Terminal
from nardy.eval.play.files import read_game
from nardy.eval.play.timed import TimedReader, TimedSession
from tests.eval.play.driving import GAMES, OPENING, Cubist, finished, person_to_play, run


def _with_files(lines: str, session: Session, folder: Path) -> str:
    return run(lines.replace("@", f"{folder}/"), session).replace(f"{folder}/", "@")


@pytest.mark.parametrize("name", GAMES)
def test_a_saved_game_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    options = GAMES[name]
    session = Session(Cubist(options.variant), options, seed=3)
    for _ in range(12):
        if session.phase is Phase.MOVE:
            session.play(session.legal_plays()[0])
        elif session.phase is Phase.OVER:
            session.next_game()
        else:
            session.act(int(session.decisions.mask()[0].nonzero()[0]))
    assert "Saved @my match.json." in _with_files("save @my match.json\n", session, tmp_path)
    assert read_game(f"{tmp_path}/my match") == session.record()
    writer = io.StringIO()
    other = Session(Cubist(options.variant), GameOptions(options.variant), seed=8)
    terminal = Terminal(other, io.StringIO(f"load {tmp_path}/my match\n"), writer)
    terminal.run()
    assert terminal.session is not other
    assert terminal.session.options == session.options
    if session.phase is not Phase.OVER:
        assert terminal.session.state == session.state
        assert terminal.session.record().games == session.record().games


def test_match_text_is_read_back(tmp_path: Path) -> None:
    session = person_to_play(GameOptions(match_length=3))
    session.play(session.legal_plays()[0])
    assert "Wrote @game.mat." in _with_files("mat @game\n", session, tmp_path)
    read = read_match_text((tmp_path / "game.mat").read_text())
    assert read.names == ("you", "bot")
    assert [len(game.actions) for game in read.games] == [len(game.actions) for game in session.record().games]


def test_what_match_text_has_no_words_for_is_said(tmp_path: Path) -> None:
    longgammon = Session(PipCountBot("longgammon"), GameOptions("longgammon"), seed=1)
    assert "variant: found 'longgammon'" in _with_files("mat @x\n", longgammon, tmp_path)
    doubled = next(
        session
        for seed in range(50)
        if int((session := Session(PipCountBot(), GameOptions(automatic_doubles=1), seed)).games.cube_value[0]) > 1
    )
    assert "cannot say automatic doubles" in _with_files("mat @x\n", doubled, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_game_from_a_position_is_not_saved(tmp_path: Path) -> None:
    session = Session(PipCountBot(), GameOptions(), seed=1)
    text = _with_files(f"position {OPENING}\nsave @x\nmat @x\nstats\nhistory\n", session, tmp_path)
    assert text.count("game: found one that began from a position") == 4
    assert not list(tmp_path.iterdir())


def test_files_are_not_overwritten_unless_that_is_said(tmp_path: Path) -> None:
    session = person_to_play()
    (tmp_path / "x.json").write_text("old")
    (tmp_path / "x.mat").write_text("old")
    text = _with_files("save @x\nmat @x.mat\n", session, tmp_path)
    assert text.count("found a file of that name, wanted a new one") == 2
    assert (tmp_path / "x.json").read_text() == (tmp_path / "x.mat").read_text() == "old"
    text = _with_files("save! @x\nMAT! @x.mat\n", session, tmp_path)
    assert "Saved @x.json." in text
    assert "Wrote @x.mat." in text
    assert read_game(f"{tmp_path}/x.json") == session.record()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("save", "file: found '', wanted a name in .json"),
        ("save @x.mat", "wanted a name in .json"),
        ("save @..", "wanted a name in .json"),
        ("save @folder.json", "@folder.json: found something that is no file"),
        ("save! @folder.json", "@folder.json: found something that is no file"),
        ("save! @pipe.json", "@pipe.json: found something that is no file"),
        ("save @none/x", "@none/x.json: found no such folder"),
        ("save @x\0", "file: found"),
        ("save @" + 300 * "x", "File name too long"),
        ("mat @x.json", "wanted a name in .mat or .txt"),
        ("mat", "file: found '', wanted a name in .mat"),
        ("load", "file: found '', wanted a name in .json"),
        ("load @x", "@x.json: found no such file"),
        ("load @folder.json", "@folder.json: found something that is no file"),
        ("load @pipe.json", "@pipe.json: found something that is no file"),
        ("load @x.mat", "wanted a name in .json"),
        ("load @" + 300 * "x", "File name too long"),
        ("load @large.json", "@large.json: found more than 4000000 characters"),
        ("load @bytes.json", "@bytes.json: found bytes that are no UTF-8"),
        ("load @text.json", "@text.json: saved game: found no JSON"),
        ("load @deep.json", "@deep.json: saved game: found"),
        ("load @other.json", "@other.json: saved game: found something else"),
        ("load @sprint.json", "discipline: found sprintgammon, wanted backgammon"),
        ("load @over.json", "found it over at"),
        ("load @beavers.json", "bot: pipcount has no answer to a beaver"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(line: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(1 << 33)
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe")
    (tmp_path / "text.json").write_text(" 3 point match")
    (tmp_path / "deep.json").write_text(100_000 * "[")
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "sprint.json").write_text(saved_game_text(person_to_play().record()))
    (tmp_path / "over.json").write_text(saved_game_text(finished(GameOptions(match_length=1)).record()))
    beavers = Session(Cubist(), GameOptions(beavers=True), seed=1)
    (tmp_path / "beavers.json").write_text(saved_game_text(beavers.record()))
    before = sorted(tmp_path.iterdir())
    session = Session(PipCountBot(), GameOptions(), seed=1)
    text = _with_files(f"{line}\n", session, tmp_path)
    answer = text.partition("> ")[2].partition("\n")[0]
    assert wanted in answer
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_is_forbidden_is_said(tmp_path: Path) -> None:
    (tmp_path / "x.json").touch(mode=0)
    session = Session(PipCountBot(), GameOptions(), seed=1)
    assert "@x.json: Permission denied" in _with_files("load @x\n", session, tmp_path)
    tmp_path.chmod(0o500)
    assert "@y.json: Permission denied" in _with_files("save @y\n", session, tmp_path)


def test_a_match_by_the_clock_is_not_saved(tmp_path: Path) -> None:
    options = Format("sprintgammon", 3, clock=ClockOptions(bank=3600))
    session, writer = TimedSession(PipCountBot("sprintgammon"), options, seed=1), io.StringIO()
    lines = f"save {tmp_path}/x\nload x\nposition x\nnew\nundo\n"
    Terminal(session, TimedReader(io.StringIO(lines), writer, session), writer).run()
    assert writer.getvalue().count("By the clock this match is played to its end") == 5
